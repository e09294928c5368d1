#include "common/roofline/si.h"

#include <gtest/gtest.h>

#include <limits>

namespace roofwalk {
namespace {

TEST(NumberText, HasThreeSignificantDigits) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(1.0 / 12), "0.0833");
  EXPECT_EQ(number_text(16), "16");
  EXPECT_EQ(number_text(1.5), "1.5");
  EXPECT_EQ(number_text(-2.345), "-2.35");
  EXPECT_EQ(number_text(85.333), "85.3");
  EXPECT_EQ(number_text(4096.4), "4096");
  EXPECT_EQ(number_text(9.999), "10");
  EXPECT_EQ(number_text(1e-9), "1e-09");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "inf");
}

TEST(SiText, PicksThePrefix) {
  EXPECT_EQ(si_text(128e9, "B/s"), "128 GB/s");
  EXPECT_EQ(si_text(2.048e12, "FLOP/s"), "2.05 TFLOP/s");
  EXPECT_EQ(si_text(12582912, "B"), "12.6 MB");
  EXPECT_EQ(si_text(999.7, "B"), "1 kB");
  EXPECT_EQ(si_text(999, "B"), "999 B");
  EXPECT_EQ(si_text(0.25, "FLOP/B"), "0.25 FLOP/B");
  EXPECT_EQ(si_text(1e10, ""), "10 G");
  EXPECT_EQ(si_text(1, ""), "1");
}

TEST(TimeText, GoesFromNanosecondsToSeconds) {
  EXPECT_EQ(time_text(2500), "2.5 us");
  EXPECT_EQ(time_text(98304), "98.3 us");
  EXPECT_EQ(time_text(999999), "1 ms");
  EXPECT_EQ(time_text(4.5e9), "4.5 s");
  EXPECT_EQ(time_text(0), "0 ns");
}

}  // namespace
}  // namespace roofwalk
