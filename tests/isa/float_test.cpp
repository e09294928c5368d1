// Floating-point arithmetic of every width, with every rounding mode and modifier, exact to the last bit.
#include <functional>

#include <fmt/format.h>

#include "tests/isa/reference.h"
#include "tests/isa/row.h"

namespace roofwalk::isa {
namespace {

constexpr std::size_t kSamples = 3000;

struct Modifiers {
  bool ftz = false, sat = false, relu = false, nan = false;
  std::string text() const {
    return std::string(ftz ? ".ftz" : "") + (sat ? ".sat" : "") + (relu ? ".relu" : "") + (nan ? ".NaN" : "");
  }
};

struct Width {
  const char* type;
  const char* packed;  // the packed type's name, or nullptr
  Kind kind;
  Format format;
  char reg;
};
const Width kHalf{"f16", "f16x2", Kind::f16, kF16, 'h'}, kBfloat{"bf16", "bf16x2", Kind::bf16, kBf16, 'h'};
const Width kSingle{"f32", nullptr, Kind::f32, kF32, 'r'}, kDouble{"f64", nullptr, Kind::f64, kF64, 'd'};

struct Named {
  const char* word;
  Round round;
};
constexpr Named kNearest{".rn", Round::nearest_even};
constexpr Named kDirections[] = {kNearest, {".rz", Round::zero}, {".rm", Round::down}, {".rp", Round::up}};

using Operation = std::function<std::uint64_t(const Format&, const std::uint64_t*, Round)>;

// Returns the result of the operation with the modifiers applied.
std::uint64_t modified(const Width& width, const Operation& operation, Values sources, Round round,
                       const Modifiers& with) {
  const Format& format = width.format;
  if (with.ftz) {
    for (std::uint64_t& source : sources) source = format.flushed(source);
  }
  if (with.nan) {
    for (const std::uint64_t source : sources) {
      if (format.is_nan(source)) return format.nan;
    }
  }
  std::uint64_t value = operation(format, sources.data(), round);
  if (with.ftz) value = format.flushed(value);
  if (with.sat) return saturated(format, value);
  if (with.relu && !format.is_nan(value) && format.is_negative(value)) return 0;
  return value;
}

std::string operands(char reg, int sources) {
  std::string text = fmt::format("={}", reg);
  for (int s = 0; s < sources; ++s) text += fmt::format(", ${}", reg);
  return text;
}

// Tests the instruction in one width. Narrow widths are also tested packed, with different numbers in each half.
void expect_operation(const std::string& name, const std::string& rounding, const Width& width, int sources,
                      const Modifiers& with, Round round, const Operation& operation) {
  const std::vector<Values> values =
      sample_tuples(std::vector<Kind>(static_cast<std::size_t>(sources), width.kind), kSamples);
  const auto tuple = [&](std::size_t i) {
    Values out;
    for (const Values& source : values) out.push_back(source[i]);
    return out;
  };
  const std::string text = name + rounding + with.text();
  expect_lanes(fmt::format("{}.{} {}", text, width.type, operands(width.reg, sources)), values,
               [&](std::size_t i) { return modified(width, operation, tuple(i), round, with); });
  if (width.packed == nullptr) return;
  std::vector<Values> pairs = values;
  const auto other = [&](std::size_t i) { return (i * 7 + 5) % values[0].size(); };
  for (std::size_t s = 0; s < pairs.size(); ++s) {
    for (std::size_t i = 0; i < pairs[s].size(); ++i) pairs[s][i] |= values[s][other(i)] << 16;
  }
  expect_lanes(fmt::format("{}.{} {}", text, width.packed, operands('r', sources)), pairs, [&](std::size_t i) {
    return modified(width, operation, tuple(i), round, with) | modified(width, operation, tuple(other(i)), round, with)
                                                                   << 16;
  });
}

const Operation kAdd = [](const Format& f, const std::uint64_t* x, Round r) { return added(f, x[0], x[1], r); };
const Operation kSub = [](const Format& f, const std::uint64_t* x, Round r) {
  return f.is_nan(x[1]) ? f.nan : added(f, x[0], x[1] ^ f.sign(), r);
};
const Operation kMul = [](const Format& f, const std::uint64_t* x, Round r) { return multiplied(f, x[0], x[1], r); };
const Operation kFma = [](const Format& f, const std::uint64_t* x, Round r) { return fused(f, x[0], x[1], x[2], r); };
const Operation kDiv = [](const Format& f, const std::uint64_t* x, Round r) { return divided(f, x[0], x[1], r); };
const Operation kRcp = [](const Format& f, const std::uint64_t* x, Round r) { return divided(f, one(f), x[0], r); };
const Operation kRoot = [](const Format& f, const std::uint64_t* x, Round r) { return root(f, x[0], r); };
const Operation kMax = [](const Format& f, const std::uint64_t* x, Round) { return extreme(f, x[0], x[1], true); };
const Operation kMin = [](const Format& f, const std::uint64_t* x, Round) { return extreme(f, x[0], x[1], false); };

void expect_everywhere(const std::string& name, int sources, const Operation& operation) {
  for (const Named& direction : kDirections) {
    for (const bool ftz : {false, true}) {
      for (const bool sat : {false, true}) {
        expect_operation(name, direction.word, kSingle, sources, {.ftz = ftz, .sat = sat}, direction.round, operation);
      }
    }
    expect_operation(name, direction.word, kDouble, sources, {}, direction.round, operation);
  }
  for (const bool ftz : {false, true}) {
    for (const bool sat : {false, true}) {
      expect_operation(name, ".rn", kHalf, sources, {.ftz = ftz, .sat = sat}, Round::nearest_even, operation);
    }
  }
  expect_operation(name, ".rn", kBfloat, sources, {}, Round::nearest_even, operation);
}

ROW_TEST(Add, RoundsOnce) { expect_everywhere("add", 2, kAdd); }
ROW_TEST(Sub, RoundsOnce) { expect_everywhere("sub", 2, kSub); }
ROW_TEST(Mul, RoundsOnce) { expect_everywhere("mul", 2, kMul); }
ROW_TEST(Fma, RoundsOnce) {
  expect_everywhere("fma", 3, kFma);
  for (const bool ftz : {false, true}) {
    expect_operation("fma", ".rn", kHalf, 3, {.ftz = ftz, .relu = true}, Round::nearest_even, kFma);
  }
  expect_operation("fma", ".rn", kBfloat, 3, {.relu = true}, Round::nearest_even, kFma);
}

ROW_TEST(Add, RoundsToNearestWhereNothingIsSaid) {
  expect_operation("add", "", kSingle, 2, {}, Round::nearest_even, kAdd);
  expect_operation("add", "", kDouble, 2, {}, Round::nearest_even, kAdd);
  expect_operation("add", "", kHalf, 2, {}, Round::nearest_even, kAdd);
}

ROW_TEST(Mad, OfFloatsIsFused) {
  for (const Named& direction : kDirections) {
    expect_operation("mad", direction.word, kSingle, 3, {.ftz = true}, direction.round, kFma);
    expect_operation("mad", direction.word, kDouble, 3, {}, direction.round, kFma);
  }
}

ROW_TEST(Div, RoundsOnce) {
  for (const Named& direction : kDirections) {
    for (const bool ftz : {false, true}) {
      expect_operation("div", direction.word, kSingle, 2, {.ftz = ftz}, direction.round, kDiv);
    }
    expect_operation("div", direction.word, kDouble, 2, {}, direction.round, kDiv);
  }
}

ROW_TEST(Rcp, RoundsOnce) {
  for (const Named& direction : kDirections) {
    for (const bool ftz : {false, true}) {
      expect_operation("rcp", direction.word, kSingle, 1, {.ftz = ftz}, direction.round, kRcp);
    }
    expect_operation("rcp", direction.word, kDouble, 1, {}, direction.round, kRcp);
  }
}

ROW_TEST(Sqrt, RoundsOnce) {
  for (const Named& direction : kDirections) {
    for (const bool ftz : {false, true}) {
      expect_operation("sqrt", direction.word, kSingle, 1, {.ftz = ftz}, direction.round, kRoot);
    }
    expect_operation("sqrt", direction.word, kDouble, 1, {}, direction.round, kRoot);
  }
}

void expect_extremes(const std::string& name, const Operation& operation) {
  for (const bool nan : {false, true}) {
    for (const bool ftz : {false, true}) {
      for (const Width& width : {kSingle, kHalf}) {
        expect_operation(name, "", width, 2, {.ftz = ftz, .nan = nan}, Round::nearest_even, operation);
      }
    }
    expect_operation(name, "", kBfloat, 2, {.nan = nan}, Round::nearest_even, operation);
  }
  expect_operation(name, "", kDouble, 2, {}, Round::nearest_even, operation);
}

ROW_TEST(Max, OfFloats) { expect_extremes("max", kMax); }
ROW_TEST(Min, OfFloats) { expect_extremes("min", kMin); }

// Tests abs or neg. PTX does not define which NaN they return; the virtual GPU returns the source NaN with its sign
// cleared (abs) or flipped (neg).
void expect_sign_change(const std::string& name, const std::function<std::uint64_t(const Format&, std::uint64_t)>& of) {
  const Operation operation = [&](const Format& f, const std::uint64_t* x, Round) { return of(f, x[0]); };
  for (const bool ftz : {false, true}) {
    for (const Width& width : {kSingle, kHalf}) {
      expect_operation(name, "", width, 1, {.ftz = ftz}, Round::nearest_even, operation);
    }
  }
  expect_operation(name, "", kBfloat, 1, {}, Round::nearest_even, operation);
  expect_operation(name, "", kDouble, 1, {}, Round::nearest_even, operation);
}

ROW_TEST(Abs, OfFloats) {
  expect_sign_change("abs", [](const Format& f, std::uint64_t x) { return x & ~f.sign(); });
}
ROW_TEST(Neg, OfFloats) {
  expect_sign_change("neg", [](const Format& f, std::uint64_t x) { return x ^ f.sign(); });
}

ROW_TEST(Copysign, TakesTheSignOfItsFirstSource) {
  const Operation operation = [](const Format& f, const std::uint64_t* x, Round) {
    return (x[1] & ~f.sign()) | (x[0] & f.sign());
  };
  expect_operation("copysign", "", kSingle, 2, {}, Round::nearest_even, operation);
  expect_operation("copysign", "", kDouble, 2, {}, Round::nearest_even, operation);
}

// Lanes whose guard is off keep a register that lies outside of what .sat clamps to.
ROW_TEST(Add, ClampsTheResultsOfItsOwnLanes) {
  const std::string guard = "setp.gt.u32 %p50, $r, 4; ";
  EXPECT_EQ(execute_all(guard + "mov.f32 %f50, 0f40400000; @%p50 add.sat.f32 %f50, %f50, %f50; mov.b32 =r, %f50",
                        {{9, 3}})[0],
            (Values{0x3f80'0000, 0x4040'0000}));
  EXPECT_EQ(execute_all(guard + "mov.b32 %r50, 0x44004400; @%p50 add.sat.f16x2 %r50, %r50, %r50; mov.b32 =r, %r50",
                        {{9, 3}})[0],
            (Values{0x3c00'3c00, 0x4400'4400}));
}

}  // namespace
}  // namespace roofwalk::isa
