// Tests `--device cuda:N` from the command line, on a driver that imitates a GPU without counters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

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
    fs::create_directories(root_ / "chapters");
    for (const char* part : {"solutions", "common", "tests"}) {
      fs::create_symlink(fs::path(E2E_SOURCE_DIR) / part, root_ / part);
    }
    // A course of one chapter, with a problem small enough for the slow fake GPU.
    const fs::path chapter = root_ / "chapters/01-vector-add";
    fs::copy(fs::path(E2E_SOURCE_DIR) / "chapters/01-vector-add", chapter);
    std::ifstream in(chapter / "exercise.toml");
    std::string manifest{std::istreambuf_iterator<char>(in), {}};
    const std::string heading = "[measured]\n";
    manifest.insert(manifest.find(heading) + heading.size(), "fake-gpu = { n = 32768 }\n");
    std::ofstream(chapter / "exercise.toml") << manifest;
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

TEST_F(FakeGpu, GivesADotWithMeasuredTimesAndModelledBytes) {
  const CommandResult roofs = run({"roofs", "--device", "cuda:0", "--format", "json"});
  EXPECT_EQ(roofs.exit_code, 0) << roofs.output;
  const Json measured = parse_json(roofs.output);
  ASSERT_TRUE(measured.is_object()) << roofs.output;
  EXPECT_NEAR(measured["dram_bytes_per_s"]["read"].get<double>(), 1.28e9, 0.02e9);
  EXPECT_FALSE(measured["time_is_modelled"].get<bool>());

  const std::string step = "solutions/01-vector-add/step2_four_at_a_time.cu";
  const CommandResult result = run({"run", "vector-add", "--kernel", step, "--device", "cuda:0", "--format", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  const Json json = parse_json(result.output);
  ASSERT_TRUE(json.is_object()) << result.output;
  EXPECT_EQ(json["device"]["kind"], "cuda");
  EXPECT_EQ(json["verdict"], "pass");
  EXPECT_FALSE(json["time_is_modelled"].get<bool>());
  EXPECT_TRUE(json["bytes_are_modelled"].get<bool>());
  EXPECT_EQ(json["dram_read_bytes"], 2 * 4 * 32768);
  EXPECT_GE(json["pairs"]["samples"]["attempt_ns"].size(), 8u);  // the fewest allowed; a busy host takes no more
  EXPECT_EQ(json["elapsed_ns"], json["pairs"]["attempt"]["median_ns"]);
  EXPECT_NEAR(json["moved"]["up"].get<double>(), json["pairs"]["speedup"].get<double>(), 1e-6);
  EXPECT_GT(json["moved"]["up"].get<double>(), 2);

  const CommandResult wrong = run({"run", "vector-add", "--kernel", "tests/grader/wrong/01-vector-add/no_guard.cu",
                                   "--device", "cuda:0", "--format", "json"});
  EXPECT_EQ(wrong.exit_code, 1);
  const Json fault = parse_json(wrong.output);
  ASSERT_TRUE(fault.is_object()) << wrong.output;
  EXPECT_EQ(fault["verdict"], "fault");
  EXPECT_GT(fault["fault"]["line"].get<int>(), 0);  // the line comes from the virtual GPU, which runs first
}

TEST_F(FakeGpu, AGpuThatIsNotThereIsSaidSo) {
  const CommandResult result = run({"run", "vector-add", "--device", "cuda:7"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.output, HasSubstr("there is no GPU 7: the driver sees 1"));
}

}  // namespace
}  // namespace roofwalk::e2e
