// Runs the pipeline for real GPUs on a scripted device: with a lab's queue, and while the GPU's state changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "common/base/json.h"
#include "common/device/gpu_queue.h"
#include "common/measure/roofs.h"
#include "grader/attempt/pipeline.h"
#include "tests/support/fake_device.h"
#include "tests/support/mini_exercises.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using testing::FakeMemory;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A GPU where the starter of mini-double takes `starter_ns` and the attempt `attempt_ns`. Both double their input.
class GpuPipeline : public ::testing::Test {
 protected:
  GpuPipeline() : course_(*open_course(TEST_SUPPORT_DIR "/mini_course")) {
    testing::register_mini_exercises();
    folder_ = fs::temp_directory_path() / ("roofwalk-gpu-pipeline-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    ::setenv("ROOFWALK_LOCK_DIR", folder_.c_str(), 1);
    rig_.course = &course_;
    rig_.machine = *load_machine("classroom");
    attempt_ns_ = good_ns();
    starter_ns_ = 4 * good_ns();
    rig_.device_kind = "cuda";
    rig_.gpu = {.uuid = "GPU-00000000-0000-0000-0000-000000000001", .driver_version = 13000};
    rig_.roofs = roofs_of(rig_.machine);
    rig_.toolkit = find_toolkit(TEST_SOURCE_DIR);
    rig_.include = TEST_SOURCE_DIR "/common/include";
    rig_.cache = TEST_CACHE_DIR;
    rig_.open = device(&attempt_ns_, &attempt_factor_, [this] { return counts_ && attempt_counts_ ? 1 : 0; });
    rig_.open_own = device(&starter_ns_, &starter_factor_, [this] { return counts_ && starter_counts_ ? 1 : 0; });
    rig_.open_virtual = device(&attempt_ns_, &right_, [this] {
      if (while_modelled_) while_modelled_();
      return virtual_bytes_;
    });
    rig_.gpu_state = [this]() -> Result<GpuState> { return states_.at(std::min(asked_++, states_.size() - 1)); };
  }
  ~GpuPipeline() override {
    ::unsetenv("ROOFWALK_LOCK_DIR");
    fs::remove_all(folder_);
  }

  // Returns a factory of devices that count `bytes()` times the compulsory DRAM bytes, or nothing if `bytes()` is 0.
  DeviceFactory device(const double* elapsed_ns, const float* factor, const std::function<unsigned()>& bytes) {
    return [this, elapsed_ns, factor, bytes]() -> Result<std::unique_ptr<Device>> {
      return std::unique_ptr<Device>(std::make_unique<testing::FakeDevice>(
          rig_.machine, [=, this](FakeMemory& memory, const Plan&) -> Result<RunRecord> {
            const auto x = memory.floats("x"), y = memory.floats("y");
            for (std::size_t i = 0; i < y.size(); ++i) y[i] = *factor * x[i];
            RunRecord record;
            // Times vary by up to 4 * noise_, for both kernels alike.
            record.elapsed_ns = *elapsed_ns * (1 + noise_ * static_cast<double>(runs_++ * 7 % 5));
            const unsigned times = bytes();
            if (times == 0) return record;
            record.counters.set(Counter::flops_f32, y.size());
            record.counters.set(Counter::dram_read_bytes, 4 * y.size() * times);
            record.counters.set(Counter::dram_write_bytes, 4 * y.size() * times);
            return record;
          }));
    };
  }

  Attempt run() {
    const Chapter& chapter = **course_.find("mini-double");
    auto attempt = run_attempt(rig_, {&chapter, chapter.starter(), kPublicSeed, nullptr, std::nullopt});
    EXPECT_TRUE(attempt) << attempt.error().text();
    return attempt ? *attempt : Attempt{};
  }

  // Returns the time in ns of 4096 doublings at 60 % of the DRAM roof.
  double good_ns() const { return 8 * 4096 / rig_.machine.dram_bytes_per_s / 0.6 * 1e9; }

  Course course_;
  Rig rig_;
  fs::path folder_;
  double starter_ns_ = 0, attempt_ns_ = 0, noise_ = 0;
  float starter_factor_ = 2, attempt_factor_ = 2;
  const float right_ = 2;
  bool counts_ = true, attempt_counts_ = true, starter_counts_ = true;
  unsigned virtual_bytes_ = 1;
  std::function<void()> while_modelled_;
  int runs_ = 0;
  std::vector<GpuState> states_{GpuState{.uuid = "GPU-00000000-0000-0000-0000-000000000001"}};
  std::size_t asked_ = 0;
};

TEST_F(GpuPipeline, JudgesByPairsWithTheStarter) {
  noise_ = 0.01;
  const Attempt attempt = run();
  EXPECT_EQ(attempt.judgement.verdict, Verdict::pass);
  ASSERT_TRUE(attempt.times);
  EXPECT_GE(attempt.times->pairs.pairs.size(), 15u);
  EXPECT_NEAR(attempt.times->pairs.speedup, 4, 0.1);
  EXPECT_NEAR(attempt.moved->up, 4, 0.1);
  EXPECT_EQ(attempt.measurement->elapsed_ns.value, attempt.times->pairs.attempt.median_ns);
  EXPECT_FALSE(attempt.time_is_modelled || attempt.bytes_are_modelled);
  EXPECT_FALSE(attempt.times->disturbed);
}

TEST_F(GpuPipeline, BytesThatMayNotBeCountedAreTheVirtualGpus) {
  counts_ = false;
  const Attempt attempt = run();
  EXPECT_EQ(attempt.judgement.verdict, Verdict::pass);
  EXPECT_TRUE(attempt.bytes_are_modelled);
  EXPECT_FALSE(attempt.time_is_modelled);
  EXPECT_EQ(attempt.measurement->level("dram").bytes.obtained, Obtained::modelled);
  EXPECT_THAT(attempt.notes, Contains("the bytes are the virtual GPU's, not this GPU's"));
  EXPECT_NEAR(attempt.moved->up, 4, 1e-9);  // the starter's bytes are modelled, too
  EXPECT_NEAR(attempt.moved->right, 1, 1e-9);
}

// A kernel equal to its starter has not moved. If bytes were counted for only one of the two, modelled bytes must be
// used for both.
TEST_F(GpuPipeline, CountedBytesAreNotHeldAgainstModelledOnes) {
  virtual_bytes_ = 2;
  attempt_counts_ = false;
  const Attempt uncounted = run();
  EXPECT_TRUE(uncounted.bytes_are_modelled);
  EXPECT_NEAR(uncounted.moved->right, 1, 1e-9);
  attempt_counts_ = true;
  starter_counts_ = false;
  const Attempt beside_uncounted = run();
  EXPECT_TRUE(beside_uncounted.bytes_are_modelled);
  EXPECT_NEAR(beside_uncounted.moved->right, 1, 1e-9);
}

TEST_F(GpuPipeline, AStarterIsKeptForThoseWhoseBytesAreAsItsOwn) {
  const Chapter& chapter = **course_.find("mini-double");
  const std::string key = baseline_key(rig_, chapter, chapter.measured_size("default"), kPublicSeed);
  rig_.counts_bytes = false;
  EXPECT_NE(baseline_key(rig_, chapter, chapter.measured_size("default"), kPublicSeed), key);
  const StarterDot starter{{{"dram", {2, 3e9}}}, true};
  const auto back = starter_from_json(json_line(to_json(starter)));
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back), to_json(starter));
  EXPECT_FALSE(starter_from_json(R"({"dram": [2, 3e9]})"));  // the format of older versions
}

TEST_F(GpuPipeline, NobodyWaitsForTheGpuWhileBytesAreModelled) {
  counts_ = rig_.counts_bytes = false;
  int modelled = 0;
  while_modelled_ = [&] {
    ++modelled;
    EXPECT_TRUE(GpuTurn::wait({.gpu_uuid = rig_.gpu.uuid, .most_seconds = 0})) << "somebody could have had it";
  };
  EXPECT_EQ(run().judgement.verdict, Verdict::pass);
  EXPECT_GE(modelled, 2) << "the starter and the attempt";
}

TEST_F(GpuPipeline, ATimeAtTheThresholdIsTooNoisyToTell) {
  // The pass threshold is half of the roof. The times of single runs lie on both sides of it, so more runs cannot
  // decide.
  attempt_ns_ = good_ns() * 0.6 / 0.5 / 1.1;
  noise_ = 0.05;
  const Attempt attempt = run();
  EXPECT_EQ(attempt.judgement.verdict, Verdict::too_noisy);
  EXPECT_EQ(attempt.times->pairs.pairs.size(), 121u);
  EXPECT_THAT(attempt.judgement.reasons, Contains(HasSubstr("that close to the goal")));
}

TEST_F(GpuPipeline, ASlowAttemptFails) {
  attempt_ns_ = starter_ns_ = 10 * good_ns();
  EXPECT_EQ(run().judgement.verdict, Verdict::fail);
}

TEST_F(GpuPipeline, AWrongTimedRunIsNoVerdictOnTheTimes) {
  starter_factor_ = 3;  // 3, not 2: the timed starter's results are wrong
  const Chapter& chapter = **course_.find("mini-double");
  const auto attempt = run_attempt(rig_, {&chapter, chapter.starter(), kPublicSeed, nullptr, std::nullopt});
  ASSERT_FALSE(attempt);
  EXPECT_THAT(attempt.error().message, HasSubstr("the starter was correct before, and went wrong while it was timed"));
}

TEST_F(GpuPipeline, WhatSlowedTheGpuDownIsTriedAgainAndThenSaid) {
  GpuState quiet = states_.front(), hot = quiet;
  quiet.clock_reason_bits = 0;
  hot.clock_reason_bits = 0x40;  // hardware thermal slowdown
  states_ = {quiet, hot, quiet, quiet};
  const Attempt second_time_lucky = run();
  EXPECT_EQ(second_time_lucky.judgement.verdict, Verdict::pass);
  EXPECT_EQ(asked_, 4u);

  states_ = {quiet, hot};
  asked_ = 0;
  const Attempt attempt = run();
  EXPECT_EQ(attempt.judgement.verdict, Verdict::too_noisy);
  ASSERT_TRUE(attempt.times->disturbed);
  EXPECT_THAT(attempt.judgement.reasons, Contains(*attempt.times->disturbed));
  EXPECT_EQ(to_json(attempt)["gpu"]["after"]["clock_reason_bits"], 0x40);
}

TEST_F(GpuPipeline, WhereNobodyCanTellItIsANote) {
  rig_.gpu_state = nullptr;
  const Attempt attempt = run();
  EXPECT_EQ(attempt.judgement.verdict, Verdict::pass);
  EXPECT_THAT(attempt.notes, Contains(HasSubstr("what else the GPU did meanwhile is unknown")));
}

TEST_F(GpuPipeline, ShortKernelsAreTimedManyTimesASample) {
  attempt_ns_ = 1000;
  starter_ns_ = 4000;
  rig_.roofs.memory.front().bytes_per_s = 8 * 4096 / 0.6e-6;
  for (MemoryRoof& roof : rig_.roofs.memory) roof.bytes_per_s = 8 * 4096 / 0.6e-6;
  const Attempt attempt = run();
  EXPECT_EQ(attempt.times->runs_per_sample, launches_per_sample(1000));
  EXPECT_GT(attempt.times->runs_per_sample, 1);
  EXPECT_GE(runs_, 2 * 15 * attempt.times->runs_per_sample);
}

TEST_F(GpuPipeline, SaysWhoHasTheGpu) {
  auto other = GpuTurn::wait({.gpu_uuid = rig_.gpu.uuid, .doing = "roofs", .user = "anna"});
  ASSERT_TRUE(other);
  std::optional<GpuTurn> turn(*std::move(other));
  std::vector<std::string> lines;
  rig_.while_waiting = [&](const std::string& line) {
    lines.push_back(line);
    turn.reset();
  };
  EXPECT_EQ(run().judgement.verdict, Verdict::pass);
  ASSERT_GE(lines.size(), 2u);
  EXPECT_THAT(lines.front(), HasSubstr("anna"));
  EXPECT_THAT(lines.back(), IsEmpty());
}

}  // namespace
}  // namespace roofwalk
