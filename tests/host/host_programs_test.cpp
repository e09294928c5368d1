// With -DROOFWALK_HOST, kernel files compile and link as host programs. Other tests compile the chapters' files as
// plans; scratch.cu belongs to no chapter, so this test compiles it as a plan, too.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "common/base/subprocess.h"
#include "common/build/build.h"
#include "common/exercise/chapter.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = ROOFWALK_ROOT;

class HostProgram : public testing::Test {
 protected:
  HostProgram() : folder_(fs::path(testing::TempDir()) / ("roofwalk_host_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~HostProgram() override { fs::remove_all(folder_); }

  // Runs nvcc with the options that all calls share, followed by `arguments`.
  void compile(std::vector<std::string> arguments) {
    const auto toolkit = find_toolkit(kRoot);
    ASSERT_TRUE(toolkit.ok()) << toolkit.error().text();
    std::vector<std::string> all = {
        (toolkit->root / "bin/nvcc").string(), "-I", (kRoot / "common/include").string(), "-L",
        (toolkit->root / "lib64").string(),    "-L", (toolkit->root / "lib").string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const auto result = run_command({.arguments = all, .working_directory = folder_, .timeout_s = 120});
    ASSERT_TRUE(result.ok()) << result.error().text();
    EXPECT_EQ(result->exit_code, 0) << result->output;
  }

  fs::path folder_;
};

TEST_F(HostProgram, EveryStarterAndLastStepLinks) {
  const auto chapters = load_chapters(kRoot);
  ASSERT_TRUE(chapters.ok()) << chapters.error().text();
  ASSERT_FALSE(chapters->empty());
  for (const Chapter& chapter : *chapters) {
    for (const fs::path& kernel : {chapter.starter(), chapter.solution_steps().back()}) {
      SCOPED_TRACE(kernel);
      compile({"-DROOFWALK_HOST", "-arch=sm_80", "-DKERNEL=\"" + kernel.string() + "\"",
               (kRoot / "tests/host/main.cu").string(), "-o", "program"});
    }
  }
}

TEST_F(HostProgram, ScratchAndSynchronousCallsLinkFromAnotherFile) {
  compile({"-DROOFWALK_HOST", "-arch=sm_80", (kRoot / "tests/host/scratch.cu").string(),
           (kRoot / "tests/host/scratch_main.cu").string(), "-o", "program"});
}

TEST_F(HostProgram, TheSameFileIsAPlan) {
  compile({"-ptx", "-rdc=true", "-arch=compute_80", (kRoot / "tests/host/scratch.cu").string(), "-o", "plan.ptx"});
}

}  // namespace
}  // namespace roofwalk
