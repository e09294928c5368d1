// Integer instructions: wrapping and saturating arithmetic, shifts, bit fields, permutations, sums of packed products.
#include <functional>

#include <fmt/format.h>

#include "tests/isa/reference.h"
#include "tests/isa/row.h"

namespace roofwalk::isa {
namespace {

constexpr std::size_t kIntegerSamples = 2000;

struct Integer {
  const char* type;
  int bits;
  bool is_signed;

  Kind kind() const { return bits == 16 ? Kind::u16 : bits == 32 ? Kind::u32 : Kind::u64; }
  char reg() const { return bits == 16 ? 'h' : bits == 32 ? 'r' : 'd'; }
  UInt128 mask() const { return (UInt128{1} << bits) - 1; }
  // Returns the signed or unsigned number that the bits represent, as an unbounded integer.
  Int128 number(std::uint64_t value) const {
    const bool negative = is_signed && (value >> (bits - 1) & 1) != 0;
    return static_cast<Int128>(value) - (negative ? Int128{1} << bits : 0);
  }
  std::uint64_t wrapped(Int128 value) const { return static_cast<std::uint64_t>(static_cast<UInt128>(value) & mask()); }
  std::uint64_t clamped(Int128 value) const {
    const Int128 most = is_signed ? (Int128{1} << (bits - 1)) - 1 : static_cast<Int128>(mask());
    const Int128 least = is_signed ? -most - 1 : 0;
    return wrapped(value < least ? least : value > most ? most : value);
  }
};
constexpr Integer kIntegers[] = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                                 {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};
constexpr Integer kBitTypes[] = {{"b16", 16, false}, {"b32", 32, false}, {"b64", 64, false}};
constexpr Integer kS32{"s32", 32, true};

std::string operands(char result, const std::string& sources) {
  std::string text = fmt::format("={}", result);
  for (const char source : sources) text += fmt::format(", ${}", source);
  return text;
}

// A function of unbounded integers; its result is wrapped to the type.
using Arithmetic = std::function<Int128(const Integer&, const std::vector<Int128>&)>;

void expect_arithmetic(const std::string& name, const Integer& type, int sources, const Arithmetic& f,
                       bool clamps = false) {
  const auto count = static_cast<std::size_t>(sources);
  const std::vector<Values> values = sample_tuples(std::vector<Kind>(count, type.kind()), kIntegerSamples);
  expect_lanes(fmt::format("{}.{} {}", name, type.type, operands(type.reg(), std::string(count, type.reg()))), values,
               [&](std::size_t i) {
                 std::vector<Int128> numbers;
                 for (const Values& source : values) numbers.push_back(type.number(source[i]));
                 const Int128 result = f(type, numbers);
                 return clamps ? type.clamped(result) : type.wrapped(result);
               });
}

ROW_TEST(Add, Integers) {
  const Arithmetic add = [](const Integer&, const auto& x) { return x[0] + x[1]; };
  for (const Integer& type : kIntegers) expect_arithmetic("add", type, 2, add);
  expect_arithmetic("add.sat", kS32, 2, add, true);
}
ROW_TEST(Sub, Integers) {
  const Arithmetic subtract = [](const Integer&, const auto& x) { return x[0] - x[1]; };
  for (const Integer& type : kIntegers) expect_arithmetic("sub", type, 2, subtract);
  expect_arithmetic("sub.sat", kS32, 2, subtract, true);
}

// Returns the upper half of a product. A product of two 64-bit factors just fits in 128 bits.
Int128 upper(const Integer& type, Int128 a, Int128 b) {
  if (type.is_signed || type.bits < 64) return (a * b) >> type.bits;
  return static_cast<Int128>(static_cast<UInt128>(a) * static_cast<UInt128>(b) >> 64);
}

ROW_TEST(Mul, Integers) {
  for (const Integer& type : kIntegers) {
    expect_arithmetic("mul.lo", type, 2, [](const Integer&, const auto& x) {
      return static_cast<Int128>(static_cast<UInt128>(x[0]) * static_cast<UInt128>(x[1]));
    });
    expect_arithmetic("mul.hi", type, 2, [](const Integer& t, const auto& x) { return upper(t, x[0], x[1]); });
  }
}
ROW_TEST(Mad, Integers) {
  for (const Integer& type : kIntegers) {
    expect_arithmetic("mad.lo", type, 3, [](const Integer&, const auto& x) {
      return static_cast<Int128>(static_cast<UInt128>(x[0]) * static_cast<UInt128>(x[1]) + static_cast<UInt128>(x[2]));
    });
    expect_arithmetic("mad.hi", type, 3, [](const Integer& t, const auto& x) { return upper(t, x[0], x[1]) + x[2]; });
  }
  const Arithmetic high = [](const Integer& t, const auto& x) { return upper(t, x[0], x[1]) + x[2]; };
  expect_arithmetic("mad.hi.sat", kS32, 3, high, true);
}

void expect_wide(const std::string& name, bool adds) {
  for (const Integer& type : kIntegers) {
    if (type.bits == 64) continue;
    const Integer wide{"", type.bits * 2, type.is_signed};
    std::vector<Kind> kinds = {type.kind(), type.kind()};
    std::string sources(2, type.reg());
    if (adds) kinds.push_back(wide.kind()), sources += wide.reg();
    const std::vector<Values> values = sample_tuples(kinds, kIntegerSamples);
    expect_lanes(fmt::format("{}.wide.{} {}", name, type.type, operands(wide.reg(), sources)), values,
                 [&](std::size_t i) {
                   const Int128 product = type.number(values[0][i]) * type.number(values[1][i]);
                   return wide.wrapped(product + (adds ? wide.number(values[2][i]) : 0));
                 });
  }
}
ROW_TEST(Mul, Wide) { expect_wide("mul", false); }
ROW_TEST(Mad, Wide) { expect_wide("mad", true); }

// Returns the low 24 bits as a number. With .hi, mul24 and mad24 take the upper 32 bits of the 48-bit product.
Int128 low24(const Integer& type, Int128 x) {
  const Int128 bits = x & 0xffffff;
  return type.is_signed && (bits >> 23) != 0 ? bits - (1 << 24) : bits;
}
void expect_24_bits(const std::string& name, int sources) {
  for (const Integer& type : {kIntegers[2], kIntegers[3]}) {
    for (const bool high : {false, true}) {
      for (const bool clamps : {false, true}) {
        if (clamps && (sources == 2 || !high || !type.is_signed)) continue;
        expect_arithmetic(
            fmt::format("{}{}{}", name, high ? ".hi" : ".lo", clamps ? ".sat" : ""), type, sources,
            [&](const Integer& t, const auto& x) {
              const Int128 product = low24(t, x[0]) * low24(t, x[1]);
              return (high ? product >> 16 : product) + (sources == 3 ? x[2] : 0);
            },
            clamps);
      }
    }
  }
}
ROW_TEST(Mul24, MultipliesTheLow24Bits) { expect_24_bits("mul24", 2); }
ROW_TEST(Mad24, MultipliesTheLow24Bits) { expect_24_bits("mad24", 3); }

ROW_TEST(Sad, AddsTheDistance) {
  for (const Integer& type : kIntegers) {
    expect_arithmetic("sad", type, 3,
                      [](const Integer&, const auto& x) { return x[2] + (x[0] < x[1] ? x[1] - x[0] : x[0] - x[1]); });
  }
}

// PTX does not define x / 0, x % 0 and the smallest number / -1. Here x / 0 is all ones, x % 0 is x, and the smallest
// number / -1 wraps to itself, with remainder 0.
ROW_TEST(Div, Integers) {
  for (const Integer& type : kIntegers) {
    expect_arithmetic("div", type, 2,
                      [](const Integer&, const auto& x) { return x[1] == 0 ? Int128{-1} : x[0] / x[1]; });
  }
}
ROW_TEST(Rem, Integers) {
  for (const Integer& type : kIntegers) {
    expect_arithmetic("rem", type, 2, [](const Integer&, const auto& x) { return x[1] == 0 ? x[0] : x[0] % x[1]; });
  }
}

ROW_TEST(Min, Integers) {
  for (const Integer& type : kIntegers) {
    expect_arithmetic("min", type, 2, [](const Integer&, const auto& x) { return std::min(x[0], x[1]); });
  }
}
ROW_TEST(Max, Integers) {
  for (const Integer& type : kIntegers) {
    expect_arithmetic("max", type, 2, [](const Integer&, const auto& x) { return std::max(x[0], x[1]); });
  }
}
ROW_TEST(Abs, Integers) {
  for (const Integer& type : kIntegers) {
    if (!type.is_signed) continue;
    expect_arithmetic("abs", type, 1, [](const Integer&, const auto& x) { return x[0] < 0 ? -x[0] : x[0]; });
  }
}
ROW_TEST(Neg, Integers) {
  for (const Integer& type : kIntegers) {
    if (type.is_signed) expect_arithmetic("neg", type, 1, [](const Integer&, const auto& x) { return -x[0]; });
  }
}

// ---- Bits -----------------------------------------------------------------------------------------------------------

ROW_TEST(And, Bits) {
  for (const Integer& type : kBitTypes) {
    expect_arithmetic("and", type, 2, [](const Integer&, const auto& x) { return x[0] & x[1]; });
  }
}
ROW_TEST(Or, Bits) {
  for (const Integer& type : kBitTypes) {
    expect_arithmetic("or", type, 2, [](const Integer&, const auto& x) { return x[0] | x[1]; });
  }
}
ROW_TEST(Xor, Bits) {
  for (const Integer& type : kBitTypes) {
    expect_arithmetic("xor", type, 2, [](const Integer&, const auto& x) { return x[0] ^ x[1]; });
  }
}
ROW_TEST(Not, Bits) {
  for (const Integer& type : kBitTypes) {
    expect_arithmetic("not", type, 1, [](const Integer&, const auto& x) { return ~x[0]; });
  }
}

// Predicates are made with setp.
const Values kFirst = {0, 0, 1, 1}, kSecond = {0, 1, 0, 1};
std::string of_predicates(const std::string& code) {
  return "setp.ne.u32 %p60, $r, 0;\nsetp.ne.u32 %p61, $r, 0;\n" + code;
}
ROW_TEST(And, Predicates) {
  EXPECT_EQ(execute(of_predicates("and.pred =p, %p60, %p61"), {kFirst, kSecond}), (Values{0, 0, 0, 1}));
}
ROW_TEST(Or, Predicates) {
  EXPECT_EQ(execute(of_predicates("or.pred =p, %p60, %p61"), {kFirst, kSecond}), (Values{0, 1, 1, 1}));
}
ROW_TEST(Xor, Predicates) {
  EXPECT_EQ(execute(of_predicates("xor.pred =p, %p60, %p61"), {kFirst, kSecond}), (Values{0, 1, 1, 0}));
}
ROW_TEST(Not, Predicates) {
  EXPECT_EQ(execute(of_predicates("not.pred =p, %p60"), {kFirst, kSecond}), (Values{1, 1, 0, 0}));
}

void expect_shift(const std::string& name, const Integer& type,
                  const std::function<Int128(const Integer&, Int128, std::uint64_t)>& f) {
  const std::vector<Values> values = sample_tuples({type.kind(), Kind::u32}, kIntegerSamples);
  expect_lanes(fmt::format("{}.{} {}", name, type.type, operands(type.reg(), {type.reg(), 'r'})), values,
               [&](std::size_t i) {
                 const std::uint64_t by = std::min<std::uint64_t>(values[1][i], static_cast<std::uint64_t>(type.bits));
                 return type.wrapped(f(type, type.number(values[0][i]), by));
               });
}
ROW_TEST(Shl, ClampsAtTheWidth) {
  for (const Integer& type : kBitTypes) {
    expect_shift("shl", type, [](const Integer&, Int128 x, std::uint64_t by) {
      return static_cast<Int128>(static_cast<UInt128>(x) << by);
    });
  }
}
ROW_TEST(Shr, ClampsAtTheWidthAndKeepsSigns) {
  const auto shift = [](const Integer&, Int128 x, std::uint64_t by) { return x >> by; };
  for (const Integer& type : kBitTypes) expect_shift("shr", type, shift);
  for (const Integer& type : kIntegers) expect_shift("shr", type, shift);
}

ROW_TEST(Shf, ShiftsTwoWordsAsOne) {
  const std::vector<Values> values = sample_tuples({Kind::u32, Kind::u32, Kind::u32}, kIntegerSamples);
  for (const bool left : {false, true}) {
    for (const bool clamp : {false, true}) {
      expect_lanes(fmt::format("shf.{}.{}.b32 =r, $r, $r, $r", left ? 'l' : 'r', clamp ? "clamp" : "wrap"), values,
                   [&](std::size_t i) -> std::uint64_t {
                     const std::uint64_t both = values[1][i] << 32 | values[0][i];
                     const std::uint64_t by = clamp ? std::min<std::uint64_t>(values[2][i], 32) : values[2][i] % 32;
                     const UInt128 shifted = left ? (static_cast<UInt128>(both) << by) >> 32 : both >> by;
                     return static_cast<std::uint32_t>(shifted);
                   });
    }
  }
}

std::uint64_t reversed(const Integer& type, std::uint64_t x) {
  std::uint64_t out = 0;
  for (int i = 0; i < type.bits; ++i) out |= (x >> i & 1) << (type.bits - 1 - i);
  return out;
}
ROW_TEST(Brev, ReversesBits) {
  for (const Integer& type : {kBitTypes[1], kBitTypes[2]}) {
    const Values x = samples(type.kind(), kIntegerSamples);
    expect_lanes(fmt::format("brev.{} {}", type.type, operands(type.reg(), {type.reg()})), {x},
                 [&](std::size_t i) { return reversed(type, x[i]); });
  }
}
ROW_TEST(Popc, CountsOnes) {
  for (const Integer& type : {kBitTypes[1], kBitTypes[2]}) {
    const Values x = samples(type.kind(), kIntegerSamples);
    expect_lanes(fmt::format("popc.{} {}", type.type, operands('r', {type.reg()})), {x}, [&](std::size_t i) {
      std::uint64_t ones = 0;
      for (std::uint64_t rest = x[i]; rest != 0; rest >>= 1) ones += rest & 1;
      return ones;
    });
  }
}
// Returns the position of the highest bit that differs from the sign; -1 if all bits are equal to the sign.
int highest(const Integer& type, std::uint64_t x) {
  const bool sign = type.is_signed && (x >> (type.bits - 1) & 1) != 0;
  for (int i = type.bits - 1; i >= 0; --i) {
    if (((x >> i & 1) != 0) != sign) return i;
  }
  return -1;
}
ROW_TEST(Clz, CountsZerosInFront) {
  for (const Integer& type : {kBitTypes[1], kBitTypes[2]}) {
    const Values x = samples(type.kind(), kIntegerSamples);
    expect_lanes(fmt::format("clz.{} {}", type.type, operands('r', {type.reg()})), {x},
                 [&](std::size_t i) { return static_cast<std::uint64_t>(type.bits - 1 - highest(type, x[i])); });
  }
}
ROW_TEST(Bfind, FindsTheHighestBit) {
  for (const Integer& type : kIntegers) {
    if (type.bits == 16) continue;
    const Values x = samples(type.kind(), kIntegerSamples);
    for (const bool shift : {false, true}) {
      const std::string name = shift ? "bfind.shiftamt" : "bfind";
      expect_lanes(fmt::format("{}.{} {}", name, type.type, operands('r', {type.reg()})), {x},
                   [&](std::size_t i) -> std::uint64_t {
                     const int place = highest(type, x[i]);
                     return place < 0 ? 0xffffffff : static_cast<std::uint32_t>(shift ? type.bits - 1 - place : place);
                   });
    }
  }
}

// Copies bit by bit. Result bits beyond the field or the word are the field's sign, or 0 if unsigned.
ROW_TEST(Bfe, TakesABitField) {
  for (const Integer& type : kIntegers) {
    if (type.bits == 16) continue;
    const std::vector<Values> values = sample_tuples({type.kind(), Kind::u32, Kind::u32}, 3 * kIntegerSamples);
    expect_lanes(fmt::format("bfe.{} {}", type.type, operands(type.reg(), {type.reg(), 'r', 'r'})), values,
                 [&](std::size_t i) {
                   const int position = values[1][i] & 0xff, length = values[2][i] & 0xff, last = type.bits - 1;
                   const int top = std::min(position + length - 1, last);
                   const bool sign = type.is_signed && length != 0 && (values[0][i] >> top & 1) != 0;
                   std::uint64_t out = 0;
                   for (int bit = 0; bit <= last; ++bit) {
                     const bool inside = bit < length && position + bit <= last;
                     const bool set = inside ? (values[0][i] >> (position + bit) & 1) != 0 : sign;
                     out |= static_cast<std::uint64_t>(set) << bit;
                   }
                   return out;
                 });
  }
}
ROW_TEST(Bfi, PutsABitField) {
  for (const Integer& type : {kBitTypes[1], kBitTypes[2]}) {
    const std::vector<Values> values =
        sample_tuples({type.kind(), type.kind(), Kind::u32, Kind::u32}, 3 * kIntegerSamples);
    expect_lanes(fmt::format("bfi.{} {}", type.type, operands(type.reg(), {type.reg(), type.reg(), 'r', 'r'})), values,
                 [&](std::size_t i) {
                   const int position = values[2][i] & 0xff, length = values[3][i] & 0xff;
                   std::uint64_t out = values[1][i];
                   for (int bit = 0; bit < length && position + bit < type.bits; ++bit) {
                     const std::uint64_t one = std::uint64_t{1} << (position + bit);
                     out = (values[0][i] >> bit & 1) != 0 ? out | one : out & ~one;
                   }
                   return out;
                 });
  }
}

ROW_TEST(Prmt, PicksBytesBySelectors) {
  const std::vector<Values> values = sample_tuples({Kind::u32, Kind::u32, Kind::u32}, kIntegerSamples);
  expect_lanes("prmt.b32 =r, $r, $r, $r", values, [&](std::size_t i) {
    std::uint64_t out = 0;
    for (int byte = 0; byte < 4; ++byte) {
      const std::uint64_t selector = values[2][i] >> (4 * byte) & 0xf;
      const std::uint64_t from = (selector & 4) != 0 ? values[1][i] : values[0][i];
      std::uint64_t picked = from >> (8 * (selector & 3)) & 0xff;
      if ((selector & 8) != 0) picked = picked >= 0x80 ? 0xff : 0;
      out |= picked << (8 * byte);
    }
    return out;
  });
}
// The ISA's table: for each mode and the two low bits of c, the selected bytes from highest to lowest.
ROW_TEST(Prmt, Modes) {
  const std::pair<const char*, std::vector<std::uint64_t>> modes[] = {
      {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
      {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
      {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
  const std::vector<Values> values = sample_tuples({Kind::u32, Kind::u32, Kind::u32}, kIntegerSamples);
  for (const auto& [mode, table] : modes) {
    expect_lanes(fmt::format("prmt.b32.{} =r, $r, $r, $r", mode), values, [&, &picks = table](std::size_t i) {
      const std::uint64_t both = values[1][i] << 32 | values[0][i], pick = picks[values[2][i] & 3];
      std::uint64_t out = 0;
      for (int byte = 0; byte < 4; ++byte) out |= (both >> (8 * (pick >> (4 * byte) & 7)) & 0xff) << (8 * byte);
      return out;
    });
  }
}

ROW_TEST(Lop3, LooksUpATable) {
  const std::vector<Values> values = sample_tuples({Kind::u32, Kind::u32, Kind::u32}, kIntegerSamples);
  // lop3's table for a function is that function applied to 0xF0, 0xCC and 0xAA (PTX ISA).
  const std::pair<int, std::function<std::uint64_t(std::uint64_t, std::uint64_t, std::uint64_t)>> functions[] = {
      {0xF0 & 0xCC & 0xAA, [](auto a, auto b, auto c) { return a & b & c; }},
      {0xF0 ^ 0xCC ^ 0xAA, [](auto a, auto b, auto c) { return a ^ b ^ c; }},
      {(0xF0 & 0xCC) | 0xAA, [](auto a, auto b, auto c) { return (a & b) | c; }},
      {(0xF0 & 0xCC) | (~0xF0 & 0xAA & 0xff), [](auto a, auto b, auto c) { return (a & b) | (~a & c); }}};
  for (const auto& [table, function] : functions) {
    expect_lanes(fmt::format("lop3.b32 =r, $r, $r, $r, {}", table), values, [&, &f = function](std::size_t i) {
      return f(values[0][i], values[1][i], values[2][i]) & 0xffffffff;
    });
  }
}

// Tests dp4a or dp2a: the sum of c and `count` products. Each product is a byte (dp4a) or half (dp2a) of a times a byte
// of b; the bytes of b begin at number `first`.
void expect_dot(const std::string& name, int count, int first) {
  const std::vector<Values> values = sample_tuples({Kind::u32, Kind::u32, Kind::u32}, kIntegerSamples);
  for (const char* a : {"u32", "s32"}) {
    for (const char* b : {"u32", "s32"}) {
      const Integer of_a{"", 32 / count, *a == 's'}, of_b{"", 8, *b == 's'};
      expect_lanes(fmt::format("{}.{}.{} =r, $r, $r, $r", name, a, b), values, [&](std::size_t i) {
        Int128 sum = static_cast<Int128>(values[2][i]);
        for (int k = 0; k < count; ++k) {
          const std::uint64_t x = values[0][i] >> (of_a.bits * k) & static_cast<std::uint64_t>(of_a.mask());
          sum += of_a.number(x) * of_b.number(values[1][i] >> (8 * (first + k)) & 0xff);
        }
        return kS32.wrapped(sum);
      });
    }
  }
}
ROW_TEST(Dp4a, AddsFourProducts) { expect_dot("dp4a", 4, 0); }
ROW_TEST(Dp2a, AddsTwoProducts) {
  expect_dot("dp2a.lo", 2, 0);
  expect_dot("dp2a.hi", 2, 2);
}

// Tests the distances of packed numbers of so many bits: the numbers of a and b, as they lie, or their sum and c.
void expect_distances(const std::string& name, int bits) {
  const std::vector<Values> values = sample_tuples({Kind::u32, Kind::u32, Kind::u32}, kIntegerSamples);
  for (const bool adds_up : {false, true}) {
    const std::string form = fmt::format("{}.u32.u32.u32{} =r, $r, $r, $r", name, adds_up ? ".add" : "");
    expect_lanes(form, values, [&](std::size_t i) {
      const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
      std::uint64_t sum = values[2][i], packed = 0;
      for (int at = 0; at < 32; at += bits) {
        const auto x = static_cast<std::int64_t>(values[0][i] >> at & mask);
        const auto y = static_cast<std::int64_t>(values[1][i] >> at & mask);
        const auto apart = static_cast<std::uint64_t>(std::abs(x - y));
        sum += apart;
        packed |= apart << at;
      }
      return (adds_up ? sum : packed) & 0xffffffff;
    });
  }
}
ROW_TEST(Vabsdiff2, TakesDistancesOfHalves) { expect_distances("vabsdiff2", 16); }
ROW_TEST(Vabsdiff4, TakesDistancesOfBytes) { expect_distances("vabsdiff4", 8); }

// Bits beyond 31 are dropped; .wrap takes position and width modulo 32.
ROW_TEST(Bmsk, OnesFromABitOn) {
  EXPECT_EQ(execute("bmsk.clamp.b32 =r, $r, $r", {{0, 4, 28, 5, 32, 0, 31, 40}, {0, 3, 8, 0, 1, 32, 1, 40}}),
            (Values{0, 0x70, 0xf0000000, 0, 0, 0xffffffff, 0x80000000, 0}));
  EXPECT_EQ(execute("bmsk.wrap.b32 =r, $r, $r", {{1, 33, 4, 31}, {2, 34, 32, 63}}), (Values{6, 6, 0, 0x80000000}));
}

// Follows the ISA's pseudocode of szext.
std::uint64_t extended(std::uint64_t a, std::uint64_t b, bool wraps, bool is_signed) {
  const std::uint32_t bits = b & 31;
  const bool too_large = b >= 32 && !wraps;
  const std::uint32_t mask = too_large ? 0 : ~0u << bits;
  const bool sign = bits != 0 && !too_large && is_signed && (a >> ((bits - 1) & 31) & 1) != 0;
  return (static_cast<std::uint32_t>(a) & ~mask) | (sign ? mask : 0);
}
ROW_TEST(Szext, ExtendsLowBits) {
  std::vector<Values> values = sample_tuples({Kind::u32, Kind::u32}, kIntegerSamples);
  for (std::size_t i = 0; i < values[1].size(); i += 2) values[1][i] = i / 2 % 40;
  for (const bool wraps : {false, true}) {
    for (const bool is_signed : {false, true}) {
      expect_lanes(fmt::format("szext.{}.{} =r, $r, $r", wraps ? "wrap" : "clamp", is_signed ? "s32" : "u32"), values,
                   [&](std::size_t i) { return extended(values[0][i], values[1][i], wraps, is_signed); });
    }
  }
  EXPECT_EQ(execute("szext.clamp.s32 =r, $r, $r", {{0x88, 0x88, 0x88, 0x88, 0x88}, {8, 7, 0, 32, 33}}),
            (Values{0xffffff88, 8, 0, 0x88, 0x88}));
  EXPECT_EQ(execute("szext.wrap.s32 =r, $r, $r", {{0x88, 0x88, 3}, {40, 32, 33}}), (Values{0xffffff88, 0, 0xffffffff}));
}

}  // namespace
}  // namespace roofwalk::isa
