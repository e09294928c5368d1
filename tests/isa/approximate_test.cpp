// Tests that approximate functions stay within the errors that the PTX ISA documents (text of 9.1, in each
// instruction's section), and are exact for special values. The allowed errors for .f32: ex2 2 ulp; lg2 2^-22, relative
// outside of (0.5, 2); sin and cos 2^-20.5 within [-2 pi, 2 pi], 2^-14.7 within [-100 pi, 100 pi]; tanh 2^-11 relative;
// rsqrt 2^-22.9 relative; rcp 1 ulp; sqrt 2^-23 relative; div 2 ulp. For 16-bit types: tanh 2^-10.987 (bf16 2^-8), ex2
// 2^-9.9 relative (bf16 2^-7).
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "tests/isa/reference.h"
#include "tests/isa/row.h"

namespace roofwalk::isa {
namespace {

float single(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
std::uint64_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
double from_double(std::uint64_t bits) { return std::bit_cast<double>(bits); }

// Returns evenly spaced numbers between two bounds, and random bit patterns between them to cover every exponent.
Values sweep(double low, double high, std::size_t count) {
  Values out;
  for (std::size_t i = 0; i <= count; ++i) {
    const double x = low + (high - low) * static_cast<double>(i) / static_cast<double>(count);
    out.push_back(bits_of(static_cast<float>(x)));
  }
  for (const std::uint64_t bits : samples(Kind::f32, count)) {
    const double x = single(bits);
    if (x >= low && x <= high) out.push_back(bits);
  }
  return out;
}

constexpr double kLeastNormal = 0x1p-126;

struct Allowed {
  double ulps = 0, relative = 0, absolute = 0;  // largest allowed errors
  double of(double exact) const {
    const double size = std::max(std::fabs(exact), kLeastNormal);
    return std::max({absolute, relative * size, ulps * std::ldexp(1.0, std::ilogb(size) - 23)});
  }
};

// Compares the instruction's results with exact(source), for all sources. With .ftz, subnormal sources are read as 0
// and subnormal results are flushed to 0.
void expect_close(const std::string& instruction, const Values& sources, double (*exact)(double),
                  const Allowed& allowed, bool ftz) {
  const Values results = execute(instruction + " =r, $r", {sources});
  int shown = 0;
  for (std::size_t i = 0; i < sources.size() && shown < 3; ++i) {
    const double x = single(ftz ? kF32.flushed(sources[i]) : sources[i]), wanted = exact(x), found = single(results[i]);
    const double least = 0x1p-149 + (ftz ? kLeastNormal : 0);
    const bool close =
        std::isnan(wanted) ? results[i] == kF32.nan
        : std::isinf(wanted) || std::fabs(wanted) > 0x1.fffffep127
            ? std::isinf(found) && std::signbit(found) == std::signbit(wanted)
            : std::fabs(found - wanted) <= std::max(allowed.of(wanted), std::fabs(wanted) < least ? least : 0);
    const bool flushed = !ftz || !kF32.is_subnormal(results[i]);
    if (close && flushed) continue;
    ++shown;
    ADD_FAILURE() << fmt::format("{} of {:a} gives {:a}, not {:a}", instruction, x, found, wanted);
  }
}

void expect_with_and_without_ftz(const std::string& name, const Values& sources, double (*exact)(double),
                                 const Allowed& allowed) {
  expect_close(name + ".f32", sources, exact, allowed, false);
  expect_close(name + ".ftz.f32", sources, exact, allowed, true);
}

constexpr std::size_t kCount = 20'000;
Values all_samples() { return samples(Kind::f32, kCount); }

ROW_TEST(Ex2, Within2Ulp) {
  expect_with_and_without_ftz("ex2.approx", sweep(-150, 130, kCount), [](double x) { return std::exp2(x); },
                              {.ulps = 2});
  expect_with_and_without_ftz("ex2.approx", all_samples(), [](double x) { return std::exp2(x); }, {.ulps = 2});
}

ROW_TEST(Lg2, Within2ToTheMinus22) {
  const auto log2 = [](double x) { return std::log2(x); };
  expect_with_and_without_ftz("lg2.approx", sweep(0.5, 2, kCount), log2, {.absolute = 0x1p-22});
  expect_with_and_without_ftz("lg2.approx", all_samples(), log2, {.relative = 0x1p-22, .absolute = 0x1p-22});
}

ROW_TEST(Sin, Within2ToTheMinus20Point5) {
  const auto sine = [](double x) { return std::sin(x); };
  expect_with_and_without_ftz("sin.approx", sweep(-2 * M_PI, 2 * M_PI, kCount), sine, {.absolute = 0x1.6ap-21});
  expect_with_and_without_ftz("sin.approx", sweep(-100 * M_PI, 100 * M_PI, kCount), sine, {.absolute = 0x1.3bp-15});
}
ROW_TEST(Cos, Within2ToTheMinus20Point5) {
  const auto cosine = [](double x) { return std::cos(x); };
  expect_with_and_without_ftz("cos.approx", sweep(-2 * M_PI, 2 * M_PI, kCount), cosine, {.absolute = 0x1.6ap-21});
  expect_with_and_without_ftz("cos.approx", sweep(-100 * M_PI, 100 * M_PI, kCount), cosine, {.absolute = 0x1.3bp-15});
}
ROW_TEST(Sin, OfInfinityIsNan) {
  EXPECT_EQ(execute("sin.approx.f32 =r, $r", {{0x7f800000, 0xff800000, 0x80000000}}),
            (Values{kF32.nan, kF32.nan, 0x80000000}));
}
ROW_TEST(Cos, OfInfinityIsNan) {
  EXPECT_EQ(execute("cos.approx.f32 =r, $r", {{0x7f800000, 0, 0x80000000}}),
            (Values{kF32.nan, 0x3f800000, 0x3f800000}));
}

ROW_TEST(Tanh, Within2ToTheMinus11) {
  expect_close(
      "tanh.approx.f32", sweep(-12, 12, kCount), [](double x) { return std::tanh(x); }, {.relative = 0x1p-11}, false);
  expect_close(
      "tanh.approx.f32", all_samples(), [](double x) { return std::tanh(x); }, {.relative = 0x1p-11}, false);
}

ROW_TEST(Rsqrt, Within2ToTheMinus22Point9) {
  const auto reciprocal_root = [](double x) { return x == 0 ? std::copysign(INFINITY, x) : 1 / std::sqrt(x); };
  expect_with_and_without_ftz("rsqrt.approx", sweep(0, 8, kCount), reciprocal_root, {.relative = 0x1.125p-23});
  expect_with_and_without_ftz("rsqrt.approx", all_samples(), reciprocal_root, {.relative = 0x1.125p-23});
}
ROW_TEST(Rcp, Within1Ulp) {
  expect_with_and_without_ftz("rcp.approx", all_samples(), [](double x) { return 1 / x; }, {.ulps = 1});
}
ROW_TEST(Sqrt, Within2ToTheMinus23) {
  expect_with_and_without_ftz("sqrt.approx", all_samples(), [](double x) { return std::sqrt(x); },
                              {.relative = 0x1p-23});
}

// div.full: 2 ulp everywhere. div.approx: 2 ulp for |b| in [2^-126, 2^126]; for larger finite |b|, the result is 0, or
// NaN if a is infinite or NaN. Results for smaller |b| are not tested.
ROW_TEST(Div, Within2Ulp) {
  const std::vector<Values> x = sample_tuples({Kind::f32, Kind::f32}, kCount);
  const Values full = execute("div.full.f32 =r, $r, $r", x), rough = execute("div.approx.f32 =r, $r, $r", x);
  for (std::size_t i = 0; i < x[0].size(); ++i) {
    const double a = single(x[0][i]), b = single(x[1][i]), exact = a / b;
    const auto close = [&](std::uint64_t result) {
      const double found = single(result);
      if (std::isnan(exact)) return result == kF32.nan;
      if (std::fabs(exact) > 0x1.fffffep127) return std::isinf(found);
      return std::fabs(found - exact) <= std::max(Allowed{.ulps = 2}.of(exact), 0x1p-149);
    };
    ASSERT_TRUE(close(full[i])) << a << " / " << b;
    const double size = std::fabs(b);
    if (size > 0x1p126 && std::isfinite(size)) {
      if (std::isinf(a) || std::isnan(a))
        ASSERT_EQ(rough[i], kF32.nan) << a << " / " << b;
      else
        ASSERT_EQ(single(rough[i]), 0.0f) << a << " / " << b;
    } else if (size >= 0x1p-126 || std::isnan(size)) {
      ASSERT_TRUE(close(rough[i])) << a << " / " << b;
    }
  }
}

// The instruction uses only the upper half of the double: 20 fraction bits. The lower half of the result is 0.
ROW_TEST(Rcp, OfTheUpperHalfOfADouble) {
  const Values x = samples(Kind::f64, kCount), found = execute("rcp.approx.ftz.f64 =d, $d", {x});
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = 1 / from_double(kF64.flushed(x[i]));
    if (std::isnan(exact)) {
      ASSERT_TRUE(std::isnan(from_double(found[i]))) << to_hex(x[i]);
      continue;
    }
    ASSERT_EQ(found[i] & 0xffffffff, 0u) << to_hex(x[i]);
    const double wanted = std::fabs(exact) < 0x1p-1022 ? 0 : exact;
    if (std::isinf(wanted) || wanted == 0)
      ASSERT_EQ(from_double(found[i]), wanted) << to_hex(x[i]);
    else
      ASSERT_LE(std::fabs(from_double(found[i]) / wanted - 1), 0x1p-19) << to_hex(x[i]);
  }
}
ROW_TEST(Rsqrt, OfDoubles) {
  const Values x = samples(Kind::f64, kCount);
  const Values upper = execute("rsqrt.approx.ftz.f64 =d, $d", {x}), whole = execute("rsqrt.approx.f64 =d, $d", {x});
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = from_double(x[i]), flushed = from_double(kF64.flushed(x[i]));
    const auto exact = [](double of) { return of == 0 ? std::copysign(INFINITY, of) : 1 / std::sqrt(of); };
    if (std::isnan(exact(a)) || std::isnan(exact(flushed))) continue;
    const auto close = [](double found, double wanted, double error) {
      return found == wanted || std::fabs(found / wanted - 1) <= error;
    };
    ASSERT_TRUE(close(from_double(whole[i]), exact(a), 0x1p-51)) << to_hex(x[i]);
    ASSERT_TRUE(close(from_double(upper[i]), exact(flushed), 0x1p-19)) << to_hex(x[i]);
    ASSERT_EQ(upper[i] & 0xffffffff, 0u) << to_hex(x[i]);
  }
  const Values special = execute("rsqrt.approx.f64 =d, $d", {{0xbff0000000000000, 0x7ff8000000000001}});
  for (const std::uint64_t value : special) EXPECT_TRUE(kF64.is_nan(value));
}

struct Narrow {
  const char* type;
  Format format;
  const char* ftz;  // .ftz or nothing, as for ex2
  double ex2_relative, tanh_absolute;
};
constexpr Narrow kNarrow[] = {{"f16", kF16, "", 0x1.12p-10, 0x1.025p-11}, {"bf16", kBf16, ".ftz", 0x1p-7, 0x1p-8}};

double value_of(const Format& format, std::uint64_t bits) {
  return single(converted(kF32, format, bits, Round::nearest_even));
}

// Tests all 65,536 numbers of the format, two per packed instruction.
void expect_narrow(const std::string& name, const Narrow& of, double (*exact)(double), double relative, double absolute,
                   bool ftz) {
  Values pairs;
  for (std::uint64_t bits = 0; bits <= 0xffff; ++bits) pairs.push_back(bits | (0xffff - bits) << 16);
  const Values found = execute(fmt::format("{}.{}x2 =r, $r", name, of.type), {pairs});
  for (std::uint64_t bits = 0; bits <= 0xffff; ++bits) {
    for (const std::uint64_t result : {found[bits] & 0xffff, found[0xffff - bits] >> 16}) {
      const double wanted = exact(value_of(of.format, ftz ? of.format.flushed(bits) : bits));
      if (std::isnan(wanted)) {
        ASSERT_EQ(result, of.format.nan) << to_hex(bits);
        continue;
      }
      const double largest = value_of(of.format, of.format.infinity() - 1), value = value_of(of.format, result);
      if (wanted > largest * (1 + relative)) {
        ASSERT_TRUE(of.format.is_infinite(result)) << to_hex(bits);
        continue;
      }
      const double spacing = std::ldexp(1.0, of.format.least_exponent() + (ftz ? of.format.fraction_bits : 0));
      if (of.format.is_infinite(result) && wanted > largest * (1 - relative)) continue;
      ASSERT_LE(std::fabs(value - wanted), std::max({relative * std::fabs(wanted), absolute, spacing}))
          << name << to_hex(bits);
      if (ftz) {
        ASSERT_FALSE(of.format.is_subnormal(result)) << name << to_hex(bits);
      }
    }
  }
  EXPECT_EQ(execute(fmt::format("{}.{} =h, $h", name, of.type), {{0}})[0], found[0] & 0xffff);
}

ROW_TEST(Ex2, OfEveryNarrowFloat) {
  for (const Narrow& of : kNarrow) {
    expect_narrow(
        fmt::format("ex2.approx{}", of.ftz), of, [](double x) { return std::exp2(x); }, of.ex2_relative, 0,
        *of.ftz != 0);
  }
}
ROW_TEST(Tanh, OfEveryNarrowFloat) {
  for (const Narrow& of : kNarrow) {
    expect_narrow(
        "tanh.approx", of, [](double x) { return std::tanh(x); }, 0, of.tanh_absolute, false);
  }
}

}  // namespace
}  // namespace roofwalk::isa
