// Comparisons, selections and moves.
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "tests/isa/reference.h"
#include "tests/isa/row.h"

namespace roofwalk::isa {
namespace {

constexpr std::size_t kSamples = 1500;

// The order of two numbers: -1, 0 or 1; nullopt if one is NaN.
using Order = std::optional<int>;
Order order_of(const Format& format, std::uint64_t a, std::uint64_t b) {
  if (format.is_nan(a) || format.is_nan(b)) return std::nullopt;
  const auto place = [&](std::uint64_t x) {
    const auto magnitude = static_cast<Int128>(x & ~format.sign());
    return format.is_negative(x) ? -magnitude : magnitude;
  };
  return place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : 0;
}
Order order_of(bool is_signed, int bits, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t flip = is_signed ? std::uint64_t{1} << (bits - 1) : 0;
  return (a ^ flip) < (b ^ flip) ? -1 : (a ^ flip) > (b ^ flip) ? 1 : 0;
}

struct Comparison {
  const char* word;
  bool less, equal, greater, unordered;
  bool holds(Order order) const { return !order ? unordered : *order < 0 ? less : *order > 0 ? greater : equal; }
};
constexpr Comparison kOrdered[] = {{"eq", false, true, false, false}, {"ne", true, false, true, false},
                                   {"lt", true, false, false, false}, {"le", true, true, false, false},
                                   {"gt", false, false, true, false}, {"ge", false, true, true, false}};
constexpr Comparison kUnordered[] = {{"equ", false, true, false, true}, {"neu", true, false, true, true},
                                     {"ltu", true, false, false, true}, {"leu", true, true, false, true},
                                     {"gtu", false, false, true, true}, {"geu", false, true, true, true},
                                     {"num", true, true, true, false},  {"nan", false, false, false, true}};
constexpr Comparison kOfUnsigned[] = {{"lo", true, false, false, false},
                                      {"ls", true, true, false, false},
                                      {"hi", false, false, true, false},
                                      {"hs", false, true, true, false}};

std::vector<Comparison> of_floats() {
  std::vector<Comparison> all(std::begin(kOrdered), std::end(kOrdered));
  all.insert(all.end(), std::begin(kUnordered), std::end(kUnordered));
  return all;
}

struct FloatType {
  const char* name;
  Format format;
  Kind kind;
  char reg;
};
const FloatType kFloats[] = {{"f16", kF16, Kind::f16, 'h'},
                             {"bf16", kBf16, Kind::bf16, 'h'},
                             {"f32", kF32, Kind::f32, 'r'},
                             {"f64", kF64, Kind::f64, 'd'}};

ROW_TEST(Setp, ComparesFloats) {
  for (const FloatType& type : kFloats) {
    const std::vector<Values> x = sample_tuples({type.kind, type.kind}, kSamples);
    for (const Comparison& compare : of_floats()) {
      for (const bool ftz : {false, true}) {
        if (ftz && type.reg != 'r') continue;
        expect_lanes(
            fmt::format("setp.{}{}.{} =p, ${}, ${}", compare.word, ftz ? ".ftz" : "", type.name, type.reg, type.reg), x,
            [&](std::size_t i) {
              const std::uint64_t a = ftz ? type.format.flushed(x[0][i]) : x[0][i];
              const std::uint64_t b = ftz ? type.format.flushed(x[1][i]) : x[1][i];
              return compare.holds(order_of(type.format, a, b));
            });
      }
    }
  }
}

// The block has the 16 KiB of `s`; the system's 1 KiB lies behind, and what is behind that is out of bounds.
ROW_TEST(Mov, ReadsWhereTheSystemsSharedMemoryIs) {
  std::string body = "mov.u32 %r20, s;\n";
  const char* const names[] = {"reserved_smem_offset_begin", "reserved_smem_offset_end", "reserved_smem_offset_cap",
                               "reserved_smem_offset_0",     "reserved_smem_offset_1",   "total_smem_size"};
  int at = 0;
  for (const char* name : names)
    body += fmt::format("mov.u32 %r{0}, %{1};\nst.global.u32 [%rd63+{2}], %r{0};\n", at / 4 + 1, name, at), at += 4;
  const std::string in_bounds = body + "ld.shared.u32 %r9, [%r2+-4];\nst.global.u32 [%rd63+24], %r9;\n";
  const Outcome outcome = run({.body = in_bounds, .threads = 1, .out_bytes = 28});
  ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
  const std::uint32_t own = 16384, end = own + 1024, wanted[] = {own, end, end, own, end - 288, own, 0};
  for (std::size_t i = 0; i < std::size(wanted); ++i) EXPECT_EQ(outcome.at<std::uint32_t>(i), wanted[i]) << i;
  const Outcome outside = run({.body = body + "ld.shared.u32 %r9, [%r2];\n", .threads = 1, .out_bytes = 28});
  ASSERT_TRUE(outside.record.fault);
  EXPECT_EQ(outside.record.fault->kind, FaultKind::out_of_bounds);
}

// Zeros of both signs count as normal.
ROW_TEST(Testp, TellsKindsOfNumbersApart) {
  for (const FloatType& type : {kFloats[2], kFloats[3]}) {
    const Format& f = type.format;
    Values x = samples(type.kind, kSamples);
    const std::uint64_t least_normal = std::uint64_t{1} << f.fraction_bits;
    for (const std::uint64_t edge : {std::uint64_t{0}, std::uint64_t{1}, least_normal - 1, least_normal,
                                     f.infinity() - 1, f.infinity(), f.infinity() + 1, f.sign() - 1}) {
      x.push_back(edge);
      x.push_back(edge | f.sign());
    }
    const std::pair<const char*, std::function<bool(std::uint64_t)>> tests[] = {
        {"finite", [&](std::uint64_t a) { return !f.is_nan(a) && !f.is_infinite(a); }},
        {"infinite", [&](std::uint64_t a) { return f.is_infinite(a); }},
        {"number", [&](std::uint64_t a) { return !f.is_nan(a); }},
        {"notanumber", [&](std::uint64_t a) { return f.is_nan(a); }},
        {"normal", [&](std::uint64_t a) { return !f.is_nan(a) && !f.is_infinite(a) && !f.is_subnormal(a); }},
        {"subnormal", [&](std::uint64_t a) { return f.is_subnormal(a); }}};
    for (const auto& [test, holds] : tests) {
      expect_lanes(fmt::format("testp.{}.{} =p, ${}", test, type.name, type.reg), {x},
                   [&, &is = holds](std::size_t i) { return is(x[i]); });
    }
  }
}

// The first predicate compares the lower halves, the second the upper halves.
ROW_TEST(Setp, ComparesPairs) {
  for (const FloatType& type : {kFloats[0], kFloats[1]}) {
    const std::vector<Values> low = sample_tuples({type.kind, type.kind}, kSamples);
    std::vector<Values> x = low;
    const std::size_t count = low[0].size();
    for (std::size_t s = 0; s < 2; ++s) {
      for (std::size_t i = 0; i < count; ++i) x[s][i] |= low[s][(i + 11) % count] << 16;
    }
    for (const Comparison& compare : of_floats()) {
      const auto results = execute_all(fmt::format("setp.{}.{}x2 =p|=p, $r, $r", compare.word, type.name), x);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t j = (i + 11) % count;
        ASSERT_EQ(results[0][i], compare.holds(order_of(type.format, low[0][i], low[1][i]))) << compare.word;
        ASSERT_EQ(results[1][i], compare.holds(order_of(type.format, low[0][j], low[1][j]))) << compare.word;
      }
    }
  }
}

ROW_TEST(Setp, ComparesIntegers) {
  const std::pair<int, Kind> widths[] = {{16, Kind::u16}, {32, Kind::u32}, {64, Kind::u64}};
  for (const auto& [bits, kind] : widths) {
    const char reg = bits == 16 ? 'h' : bits == 32 ? 'r' : 'd';
    const std::vector<Values> x = sample_tuples({kind, kind}, kSamples);
    for (const char sort : {'u', 's', 'b'}) {
      const auto expect = [&, width = bits](const Comparison& compare) {
        expect_lanes(fmt::format("setp.{}.{}{} =p, ${}, ${}", compare.word, sort, width, reg, reg), x,
                     [&](std::size_t i) { return compare.holds(order_of(sort == 's', width, x[0][i], x[1][i])); });
      };
      for (const Comparison& compare : kOrdered) {
        if (sort != 'b' || compare.less == compare.greater) expect(compare);
      }
      if (sort != 'u') continue;
      for (const Comparison& compare : kOfUnsigned) expect(compare);
    }
  }
}

// With the results p|q, p is the comparison and q its opposite, each combined with the third source.
ROW_TEST(Setp, JoinsAPredicate) {
  const Values a = {1, 1, 2, 2}, third = {0, 1, 0, 1};
  for (const bool negated : {false, true}) {
    for (const char* join : {"and", "or", "xor"}) {
      const auto results = execute_all(
          fmt::format("setp.ne.u32 %p60, $r, 0;\nsetp.eq.{}.u32 =p|=p, $r, 1, {}%p60", join, negated ? "!" : ""),
          {third, a});
      for (std::size_t i = 0; i < a.size(); ++i) {
        const bool holds = a[i] == 1, other = (third[i] != 0) != negated;
        const auto joined = [&](bool one) {
          return *join == 'a' ? one && other : *join == 'o' ? one || other : one != other;
        };
        EXPECT_EQ(results[0][i], joined(holds)) << join << i;
        EXPECT_EQ(results[1][i], joined(!holds)) << join << i;
      }
    }
  }
}

// A true comparison gives 1.0 for a float type and all ones for an integer type; pairs do so in each half.
ROW_TEST(Set, WritesOneOrAllOnes) {
  for (const FloatType& type : {kFloats[0], kFloats[1], kFloats[2]}) {
    const bool narrow = type.reg == 'h';
    const std::vector<Values> x = sample_tuples({type.kind, type.kind}, kSamples);
    for (const Comparison& compare : of_floats()) {
      const auto holds = [&](std::size_t i) { return compare.holds(order_of(type.format, x[0][i], x[1][i])); };
      expect_lanes(fmt::format("set.{}.u32.{} =r, ${}, ${}", compare.word, type.name, type.reg, type.reg), x,
                   [&](std::size_t i) { return holds(i) ? 0xffffffffu : 0u; });
      expect_lanes(
          fmt::format("set.{}.{}.{} ={}, ${}, ${}", compare.word, type.name, type.name, type.reg, type.reg, type.reg),
          x, [&](std::size_t i) { return holds(i) ? one(type.format) : 0; });
      if (!narrow) continue;
      std::vector<Values> pairs = x;
      const auto other = [&](std::size_t i) { return (i + 11) % x[0].size(); };
      for (std::size_t s = 0; s < 2; ++s) {
        for (std::size_t i = 0; i < pairs[s].size(); ++i) pairs[s][i] |= x[s][other(i)] << 16;
      }
      expect_lanes(fmt::format("set.{}.u32.{}x2 =r, $r, $r", compare.word, type.name), pairs,
                   [&](std::size_t i) { return (holds(i) ? 0xffffu : 0u) | (holds(other(i)) ? 0xffff0000u : 0u); });
      expect_lanes(fmt::format("set.{}.{}x2.{}x2 =r, $r, $r", compare.word, type.name, type.name), pairs,
                   [&](std::size_t i) {
                     return (holds(i) ? one(type.format) : 0) | (holds(other(i)) ? one(type.format) << 16 : 0);
                   });
    }
  }
}

ROW_TEST(Selp, PicksByAPredicate) {
  const Values first = {1, 2, 3, 4}, second = {5, 6, 7, 8}, which = {0, 1, 1, 0};
  const std::pair<char, const char*> widths[] = {{'h', "b16"}, {'r', "f32"}, {'d', "s64"}};
  for (const auto& [reg, type] : widths) {
    const std::string text = fmt::format("setp.ne.u32 %p60, $r, 0;\nselp.{} ={}, ${}, ${}, ", type, reg, reg, reg);
    EXPECT_EQ(execute(text + "%p60", {which, first, second}), (Values{5, 2, 3, 8})) << type;
  }
}

ROW_TEST(Mov, CopiesPacksAndUnpacks) {
  const Values x = samples(Kind::u64, 200);
  expect_lanes("mov.b64 =d, $d", {x}, [&](std::size_t i) { return x[i]; });
  const std::vector<Values> words = sample_tuples({Kind::u32, Kind::u32}, 200);
  expect_lanes("mov.b64 =d, {$r, $r}", words, [&](std::size_t i) { return words[1][i] << 32 | words[0][i]; });
  const auto halves = execute_all("mov.b64 {=h, =h, =h, =h}, $d", {x});
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t part = 0; part < 4; ++part) ASSERT_EQ(halves[part][i], x[i] >> (16 * part) & 0xffff);
  }
  EXPECT_EQ(execute("mov.b32 {_, =h}, $r", {{0x12345678}}), Values{0x1234});
}

ROW_TEST(Mov, ReadsSpecialRegisters) {
  Values lanes(32), below(32), own(32);
  for (std::uint64_t l = 0; l < 32; ++l) lanes[l] = l, below[l] = (1ull << l) - 1, own[l] = 1ull << l;
  const Values none(32);
  EXPECT_EQ(execute("mov.u32 =r, %laneid;\nmov.u32 %r50, $r", {none}), lanes);
  EXPECT_EQ(execute("mov.u32 =r, %lanemask_lt;\nmov.u32 %r50, $r", {none}), below);
  EXPECT_EQ(execute("mov.u32 =r, %lanemask_eq;\nmov.u32 %r50, $r", {none}), own);
  EXPECT_EQ(execute("mov.u32 =r, %ntid.x;\nmov.u32 %r50, $r", {none}), Values(32, 32));
}

}  // namespace
}  // namespace roofwalk::isa
