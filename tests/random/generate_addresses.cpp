#include "tests/random/generator.h"

namespace roofwalk::random {

Instruction Generator::memory(Do what, std::string text, Space space, Register base, std::int64_t offset,
                              const Element& element, std::vector<Operand> values) {
  Instruction out;
  out.what = what;
  out.text = std::move(text);
  out.space = space;
  out.base = base;
  out.has_base = true;
  out.offset = offset;
  out.element_bytes = element.bytes;
  out.is_signed = element.is_signed;
  (what == Do::load ? out.results : out.sources) = std::move(values);
  return out;
}

// Returns registers that fit an element, all of the same kind. Result registers are distinct.
std::vector<Operand> Generator::parts(const Element& element, int count, bool results) {
  const bool is_float = element.type[0] == 'f';
  std::vector<Kind> kinds;
  for (const Kind kind : {Kind::b16, Kind::b32, Kind::b64}) {
    const int bytes = bits_of(kind) / 8;
    if (is_float ? bytes == element.bytes : bytes >= element.bytes) kinds.push_back(kind);
  }
  const Kind kind = chance(70) ? kinds.front() : one_of(kinds);
  std::vector<Operand> out;
  while (static_cast<int>(out.size()) < count) {
    const Operand operand = of(results ? target(kind) : pool(kind));
    const bool taken = std::any_of(out.begin(), out.end(), [&](const Operand& o) { return o.reg == operand.reg; });
    if (!results || !taken) out.push_back(operand);
  }
  return out;
}

int Generator::vector_of(const Element& element) {
  const int most = std::min(4, 16 / element.bytes);
  return chance(60) ? 1 : most == 4 && chance(50) ? 4 : 2;
}

// Returns an index that is in [0, count) for all threads.
Register Generator::index_below(int count) {
  const Register out = fresh(Kind::b32);
  const bool is_power = std::has_single_bit(static_cast<unsigned>(count));
  switch (starts_ ? 3 + below(3) : below(6)) {
    case 0:
      if (!is_power) break;
      put(form("and.b32", out, {of(pool(Kind::b32)), number(static_cast<Bits>(count - 1), "b32")}));
      return out;
    case 1:
      put(form("max.s32", out, {of(pool(Kind::b32)), number(0, "s32")}));
      put(form("min.s32", out, {of(out), number(static_cast<Bits>(count - 1), "s32")}));
      return out;
    case 2:
      put(form("rem.u32", out, {of(pool(Kind::b32)), number(static_cast<Bits>(count), "u32")}));
      return out;
    case 3:
      put(form("mov.b32", out, {number(below(static_cast<Bits>(count)), "b32")}));
      return out;
    default:
      break;
  }
  affine_index(out, count);
  return out;
}

// Computes coordinate * step + first in one of the ways that compilers write it.
void Generator::affine_index(Register out, int count) {
  const auto [coordinate, most] = one_of(coordinates_);
  int step = between(-4, 6), first = 0;
  while (step != 0 && std::abs(step) * most >= count) step = step > 0 ? step - 1 : step + 1;
  const int reach = step * most;  // value of coordinate * step at the largest coordinate
  first = step >= 0 ? between(0, count - 1 - reach) : between(-reach, count - 1);
  const auto signed_number = [](int value) { return number(static_cast<std::uint32_t>(value), "s32"); };
  switch (below(6)) {
    case 0:
      return put(form("mad.lo.s32", out, {of(coordinate), signed_number(step), signed_number(first)}));
    case 1:
      put(form("mul.lo.s32", out, {of(coordinate), signed_number(step)}));
      return put(form("add.s32", out, {of(out), signed_number(first)}));
    case 2:  // adds 2^31 and subtracts it again, by an xor
      put(form("mul.lo.s32", out, {of(coordinate), signed_number(step)}));
      put(form("add.s32", out, {of(out), number((static_cast<std::uint32_t>(first) + 0x8000'0000u), "s32")}));
      return put(form("xor.b32", out, {of(out), number(0x8000'0000u, "b32")}));
    case 3: {
      const Register wide = fresh(Kind::b64);
      put(form("mul.wide.s32", wide, {of(coordinate), signed_number(step)}));
      put(form("add.s64", wide,
               {of(wide), number(static_cast<Bits>(static_cast<std::int64_t>(first)) + (7ull << 32), "s64")}));
      return put(form("cvt.u32.u64", out, {of(wide)}));
    }
    case 4: {  // first - coordinate * -step
      const Register product = fresh(Kind::b32);
      put(form("mul.lo.u32", product, {of(coordinate), number(static_cast<std::uint32_t>(-step), "u32")}));
      return put(form("sub.u32", out, {number(static_cast<std::uint32_t>(first), "u32"), of(product)}));
    }
    default: {  // multiplies by step + 2^30 and subtracts coordinate * 2^30 again
      const auto multiple = static_cast<std::uint32_t>(step) + 0x4000'0000u;
      put(form("mad.lo.u32", out,
               {of(coordinate), number(multiple, "u32"), number(static_cast<std::uint32_t>(first), "u32")}));
      const Register high = fresh(Kind::b32);
      put(form("mul.lo.u32", high, {of(coordinate), number(0x4000'0000u, "u32")}));
      return put(form("sub.u32", out, {of(out), of(high)}));
    }
  }
}

// Computes buffer + index * size_bytes.
Register Generator::element_address(Register buffer, Register index, int size_bytes) {
  const Register out = fresh(Kind::b64);
  const auto log = static_cast<Bits>(std::countr_zero(static_cast<unsigned>(size_bytes)));
  switch (below(4)) {
    case 0:
      put(form("mad.wide.u32", out, {of(index), number(static_cast<Bits>(size_bytes), "u32"), of(buffer)}));
      return out;
    case 1:
      put(form("mul.wide.s32", out, {of(index), number(static_cast<Bits>(size_bytes), "s32")}));
      break;
    case 2: {
      const Register wide = fresh(Kind::b64);
      put(form("cvt.s64.s32", wide, {of(index)}));
      put(form("shl.b64", out, {of(wide), number(log, "u32")}));
      break;
    }
    default: {
      const Register scaled = fresh(Kind::b32);
      put(form("shl.b32", scaled, {of(index), number(log, "u32")}));
      put(form("cvt.u64.u32", out, {of(scaled)}));
      break;
    }
  }
  put(form("add.s64", out, chance(50) ? std::vector{of(buffer), of(out)} : std::vector{of(out), of(buffer)}));
  return out;
}

// Returns a register with the address of a variable.
Register Generator::address_of(const char* name) {
  const Register address = fresh(Kind::b64);
  Instruction move;
  move.what = Do::address;
  move.text = "mov.u64";
  move.results = {of(address)};
  move.name = name;
  put(std::move(move));
  return address;
}

}  // namespace roofwalk::random
