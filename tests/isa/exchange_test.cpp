// Instructions by which the lanes of a warp exchange values.
#include <algorithm>
#include <bit>

#include "tests/isa/row.h"

namespace roofwalk::isa {
namespace {

Values lanes(std::uint64_t (*of)(std::uint32_t lane)) {
  Values out;
  for (std::uint32_t lane = 0; lane < 32; ++lane) out.push_back(of(lane));
  return out;
}

std::uint64_t scattered(std::uint32_t lane) { return (lane + 3) * 2654435761u & 0xffffffffu; }

// Computes shfl.sync as the PTX ISA defines it; c contains the segment's mask and the clamp.
std::uint64_t shuffled(const std::string& mode, const Values& a, std::uint32_t lane, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t segment = c >> 8 & 31, clamp = c & 31, low = lane & segment, most = low | (clamp & ~segment & 31);
  std::uint32_t from = lane;
  bool in = false;
  if (mode == "up") from = lane - b, in = static_cast<int>(lane) - static_cast<int>(b) >= static_cast<int>(most);
  if (mode == "down") from = lane + b, in = from <= most;
  if (mode == "bfly") from = lane ^ b, in = from <= most;
  if (mode == "idx") from = low | (b & ~segment & 31), in = from <= most;
  return in ? a[from] : a[lane];
}

ROW_TEST(Shfl, EveryModeInSegments) {
  const Values a = lanes(scattered);
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    for (const std::uint32_t b : {0u, 1u, 5u, 31u}) {
      for (const std::uint32_t width : {32u, 8u, 2u}) {
        const std::uint32_t c = (32 - width) << 8 | (mode == "up" ? 0u : 31u);
        Values expected;
        for (std::uint32_t lane = 0; lane < 32; ++lane) expected.push_back(shuffled(mode, a, lane, b, c));
        const std::string text =
            "shfl.sync." + mode + ".b32 =r, $r, " + std::to_string(b) + ", " + std::to_string(c) + ", -1";
        EXPECT_EQ(execute(text, {a}), expected) << text;
      }
    }
  }
}

ROW_TEST(Vote, EveryModeOverMasksOfTheirOwn) {
  const Values masks = lanes([](std::uint32_t lane) -> std::uint64_t { return 0xffull << (lane / 8 * 8); });
  const Values a = lanes([](std::uint32_t lane) -> std::uint64_t { return lane < 8 || lane == 11 || lane >= 24; });
  Values ballot, all, any, uni;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t mask = static_cast<std::uint32_t>(masks[lane]);
    std::uint32_t bits = 0;
    for (std::uint32_t other = 0; other < 32; ++other) bits |= static_cast<std::uint32_t>(a[other]) << other;
    bits &= mask;
    ballot.push_back(bits);
    all.push_back(bits == mask);
    any.push_back(bits != 0);
    uni.push_back(bits == mask || bits == 0);
  }
  const std::string test = "setp.ne.u32 %p9, $r, 0; ";
  EXPECT_EQ(execute(test + "vote.sync.ballot.b32 =r, %p9, $r", {a, masks}), ballot);
  EXPECT_EQ(execute(test + "vote.sync.all.pred =p, %p9, $r", {a, masks}), all);
  EXPECT_EQ(execute(test + "vote.sync.any.pred =p, %p9, $r", {a, masks}), any);
  EXPECT_EQ(execute(test + "vote.sync.uni.pred =p, %p9, $r", {a, masks}), uni);
  EXPECT_EQ(execute(test + "vote.sync.any.pred =p, !%p9, $r", {a, masks}),
            (lanes([](std::uint32_t lane) -> std::uint64_t { return lane >= 8 && lane < 24; })));
}

ROW_TEST(Activemask, OfWhoExecutes) {
  const Values odd = lanes([](std::uint32_t lane) -> std::uint64_t { return lane % 2; });
  EXPECT_EQ(execute("mov.u32 %r9, 5; setp.ne.u32 %p9, $r, 0; @%p9 activemask.b32 %r9; mov.u32 =r, %r9", {odd}),
            (lanes([](std::uint32_t lane) -> std::uint64_t { return lane % 2 != 0 ? 0xaaaaaaaa : 5; })));
}

ROW_TEST(Redux, EveryOperationOfTwoGroups) {
  const Values masks =
      lanes([](std::uint32_t lane) -> std::uint64_t { return lane % 3 == 0 ? 0x49249249 : 0xb6db6db6; });
  const Values a = lanes(scattered);
  using Operation = std::uint32_t (*)(std::uint32_t, std::uint32_t);
  const auto as_signed = [](std::uint32_t v) { return static_cast<std::int32_t>(v); };
  (void)as_signed;
  const std::pair<const char*, Operation> operations[] = {
      {"add.u32", [](std::uint32_t x, std::uint32_t y) { return x + y; }},
      {"add.s32", [](std::uint32_t x, std::uint32_t y) { return x + y; }},
      {"min.u32", [](std::uint32_t x, std::uint32_t y) { return std::min(x, y); }},
      {"max.u32", [](std::uint32_t x, std::uint32_t y) { return std::max(x, y); }},
      {"min.s32", [](std::uint32_t x,
                     std::uint32_t y) { return static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y) ? x : y; }},
      {"max.s32", [](std::uint32_t x,
                     std::uint32_t y) { return static_cast<std::int32_t>(x) > static_cast<std::int32_t>(y) ? x : y; }},
      {"and.b32", [](std::uint32_t x, std::uint32_t y) { return x & y; }},
      {"or.b32", [](std::uint32_t x, std::uint32_t y) { return x | y; }},
      {"xor.b32", [](std::uint32_t x, std::uint32_t y) { return x ^ y; }}};
  for (const auto& [name, operation] : operations) {
    Values expected;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      std::uint32_t value = static_cast<std::uint32_t>(a[lane % 3 == 0 ? 0 : 1]);
      for (std::uint32_t other = lane % 3 == 0 ? 3 : 2; other < 32; ++other) {
        if ((masks[lane] >> other & 1u) != 0) value = operation(value, static_cast<std::uint32_t>(a[other]));
      }
      expected.push_back(value);
    }
    EXPECT_EQ(execute(std::string("redux.sync.") + name + " =r, $r, $r", {a, masks}), expected) << name;
  }
}

ROW_TEST(Match, AnyAndAllOfBothWidths) {
  const Values a = lanes([](std::uint32_t lane) -> std::uint64_t { return lane % 5; });
  const Values wide = lanes([](std::uint32_t lane) -> std::uint64_t { return std::uint64_t{lane % 2} << 40 | 7; });
  const Values halves = lanes([](std::uint32_t lane) -> std::uint64_t { return lane < 16 ? 0xffff : 0xffff0000; });
  Values any, any_wide;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    std::uint32_t same = 0, same_wide = 0;
    for (std::uint32_t other = 0; other < 32; ++other) {
      same |= a[other] == a[lane] ? 1u << other : 0u;
      same_wide |= wide[other] == wide[lane] ? 1u << other : 0u;
    }
    any.push_back(same & halves[lane]);
    any_wide.push_back(same_wide);
  }
  EXPECT_EQ(execute("match.any.sync.b32 =r, $r, $r", {a, halves}), any);
  EXPECT_EQ(execute("match.any.sync.b64 =r, $d, -1", {wide}), any_wide);
  const Values thirds = lanes([](std::uint32_t lane) -> std::uint64_t { return lane < 16 ? 3 : lane; });
  EXPECT_EQ(execute("match.all.sync.b32 =r, $r, $r", {thirds, halves}),
            (lanes([](std::uint32_t lane) -> std::uint64_t { return lane < 16 ? 0xffff : 0; })));
  EXPECT_EQ(execute("match.all.sync.b64 %r9|%p9, $d, -1; selp.u32 =r, 1, 2, %p9", {wide}), Values(32, 2));
}

ROW_TEST(Isspacep, TellsTheWindowsApart) {
  const std::string shared = "mov.u32 %r9, s; cvt.u64.u32 %rd9, %r9; cvta.shared.u64 %rd9, %rd9; ";
  const std::string local = "mov.u64 %rd9, l; cvta.local.u64 %rd9, %rd9; ";
  const std::string global = "mov.u64 %rd9, %rd62; ";
  const std::pair<std::string, std::string> cases[] = {{"shared", shared}, {"local", local}, {"global", global}};
  for (const auto& [space, unused] : cases) {
    for (const auto& [other, address] : cases) {
      const std::string text = "add.u32 %r8, $r, 0; " + address + "isspacep." + space + " =p, %rd9";
      EXPECT_EQ(execute(text, {{0}})[0], space == other ? 1u : 0u) << text;
    }
  }
}

}  // namespace
}  // namespace roofwalk::isa
