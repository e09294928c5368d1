// The kernels of grader/operations/kernels on classroom: results are correct at small, odd shapes, and bytes are equal
// to those derived by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/operations/bench.h"

namespace roofwalk {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::operation;
using testing::OperationsBench;

Result<OperationRun> run(const OperationsBench& rig, const Operation& operation, const Size& size) {
  return run_operation(rig.rig(), operation, size, data_sheet_rates(rig.rig().machine));
}

class Kernel : public ::testing::TestWithParam<std::string> {};

TEST_P(Kernel, IsRightAtSmallOddShapes) {
  const Operation& tested = operation(GetParam());
  ASSERT_GE(tested.small_sizes.size(), 2u);
  for (const char* machine : {"classroom", "h100-sxm"}) {  // tiles are smaller on the machine with less shared memory
    const OperationsBench rig(machine);
    for (const Size& size : tested.small_sizes) {
      const auto result = run(rig, tested, size);
      EXPECT_TRUE(result) << machine << ": " << result.error().text();
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Operation& each : operations()) all.push_back(each.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Operations, Kernel, ::testing::ValuesIn(names()), [](const auto& tested) {
  std::string name = tested.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

struct Traffic {
  std::string name;
  Size size;
  double read_bytes, written_bytes;  // at DRAM, derived by hand
};

// Inputs are read once and results written once, exact to the byte, because extents are multiples of a sector's 32
// bytes.
TEST(Kernels, MoveWhatTheyMust) {
  const OperationsBench rig("classroom");
  for (const Traffic& by_hand : {
           Traffic{"vector-add", Size({{"n", 1 << 16}}), 8 << 16, 4 << 16},
           Traffic{"layernorm", Size({{"rows", 64}, {"columns", 1024}}), 2 * 64 * 1024 + 2 * 2 * 1024, 2 * 64 * 1024},
           Traffic{"softmax", Size({{"rows", 16}, {"columns", 4096}}), 2 * 16 * 4096, 2 * 16 * 4096},
           Traffic{"gemv", Size({{"batch", 1}, {"n", 256}, {"k", 512}}), 2 * 256 * 512 + 2 * 512, 2 * 256},
           Traffic{"gemm-32", Size({{"batch", 32}, {"n", 256}, {"k", 512}}), 2 * (256 + 32) * 512, 2 * 32 * 256},
           Traffic{"decode", Size({{"heads", 4}, {"keys", 256}}), 2 * (2 * 256 + 1) * 4 * 128, 2 * 4 * 128},
           Traffic{"prefill", Size({{"heads", 2}, {"tokens", 128}}), 2 * 3 * 2 * 128 * 128, 2 * 2 * 128 * 128},
       }) {
    const auto result = run(rig, operation(by_hand.name), by_hand.size);
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->dram_read_bytes, by_hand.read_bytes) << by_hand.name;
    EXPECT_EQ(result->dram_write_bytes, by_hand.written_bytes) << by_hand.name;
    const Work work = operation(by_hand.name).exercise->work(by_hand.size);
    EXPECT_EQ(static_cast<double>(work.compulsory_bytes), by_hand.read_bytes + by_hand.written_bytes) << by_hand.name;
  }
}

// With 128 bits per lane, a warp's access is 16 adjacent sectors, and no sector is requested twice.
TEST(Kernels, ThatStreamAskForWholeLines) {
  const OperationsBench rig("classroom");
  const auto layernorm = run(rig, operation("layernorm"), Size({{"rows", 64}, {"columns", 1024}}));
  ASSERT_TRUE(layernorm) << layernorm.error().text();
  EXPECT_EQ(layernorm->l1_bytes, 4 * 2 * 64 * 1024);  // x, both parameters and y
  const auto decode = run(rig, operation("decode"), Size({{"heads", 4}, {"keys", 256}}));
  ASSERT_TRUE(decode) << decode.error().text();
  EXPECT_EQ(decode->l2_bytes, decode->dram_read_bytes + decode->dram_write_bytes);
}

// Each kernel has one error that the reference must notice.
TEST(Kernels, ThatAreWrongAreNotMeasured) {
  struct Break {
    std::string name, kernel, from, to;
  };
  for (const Break& one : {
           Break{"vector-add", "vector_add.cu", "x[j].w + y[j].w", "x[j].w - y[j].w"},
           Break{"layernorm", "layernorm.cu", "* scale * g[e]", "* g[e]"},
           Break{"softmax", "softmax.cu", "sum *= exponential(largest - most);", ""},
           Break{"gemv", "gemv.cu", "sum = warp_sum(sum);", ""},
           Break{"gemm-256", "gemm.cu", "piece ^ row % kPieces", "piece ^ (row + piece / 4) % kPieces"},
           Break{"decode", "decode.cu", "running.rescale(most);", "running.largest = most;"},
           Break{"prefill", "prefill.cu", "if (next > count) {", "if (next > count + 64) {"},
       }) {
    const OperationsBench rig("classroom");
    rig.change(one.kernel, one.from, one.to);
    bool noticed = false;
    for (const Size& size : operation(one.name).small_sizes) {
      const auto result = run(rig, operation(one.name), size);
      if (!result) {
        EXPECT_THAT(result.error().text(), AllOf(HasSubstr(one.name + " at "), HasSubstr("it should be")));
        noticed = true;
        break;
      }
    }
    EXPECT_TRUE(noticed) << one.name;
  }
}

// A layer that counts all its FLOPs twice.
class Boaster final : public Exercise {
 public:
  Work work(const Size& size) const override {
    Work work = honest().work(size);
    work.useful_flops *= 2;
    return work;
  }
  Problem problem(const Size& size, std::uint64_t seed) const override { return honest().problem(size, seed); }
  std::vector<Expected> reference(const Size& size, const Problem& problem) const override {
    return honest().reference(size, problem);
  }

 private:
  static const Exercise& honest() { return *operation("gemv").exercise; }
};

TEST(Kernels, WhoseDotIsImpossibleAreNotMeasured) {
  const OperationsBench rig("classroom");
  Operation boastful = operation("gemv");
  boastful.exercise = std::make_shared<Boaster>();
  const auto result = run(rig, boastful, Size({{"batch", 1}, {"n", 256}, {"k", 512}}));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, AllOf(HasSubstr("gemv at batch=1 n=256 k=512: "), HasSubstr("work was skipped")));
}

}  // namespace
}  // namespace roofwalk
