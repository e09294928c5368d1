// The whole pipeline on a scripted device: compiler, plan and verification are real; the test chooses counters and
// faults.
#include "grader/attempt/pipeline.h"
#include "common/base/json.h"
#include "common/store/store.h"
#include "common/store/stored_attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "common/measure/roofs.h"
#include "tests/support/fake_device.h"
#include "tests/support/mini_exercises.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

using ::testing::ElementsAre;
using testing::FakeMemory;
using testing::FakeRun;
using ::testing::HasSubstr;

// Returns a record of a kernel that doubles n floats at `share` of the DRAM roof.
RunRecord record_of(double n, const Machine& machine, double share) {
  RunRecord record;
  record.time_is_modelled = true;
  record.elapsed_ns = 8 * n / machine.dram_bytes_per_s / share * 1e9;
  const auto count = static_cast<std::uint64_t>(n);
  for (const Counter none : {Counter::flops_f16, Counter::flops_f64, Counter::flops_tensor}) {
    record.counters.set(none, 0);
  }
  record.counters.set(Counter::flops_f32, count);
  record.counters.set(Counter::dram_read_bytes, 4 * count);
  record.counters.set(Counter::dram_write_bytes, 4 * count);
  for (const Counter sectors :
       {Counter::l1_read_sectors, Counter::l1_write_sectors, Counter::l2_read_sectors, Counter::l2_write_sectors}) {
    record.counters.set(sectors, count / 8);
  }
  return record;
}

class Pipeline : public ::testing::Test {
 protected:
  Pipeline() : course_(*open_course(TEST_SUPPORT_DIR "/mini_course")) {
    testing::register_mini_exercises();
    rig_.course = &course_;
    rig_.machine = *load_machine("classroom");
    rig_.device_kind = "virtual";
    rig_.roofs = roofs_of(rig_.machine);
    rig_.toolkit = find_toolkit(TEST_SOURCE_DIR);
    rig_.include = TEST_SOURCE_DIR "/common/include";
    rig_.cache = TEST_CACHE_DIR;
  }

  // Scripts a device whose kernel multiplies by `factor` and reaches `share` of the roof.
  void device_that_multiplies_by(float factor, double share) {
    script([factor, share, machine = rig_.machine](FakeMemory& memory, const Plan&) -> Result<RunRecord> {
      const auto x = memory.floats("x"), y = memory.floats("y");
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = factor * x[i];
      return record_of(static_cast<double>(y.size()), machine, share);
    });
  }

  void script(FakeRun run) {
    rig_.open = [this, run]() -> Result<std::unique_ptr<Device>> {
      ++devices_;
      return std::unique_ptr<Device>(std::make_unique<testing::FakeDevice>(rig_.machine, run));
    };
  }

  Attempt run(const std::string& name) {
    const Chapter& chapter = **course_.find(name);
    auto attempt = run_attempt(rig_, {&chapter, chapter.starter(), kPublicSeed, nullptr, std::nullopt});
    EXPECT_TRUE(attempt) << attempt.error().text();
    return attempt ? *attempt : Attempt{};
  }

  Course course_;
  Rig rig_;
  std::atomic<int> devices_{0};
};

TEST_F(Pipeline, PassesAndMeasuresAGoodKernel) {
  device_that_multiplies_by(2, 0.6);
  const Attempt attempt = run("mini-double");
  EXPECT_EQ(attempt.judgement.verdict, Verdict::pass);
  EXPECT_TRUE(attempt.is_starter);
  EXPECT_EQ(attempt.cases, 3);
  // Two small shapes and the measured one, each on its own device. The starter's measured run gives its dot.
  EXPECT_EQ(devices_, 3);
  EXPECT_EQ(attempt.measurement->level("dram").ai.value, 1.0 / 8);
  EXPECT_DOUBLE_EQ(attempt.moved->up, 1);
}

TEST_F(Pipeline, MeasuresTheStarterOfAChangedFile) {
  device_that_multiplies_by(2, 0.6);
  const Chapter& chapter = **course_.find("mini-double");
  const test::ScratchFolder folder;
  const auto file = folder.write("kernel.cu", file_text(chapter.starter()) + "// changed\n");
  const auto attempt = run_attempt(rig_, {&chapter, file, kPublicSeed, nullptr, std::nullopt});
  ASSERT_TRUE(attempt) << attempt.error().text();
  EXPECT_FALSE(attempt->is_starter);
  EXPECT_EQ(devices_, 4);
  EXPECT_DOUBLE_EQ(attempt->moved->up, 1);
}

TEST_F(Pipeline, StopsAtTheFirstWrongSmallShape) {
  device_that_multiplies_by(3, 0.6);
  const Attempt attempt = run("mini-double");
  EXPECT_EQ(attempt.judgement.verdict, Verdict::incorrect);
  EXPECT_THAT(attempt.judgement.reasons.front(), HasSubstr("(n=1, seed 1)"));
  EXPECT_FALSE(attempt.measurement);
  EXPECT_EQ(attempt.cases, 1);
}

// A device whose first run is right, and those after it on the same device double only the first `right` elements.
TEST_F(Pipeline, AFileWithDeviceVariablesIsCalledAgain) {
  const Chapter& chapter = **course_.find("mini-double");
  const auto verdict = [&](std::size_t right, const std::string& more) {
    script([calls = 0, right, machine = rig_.machine](FakeMemory& memory, const Plan&) mutable -> Result<RunRecord> {
      const auto x = memory.floats("x"), y = memory.floats("y");
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = calls == 0 || i < right ? 2 * x[i] : 0;
      ++calls;
      return record_of(static_cast<double>(y.size()), machine, 0.6);
    });
    const test::ScratchFolder folder;
    const auto file = folder.write("kernel.cu", file_text(chapter.starter()) + more);
    const auto attempt = run_attempt(rig_, {&chapter, file, kPublicSeed, nullptr, std::nullopt});
    EXPECT_TRUE(attempt) << attempt.error().text();
    const auto& reasons = attempt->judgement.reasons;
    return reasons.empty() ? std::string(verdict_name(attempt->judgement.verdict)) : reasons.front();
  };
  const std::string variable = "__device__ unsigned tickets;\n";
  EXPECT_EQ(verdict(10'000, variable), "pass");
  EXPECT_EQ(verdict(0, ""), "pass");
  EXPECT_THAT(verdict(1, variable), HasSubstr("right on the first call of SOLVE, wrong on the second: a __device__ "
                                              "variable keeps its value; set it back: y[1] is 0"));
  EXPECT_THAT(verdict(0, variable), HasSubstr("seed 2)"));
}

TEST_F(Pipeline, ALostDeviceMakesNobodysKernelWrong) {
  script([machine = rig_.machine](FakeMemory& memory, const Plan&) -> Result<RunRecord> {
    memory.lost = true;  // reads return zeros
    return record_of(static_cast<double>(memory.floats("y").size()), machine, 0.6);
  });
  const Chapter& chapter = **course_.find("mini-double");
  const auto attempt = run_attempt(rig_, {&chapter, chapter.starter(), kPublicSeed, nullptr, std::nullopt});
  ASSERT_FALSE(attempt);
  EXPECT_EQ(attempt.error().message, "the device was lost");
}

TEST_F(Pipeline, ChecksTheMeasuredRunToo) {
  script([machine = rig_.machine](FakeMemory& memory, const Plan&) -> Result<RunRecord> {
    const auto x = memory.floats("x"), y = memory.floats("y");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = (y.size() < 4096 ? 2.0f : 0.0f) * x[i];
    return record_of(static_cast<double>(y.size()), machine, 0.6);
  });
  const Attempt attempt = run("mini-double");
  EXPECT_EQ(attempt.judgement.verdict, Verdict::incorrect);
  EXPECT_FALSE(attempt.measurement);  // a wrong answer is not measured
}

TEST_F(Pipeline, IsTheSameForAnyNumberOfThreads) {
  for (const float factor : {2.0f, 3.0f}) {
    device_that_multiplies_by(factor, 0.6);
    rig_.threads = 1;
    const std::string one = json_text(to_json(run("mini-double")));
    for (const int threads : {2, 3, 8}) {
      rig_.threads = threads;
      EXPECT_EQ(json_text(to_json(run("mini-double"))), one);
    }
  }
}

TEST_F(Pipeline, GradesNothingThatADeviceCannotCount) {
  script([machine = rig_.machine](FakeMemory& memory, const Plan&) -> Result<RunRecord> {
    const auto x = memory.floats("x"), y = memory.floats("y");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
    RunRecord record = record_of(static_cast<double>(y.size()), machine, 0.6);
    record.counters = {};
    return record;
  });
  EXPECT_EQ(run("mini-double").judgement.verdict, Verdict::not_graded);
}

TEST_F(Pipeline, GradesNothingAboveTheRoof) {
  device_that_multiplies_by(2, 1.5);
  EXPECT_EQ(run("mini-double").judgement.verdict, Verdict::not_graded);
}

// Under the FP32 roof, tensor cores would lift a dot over a roof that is not theirs.
TEST_F(Pipeline, TensorCoresCountUnderTheirOwnRoofOrMemorysAlone) {
  script([machine = rig_.machine](FakeMemory& memory, const Plan&) -> Result<RunRecord> {
    const auto x = memory.floats("x"), y = memory.floats("y");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
    RunRecord record = record_of(static_cast<double>(y.size()), machine, 0.6);
    record.counters.set(Counter::flops_f32, 0);
    record.counters.set(Counter::flops_tensor, y.size());
    return record;
  });
  Chapter chapter = **course_.find("mini-double");
  const auto under = [&](ChapterRoof roof) {
    chapter.roof = roof;
    return *run_attempt(rig_, {&chapter, chapter.starter(), kPublicSeed, nullptr, std::nullopt});
  };
  const Attempt fp32 = under(ChapterRoof::fp32);
  EXPECT_EQ(fp32.judgement.verdict, Verdict::not_graded);
  EXPECT_THAT(fp32.judgement.reasons, ElementsAre(HasSubstr("the kernel multiplies on tensor cores")));
  EXPECT_EQ(under(ChapterRoof::tensor_f16).judgement.verdict, Verdict::pass);
  EXPECT_EQ(under(ChapterRoof::memory).judgement.verdict, Verdict::pass);
}

TEST_F(Pipeline, LeavesOutGoalsThatMakeNoSenseOnTheMachineAndSaysSo) {
  device_that_multiplies_by(2, 0.6);
  Chapter chapter = **course_.find("mini-double");
  chapter.goals.push_back({Goal::Axis::right, "dram", Goal::What::ai_over_starter, 2.0, 3.0});  // a goal out of reach
  const auto run_on_l2_of = [&](std::int64_t bytes) {
    rig_.machine.l2_bytes = bytes;
    return *run_attempt(rig_, {&chapter, chapter.starter(), kPublicSeed, nullptr, std::nullopt});
  };
  const Attempt asked = run_on_l2_of(8 * 4096 / 4);  // 4096 doublings, 8 bytes each
  EXPECT_EQ(asked.judgement.verdict, Verdict::fail);
  EXPECT_TRUE(asked.goals_left_out.empty());
  const Attempt left_out = run_on_l2_of(8 * 4096 / 4 + 1);
  EXPECT_EQ(left_out.judgement.verdict, Verdict::pass);
  EXPECT_EQ(left_out.judgement.goals.size(), 1u);
  EXPECT_THAT(left_out.goals_left_out, ElementsAre(HasSubstr("right at DRAM is not asked for on classroom")));
  EXPECT_EQ(to_json(left_out)["goals_left_out"], Json(left_out.goals_left_out));
}

TEST_F(Pipeline, ReportsAFaultWithItsPlace) {
  script([](FakeMemory&, const Plan& plan) -> Result<RunRecord> {
    RunRecord record;
    record.fault = Fault{};
    record.fault->file = "kernel.cu";
    record.fault->line = std::get<KernelLaunch>(plan.steps.front()).line;
    record.fault->message = "out of bounds";
    return record;
  });
  const Attempt attempt = run("mini-double");
  EXPECT_EQ(attempt.judgement.verdict, Verdict::fault);
  EXPECT_THAT(attempt.judgement.reasons, ElementsAre("kernel.cu:8: out of bounds (n=1, seed 1)"));
}

TEST_F(Pipeline, HandsOnTheHarnesssOwnTrouble) {
  script([](FakeMemory&, const Plan&) -> Result<RunRecord> { return Error{"the device fell over"}; });
  const Chapter& chapter = **course_.find("mini-double");
  const auto attempt = run_attempt(rig_, {&chapter, chapter.starter(), kPublicSeed, nullptr, std::nullopt});
  ASSERT_FALSE(attempt);
  EXPECT_EQ(attempt.error().message, "the device fell over");
}

TEST_F(Pipeline, TellsWhatDoesNotCompile) {
  device_that_multiplies_by(2, 0.6);
  EXPECT_EQ(run("mini-broken").judgement.verdict, Verdict::compile_error);
}

TEST_F(Pipeline, KeepsTheStartersDot) {
  const auto file = std::filesystem::temp_directory_path() / ("roofwalk-pipeline-" + std::to_string(getpid()) + ".db");
  Store store = *Store::open(file);
  rig_.store = &store;
  device_that_multiplies_by(2, 0.3);
  EXPECT_EQ(run("mini-double").judgement.verdict, Verdict::fail);
  device_that_multiplies_by(2, 0.6);  // the starter is not measured again
  EXPECT_DOUBLE_EQ(run("mini-double").moved->up, 2);
  EXPECT_EQ(devices_, 3 + 3);
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
}

TEST_F(Pipeline, KeepsTheStartersSectorUse) {
  const test::ScratchFolder folder;
  Store store = *Store::open(folder.path() / "roofwalk.db");
  rig_.store = &store;
  const auto device_with_ideal_sectors_over = [this](std::uint64_t divisor) {
    script([divisor, machine = rig_.machine](FakeMemory& memory, const Plan&) -> Result<RunRecord> {
      const auto x = memory.floats("x"), y = memory.floats("y");
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
      RunRecord record = record_of(static_cast<double>(y.size()), machine, 0.6);
      const auto moved = *record.counters[Counter::l1_read_sectors] + *record.counters[Counter::l1_write_sectors];
      record.counters.set(Counter::l1_ideal_sectors, moved / divisor);
      for (const auto none :
           {Counter::local_sectors, Counter::l1_uncoalesced_sectors, Counter::l1_uncoalesced_ideal_sectors})
        record.counters.set(none, 0);
      return record;
    });
  };
  device_with_ideal_sectors_over(4);
  EXPECT_EQ(run("mini-double").starter_sector_use, 0.25);
  device_with_ideal_sectors_over(2);
  const Attempt attempt = run("mini-double");
  EXPECT_EQ(attempt.measurement->sector_use.get(), 0.5);
  EXPECT_EQ(attempt.starter_sector_use, 0.25);
}

}  // namespace
}  // namespace roofwalk
