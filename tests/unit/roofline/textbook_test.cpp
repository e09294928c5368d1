// This library must compute the figures that textbooks give for machines and operations, and must not reproduce figures
// that are misprinted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/roofline/operations.h"
#include "common/roofline/roofline.h"
#include "common/roofline/si.h"

namespace roofwalk {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kFp32 = 4, kFp16 = 2, kInt8 = 1, kInt4 = 0.5;  // bytes

struct Chip {
  const char* name;
  double flops_per_s, bytes_per_s;
  double ridge, practical_ridge;  // as printed
};

// The peaks are dense FP16 on tensor cores.
constexpr Chip kChips[] = {{"V100", 125e12, 900e9, 139, 126},
                           {"A100 80 GB", 312e12, 2039e9, 153, 139},
                           {"H100 SXM", 990e12, 3350e9, 296, 269},
                           {"H200", 990e12, 4800e9, 206, 188}};
constexpr const Chip& kA100 = kChips[1];

// Expects a value that rounds to the printed whole number.
void expect_printed(double value, double printed) { EXPECT_NEAR(value, printed, 0.5); }

TEST(TextbookRidge, OfTensorCoresIsWherePeakMeetsBandwidth) {
  for (const Chip& chip : kChips) {
    SCOPED_TRACE(chip.name);
    expect_printed(ridge_flops_per_byte(chip.bytes_per_s, chip.flops_per_s), chip.ridge);
  }
}

TEST(TextbookRidge, InPracticeLiesFurtherLeft) {
  for (const Chip& chip : kChips) {
    SCOPED_TRACE(chip.name);
    expect_printed(ridge_flops_per_byte(0.88 * chip.bytes_per_s, 0.8 * chip.flops_per_s), chip.practical_ridge);
  }
}

TEST(TextbookRidge, OfPlainArithmeticIsTenTimesLower) {
  EXPECT_NEAR(ridge_flops_per_byte(1555e9, 19.5e12), 12.5, 0.05);  // A100 40 GB, FP32
}

TEST(TextbookAi, OfAVectorAdd) {
  EXPECT_DOUBLE_EQ(elementwise_work(1 << 20, 1, 2, 1, kFp32).ai(), 1.0 / 12);
  EXPECT_DOUBLE_EQ(elementwise_work(1 << 20, 1, 2, 0, kFp32).ai(), 1.0 / 8);  // loads alone
}

TEST(TextbookAi, OfASquareGemmGrowsWithItsSide) {
  for (const std::int64_t n : {512, 2048, 4096}) {
    const auto side = static_cast<double>(n);
    EXPECT_DOUBLE_EQ(gemm_work(n, n, n, kFp16).ai(), side / 3);
    EXPECT_DOUBLE_EQ(gemm_work(n, n, n, kFp32).ai(), side / 6);
  }
  EXPECT_NEAR(gemm_work(4096, 4096, 4096, kFp16).ai(), 1365.3, 0.05);
}

TEST(TextbookAi, OfAGemmWithoutAnyCache) { EXPECT_DOUBLE_EQ(gemm_tile_ai(1, 1, kFp32), 0.25); }

// 2 x 2 matrices by hand: each output takes 2 products and 1 addition and loads 4 floats; in one tile, all four outputs
// share 8 floats.
TEST(TextbookAi, OfTwoByTwoCountsEveryAddition) {
  EXPECT_EQ(gemm_flops_to_the_letter(1, 1, 2), 3);
  EXPECT_EQ(gemm_flops_to_the_letter(2, 2, 2), 12);
  const double share = 12.0 / static_cast<double>(gemm_work(2, 2, 2, kFp32).useful_flops);
  EXPECT_DOUBLE_EQ(share * gemm_tile_ai(1, 1, kFp32), 0.1875);
  EXPECT_DOUBLE_EQ(share * gemm_tile_ai(2, 2, kFp32), 0.375);
  // At any measured size, the two counts are practically equal.
  EXPECT_NEAR(static_cast<double>(gemm_flops_to_the_letter(512, 512, 512)) /
                  static_cast<double>(gemm_work(512, 512, 512, kFp32).useful_flops),
              1, 0.001);
}

TEST(TextbookAi, OfLayernormAndSoftmax) {
  EXPECT_DOUBLE_EQ(elementwise_work(1 << 20, kLayernormFlops, 1, 1, kFp16).ai(), 1.25);
  EXPECT_DOUBLE_EQ(elementwise_work(1 << 20, kLayernormFlops, 1, 1, kFp32).ai(), 0.625);
  const double softmax = elementwise_work(1 << 20, kSoftmaxFlops, 1, 1, kFp16).ai();
  EXPECT_GE(softmax, 1);
  EXPECT_LE(softmax, 2);
}

TEST(TextbookAi, OfAGemvIsTheBatch) {
  for (const int batch : {1, 2, 8}) {
    const double rule = weights_only_ai(batch, kFp16);
    EXPECT_DOUBLE_EQ(rule, batch);
    EXPECT_NEAR(gemm_work(batch, 4096, 4096, kFp16).ai() / rule, 1, 0.005);
    // Now the weights have fewer bits; activations stay fp16.
    const auto quantized = [&](double weight) {
      return gemm_work(batch, 4096, 4096, {.a = kFp16, .b = weight, .c = kFp16}).ai();
    };
    EXPECT_NEAR(quantized(kInt8) / (2 * rule), 1, 0.02);
    EXPECT_NEAR(quantized(kInt4) / (4 * rule), 1, 0.02);
  }
}

TEST(TextbookAi, OfDecodeAttention) {
  constexpr std::int64_t kKeys = 4096, kWidth = 128;
  EXPECT_EQ(attention_work(1, kKeys, kWidth, kFp16).useful_flops, 4 * kKeys * kWidth);
  EXPECT_NEAR(attention_work(1, kKeys, kWidth, kFp16).ai(), 1, 0.001);
  EXPECT_NEAR(attention_work(1, kKeys, kWidth, kInt8).ai(), 2, 0.001);
  EXPECT_NEAR(attention_work(8, kKeys, kWidth, kFp16).ai(), weights_only_ai(8, kFp16), 0.02);  // eight share the cache
}

TEST(TextbookAi, OfPrefillAttentionIsTheLengthOverTheBytes) {
  EXPECT_DOUBLE_EQ(attention_work(2048, 2048, 128, kFp16).ai(), 1024);
  EXPECT_DOUBLE_EQ(attention_work(128, 128, 128, kFp16).ai(), 64);
}

// Returns the work of the gate projection of Llama-2 7B: 4096 to 11008.
Work feed_forward(std::int64_t batch) { return gemm_work(batch, 11008, 4096, kFp16); }

TEST(TextbookAi, OfAFeedForwardLayer) {
  EXPECT_EQ(si_text(static_cast<double>(feed_forward(256).useful_flops), "FLOP"), "23.1 GFLOP");
  EXPECT_EQ(si_text(static_cast<double>(feed_forward(256).compulsory_bytes), "B"), "97.9 MB");
  EXPECT_NEAR(feed_forward(256).ai(), 235.8, 0.05);
  EXPECT_EQ(si_text(static_cast<double>(feed_forward(64).useful_flops), "FLOP"), "5.77 GFLOP");
  EXPECT_EQ(si_text(static_cast<double>(feed_forward(64).compulsory_bytes), "B"), "92.1 MB");
  EXPECT_NEAR(feed_forward(64).ai(), 62.7, 0.05);
  EXPECT_NEAR(feed_forward(1).ai(), 1.0, 0.001);
}

// Printed: 97.2 MB and 238 FLOP/B for a batch of 256. No measured AI can exceed the algorithm's AI.
TEST(PrintedWrong, FeedForwardOf256MovesMoreThanWasPrinted) {
  const Work work = feed_forward(256);
  EXPECT_LT(97.2e6, static_cast<double>(work.compulsory_bytes) - 0.5e6);
  EXPECT_LT(horizontal_gap(238, work.ai()), 0.995);
}

// Printed: 92.8 MB and 62.2 FLOP/B for a batch of 64. That is possible as a measurement but wrong as the algorithm's
// AI.
TEST(PrintedWrong, FeedForwardOf64MovesLessThanWasPrinted) {
  const Work work = feed_forward(64);
  EXPECT_GT(92.8e6, static_cast<double>(work.compulsory_bytes) + 0.5e6);
  EXPECT_GT(horizontal_gap(62.2, work.ai()), 1.005);
}

SanityInput layernorm_in(double elapsed_s) {
  return {.point = {.ai = 2.5, .flops_per_s = 50e9 / elapsed_s},
          .bytes = 20e9,
          .compulsory_bytes = 20e9,
          .executed_flops = 50e9,
          .useful_flops = 50e9,
          .bytes_per_s = kA100.bytes_per_s,
          .peak_flops_per_s = kA100.flops_per_s};
}

// Printed: 50 GFLOP and 20 GB in 0.1 ms, called 500 GFLOP/s and 10 % of the roof. In fact that is a thousand times 500
// GFLOP/s, and a hundred times the bandwidth of an A100's memory.
TEST(PrintedWrong, LayernormInATenthOfAMillisecondIsAboveTheRoof) {
  EXPECT_EQ(si_text(layernorm_in(0.1e-3).point.flops_per_s, "FLOP/s"), "500 TFLOP/s");
  EXPECT_THAT(implausible(layernorm_in(0.1e-3)), ElementsAre(HasSubstr("98.1 x what the roof allows")));
  // Probably meant: 500 GFLOP/s, which takes a thousand times as long and is a tenth of the roof.
  EXPECT_THAT(implausible(layernorm_in(0.1)), IsEmpty());
  EXPECT_NEAR(1 / vertical_gap(layernorm_in(0.1).point, kA100.bytes_per_s, kA100.flops_per_s), 0.1, 0.005);
}

// Printed: data in L2 moves the ridge to the right. In fact a faster level moves it left, so a kernel can become
// compute-bound there.
TEST(PrintedWrong, AFasterLevelMovesTheRidgeLeft) {
  constexpr double kL2 = 6e12;  // bytes/s of an A100's L2
  const double dram = ridge_flops_per_byte(kA100.bytes_per_s, kA100.flops_per_s);
  const double l2 = ridge_flops_per_byte(kL2, kA100.flops_per_s);
  EXPECT_NEAR(l2, 52, 0.05);
  EXPECT_LT(l2, dram);
  const double ai = 100;  // between both ridges: memory-bound from DRAM, compute-bound from L2
  EXPECT_LT(attainable_flops_per_s(ai, kA100.bytes_per_s, kA100.flops_per_s), kA100.flops_per_s);
  EXPECT_EQ(attainable_flops_per_s(ai, kL2, kA100.flops_per_s), kA100.flops_per_s);
}

}  // namespace
}  // namespace roofwalk
