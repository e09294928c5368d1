// Sums and differences of many words, whose carry flag goes from instruction to instruction.
#include "tests/isa/row.h"

namespace roofwalk::isa {
namespace {

// 128-bit sums in four 32-bit words and in two 64-bit words: each word's carry goes to the next word.
ROW_TEST(Addc, CarriesThroughWords) {
  const auto sum =
      execute_all("add.cc.u32 =r, $r, $r; addc.cc.u32 =r, $r, $r; addc.cc.s32 =r, $r, $r; addc.u32 =r, $r, 0",
                  {{0xffffffff, 1, 0x80000000},
                   {1, 2, 0x80000000},
                   {0xffffffff, 5, 7},
                   {0, 6, 8},
                   {0x7fffffff, 0xffffffff, 0xffffffff},
                   {0, 1, 0},
                   {9, 9, 9}});
  EXPECT_EQ(sum[0], (Values{0, 3, 0}));
  EXPECT_EQ(sum[1], (Values{0, 11, 16}));
  EXPECT_EQ(sum[2], (Values{0x80000000, 0, 0xffffffff}));
  EXPECT_EQ(sum[3], (Values{9, 10, 9}));
  EXPECT_EQ(execute_all("add.cc.u64 =d, $d, $d; addc.u64 =d, $d, $d", {{~0ull}, {2}, {3}, {4}}),
            (std::vector<Values>{{1}, {8}}));
}

ROW_TEST(Subc, BorrowsThroughWords) {
  const auto difference = execute_all("sub.cc.u32 =r, $r, $r; subc.cc.u32 =r, $r, $r; subc.u32 =r, $r, $r",
                                      {{0, 5, 1}, {1, 5, 2}, {0, 0, 3}, {0, 0, 3}, {7, 7, 7}, {2, 2, 7}});
  EXPECT_EQ(difference[0], (Values{0xffffffff, 0, 0xffffffff}));
  EXPECT_EQ(difference[1], (Values{0xffffffff, 0, 0xffffffff}));
  EXPECT_EQ(difference[2], (Values{4, 5, 0xffffffff}));
}

// The flag is that of a + ~b + 1: set where nothing is borrowed.
ROW_TEST(Subc, ItsFlagIsTheCarryOfTheSum) {
  const Values a{7, 3, 0xffffffff}, b{3, 7, 1};
  const auto flags = execute_all(
      "sub.cc.u32 %r50, $r, $r; addc.u32 =r, 0, 0; add.cc.u32 %r50, $r, $r; subc.u32 =r, 9, 2", {a, b, a, b});
  EXPECT_EQ(flags[0], (Values{1, 0, 1}));
  EXPECT_EQ(flags[1], (Values{6, 6, 7}));
}

// The low and the high half of a 64-bit product plus a 64-bit summand; signedness matters in the high half.
ROW_TEST(Madc, AddsAProductOfTwoWords) {
  const auto sum =
      execute_all("mad.lo.cc.u32 =r, $r, $r, $r; madc.hi.u32 =r, $r, $r, $r",
                  {{0xffffffff, 3}, {0xffffffff, 4}, {0xffffffff, 5}, {0xffffffff, 3}, {0xffffffff, 4}, {1, 5}});
  EXPECT_EQ(sum[0], (Values{0, 17}));
  EXPECT_EQ(sum[1], (Values{0, 5}));
  const auto with_sign = execute_all("mad.lo.cc.s32 =r, $r, $r, $r; madc.hi.cc.s32 =r, $r, $r, $r; addc.u32 =r, 0, 0",
                                     {{0xffffffff}, {1}, {1}, {0xffffffff}, {1}, {0}});
  EXPECT_EQ(with_sign, (std::vector<Values>{{0}, {0}, {1}}));
}

// A thread whose guard is false keeps its carry.
ROW_TEST(Addc, OfEachThreadItsOwn) {
  const auto sum = execute_all(
      "setp.gt.u32 %p50, $r, 4; add.cc.u32 %r50, -1, 1; @%p50 add.cc.u32 %r50, 1, 1; addc.u32 =r, 0, 0", {{9, 3}});
  EXPECT_EQ(sum[0], (Values{0, 1}));
}

}  // namespace
}  // namespace roofwalk::isa
