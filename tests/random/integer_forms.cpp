// Integer and bit instructions.
#include <algorithm>
#include <array>

#include "tests/random/forms.h"
#include "tests/random/numbers.h"

namespace roofwalk::random {
namespace {

constexpr IntegerType kIntegers[] = {kU16, kS16, kU32, kS32, kU64, kS64};

Kind kind_of(int bits) { return bits <= 16 ? Kind::b16 : bits == 32 ? Kind::b32 : Kind::b64; }

struct Adder {
  std::vector<Form>& out;

  // Adds a form. `calculate` computes on unbounded integers; the form's result is the low bits of what it returns.
  template <class Calculate>
  void integers(const std::string& mnemonic, const std::string& modifier, const IntegerType& type, int sources,
                int result_bits, Calculate calculate) {
    Form form;
    form.mnemonic = mnemonic;
    form.text = mnemonic + modifier + "." + type.name;
    form.results = {kind_of(result_bits)};
    form.sources.assign(static_cast<std::size_t>(sources), kind_of(type.bits));
    form.numbers.assign(static_cast<std::size_t>(sources), type.name);
    form.apply = [type, sources, result_bits, calculate](const Bits* s, Bits* r) {
      Wide in[4] = {};
      for (int i = 0; i < sources; ++i) in[i] = value_of(s[i], type);
      r[0] = low_bits(calculate(in), result_bits);
    };
    form.makes_addresses = type.bits >= 32;
    out.push_back(std::move(form));
  }

  template <class Calculate>
  void bits(const std::string& text, std::vector<Kind> results, std::vector<Kind> sources,
            std::vector<std::string> numbers, Calculate calculate) {
    Form form;
    form.mnemonic = text.substr(0, text.find('.'));
    form.text = text;
    form.results = std::move(results);
    form.sources = std::move(sources);
    form.numbers = std::move(numbers);
    form.apply = calculate;
    out.push_back(std::move(form));
  }
};

Wide product(const Wide* in) {
  return static_cast<Wide>(static_cast<UnsignedWide>(in[0]) * static_cast<UnsignedWide>(in[1]));
}
Wide high_product(const Wide* in, const IntegerType& type) {
  const UnsignedWide whole = static_cast<UnsignedWide>(product(in));
  return static_cast<Wide>(whole >> type.bits);
}

void add_arithmetic(Adder& add, const IntegerType& type) {
  const int n = type.bits;
  add.integers("add", "", type, 2, n, [](const Wide* in) { return in[0] + in[1]; });
  add.integers("sub", "", type, 2, n, [](const Wide* in) { return in[0] - in[1]; });
  add.integers("mul", ".lo", type, 2, n, [](const Wide* in) { return product(in); });
  add.integers("mul", ".hi", type, 2, n, [type](const Wide* in) { return high_product(in, type); });
  add.integers("mad", ".lo", type, 3, n, [](const Wide* in) {
    return static_cast<Wide>(static_cast<UnsignedWide>(product(in)) + static_cast<UnsignedWide>(in[2]));
  });
  add.integers("mad", ".hi", type, 3, n, [type](const Wide* in) { return high_product(in, type) + in[2]; });
  add.integers("div", "", type, 2, n, [](const Wide* in) { return in[1] == 0 ? Wide{-1} : in[0] / in[1]; });
  add.integers("rem", "", type, 2, n, [](const Wide* in) { return in[1] == 0 ? in[0] : in[0] % in[1]; });
  add.integers("min", "", type, 2, n, [](const Wide* in) { return std::min(in[0], in[1]); });
  add.integers("max", "", type, 2, n, [](const Wide* in) { return std::max(in[0], in[1]); });
  add.integers("sad", "", type, 3, n,
               [](const Wide* in) { return in[2] + (in[0] < in[1] ? in[1] - in[0] : in[0] - in[1]); });
  if (type.is_signed) {
    add.integers("abs", "", type, 1, n, [](const Wide* in) { return in[0] < 0 ? -in[0] : in[0]; });
    add.integers("neg", "", type, 1, n, [](const Wide* in) { return -in[0]; });
  }
  if (n <= 32) {
    add.integers("mul", ".wide", type, 2, 2 * n, [](const Wide* in) { return product(in); });
    add.integers("mad", ".wide", type, 2, 2 * n, [](const Wide* in) { return product(in); });
    Form& wide = add.out.back();  // the third source is as wide as the result
    wide.sources.push_back(kind_of(2 * n));
    wide.numbers.push_back(std::string(type.is_signed ? "s" : "u") + std::to_string(2 * n));
    wide.apply = [type, n](const Bits* s, Bits* r) {
      const Wide in[] = {value_of(s[0], type), value_of(s[1], type)};
      r[0] = low_bits(static_cast<Bits>(product(in)) + s[2], 2 * n);
    };
  }
}

void add_shifts(Adder& add, int n) {
  const Kind kind = kind_of(n);
  const std::string width = std::to_string(n);
  const auto left = [n](const Bits* s, Bits* r) {
    r[0] = s[1] >= static_cast<Bits>(n) ? 0 : low_bits(s[0] << s[1], n);
  };
  const auto right = [n](const Bits* s, Bits* r) { r[0] = s[1] >= static_cast<Bits>(n) ? 0 : s[0] >> s[1]; };
  const auto arithmetic = [n](const Bits* s, Bits* r) {
    const Wide value = value_of(s[0], {"", n, true});
    r[0] = low_bits(value >> std::min<Bits>(s[1], static_cast<Bits>(n)), n);
  };
  add.bits("shl.b" + width, {kind}, {kind, Kind::b32}, {"b" + width, "u32"}, left);
  add.bits("shr.b" + width, {kind}, {kind, Kind::b32}, {"b" + width, "u32"}, right);
  add.bits("shr.u" + width, {kind}, {kind, Kind::b32}, {"u" + width, "u32"}, right);
  add.bits("shr.s" + width, {kind}, {kind, Kind::b32}, {"s" + width, "u32"}, arithmetic);
  for (std::size_t i = add.out.size() - 4; i < add.out.size(); ++i) add.out[i].makes_addresses = n >= 32;
}

void add_logic(Adder& add, Kind kind) {
  const int n = bits_of(kind);
  const std::string type = kind == Kind::pred ? "pred" : "b" + std::to_string(n);
  const std::string number = kind == Kind::pred ? "" : type;
  add.bits("and." + type, {kind}, {kind, kind}, {number, number}, [](const Bits* s, Bits* r) { r[0] = s[0] & s[1]; });
  add.bits("or." + type, {kind}, {kind, kind}, {number, number}, [](const Bits* s, Bits* r) { r[0] = s[0] | s[1]; });
  add.bits("xor." + type, {kind}, {kind, kind}, {number, number}, [](const Bits* s, Bits* r) { r[0] = s[0] ^ s[1]; });
  add.bits("not." + type, {kind}, {kind}, {number}, [n](const Bits* s, Bits* r) { r[0] = low_bits(~s[0], n); });
  for (std::size_t i = add.out.size() - 4; i < add.out.size(); ++i) add.out[i].makes_addresses = n >= 32;
}

// Follows the pseudocode of bfe in the PTX ISA.
Bits extracted(Bits a, Bits position, Bits length, int n, bool is_signed) {
  const int pos = static_cast<int>(position & 0xff), len = static_cast<int>(length & 0xff), msb = n - 1;
  Bits sign = 0;
  if (is_signed && len != 0) sign = a >> std::min(pos + len - 1, msb) & 1u;
  Bits d = 0;
  for (int i = 0; i <= msb; ++i) d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1u : sign) << i;
  return d;
}
Bits inserted(Bits a, Bits b, Bits position, Bits length, int n) {
  const int pos = static_cast<int>(position & 0xff), len = static_cast<int>(length & 0xff), msb = n - 1;
  Bits f = b;
  for (int i = 0; i < len && pos + i <= msb; ++i) {
    f = (f & ~(Bits{1} << (pos + i))) | (a >> i & 1u) << (pos + i);
  }
  return f;
}

void add_fields(Adder& add, int n) {
  const Kind kind = kind_of(n);
  const std::string width = std::to_string(n);
  for (const bool is_signed : {false, true}) {
    const std::string type = (is_signed ? "s" : "u") + width;
    add.bits("bfe." + type, {kind}, {kind, Kind::b32, Kind::b32}, {type, "u8", "u8"},
             [n, is_signed](const Bits* s, Bits* r) { r[0] = extracted(s[0], s[1], s[2], n, is_signed); });
  }
  add.bits("bfi.b" + width, {kind}, {kind, kind, Kind::b32, Kind::b32}, {"b" + width, "b" + width, "u8", "u8"},
           [n](const Bits* s, Bits* r) { r[0] = inserted(s[0], s[1], s[2], s[3], n); });
  add.bits("brev.b" + width, {kind}, {kind}, {"b" + width}, [n](const Bits* s, Bits* r) {
    r[0] = 0;
    for (int i = 0; i < n; ++i) r[0] |= (s[0] >> i & 1u) << (n - 1 - i);
  });
  add.bits("clz.b" + width, {Kind::b32}, {kind}, {"b" + width}, [n](const Bits* s, Bits* r) {
    r[0] = 0;
    for (int i = n - 1; i >= 0 && (s[0] >> i & 1u) == 0; --i) ++r[0];
  });
  add.bits("popc.b" + width, {Kind::b32}, {kind}, {"b" + width}, [n](const Bits* s, Bits* r) {
    r[0] = 0;
    for (int i = 0; i < n; ++i) r[0] += s[0] >> i & 1u;
  });
}

// Computes bfind: finds the highest bit that differs from the sign and returns its position or, with .shiftamt, its
// distance from the top bit.
Bits found_bit(Bits a, int n, bool is_signed, bool shift_amount) {
  const int msb = n - 1;
  if (is_signed && (a >> msb & 1u) != 0) a = low_bits(~a, n);
  for (int i = msb; i >= 0; --i) {
    if ((a >> i & 1u) != 0) return static_cast<Bits>(shift_amount ? msb - i : i);
  }
  return 0xffff'ffff;
}

void add_bit_searches(Adder& add, const IntegerType& type) {
  for (const bool shift_amount : {false, true}) {
    add.bits(std::string("bfind.") + (shift_amount ? "shiftamt." : "") + type.name, {Kind::b32}, {kind_of(type.bits)},
             {type.name}, [type, shift_amount](const Bits* s, Bits* r) {
               r[0] = found_bit(s[0], type.bits, type.is_signed, shift_amount);
             });
  }
}

// Follows the pseudocode of fns in the PTX ISA. Bases above 31 are undefined.
Bits nth_bit(Bits mask, Bits base, Bits offset) {
  const auto steps = static_cast<std::int32_t>(offset);
  const auto first = static_cast<std::int64_t>(base);
  if (first > 31) return 0xffff'ffff;
  if (steps == 0) return (mask >> first & 1u) != 0 ? base : 0xffff'ffff;
  std::int64_t count = std::abs(std::int64_t{steps}) - 1;
  for (std::int64_t at = first; at >= 0 && at<32; at += steps> 0 ? 1 : -1) {
    if ((mask >> at & 1u) != 0 && count-- == 0) return static_cast<Bits>(at);
  }
  return 0xffff'ffff;
}

void add_24_bit_products(Adder& add, const IntegerType& type) {
  for (const bool high : {false, true}) {
    const auto part = [type, high](const Wide* in) {
      const IntegerType narrow{"", 24, type.is_signed};
      const Wide exact = value_of(static_cast<Bits>(in[0]), narrow) * value_of(static_cast<Bits>(in[1]), narrow);
      return high ? value_of(low_bits(exact >> 16, 32), type) : value_of(low_bits(exact, 32), type);
    };
    const char* mode = high ? ".hi" : ".lo";
    add.integers("mul24", mode, type, 2, 32, part);
    add.integers("mad24", mode, type, 3, 32, [part](const Wide* in) { return part(in) + in[2]; });
    if (high && type.is_signed) {
      add.integers("mad24", ".hi.sat", type, 3, 32, [part](const Wide* in) { return clamped(part(in) + in[2], kS32); });
    }
  }
}

// Sums of products of packed bytes, or of halves and bytes.
void add_dots(Adder& add) {
  for (const IntegerType& a : {kU32, kS32}) {
    for (const IntegerType& b : {kU32, kS32}) {
      const std::string types = std::string(a.name) + "." + b.name;
      const std::vector<Kind> three(3, Kind::b32);
      const std::vector<std::string> numbers(3, "b32");
      add.bits("dp4a." + types, {Kind::b32}, three, numbers, [a, b](const Bits* s, Bits* r) {
        Wide sum = static_cast<Wide>(s[2]);
        for (int i = 0; i < 4; ++i) {
          sum += value_of(s[0] >> (8 * i), {"", 8, a.is_signed}) * value_of(s[1] >> (8 * i), {"", 8, b.is_signed});
        }
        r[0] = low_bits(sum, 32);
      });
      for (const bool high : {false, true}) {
        add.bits(std::string("dp2a.") + (high ? "hi." : "lo.") + types, {Kind::b32}, three, numbers,
                 [a, b, high](const Bits* s, Bits* r) {
                   Wide sum = static_cast<Wide>(s[2]);
                   for (int i = 0; i < 2; ++i) {
                     sum += value_of(s[0] >> (16 * i), {"", 16, a.is_signed}) *
                            value_of(s[1] >> (8 * (i + (high ? 2 : 0))), {"", 8, b.is_signed});
                   }
                   r[0] = low_bits(sum, 32);
                 });
      }
    }
  }
}

// Distances of packed unsigned numbers: packed, or added to the third source.
void add_distances(Adder& add) {
  const std::vector<Kind> three(3, Kind::b32);
  const std::vector<std::string> numbers(3, "b32");
  for (const int bits : {16, 8}) {
    for (const bool adds_up : {false, true}) {
      const std::string name = std::string(bits == 16 ? "vabsdiff2" : "vabsdiff4") + ".u32.u32.u32";
      add.bits(name + (adds_up ? ".add" : ""), {Kind::b32}, three, numbers, [bits, adds_up](const Bits* s, Bits* r) {
        Wide sum = adds_up ? static_cast<Wide>(s[2]) : Wide{0};
        for (int at = 0; at < 32; at += bits) {
          const Wide x = value_of(s[0] >> at, {"", bits, false}), y = value_of(s[1] >> at, {"", bits, false});
          const Wide apart = x < y ? y - x : x - y;
          sum += adds_up ? apart : apart << at;
        }
        r[0] = low_bits(sum, 32);
      });
    }
  }
}

void add_any_logic(Adder& add) {
  add.bits("lop3.b32", {Kind::b32}, std::vector<Kind>(4, Kind::b32), {"b32", "b32", "b32", "u8"},
           [](const Bits* s, Bits* r) {
             r[0] = 0;
             for (int i = 0; i < 32; ++i) {
               const Bits row = (s[0] >> i & 1u) << 2 | (s[1] >> i & 1u) << 1 | (s[2] >> i & 1u);
               r[0] |= (s[3] >> row & 1u) << i;
             }
           });
  add.out.back().only_number = 3;
  add.out.back().makes_addresses = true;
}

// Adds prmt's other modes. Their tables give, for each two-bit selector, the byte of {b, a} that goes to position i.
void add_permutations(Adder& add) {
  struct Mode {
    const char* name;
    int bytes[4][4];  // by selector; the lowest byte comes first
  };
  static constexpr Mode kModes[] = {
      {"f4e", {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}},
      {"b4e", {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}},
      {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
      {"ecl", {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}},
      {"ecr", {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}},
      {"rc16", {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}},
  };
  for (const Mode& mode : kModes) {
    add.bits(std::string("prmt.b32.") + mode.name, {Kind::b32}, std::vector<Kind>(3, Kind::b32), {"b32", "b32", "b32"},
             [mode](const Bits* s, Bits* r) {
               r[0] = 0;
               for (int i = 0; i < 4; ++i) {
                 const int byte = mode.bytes[s[2] & 3][i];
                 r[0] |= (s[byte / 4] >> (8 * (byte % 4)) & 0xff) << (8 * i);
               }
             });
  }
}

void add_bytes_and_funnels(Adder& add) {
  const std::vector<Kind> three(3, Kind::b32);
  add.bits("prmt.b32", {Kind::b32}, three, {"b32", "b32", "b32"}, [](const Bits* s, Bits* r) {
    std::array<Bits, 8> bytes;
    for (unsigned i = 0; i < 8; ++i) bytes[i] = s[i / 4] >> (8 * (i % 4)) & 0xff;
    r[0] = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const Bits selector = s[2] >> (4 * i) & 0xf, byte = bytes[selector & 7];
      const Bits chosen = (selector & 8) == 0 ? byte : (byte & 0x80) != 0 ? 0xff : 0;
      r[0] |= chosen << (8 * i);
    }
  });
  for (const bool wraps : {true, false}) {
    add.bits(std::string("bmsk.") + (wraps ? "wrap" : "clamp") + ".b32", {Kind::b32}, {Kind::b32, Kind::b32},
             {"b32", "b32"}, [wraps](const Bits* s, Bits* r) {
               r[0] = 0;
               const Bits first = wraps ? s[0] & 31 : s[0], count = wraps ? s[1] & 31 : s[1];
               for (Bits i = first; i < 32 && i - first < count; ++i) r[0] |= Bits{1} << i;
             });
  }
  for (const bool wraps : {true, false}) {
    for (const IntegerType& type : {kU32, kS32}) {
      add.bits(std::string("szext.") + (wraps ? "wrap." : "clamp.") + type.name, {Kind::b32}, {Kind::b32, Kind::b32},
               {type.name, "u32"}, [wraps, type](const Bits* s, Bits* r) {
                 const Bits bits = wraps ? s[1] & 31 : std::min<Bits>(s[1], 32);
                 r[0] = bits == 0 ? 0 : low_bits(value_of(s[0], {"", static_cast<int>(bits), type.is_signed}), 32);
               });
    }
  }
  for (const bool left : {true, false}) {
    for (const bool wraps : {true, false}) {
      add.bits(std::string("shf.") + (left ? "l." : "r.") + (wraps ? "wrap" : "clamp") + ".b32", {Kind::b32}, three,
               {"b32", "b32", "u32"}, [left, wraps](const Bits* s, Bits* r) {
                 const Bits n = wraps ? s[2] & 31 : std::min<Bits>(s[2], 32);
                 // [63:32] b, [31:0] a
                 const Bits a = s[0], b = s[1];
                 if (left)
                   r[0] = low_bits(n == 32 ? a : n == 0 ? b : b << n | a >> (32 - n), 32);
                 else
                   r[0] = low_bits(n == 32 ? b : n == 0 ? a : b << (32 - n) | a >> n, 32);
               });
    }
  }
}

void add_moves(Adder& add) {
  const auto copy = [](const Bits* s, Bits* r) { r[0] = s[0]; };
  for (const char* type : {"u16", "s16", "b16"})
    add.bits(std::string("mov.") + type, {Kind::b16}, {Kind::b16}, {type}, copy);
  for (const char* type : {"u32", "s32", "b32", "f32"}) {
    add.bits(std::string("mov.") + type, {Kind::b32}, {Kind::b32}, {type}, copy);
  }
  for (const char* type : {"u64", "s64", "b64", "f64"}) {
    add.bits(std::string("mov.") + type, {Kind::b64}, {Kind::b64}, {type}, copy);
  }
  for (auto form = add.out.end() - 11; form != add.out.end(); ++form)
    form->makes_addresses = bits_of(form->results[0]) >= 32;
  add.bits("mov.pred", {Kind::pred}, {Kind::pred}, {""}, copy);
  const auto pack = [&](const char* text, Kind whole, Kind part, int parts) {
    const int n = bits_of(part);
    const std::vector<Kind> all(static_cast<std::size_t>(parts), part);
    const std::vector<std::string> no_numbers(static_cast<std::size_t>(parts));
    add.bits(text, {whole}, all, no_numbers, [n, parts](const Bits* s, Bits* r) {
      r[0] = 0;
      for (int i = 0; i < parts; ++i) r[0] |= s[i] << (n * i);
    });
    add.out.back().look = Form::Look::pack;
    add.bits(text, all, {whole}, {""}, [n, parts](const Bits* s, Bits* r) {
      for (int i = 0; i < parts; ++i) r[i] = low_bits(s[0] >> (n * i), n);
    });
    add.out.back().look = Form::Look::unpack;
  };
  pack("mov.b32", Kind::b32, Kind::b16, 2);
  pack("mov.b64", Kind::b64, Kind::b32, 2);
  pack("mov.b64", Kind::b64, Kind::b16, 4);
}

}  // namespace

void add_integer_forms(std::vector<Form>& out) {
  Adder add{out};
  for (const IntegerType& type : kIntegers) add_arithmetic(add, type);
  for (const char* name : {"add", "sub"}) {
    const bool is_sum = name[0] == 'a';
    add.integers(name, ".sat", kS32, 2, 32,
                 [is_sum](const Wide* in) { return clamped(is_sum ? in[0] + in[1] : in[0] - in[1], kS32); });
  }
  add.integers("mad", ".hi.sat", kS32, 3, 32,
               [](const Wide* in) { return clamped((in[0] * in[1] >> 32) + in[2], kS32); });
  for (const IntegerType& type : {kU32, kS32, kU64, kS64}) add_bit_searches(add, type);
  for (const IntegerType& type : {kU32, kS32}) add_24_bit_products(add, type);
  add_dots(add);
  add_distances(add);
  add_any_logic(add);
  add_permutations(add);
  for (const int n : {16, 32, 64}) add_shifts(add, n);
  for (const Kind kind : {Kind::pred, Kind::b16, Kind::b32, Kind::b64}) add_logic(add, kind);
  for (const int n : {32, 64}) add_fields(add, n);
  add_bytes_and_funnels(add);
  for (const int n : {16, 32, 64}) {
    add.bits("cnot.b" + std::to_string(n), {kind_of(n)}, {kind_of(n)}, {"b" + std::to_string(n)},
             [](const Bits* s, Bits* r) { r[0] = s[0] == 0 ? 1 : 0; });
  }
  add.bits("fns.b32", {Kind::b32}, std::vector<Kind>(3, Kind::b32), {"b32", "u32", "s32"},
           [](const Bits* s, Bits* r) { r[0] = nth_bit(s[0], s[1], s[2]); });
  add_moves(add);
}

}  // namespace roofwalk::random
