// Forms of floats. Arithmetic uses the processor in its four rounding modes; 16-bit floats are computed exactly and
// rounded once; approximations are compared with the error that the ISA allows.
#include <algorithm>
#include <array>

#include "tests/random/forms.h"
#include "tests/random/numbers.h"

namespace roofwalk::random {
namespace {

constexpr Mode kDefault{"", FE_TONEAREST};

enum class Sum { add, sub, mul, fma, div, sqrt, rcp, min, max, abs, neg };

// Computes in a rounding mode. `volatile` keeps the compiler from moving arithmetic across the change of mode.
template <class T>
T calculate(Sum what, T a_in, T b_in, T c_in, int mode) {
  volatile T a = a_in, b = b_in, c = c_in;
  const RoundingMode at(mode);
  volatile T out = 0;
  switch (what) {
    case Sum::add:
      out = a + b;
      break;
    case Sum::sub:
      out = a - b;
      break;
    case Sum::mul:
      out = a * b;
      break;
    case Sum::fma:
      out = std::fma(T{a}, T{b}, T{c});
      break;
    case Sum::div:
      out = a / b;
      break;
    case Sum::sqrt:
      out = std::sqrt(T{a});
      break;
    case Sum::rcp:
      out = T{1} / a;
      break;
    case Sum::min:
    case Sum::max: {
      const T x = a, y = b;
      const bool least = what == Sum::min;
      if (x != x || y != y)
        out = x != x ? y : x;
      else if (x == y)  // -0 is less than +0
        out = std::signbit(x) == least ? x : y;
      else
        out = (x < y) == least ? x : y;
      break;
    }
    case Sum::abs:
      out = std::copysign(T{a}, T{1});
      break;
    case Sum::neg:
      out = -a;
      break;
  }
  return out;
}

bool keeps_nan(Sum what) { return what == Sum::abs || what == Sum::neg; }

struct Operation {
  const char* mnemonic;
  Sum sum;
  int sources, flops;
  bool special;
};

Form float_form(const Operation& operation, const std::string& modifiers, const std::string& type, Kind kind,
                Flops of) {
  Form form;
  form.mnemonic = operation.mnemonic;
  form.text = form.mnemonic + modifiers + "." + type;
  form.results = {kind};
  form.sources.assign(static_cast<std::size_t>(operation.sources), kind);
  form.numbers.assign(static_cast<std::size_t>(operation.sources), of == Flops::f16 ? "" : type);
  form.flops_of = operation.flops != 0 ? of : Flops::none;
  form.flops = operation.flops;
  form.special_function = operation.special;
  return form;
}

void add_single(std::vector<Form>& out, const Operation& operation, const Mode& mode, bool ftz, bool sat) {
  Form form = float_form(operation, std::string(mode.name) + (ftz ? ".ftz" : "") + (sat ? ".sat" : ""), "f32",
                         Kind::b32, Flops::f32);
  form.apply = [operation, mode, ftz, sat](const Bits* s, Bits* r) {
    float in[3] = {};
    for (int i = 0; i < operation.sources; ++i) in[i] = ftz ? flushed(as<float>(s[i])) : as<float>(s[i]);
    float value = calculate(operation.sum, in[0], in[1], in[2], mode.mode);
    if (ftz) value = flushed(value);
    if (sat) value = saturated(value);
    r[0] = keeps_nan(operation.sum) ? raw(value) : single(value);
  };
  out.push_back(std::move(form));
}

void add_double(std::vector<Form>& out, const Operation& operation, const Mode& mode) {
  Form form = float_form(operation, mode.name, "f64", Kind::b64, Flops::f64);
  form.apply = [operation, mode](const Bits* s, Bits* r) {
    double in[3] = {};
    for (int i = 0; i < operation.sources; ++i) in[i] = as<double>(s[i]);
    const double value = calculate(operation.sum, in[0], in[1], in[2], mode.mode);
    r[0] = keeps_nan(operation.sum) ? raw(value) : twice(value);
  };
  out.push_back(std::move(form));
}

struct ShortModifiers {
  bool sat = false, ftz = false, relu = false, nan = false;  // nan: min and max return NaN if either source is NaN
};

Bits flushed_short(Bits bits, const FloatFormat& format) {
  return (bits >> (format.digits - 1) & ((1u << format.exponent_bits) - 1)) == 0 ? bits & 0x8000 : bits;
}

// Returns the exact result for one 16-bit float, rounded once.
Bits short_result(Sum what, const Bits* raw_sources, const FloatFormat& format, const ShortModifiers& modifiers) {
  Bits s[3] = {};
  for (int i = 0; i < 3; ++i) s[i] = modifiers.ftz ? flushed_short(raw_sources[i], format) : raw_sources[i];
  if (what == Sum::abs) return s[0] & 0x7fff;
  if (what == Sum::neg) return s[0] ^ 0x8000;
  long double in[3] = {};
  for (int i = 0; i < 3; ++i) in[i] = decode(s[i], format);
  if (modifiers.nan && (in[0] != in[0] || in[1] != in[1])) return kNanOfShort;
  long double value = 0;
  switch (what) {
    case Sum::add:
      value = odd_sum(in[0], in[1]);
      break;
    case Sum::sub:
      value = odd_sum(in[0], -in[1]);
      break;
    case Sum::mul:
      value = in[0] * in[1];
      break;
    case Sum::fma:
      value = odd_sum(in[0] * in[1], in[2]);
      break;
    default:
      value = calculate(what, in[0], in[1], in[2], FE_TONEAREST);
  }
  value = rounded(value, format, FE_TONEAREST);
  if (modifiers.sat) value = value > 0 ? std::min(value, 1.0L) : 0.0L;
  if (modifiers.relu && value == value && !(value > 0)) value = 0;
  const Bits bits = encode(value, format, kNanOfShort);
  return modifiers.ftz ? flushed_short(bits, format) : bits;
}

void add_short(std::vector<Form>& out, const Operation& operation, const std::string& rounding,
               const FloatFormat& format, const std::string& type, bool pair, const ShortModifiers& modifiers) {
  const std::string words = std::string(modifiers.ftz ? ".ftz" : "") + (modifiers.nan ? ".NaN" : "") +
                            (modifiers.sat ? ".sat" : "") + (modifiers.relu ? ".relu" : "");
  Form form =
      float_form(operation, rounding + words, pair ? type + "x2" : type, pair ? Kind::b32 : Kind::b16, Flops::f16);
  if (pair) form.flops *= 2;
  form.apply = [operation, format, pair, modifiers](const Bits* s, Bits* r) {
    r[0] = 0;
    for (int half = 0; half <= pair; ++half) {
      Bits in[3] = {};
      for (int i = 0; i < operation.sources; ++i) in[i] = s[i] >> (16 * half) & 0xffff;
      r[0] |= short_result(operation.sum, in, format, modifiers) << (16 * half);
    }
  };
  out.push_back(std::move(form));
}

void add_exact(std::vector<Form>& out) {
  constexpr Operation kArithmetic[] = {{"add", Sum::add, 2, 1, false},
                                       {"sub", Sum::sub, 2, 1, false},
                                       {"mul", Sum::mul, 2, 1, false},
                                       {"fma", Sum::fma, 3, 2, false},
                                       {"mad", Sum::fma, 3, 2, false}};
  for (const Operation& operation : kArithmetic) {
    const bool needs_mode = operation.sum == Sum::fma;
    for (int m = needs_mode ? 0 : -1; m < 4; ++m) {
      const Mode mode = m < 0 ? kDefault : kModes[m];
      for (const bool ftz : {false, true}) {
        for (const bool sat : {false, true}) add_single(out, operation, mode, ftz, sat);
      }
      add_double(out, operation, mode);
    }
    if (operation.mnemonic[1] == 'a' && operation.mnemonic[0] == 'm') continue;  // "mad" has no 16-bit forms
    for (const bool pair : {false, true}) {
      for (const char* mode : {"", ".rn"}) {
        if (needs_mode && *mode == 0) continue;
        for (const bool ftz : {false, true}) {
          for (const bool sat : {false, true}) add_short(out, operation, mode, kHalf, "f16", pair, {sat, ftz});
        }
        add_short(out, operation, mode, kBrain, "bf16", pair, {});
        if (operation.sum != Sum::fma) continue;
        add_short(out, operation, mode, kHalf, "f16", pair, {.relu = true});
        add_short(out, operation, mode, kHalf, "f16", pair, {.ftz = true, .relu = true});
        add_short(out, operation, mode, kBrain, "bf16", pair, {.relu = true});
      }
    }
  }
  constexpr Operation kPicks[] = {{"min", Sum::min, 2, 0, false},
                                  {"max", Sum::max, 2, 0, false},
                                  {"abs", Sum::abs, 1, 0, false},
                                  {"neg", Sum::neg, 1, 0, false}};
  for (const Operation& operation : kPicks) {
    for (const bool ftz : {false, true}) {
      add_single(out, operation, kDefault, ftz, false);
      if (keeps_nan(operation.sum)) continue;
      Form form = out.back();  // .NaN: the result is NaN if either source is NaN
      form.text = std::string(operation.mnemonic) + (ftz ? ".ftz" : "") + ".NaN.f32";
      form.apply = [plain = form.apply](const Bits* s, Bits* r) {
        const bool nan = std::isnan(as<float>(s[0])) || std::isnan(as<float>(s[1]));
        plain(s, r);
        if (nan) r[0] = kNanOfSingle;
      };
      out.push_back(std::move(form));
    }
    add_double(out, operation, kDefault);
    for (const bool pair : {false, true}) {
      for (const bool ftz : {false, true}) {
        add_short(out, operation, "", kHalf, "f16", pair, {.ftz = ftz});
        if (!keeps_nan(operation.sum)) add_short(out, operation, "", kHalf, "f16", pair, {.ftz = ftz, .nan = true});
      }
      add_short(out, operation, "", kBrain, "bf16", pair, {});
      if (!keeps_nan(operation.sum)) add_short(out, operation, "", kBrain, "bf16", pair, {.nan = true});
    }
  }
  constexpr Operation kSlow[] = {
      {"div", Sum::div, 2, 1, true}, {"sqrt", Sum::sqrt, 1, 1, true}, {"rcp", Sum::rcp, 1, 1, true}};
  for (const Operation& operation : kSlow) {
    for (const Mode& mode : kModes) {
      for (const bool ftz : {false, true}) add_single(out, operation, mode, ftz, false);
      add_double(out, operation, mode);
    }
  }
  for (const bool wide : {false, true}) {
    Form form = float_form({"copysign", Sum::abs, 2, 0, false}, "", wide ? "f64" : "f32", wide ? Kind::b64 : Kind::b32,
                           Flops::none);
    const int sign = wide ? 63 : 31;
    form.apply = [sign](const Bits* s, Bits* r) {  // the sign of the first source, the magnitude of the second
      const Bits bit = Bits{1} << sign;
      r[0] = (s[0] & bit) | (s[1] & ~bit);
    };
    out.push_back(std::move(form));
  }
}

// The error that PTX ISA 9.0 allows: a result may be off by the larger of `absolute` and `relative` times the exact
// value, which is computed in double.
struct Grant {
  double absolute, relative;
};
bool near(double result, double exact, const Grant& grant) {
  if (exact != exact) return result != result;
  if (std::isinf(exact) || std::isinf(result)) {
    return result == exact || std::fabs(exact) > 0x1.fffff8p127;  // near the largest float, infinity is allowed
  }
  const double error = std::fabs(result - exact);
  return error <= grant.absolute || error <= grant.relative * std::fabs(exact) ||
         error <= 0x1p-148;  // two steps of the smallest subnormal
}

struct MathFunction {
  const char* mnemonic;
  const char* modifier;
  int sources;
  Grant grant;
  double (*exact)(double a, double b);
  bool (*granted)(double a, double b);  // whether the error is bounded; if not, any result is right
  bool always_flushes;
};

bool everywhere(double, double) { return true; }

void add_approximate(std::vector<Form>& out) {
  constexpr double kPi = 3.14159265358979323846;
  constexpr double kUlp = 0x1p-23;
  const MathFunction functions[] = {
      {"ex2", ".approx", 1, {0, 2 * kUlp}, [](double a, double) { return std::exp2(a); }, everywhere, false},
      {"lg2", ".approx", 1, {0x1p-22, 2 * kUlp}, [](double a, double) { return std::log2(a); }, everywhere, false},
      {"rsqrt", ".approx", 1, {0, 0x1.125p-23}, [](double a, double) { return 1 / std::sqrt(a); }, everywhere, false},
      {"sqrt", ".approx", 1, {0, kUlp}, [](double a, double) { return std::sqrt(a); }, everywhere, false},
      {"rcp", ".approx", 1, {0, kUlp}, [](double a, double) { return 1 / a; }, everywhere, false},
      {"div",
       ".approx",
       2,
       {0, 2 * kUlp},
       [](double a, double b) { return a / b; },
       [](double, double b) { return std::fabs(b) >= 0x1p-126 && std::fabs(b) <= 0x1p126; },
       false},
      {"div",
       ".full",
       2,
       {0, 2 * kUlp},
       [](double a, double b) { return a / b; },
       [](double, double b) { return std::fabs(b) >= 0x1p-126 && std::fabs(b) <= 0x1p126; },
       false},
      {"sin",
       ".approx",
       1,
       {0x1.6ap-21, 0},
       [](double a, double) { return std::sin(a); },
       [](double a, double) { return std::fabs(a) <= 2 * kPi || !std::isfinite(a); },
       false},
      {"cos",
       ".approx",
       1,
       {0x1.6ap-21, 0},
       [](double a, double) { return std::cos(a); },
       [](double a, double) { return std::fabs(a) <= 2 * kPi || !std::isfinite(a); },
       false},
      {"tanh", ".approx", 1, {0, 0x1p-11}, [](double a, double) { return std::tanh(a); }, everywhere, false},
  };
  for (const MathFunction& function : functions) {
    for (const bool ftz : {false, true}) {
      if (ftz && std::string(function.mnemonic) == "tanh") continue;
      Form form = float_form({function.mnemonic, Sum::abs, function.sources, 1, true},
                             std::string(function.modifier) + (ftz ? ".ftz" : ""), "f32", Kind::b32, Flops::f32);
      form.accepts = [function, ftz](const Bits* s, Bits result) {
        double in[2] = {};
        for (int i = 0; i < function.sources; ++i) in[i] = ftz ? flushed(as<float>(s[i])) : as<float>(s[i]);
        if (!function.granted(in[0], in[1])) return true;
        const double exact = function.exact(in[0], in[1]), found = as<float>(result);
        if (near(found, exact, function.grant)) return true;
        return ftz && std::fabs(exact) <= 0x1.00001p-126 && found == 0;
      };
      out.push_back(std::move(form));
    }
  }
  // ex2 and tanh of 16-bit floats, with the errors that PTX ISA 9.0 allows. These hold for all sources.
  struct OfHalves {
    const char* mnemonic;
    const char* modifiers;
    const char* type;
    FloatFormat format;
    Grant grant;
    double (*exact)(double);
  };
  const OfHalves of_halves[] = {
      {"ex2", ".approx", "f16", kHalf, {0, 0x1.12p-10}, [](double a) { return std::exp2(a); }},
      {"ex2", ".approx.ftz", "bf16", kBrain, {0, 0x1p-7}, [](double a) { return std::exp2(a); }},
      {"tanh", ".approx", "f16", kHalf, {0x1.025p-11, 0}, [](double a) { return std::tanh(a); }},
      {"tanh", ".approx", "bf16", kBrain, {0x1p-8, 0}, [](double a) { return std::tanh(a); }},
  };
  for (const OfHalves& function : of_halves) {
    for (const bool pair : {false, true}) {
      Form form = float_form({function.mnemonic, Sum::abs, 1, pair ? 2 : 1, true}, function.modifiers,
                             std::string(function.type) + (pair ? "x2" : ""), pair ? Kind::b32 : Kind::b16, Flops::f16);
      form.accepts = [function, pair](const Bits* s, Bits result) {
        for (int half = 0; half <= pair; ++half) {
          const auto one = [&](Bits bits) {
            return static_cast<double>(decode(bits >> (16 * half) & 0xffff, function.format));
          };
          const double exact = function.exact(one(s[0])), found = one(result);
          const double largest = std::ldexp(2.0, function.format.most_exponent);
          const bool flushes = std::string(function.modifiers).ends_with(".ftz");
          const double least =
              std::ldexp(1.0, function.format.least_exponent - (flushes ? 0 : function.format.digits - 1));
          const bool fits = exact != exact ? found != found
                            : exact >= largest * 0.99
                                ? found >= largest * 0.98
                                : near(found, exact, function.grant) || std::fabs(found - exact) <= least;
          if (!fits) return false;
        }
        return true;
      };
      out.push_back(std::move(form));
    }
  }
  // For f64: rcp.approx.ftz.f64 and rsqrt.approx(.ftz).f64 have about 20 bits. Subnormal sources are not checked.
  for (const char* text : {"rcp.approx.ftz", "rsqrt.approx", "rsqrt.approx.ftz"}) {
    const std::string all = text;
    const bool root = all[1] == 's';
    const std::size_t dot = all.find('.');
    Form form = float_form({"", Sum::abs, 1, 1, true}, all.substr(dot), "f64", Kind::b64, Flops::f64);
    form.mnemonic = all.substr(0, dot);
    form.text = form.mnemonic + form.text;
    form.accepts = [root](const Bits* s, Bits result) {
      const double a = as<double>(s[0]);
      if (std::fpclassify(a) == FP_SUBNORMAL) return true;
      const double exact = root ? 1 / std::sqrt(a) : 1 / a;
      return near(as<double>(result), exact, {0x1p-1022, 0x1p-20});
    };
    out.push_back(std::move(form));
  }
}

}  // namespace

void add_float_forms(std::vector<Form>& out) {
  add_exact(out);
  add_approximate(out);
}

}  // namespace roofwalk::random
