// The classic optimisation ladder of CUDA courses: six ways to multiply two matrices, each adding one idea. Bytes, and
// the time of the first step, are derived by hand. Of the other times, only the order is claimed, which matches
// published ladders.
#include <fmt/format.h>

#include "tests/laws/law.h"

namespace roofwalk::test {
namespace {

struct Shape {
  int m = 0, n = 0, k = 0;  // c is m x n
  double products() const { return 1.0 * m * n * k; }
};

struct Step {
  const char* name;  // kernels/gemm_<name>.cu
  // Products (of all m n k) per value of a, and per value of b, that L1 delivers. L1 delivers whole sectors of eight
  // values, whether all of them are used or not.
  double uses_of_a, uses_of_b;
  double conflicts;               // bank conflicts per product
  bool right_at_l1, right_at_l2;  // whether it reads fewer sectors at L1, at L2 than the step before
  // Published for an RTX A6000 with matrices of size 4092 (siboehm/SGEMM_CUDA, README: naive, GMEM coalescing, SMEM
  // caching, 2D blocktiling, vectorized); 0: not published.
  double published_gflops;
};

// For 32 products, a warp of the first step requests 32 sectors of a and one of b; a warp of the second, one of a and
// four of b. The third step has tiles of 32 x 32, later ones of 64 x 128. In the fourth step, neighbouring lanes read
// 16 of every 32 bytes of b, so each quarter warp takes two wavefronts: four conflicts per read, and two reads for 32 x
// 64 products.
const Step kSteps[] = {
    {"uncoalesced", 4.0 / 32, 4, 0, false, false, 309},          //
    {"coalesced", 4, 1, 0, true, false, 1986.5},                 //
    {"shared_tile", 32, 32, 0, true, true, 2980.3},              //
    {"register_tile", 128, 64, 1.0 / 256, true, true, 15971.7},  //
    {"wide", 128, 64, 0, false, false, 18237.3},                 //
    {"async", 128, 64, 0, false, false, 0},
};
constexpr double kTileValues = 64 * 128;  // elements of c per block in the last three steps

class Ladder : public Law {
 protected:
  // With tiles of 64 x 128 and four blocks per SM, these sizes make two full waves. In a single wave, the order of an
  // SM's warps decides how long its last block runs alone, and that matters more than the gain of a step.
  Shape shape() const {
    if (GetParam() == "classroom") return {1024, 512, 256};  // 64 blocks, 32 slots
    return {1024, 512, 1024};                                // as many of eight SMs of an A100 or H100
  }

  RunRecord multiply(const Step& step, const Shape& s, Buffer& a, Buffer& b, Buffer& c) {
    return run(std::string("gemm_") + step.name, {&a, &b, &c, s.m, s.n, s.k}, {.max_seconds = 3600});
  }
};

TEST_P(Ladder, StepsComputeTheProduct) {
  const Shape s{128, 256, 64};
  Buffer a{"a", numbers(static_cast<std::size_t>(s.m) * s.k, 7)},
      b{"b", numbers(static_cast<std::size_t>(s.k) * s.n, 11)};
  std::vector<float> product(static_cast<std::size_t>(s.m) * s.n);
  for (int row = 0; row < s.m; ++row) {
    for (int i = 0; i < s.k; ++i) {
      for (int column = 0; column < s.n; ++column) {
        product[static_cast<std::size_t>(row * s.n + column)] +=
            a.values[static_cast<std::size_t>(row * s.k + i)] * b.values[static_cast<std::size_t>(i * s.n + column)];
      }
    }
  }
  for (const Step& step : kSteps) {
    Buffer c{"c", std::vector<float>(product.size())};
    multiply(step, s, a, b, c);
    EXPECT_TRUE(c.values == product) << step.name;
  }
}

TEST_P(Ladder, EveryStepMovesAsItClaims) {
  const Shape s = shape();
  const auto size = [](int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<unsigned>(columns);
  };
  Buffer a{"a", numbers(size(s.m, s.k), 7)}, b{"b", numbers(size(s.k, s.n), 11)};
  const double peak = 2.0 * machine_.fp32_lanes_per_sm * machine_.sms * machine_.clock_hz;
  std::vector<float> product;
  double l1_before = 0, l2_before = 0, ns_before = 0, published_before = 0;
  for (const Step& step : kSteps) {
    SCOPED_TRACE(step.name);
    Buffer c{"c", std::vector<float>(size(s.m, s.n))};
    const RunRecord record = multiply(step, s, a, b, c);
    if (product.empty()) product = c.values;
    EXPECT_TRUE(c.values == product);

    EXPECT_EQ(static_cast<double>(count(record, Counter::flops_f32)), 2 * s.products());
    const auto l1 = static_cast<double>(count(record, Counter::l1_read_sectors));
    const auto l2 = static_cast<double>(count(record, Counter::l2_read_sectors));
    EXPECT_EQ(l1, s.products() / 8 * (1 / step.uses_of_a + 1 / step.uses_of_b));
    EXPECT_EQ(static_cast<double>(count(record, Counter::shared_bank_conflicts)), s.products() * step.conflicts);
    EXPECT_LE(l2, l1);
    EXPECT_GE(l2, (1.0 * s.m * s.k + 1.0 * s.k * s.n) / 8);
    const KernelRecord& kernel = record.kernels.at(0);
    const double flops_per_s = 2 * s.products() / kernel.elapsed_ns * 1e9;
    EXPECT_LT(flops_per_s, peak);
    if (ns_before != 0) {
      EXPECT_TRUE(!step.right_at_l1 || l1 < l1_before) << l1 << " sectors at L1, before " << l1_before;
      EXPECT_TRUE(!step.right_at_l2 || l2 < l2_before) << l2 << " sectors at L2, before " << l2_before;
      // Asynchronous copies hide latency. Where the FMAs of four resident blocks wait for registers, as on a Hopper
      // chip, none is left to hide, so that step must only lose nothing.
      const double may_lose = step.published_gflops == 0 ? 1.03 : 1;
      EXPECT_LT(kernel.elapsed_ns, ns_before * may_lose) << "up";
    }
    // For --gtest_output=xml: this machine's gains beside those of the published ladder.
    std::string note = fmt::format("{:.0f} us, {:.2f} TFLOP/s, {:.1f} % of the peak", kernel.elapsed_ns / 1e3,
                                   flops_per_s / 1e12, 100 * flops_per_s / peak);
    if (ns_before != 0) note += fmt::format(", x {:.2f}", ns_before / kernel.elapsed_ns);
    if (published_before != 0 && step.published_gflops != 0) {
      note += fmt::format(" (published on an RTX A6000: x {:.2f})", step.published_gflops / published_before);
    }
    RecordProperty(step.name, note);

    l1_before = l1;
    l2_before = l2;
    ns_before = kernel.elapsed_ns;
    published_before = step.published_gflops;
    if (&step == &kSteps[0]) {
      // The 32 words of a warp's load of a lie in one bank of L1, because k is a multiple of 32; its load of b is one
      // more wavefront.
      const double wavefronts = s.products() / 32 * 33 / machine_.sms;
      expect_within(cycles(record), wavefronts * 128 / machine_.l1_bytes_per_clock, 0.1, "cycles of the first step");
    }
    if (step.uses_of_a == 128) {
      const double blocks = s.m * s.n / kTileValues, places = 1.0 * machine_.sms * kernel.resident_blocks_per_sm;
      EXPECT_EQ(blocks, 2 * places);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, Ladder, testing::Values("classroom", "a100-80/8", "h100-sxm/8"), name_of_machine);

}  // namespace
}  // namespace roofwalk::test
