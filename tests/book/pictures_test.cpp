#include "book/truth/pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "book/truth/drawings.h"
#include "common/base/json.h"

namespace roofwalk::book {
namespace {

using testing::HasSubstr;

TEST(Seal, HoldsForThePictureOfTheScriptOnly) {
  const std::string picture = sealed("<svg>1</svg>\n", "plot 1");
  EXPECT_EQ(broken_seal(picture, "plot 1"), "");
  EXPECT_EQ(broken_seal(picture, "plot 2"), "another one would be drawn now");
  std::string edited = picture;
  edited.replace(edited.find(">1<"), 3, ">2<");
  EXPECT_EQ(broken_seal(edited, "plot 1"), "it was changed after it was drawn");
  EXPECT_EQ(broken_seal("<svg>1</svg>\n", "plot 1"), "no program drew it");
}

TEST(Seal, ComesOff) {
  EXPECT_EQ(unsealed(sealed("<svg/>\n", "plot 1")), "<svg/>\n");
  EXPECT_EQ(unsealed("<svg/>\n"), "<svg/>\n");
}

std::string drawn(const std::vector<std::string>& words, const Records& records = {}) {
  const auto picture = drawing(words, records);
  return picture ? *picture : picture.error().message;
}

TEST(Drawing, CountsSectorsAndTurnsItself) {
  EXPECT_THAT(drawn({"sectors", "1"}), HasSubstr("4 sectors, 128 bytes, for 128 wanted"));
  EXPECT_THAT(drawn({"sectors", "2"}), HasSubstr("8 sectors, 256 bytes, for 128 wanted"));
  EXPECT_THAT(drawn({"sectors", "8"}), HasSubstr("32 sectors, 1024 bytes, for 128 wanted"));
  EXPECT_THAT(drawn({"banks", "32"}), HasSubstr("32 turns"));
  EXPECT_THAT(drawn({"banks", "33"}), HasSubstr("1 turn"));
  EXPECT_THAT(drawn({"banks", "36"}), HasSubstr("4 turns"));
  EXPECT_THAT(drawn({"tile", "32", "32"}), HasSubstr("= 8 FLOP/byte"));
  EXPECT_THAT(drawn({"rows", "5", "2", "14", "3", "9", "1", "4", "2"}),
              testing::AllOf(HasSubstr("14 turns"), HasSubstr("36 % busy"), HasSubstr("10 turns"),
                             HasSubstr("50 % busy"), HasSubstr(">5 turns"), HasSubstr("100 % busy")));
}

TEST(Drawing, SlopesAreBandwidths) {
  const Records records = {{"a", Json{{"observed_ai", 0.25}, {"achieved_flops_per_s", 32e9}}}};
  EXPECT_THAT(drawn({"slopes", "a:my_dot"}, records), testing::AllOf(HasSubstr("128 GB/s"), HasSubstr("my dot")));
}

TEST(Drawing, OfAMachineHasItsNumbers) {
  const Records records = {{"m", Json{{"sms", 132},
                                      {"fp32_lanes_per_sm", 128},
                                      {"l1_bytes", 65536},
                                      {"shared_bytes_per_sm", 131072},
                                      {"l2_bytes", 52428800},
                                      {"memory_bytes", 85899345920.0},
                                      {"l1_bytes_per_s", 33e12},
                                      {"l2_bytes_per_s", 9.77e12},
                                      {"dram_bytes_per_s", 3.35e12},
                                      {"l1_latency_cycles", 33},
                                      {"l2_latency_cycles", 264},
                                      {"dram_latency_cycles", 650}}}};
  EXPECT_THAT(drawn({"machine", "m"}, records),
              testing::AllOf(HasSubstr("132 SMs, 8 of them shown"), HasSubstr("64 KiB"), HasSubstr("L2, 50 MiB"),
                             HasSubstr("DRAM, 80 GiB"), HasSubstr("3.35 TB/s, 650 cycles")));
  EXPECT_THAT(drawn({"machine", "m"}, {{"m", Json{{"sms", 8}}}}), HasSubstr("m has no fp32_lanes_per_sm"));
}

TEST(Drawing, SaysWhatIsWrong) {
  EXPECT_THAT(drawn({"circles"}), HasSubstr("no drawing"));
  EXPECT_THAT(drawn({"banks", "many"}), HasSubstr("`many`"));
  EXPECT_THAT(drawn({"sectors"}), HasSubstr("needs numbers"));
  EXPECT_THAT(drawn({"slopes", "b:x"}), HasSubstr("of a record above"));
  EXPECT_THAT(drawn({"machine", "b"}), HasSubstr("a record above"));
}

}  // namespace
}  // namespace roofwalk::book
