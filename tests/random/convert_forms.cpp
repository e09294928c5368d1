// Conversion instructions.
#include <array>

#include "tests/random/forms.h"
#include "tests/random/numbers.h"

namespace roofwalk::random {
namespace {

constexpr IntegerType kIntegers[] = {kU8, kS8, kU16, kS16, kU32, kS32, kU64, kS64};

constexpr Mode kWhole[] = {{".rni", FE_TONEAREST}, {".rzi", FE_TOWARDZERO}, {".rmi", FE_DOWNWARD}, {".rpi", FE_UPWARD}};

struct FloatType {
  const char* name;
  int bits;
};
constexpr FloatType kF16{"f16", 16}, kF32{"f32", 32}, kF64{"f64", 64};
constexpr FloatType kFloats[] = {kF16, kF32, kF64};

Kind kind_of(int bits) { return bits <= 16 ? Kind::b16 : bits == 32 ? Kind::b32 : Kind::b64; }

// Returns the exact number: long double represents every value of these types.
long double number(Bits bits, const FloatType& type, bool ftz) {
  if (type.bits == 16) return decode(bits, kHalf);
  if (type.bits == 64) return as<double>(bits);
  return ftz ? flushed(as<float>(bits)) : as<float>(bits);
}

Bits rounded_to(long double value, const FloatType& type, int mode, bool ftz) {
  if (type.bits == 16) return encode(rounded(value, kHalf, mode), kHalf, kNanOfShort);
  volatile long double in = value;
  const RoundingMode at(mode);
  if (type.bits == 64) {
    volatile double out = static_cast<double>(in);
    return twice(out);
  }
  volatile float out = static_cast<float>(in);
  return single(ftz ? flushed(out) : float{out});
}

long double whole(long double value, int mode) {
  volatile long double in = value;
  const RoundingMode at(mode);
  volatile long double out = std::rint(in);
  return out;
}

Form convert_form(const std::string& modifiers, const char* to, const char* from, Kind result, Kind source) {
  Form form;
  form.mnemonic = "cvt";
  form.text = "cvt" + modifiers + "." + to + "." + from;
  form.results = {result};
  form.sources = {source};
  form.numbers = {""};
  return form;
}

// Calls `use` for each kind of register that can hold an integer of `bits` bits: a result is sign- or zero-extended to
// its register, and a source is the low bits of its register.
template <class Use>
void for_widths(int bits, Use use) {
  for (const Kind kind : {Kind::b16, Kind::b32, Kind::b64}) {
    if (bits_of(kind) >= bits) use(kind);
  }
}

void add_of_integers(std::vector<Form>& out) {
  for (const IntegerType& to : kIntegers) {
    for (const IntegerType& from : kIntegers) {
      for (const bool sat : {false, true}) {
        for_widths(to.bits, [&](Kind result) {
          for_widths(from.bits, [&](Kind source) {
            Form form = convert_form(sat ? ".sat" : "", to.name, from.name, result, source);
            form.apply = [to, from, sat, result](const Bits* s, Bits* r) {
              const Wide value = value_of(s[0], from);
              const Bits low = low_bits(sat ? clamped(value, to) : value, to.bits);
              r[0] = low_bits(value_of(low, to), bits_of(result));
            };
            form.makes_addresses = to.bits >= 32 && from.bits >= 32 && !sat;
            out.push_back(std::move(form));
          });
        });
      }
    }
  }
}

void add_between(std::vector<Form>& out) {
  for (const IntegerType& integer : kIntegers) {
    for (const FloatType& real : kFloats) {
      for (const Mode& mode : kModes) {
        for_widths(integer.bits, [&](Kind source) {
          Form form = convert_form(mode.name, real.name, integer.name, kind_of(real.bits), source);
          form.apply = [=](const Bits* s, Bits* r) {
            r[0] = rounded_to(static_cast<long double>(value_of(s[0], integer)), real, mode.mode, false);
          };
          out.push_back(std::move(form));
        });
      }
      for (const Mode& mode : kWhole) {
        for (const bool ftz : {false, true}) {
          for (const bool sat : {false, true}) {  // .sat has no effect: the result is clamped anyway
            if (ftz && real.bits != 32) continue;
            for_widths(integer.bits, [&](Kind result) {
              Form form = convert_form(std::string(mode.name) + (ftz ? ".ftz" : "") + (sat ? ".sat" : ""), integer.name,
                                       real.name, result, kind_of(real.bits));
              form.apply = [=](const Bits* s, Bits* r) {
                const long double value = whole(number(s[0], real, ftz), mode.mode);
                Wide exact = 0;
                if (value >= 0x1p100L)
                  exact = most(integer);
                else if (value <= -0x1p100L)
                  exact = least(integer);
                else if (value == value)
                  exact = static_cast<Wide>(value);
                else if (real.bits == 64 || integer.bits == 64)  // NaN, by PTX ISA 9.0; with other types NaN becomes 0
                  exact = integer.is_signed ? least(integer) : static_cast<Wide>(1) << (integer.bits - 1);
                r[0] = low_bits(value_of(low_bits(clamped(exact, integer), integer.bits), integer), bits_of(result));
              };
              out.push_back(std::move(form));
            });
          }
        }
      }
    }
  }
}

void add_of_floats(std::vector<Form>& out) {
  const auto add = [&](const FloatType& to, const FloatType& from, const Mode& mode, bool to_whole, bool ftz,
                       bool sat) {
    if (ftz && to.bits != 32 && from.bits != 32) return;
    Form form = convert_form(std::string(mode.name) + (ftz ? ".ftz" : "") + (sat ? ".sat" : ""), to.name, from.name,
                             kind_of(to.bits), kind_of(from.bits));
    form.apply = [=](const Bits* s, Bits* r) {
      long double value = number(s[0], from, ftz);
      if (to_whole) value = whole(value, mode.mode);
      if (sat) value = value > 0 ? std::min(value, 1.0L) : 0.0L;
      r[0] = rounded_to(value, to, mode.mode, ftz);
    };
    out.push_back(std::move(form));
  };
  for (const bool ftz : {false, true}) {
    for (const bool sat : {false, true}) {
      for (const FloatType& type : kFloats) {
        for (const Mode& mode : kWhole) add(type, type, mode, true, ftz, sat);
        add(type, type, {"", FE_TONEAREST}, false, ftz, sat);
      }
      for (const Mode& mode : kModes) {
        add(kF16, kF32, mode, false, ftz, sat);
        add(kF16, kF64, mode, false, ftz, sat);
        add(kF32, kF64, mode, false, ftz, sat);
      }
      add(kF32, kF16, {"", FE_TONEAREST}, false, ftz, sat);
      add(kF64, kF16, {"", FE_TONEAREST}, false, ftz, sat);
      add(kF64, kF32, {"", FE_TONEAREST}, false, ftz, sat);
    }
  }
}

void add_short_ones(std::vector<Form>& out) {
  struct Short {
    const char* name;
    FloatFormat format;
  };
  for (const Short& type : {Short{"f16", kHalf}, Short{"bf16", kBrain}}) {
    for (const Mode& mode : {kModes[0], kModes[1]}) {
      const auto one = [format = type.format, mode](Bits bits) {
        return encode(rounded(as<float>(bits), format, mode.mode), format, kNanOfShort);
      };
      if (type.format.digits != kHalf.digits) {  // conversions to f16 are above
        Form form = convert_form(mode.name, type.name, "f32", Kind::b16, Kind::b32);
        form.apply = [one](const Bits* s, Bits* r) { r[0] = one(s[0]); };
        out.push_back(std::move(form));
      }
      Form pair = convert_form(mode.name, (std::string(type.name) + "x2").c_str(), "f32", Kind::b32, Kind::b32);
      pair.sources = {Kind::b32, Kind::b32};
      pair.numbers = {"", ""};
      pair.apply = [one](const Bits* s, Bits* r) { r[0] = one(s[0]) << 16 | one(s[1]); };
      out.push_back(std::move(pair));
    }
  }
  Form from_brain = convert_form("", "f32", "bf16", Kind::b32, Kind::b16);
  from_brain.apply = [](const Bits* s, Bits* r) { r[0] = single(static_cast<float>(decode(s[0], kBrain))); };
  out.push_back(std::move(from_brain));
  Form to_tensor = convert_form(".rna", "tf32", "f32", Kind::b32, Kind::b32);
  to_tensor.apply = [](const Bits* s, Bits* r) {
    r[0] = single(static_cast<float>(rounded(as<float>(s[0]), kTensor, FE_TONEAREST, true)));
  };
  out.push_back(std::move(to_tensor));
}

}  // namespace

void add_convert_forms(std::vector<Form>& out) {
  add_of_integers(out);
  add_between(out);
  add_of_floats(out);
  add_short_ones(out);
}

}  // namespace roofwalk::random
