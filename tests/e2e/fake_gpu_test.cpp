// `--device cuda:N` from the command line, on a driver that plays a GPU without counters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "common/base/json.h"
#include "common/base/subprocess.h"

namespace roofwalk::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

class FakeGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("roofwalk-fake-gpu-" + std::to_string(::getpid()));
    fs::create_directories(root_);
    for (const char* part : {"chapters", "solutions", "common", "tests"}) {
      fs::create_symlink(fs::path(E2E_SOURCE_DIR) / part, root_ / part);
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  CommandResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), E2E_PROGRAM);
    const char* path = std::getenv("PATH");
    const auto result = run_command({.arguments = arguments,
                                     .working_directory = root_,
                                     .environment = {{"PATH", path == nullptr ? "" : path},
                                                     {"HOME", root_},
                                                     {"ROOFWALK_ROOT", root_},
                                                     {"ROOFWALK_LOCK_DIR", root_}},
                                     .timeout_s = 300});
    EXPECT_TRUE(result.ok());
    return result.ok() ? *result : CommandResult{};
  }

  fs::path root_;
};

TEST_F(FakeGpu, AGpuThatIsNotThereIsSaidSo) {
  const CommandResult result = run({"run", "vector-add", "--device", "cuda:7"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.output, HasSubstr("there is no GPU 7: the driver sees 1"));
}

}  // namespace
}  // namespace roofwalk::e2e
