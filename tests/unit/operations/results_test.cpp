// The computations for a run's result: the place of its dot, its bound, and the reason for a difference from textbooks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/json.h"
#include "tests/unit/operations/bench.h"

namespace roofwalk {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::operation;
using testing::OperationsBench;

// Returns a run with minimum traffic at every level that takes as long as DRAM or the arithmetic, whichever is slower.
OperationRun ideal(const Operation& operation, const Machine& machine, double slower = 1) {
  const Work work = operation.exercise->work(operation.size);
  OperationRun run;
  run.result_bytes = static_cast<double>(work.compulsory_bytes) / 4;
  run.dram_write_bytes = run.result_bytes;
  run.dram_read_bytes = static_cast<double>(work.compulsory_bytes) - run.result_bytes;
  run.l2_bytes = run.l1_bytes = static_cast<double>(work.compulsory_bytes);
  run.executed_flops = static_cast<double>(work.useful_flops);
  const RoofRates sheet = data_sheet_rates(machine);
  run.dram_ns = run.l2_bytes / *sheet.dram_bytes_per_s() * 1e9;
  run.flops_ns = run.executed_flops / *sheet[operation.compute_roof] * 1e9;
  run.launch_ns = 2500;
  run.elapsed_ns = slower * std::max(run.dram_ns, run.flops_ns);
  return run;
}

class Results : public ::testing::Test {
 protected:
  OperationResult result(const std::string& name, const OperationRun& run) const {
    return result_of(operation(name), run, machine_, data_sheet_rates(machine_));
  }
  OperationRun ideal_run(const std::string& name, double slower = 1) const {
    return ideal(operation(name), machine_, slower);
  }

  const Machine machine_ = *load_machine("h100-sxm");
};

TEST_F(Results, ThatAreAsTheTextbookSaysNeedNoWords) {
  for (const char* name : {"vector-add", "layernorm", "softmax", "gemv", "gemm-1", "gemm-32", "decode", "prefill"}) {
    const OperationResult r = result(name, ideal_run(name));
    EXPECT_NEAR(r.dram_ai / operation(name).textbook_ai, 1, 0.05) << name;
    EXPECT_NEAR(r.share_of_roof, 1, 1e-9) << name;
    EXPECT_THAT(r.remarks, IsEmpty()) << name;
  }
}

TEST_F(Results, AreHeldAgainstTheRoofOfTheirArithmetic) {
  EXPECT_EQ(result("vector-add", ideal_run("vector-add")).bound, "memory");
  const OperationResult prefill = result("prefill", ideal_run("prefill"));
  EXPECT_EQ(prefill.bound, "compute");
  EXPECT_NEAR(prefill.ridge, 295, 1);                                 // tensor cores, by the data sheet
  EXPECT_NEAR(result("decode", ideal_run("decode")).ridge, 20, 0.1);  // FP32
  EXPECT_EQ(result("decode", ideal_run("decode", 1.9)).bound, "memory");
  EXPECT_EQ(result("decode", ideal_run("decode", 2.1)).bound, "latency");
}

TEST_F(Results, TellWhatTheRuleLeavesOut) {
  EXPECT_THAT(result("gemm-256", ideal_run("gemm-256")).remarks,
              ElementsAre("The rule, 2 batch / bytes of a weight, leaves out the activations, in and out: 7.9 % of the "
                          "bytes that this size must move."));
}

TEST_F(Results, TellWhatWasReadAgain) {
  OperationRun run = ideal_run("vector-add");
  run.dram_read_bytes += 0.5 * run.l2_bytes;
  run.l1_bytes = run.l2_bytes = run.dram_read_bytes + run.dram_write_bytes;
  EXPECT_THAT(result("vector-add", run).remarks,
              ElementsAre("DRAM moved 302 MB, x1.5 as much as it must: 101 MB were read again after the L2 of 52.4 MB "
                          "had let them go."));
  run.is_scattered = true;
  EXPECT_THAT(result("vector-add", run).remarks, ElementsAre(HasSubstr("101 MB of sectors that are used in part.")));
}

TEST_F(Results, TellWhatWasWrittenBesideTheResult) {
  OperationRun run = ideal_run("vector-add");
  run.dram_write_bytes += 0.25 * run.l2_bytes;
  EXPECT_THAT(result("vector-add", run).remarks,
              ElementsAre(HasSubstr("must: 50.3 MB besides the result were written.")));
}

TEST_F(Results, DoNotBelieveInTooFewBytes) {
  OperationRun run = ideal_run("decode");
  run.dram_read_bytes /= 2;
  run.elapsed_ns /= 2;
  run.l1_bytes = run.l2_bytes = run.dram_read_bytes + run.dram_write_bytes;
  EXPECT_THAT(result("decode", run).remarks, ElementsAre(HasSubstr("a part was not needed, or is still in a cache")));
}

TEST_F(Results, TellWhichCacheServesWhatIsReadAgain) {
  OperationRun run = ideal_run("softmax");
  run.l1_bytes *= 1.5;
  EXPECT_THAT(
      result("softmax", run).remarks,
      ElementsAre("Its threads ask for x1.5 as many bytes as DRAM moves (AI 0.667 at L1, 1 at L2): what is read "
                  "again comes from L1."));
  run.l2_bytes = run.l1_bytes;
  EXPECT_THAT(result("softmax", run).remarks,
              ElementsAre(HasSubstr("0.667 at L2): what is read again comes from L2.")));
  run.l1_bytes *= 2;
  EXPECT_THAT(result("softmax", run).remarks, ElementsAre(HasSubstr("comes from L1 and L2.")));
}

TEST_F(Results, TellOfArithmeticThatNobodyNeeds) {
  OperationRun run = ideal_run("gemm-1");
  run.executed_flops *= 16;
  EXPECT_THAT(result("gemm-1", run).remarks,
              ElementsAre("It executes x16 the useful FLOPs, which does not move the dot."));
}

TEST_F(Results, TellWhereTheTimeWent) {
  OperationRun run = ideal_run("decode", 1.5);
  EXPECT_THAT(
      result("decode", run).remarks,
      ElementsAre("At 66.7 % of its roof, in 60.1 us, 2.5 us of them the launch: alone it would take DRAM 40.1 us, "
                  "and they do not overlap in full."));
  run.launch_ns = 500;
  run.shared_ns = 0.5 * run.elapsed_ns;
  EXPECT_THAT(result("decode", run).remarks,
              ElementsAre(HasSubstr("in 60.1 us: alone it would take DRAM 40.1 us, shared memory 30.1 us, and")));
  EXPECT_THAT(result("decode", ideal_run("decode", 5)).remarks,
              ElementsAre(HasSubstr("no part of the chip is busy for long.")));
}

// A stored result is reused until anything that it depends on changes.
TEST(KeptOperations, AreMeasuredOnce) {
  const OperationsBench rig("classroom");
  Operation small = operation("gemv");
  small.size = Size({{"batch", 1}, {"n", 256}, {"k", 512}});
  const auto first = measured_operations(rig.rig(), {&small});
  ASSERT_TRUE(first) << first.error().text();
  std::vector<testing::fs::path> files;
  for (const auto& entry : testing::fs::directory_iterator(rig.root() / ".cache/operations")) {
    files.push_back(entry.path());
  }
  ASSERT_EQ(files.size(), 1u);
  EXPECT_TRUE(files.front().filename().string().starts_with("classroom-gemv-"));
  Json kept = parse_json(file_text(files.front()));
  kept["l1_bytes"] = 1e9;
  std::ofstream(files.front()) << kept;
  const auto l1_bytes = [&](bool fresh) {
    return measured_operations(rig.rig(), {&small}, fresh)->front().run.l1_bytes;
  };
  EXPECT_EQ(l1_bytes(false), 1e9);
  EXPECT_EQ(l1_bytes(true), first->front().run.l1_bytes);
  std::ofstream(files.front()) << "{\"elapsed_ns\": 1}";
  EXPECT_EQ(l1_bytes(false), first->front().run.l1_bytes);
  std::ofstream(files.front()) << kept;
  rig.change("halves.cuh", "value += __shfl_xor_sync", "value -= __shfl_xor_sync");
  EXPECT_FALSE(measured_operations(rig.rig(), {&small})) << "another header";
}

}  // namespace
}  // namespace roofwalk
