// Searches for bits and tests of whole words.
#include <fmt/format.h>

#include "tests/isa/row.h"

namespace roofwalk::isa {
namespace {

// The examples of the ISA, and the edges: a bit is sought from the base on, the base included; with an offset of 0,
// only there. There is nothing beyond bits 0 and 31.
ROW_TEST(Fns, FindsTheNthBitFromABase) {
  struct Case {
    std::uint32_t mask, base;
    std::int32_t offset;
    std::uint32_t place;
  };
  constexpr std::uint32_t kNone = 0xffffffff, kOdd = 0xaaaaaaaa, kAll = 0xffffffff, kEnds = 0x80000001;
  constexpr std::int32_t kLeast = -0x7fffffff - 1;
  const Case cases[] = {{kOdd, 3, 1, 3},
                        {kOdd, 3, -1, 3},
                        {kOdd, 2, 1, 3},
                        {kOdd, 2, -1, 1},
                        {kOdd, 3, 0, 3},
                        {kOdd, 2, 0, kNone},
                        {kOdd, 0, 16, 31},
                        {kOdd, 0, 17, kNone},
                        {kOdd, 31, -16, 1},
                        {kOdd, 31, -17, kNone},
                        {kAll, 0, 32, 31},
                        {kAll, 0, 33, kNone},
                        {kAll, 31, 1, 31},
                        {kAll, 31, 2, kNone},
                        {kAll, 0, -1, 0},
                        {kAll, 0, -2, kNone},
                        {kAll, 31, -32, 0},
                        {kAll, 31, -33, kNone},
                        {kEnds, 1, 1, 31},
                        {kEnds, 30, -1, 0},
                        {kEnds, 0, 2, 31},
                        {kEnds, 31, -2, 0},
                        {kEnds, 0, 0, 0},
                        {kEnds, 31, 0, 31},
                        {kEnds, 15, 0, kNone},
                        {0, 0, 1, kNone},
                        {0, 31, -1, kNone},
                        {0, 5, 0, kNone},
                        {kAll, 9, 5, 13},
                        {kAll, 9, -5, 5},
                        {kAll, 16, 16, 31},
                        {kAll, 15, -16, 0},
                        {0x00010000, 0, 1, 16},
                        {0x00008000, 31, -1, 15},
                        {kAll, 0, kLeast, kNone},
                        {kAll, 0, 0x7fffffff, kNone},
                        // PTX does not define bases above 31. Here, they find nothing.
                        {kAll, 32, 1, kNone},
                        {kAll, 32, -1, kNone},
                        {kAll, 32, 0, kNone},
                        {kAll, kAll, 1, kNone}};
  std::vector<Values> values(3);
  for (const Case& c : cases) {
    values[0].push_back(c.mask);
    values[1].push_back(c.base);
    values[2].push_back(static_cast<std::uint32_t>(c.offset));
  }
  expect_lanes("fns.b32 =r, $r, $r, $r", values, [&](std::size_t i) { return cases[i].place; });
}

ROW_TEST(Fns, AgreesWithThePseudocode) {
  const Values masks = samples(Kind::u32, 200);
  for (int base = 0; base < 32; ++base) {
    for (const int offset : {-40, -32, -9, -3, -2, -1, 0, 1, 2, 3, 10, 32, 40}) {
      expect_lanes(fmt::format("fns.b32 =r, $r, {}, {}", base, offset), {masks}, [&](std::size_t i) -> std::uint64_t {
        const auto is_set = [&](int bit) { return (masks[i] >> bit & 1) != 0; };
        if (offset == 0) return is_set(base) ? static_cast<std::uint64_t>(base) : 0xffffffff;
        int count = (offset < 0 ? -offset : offset) - 1;
        for (int place = base; place >= 0 && place<32; place += offset> 0 ? 1 : -1) {
          if (!is_set(place)) continue;
          if (count == 0) return static_cast<std::uint64_t>(place);
          --count;
        }
        return 0xffffffff;
      });
    }
  }
}

ROW_TEST(Cnot, IsOneForZeroOnly) {
  EXPECT_EQ(execute("cnot.b16 =h, $h", {{0, 1, 0xffff, 0x8000, 0x0100}}), (Values{1, 0, 0, 0, 0}));
  EXPECT_EQ(execute("cnot.b32 =r, $r", {{0, 1, 0xffffffff, 0x80000000, 0x10000}}), (Values{1, 0, 0, 0, 0}));
  EXPECT_EQ(execute("cnot.b64 =d, $d", {{0, 1, ~0ull, 1ull << 63, 1ull << 32}}), (Values{1, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace roofwalk::isa
