// Tests cvt between all types, with every rounding and modifier, exact to the last bit.
#include <optional>

#include <fmt/format.h>

#include "tests/isa/reference.h"
#include "tests/isa/row.h"

namespace roofwalk::isa {
namespace {

constexpr std::size_t kSamples = 2000;

struct IntegerType {
  const char* name;
  int bits;
  bool is_signed;
};
constexpr IntegerType kIntegers[] = {{"u8", 8, false},   {"s8", 8, true},   {"u16", 16, false}, {"s16", 16, true},
                                     {"u32", 32, false}, {"s32", 32, true}, {"u64", 64, false}, {"s64", 64, true}};
struct FloatType {
  const char* name;
  Format format;
  Kind kind;
  char reg;
};
const FloatType kFloats[] = {
    {"f16", kF16, Kind::f16, 'h'}, {"f32", kF32, Kind::f32, 'r'}, {"f64", kF64, Kind::f64, 'd'}};
const FloatType kSingle = kFloats[1];

struct Direction {
  const char* word;
  Round round;
};
constexpr Direction kDirections[] = {
    {"rn", Round::nearest_even}, {"rz", Round::zero}, {"rm", Round::down}, {"rp", Round::up}};

// 8-bit types use 16-bit registers.
char register_of(const IntegerType& type) { return type.bits <= 16 ? 'h' : type.bits == 32 ? 'r' : 'd'; }
Kind kind_of(const IntegerType& type) { return type.bits <= 16 ? Kind::u16 : type.bits == 32 ? Kind::u32 : Kind::u64; }
int register_bits(char reg) { return reg == 'h' ? 16 : reg == 'r' ? 32 : 64; }

Int128 number(const IntegerType& type, std::uint64_t bits) {
  const UInt128 low = bits & ((UInt128{1} << type.bits) - 1);
  const bool negative = type.is_signed && (low >> (type.bits - 1)) != 0;
  return static_cast<Int128>(low) - (negative ? Int128{1} << type.bits : 0);
}
Int128 most(const IntegerType& type) { return (Int128{1} << (type.bits - type.is_signed)) - 1; }
Int128 least(const IntegerType& type) { return type.is_signed ? -most(type) - 1 : 0; }
// Returns the value in a register that may be wider: signed types are sign-extended, others zero-extended.
std::uint64_t in_register(const IntegerType& type, Int128 value, char reg) {
  const Int128 wrapped = number(type, static_cast<std::uint64_t>(value));
  return static_cast<std::uint64_t>(static_cast<UInt128>(wrapped) & ((UInt128{1} << register_bits(reg)) - 1));
}
Int128 clamped(const IntegerType& type, Int128 value) { return std::clamp(value, least(type), most(type)); }

ROW_TEST(Cvt, BetweenIntegers) {
  for (const IntegerType& to : kIntegers) {
    for (const IntegerType& from : kIntegers) {
      const char d = register_of(to), a = register_of(from);
      const Values x = samples(kind_of(from), 300);
      expect_lanes(fmt::format("cvt.{}.{} ={}, ${}", to.name, from.name, d, a), {x},
                   [&](std::size_t i) { return in_register(to, number(from, x[i]), d); });
      const bool holds_all = least(to) <= least(from) && most(to) >= most(from);
      if (holds_all) continue;
      expect_lanes(fmt::format("cvt.sat.{}.{} ={}, ${}", to.name, from.name, d, a), {x},
                   [&](std::size_t i) { return in_register(to, clamped(to, number(from, x[i])), d); });
    }
  }
}

Exact exact_integer(Int128 value) { return {value < 0, static_cast<UInt128>(value < 0 ? -value : value), 0, false}; }

ROW_TEST(Cvt, IntegersToFloats) {
  for (const FloatType& to : kFloats) {
    for (const IntegerType& from : kIntegers) {
      const char a = register_of(from);
      const Values x = samples(kind_of(from), 600);
      for (const Direction& direction : kDirections) {
        for (const bool sat : {false, true}) {
          expect_lanes(
              fmt::format("cvt.{}{}.{}.{} ={}, ${}", direction.word, sat ? ".sat" : "", to.name, from.name, to.reg, a),
              {x}, [&](std::size_t i) {
                const std::uint64_t value = rounded(to.format, exact_integer(number(from, x[i])), direction.round);
                return sat ? saturated(to.format, value) : value;
              });
        }
      }
    }
  }
}

// Rounds to a whole number without bounds; one huge value stands for everything that is too large.
Int128 to_whole(const Format& format, std::uint64_t bits, Round round) {
  constexpr Int128 kHuge = Int128{1} << 100;
  const bool negative = format.is_negative(bits);
  Exact value = exact(format, bits);
  if (format.is_infinite(bits) || value.exponent > 70) return value.whole == 0 ? 0 : negative ? -kHuge : kHuge;
  bool half = false, rest = false;
  for (; value.exponent < 0; ++value.exponent) {
    rest = rest || half;
    half = (value.whole & 1) != 0;
    value.whole >>= 1;
    if (value.whole == 0 && !half) break;
  }
  const bool up = goes_up((value.whole & 1) != 0, half, rest, negative, round);
  const auto whole = static_cast<Int128>(value.whole) + up;
  const Int128 size = value.exponent > 0 ? whole << value.exponent : whole;
  return negative ? -size : size;
}

// Returns what NaN becomes: 0, or only the top bit set if either type is 64 bits wide.
std::uint64_t of_nan(const FloatType& from, const IntegerType& to, char reg) {
  const bool top = from.reg == 'd' || to.bits == 64;
  return top ? in_register(to, Int128{1} << (to.bits - 1), reg) : 0;
}

// Returns samples of the type, and the powers of two that bound the integer types, with their neighbours.
Values samples_with_ends(const FloatType& from) {
  Values out = samples(from.kind, 1000);
  for (const int power : {7, 8, 15, 16, 31, 32, 63, 64}) {
    for (const bool negative : {false, true}) {
      const std::uint64_t end = rounded(from.format, {negative, 1, power, false}, Round::nearest_even);
      if (!from.format.is_infinite(end)) out.insert(out.end(), {end - 1, end, end + 1});
    }
  }
  return out;
}

ROW_TEST(Cvt, FloatsToIntegers) {
  for (const FloatType& from : kFloats) {
    const Values x = samples_with_ends(from);
    for (const IntegerType& to : kIntegers) {
      const char d = register_of(to);
      for (const Direction& direction : kDirections) {
        for (const bool ftz : {false, true}) {
          if (ftz && from.reg != 'r') continue;
          expect_lanes(fmt::format("cvt.{}i{}.{}.{} ={}, ${}", direction.word, ftz ? ".ftz" : "", to.name, from.name, d,
                                   from.reg),
                       {x}, [&](std::size_t i) {
                         if (from.format.is_nan(x[i])) return of_nan(from, to, d);
                         const std::uint64_t value = ftz ? from.format.flushed(x[i]) : x[i];
                         return in_register(to, clamped(to, to_whole(from.format, value, direction.round)), d);
                       });
        }
      }
    }
  }
}

ROW_TEST(Cvt, BetweenFloats) {
  for (const FloatType& to : kFloats) {
    for (const FloatType& from : kFloats) {
      if (to.name == from.name) continue;
      const bool narrows = to.format.width() < from.format.width();
      const Values x = samples(from.kind, kSamples);
      for (const Direction& direction : kDirections) {
        if (!narrows && direction.round != Round::nearest_even) continue;
        for (const bool ftz : {false, true}) {
          for (const bool sat : {false, true}) {
            if (ftz && to.reg != 'r' && from.reg != 'r') continue;
            const std::string rounding = narrows ? fmt::format(".{}", direction.word) : "";
            expect_lanes(fmt::format("cvt{}{}{}.{}.{} ={}, ${}", rounding, ftz ? ".ftz" : "", sat ? ".sat" : "",
                                     to.name, from.name, to.reg, from.reg),
                         {x}, [&](std::size_t i) {
                           const std::uint64_t source = ftz && from.reg == 'r' ? kF32.flushed(x[i]) : x[i];
                           std::uint64_t value = converted(to.format, from.format, source, direction.round);
                           if (ftz && to.reg == 'r') value = kF32.flushed(value);
                           return sat ? saturated(to.format, value) : value;
                         });
          }
        }
      }
    }
  }
}

ROW_TEST(Cvt, ToWholeFloats) {
  for (const FloatType& type : kFloats) {
    const Values x = samples(type.kind, kSamples);
    for (const Direction& direction : kDirections) {
      for (const bool sat : {false, true}) {
        expect_lanes(fmt::format("cvt.{}i{}.{}.{} ={}, ${}", direction.word, sat ? ".sat" : "", type.name, type.name,
                                 type.reg, type.reg),
                     {x}, [&](std::size_t i) {
                       const Format& f = type.format;
                       std::uint64_t value = f.is_nan(x[i]) ? f.nan : x[i];
                       const Int128 whole = to_whole(f, x[i], direction.round);
                       const bool small = exact(f, x[i]).exponent < 0 && !f.is_nan(x[i]) && !f.is_infinite(x[i]);
                       if (small) value = rounded(f, exact_integer(whole), Round::nearest_even);
                       if (small && whole == 0) value = x[i] & f.sign();
                       return sat ? saturated(f, value) : value;
                     });
      }
    }
  }
}

// Converts f32 to a narrow float: .relu clears negative results, .satfinite avoids infinity.
std::uint64_t narrowed(const Format& to, std::uint64_t x, Round round, bool relu, bool satfinite) {
  const std::uint64_t value = converted(to, kF32, x, round);
  if (to.is_nan(value)) return value;
  if (relu && to.is_negative(value)) return 0;
  return satfinite && to.is_infinite(value) ? value - 1 : value;
}

ROW_TEST(Cvt, ToNarrowFloatsAndPairs) {
  const std::vector<Values> x = sample_tuples({Kind::f32, Kind::f32}, kSamples);
  for (const auto& [name, format] : {std::pair{"f16", kF16}, std::pair{"bf16", kBf16}}) {
    for (const Direction& direction : {kDirections[0], kDirections[1]}) {
      for (const bool relu : {false, true}) {
        for (const bool satfinite : {false, true}) {
          const std::string text =
              fmt::format("cvt.{}{}{}", direction.word, relu ? ".relu" : "", satfinite ? ".satfinite" : "");
          const auto of = [&, &to = format](std::uint64_t value) {
            return narrowed(to, value, direction.round, relu, satfinite);
          };
          expect_lanes(fmt::format("{}.{}.f32 =h, $r", text, name), {x[0]}, [&](std::size_t i) { return of(x[0][i]); });
          expect_lanes(fmt::format("{}.{}x2.f32 =r, $r, $r", text, name), x,
                       [&](std::size_t i) { return of(x[0][i]) << 16 | of(x[1][i]); });
        }
      }
    }
  }
}

ROW_TEST(Cvt, FromBfloat) {
  const Values x = samples(Kind::bf16, kSamples);
  expect_lanes("cvt.f32.bf16 =r, $h", {x}, [&](std::size_t i) { return converted(kF32, kBf16, x[i], Round::zero); });
  for (const IntegerType& to : kIntegers) {
    if (to.bits == 8) continue;
    const char d = register_of(to);
    expect_lanes(fmt::format("cvt.rzi.{}.bf16 ={}, $h", to.name, d), {x}, [&](std::size_t i) {
      if (kBf16.is_nan(x[i])) return to.bits == 64 ? in_register(to, Int128{1} << 63, d) : std::uint64_t{0};
      return in_register(to, clamped(to, to_whole(kBf16, x[i], Round::zero)), d);
    });
    const Values whole = samples(kind_of(to), 600);
    expect_lanes(fmt::format("cvt.rn.bf16.{} =h, ${}", to.name, d), {whole}, [&](std::size_t i) {
      return rounded(kBf16, exact_integer(number(to, whole[i])), Round::nearest_even);
    });
  }
}

// tf32 has 19 bits; ties round away from zero, and NaN becomes PTX's canonical NaN.
ROW_TEST(Cvt, ToTf32) {
  const Values x = samples(Kind::f32, kSamples);
  for (const bool satfinite : {false, true}) {
    expect_lanes(fmt::format("cvt.rna{}.tf32.f32 =r, $r", satfinite ? ".satfinite" : ""), {x}, [&](std::size_t i) {
      if (kF32.is_nan(x[i])) return kF32.nan;
      const std::uint64_t value = converted(kTf32, kF32, x[i], Round::nearest_away);
      return (satfinite && kTf32.is_infinite(value) ? value - 1 : value) << 13;
    });
  }
}

// If a register is wider than the source type, its upper bits are ignored.
ROW_TEST(Cvt, ReadsTheLowPartOfAWiderRegister) {
  EXPECT_EQ(execute("cvt.rn.f32.u8 =r, $r", {{0xabcd02, 0xff}}), (Values{0x40000000, 0x437f0000}));
  EXPECT_EQ(execute("cvt.s32.s8 =r, $r", {{0x1280}}), (Values{0xffffff80}));
  EXPECT_EQ(execute("cvt.u8.u32 =r, $r", {{0x1234}}), (Values{0x34}));
}

}  // namespace
}  // namespace roofwalk::isa
