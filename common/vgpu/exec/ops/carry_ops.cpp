// Sums and differences that set or read the carry flag. The flag is an ordinary predicate here: the parser adds it as
// an operand (the instruction's second result and last source), so that dataflow analyses see it. As in hardware, a
// difference a - b is the sum a + ~b + 1, so the flag is set where nothing is borrowed: an `addc` after a `sub.cc` adds
// 1 then, on which nvcc's divisions of 128-bit numbers rely (ptxas 13.0 makes SEL of the inverted flag of IADD3).
#include "common/base/int128.h"
#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/requests/lanes.h"

namespace roofwalk::vgpu {
namespace {

enum class Addend { plain, low_product, high_product };  // what is added: a and b; or one half of a * b, and c

template <class T>
T high_product(T a, T b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, Int128, UInt128>;
  return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b) >> (8 * sizeof(T)));
}

// s[0]: the result, s[1]: the carry out, s[2] and following: the sources, s[5]: the carry in; kNoSlot if missing. T
// is unsigned except for high products, where the sign matters; carries are always those of unsigned arithmetic.
template <class T, Addend addend, bool subtracts>
const Op* op_carry(Launch&, Warp& warp, const Op* op) {
  using U = std::make_unsigned_t<T>;
  const T* a = warp.lanes<T>(op->s[2]);
  const T* b = warp.lanes<T>(op->s[3]);
  const T* c = op->s[4] == kNoSlot ? a : warp.lanes<T>(op->s[4]);
  const std::uint32_t carries = op->s[5] == kNoSlot ? 0 : warp.predicate(op->s[5]);
  U sums[kWarpSize];
  std::uint32_t out = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    const U carry = carries >> l & 1u;
    U x, y;
    if constexpr (addend == Addend::plain) {
      x = static_cast<U>(a[l]), y = static_cast<U>(b[l]);
    } else {
      y = static_cast<U>(c[l]);
      x = addend == Addend::high_product ? static_cast<U>(high_product<T>(a[l], b[l]))
                                         : static_cast<U>(static_cast<U>(a[l]) * static_cast<U>(b[l]));
    }
    if constexpr (subtracts) {
      const U borrow = op->s[5] == kNoSlot ? U{0} : static_cast<U>(1 - carry);
      sums[l] = static_cast<U>(x - y - borrow);
      out |= static_cast<std::uint32_t>(x > y || (x == y && borrow == 0)) << l;
    } else {
      sums[l] = static_cast<U>(x + y + carry);
      out |= static_cast<std::uint32_t>(sums[l] < x || (carry != 0 && sums[l] == x)) << l;
    }
  }
  for_lanes(warp.lanes<U>(op->s[0]), warp.mask, [&](int l) { return sums[l]; });
  if (op->s[1] != kNoSlot) set_predicate(warp.predicate(op->s[1]), warp.mask, out);
  return op + 1;
}

template <class Signed, class Unsigned>
Handler handler_of(const ptx::Instruction& in) {
  if (ptx::has_trait(in, ptx::kSubtracts)) return op_carry<Unsigned, Addend::plain, true>;
  if (!ptx::has_trait(in, ptx::kMultiplies)) return op_carry<Unsigned, Addend::plain, false>;
  if (in.mul == ptx::MulMode::lo) return op_carry<Unsigned, Addend::low_product, false>;
  return ptx::is_signed(in.type) ? op_carry<Signed, Addend::high_product, false>
                                 : op_carry<Unsigned, Addend::high_product, false>;
}

}  // namespace

Handler carry_handler(const ptx::Instruction& in) {
  return ptx::size_bytes(in.type) == 8 ? handler_of<std::int64_t, std::uint64_t>(in)
                                       : handler_of<std::int32_t, std::uint32_t>(in);
}

}  // namespace roofwalk::vgpu
