// What becomes of unset values that the lanes of a warp exchange: a shuffle copies them; a vote, match or reduction has
// no value where one of them decides, bit by bit; in a matrix product, an unset factor spoils its row or its column
// only.
#include <algorithm>
#include <array>

#include "common/vgpu/exec/ops/members.h"
#include "common/vgpu/exec/unset_step.h"
#include "common/vgpu/program/fragments.h"
#include "common/vgpu/requests/lanes.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Fragment;
using ptx::Operand;
using ptx::Type;

// An operand in the executing lanes: what is known of it, and its other bits.
struct InLanes {
  InLanes(const UnsetStep& step, const Operand& operand) {
    for_lanes_of(step.lanes, [&](int lane) {
      const UnsetSource source = step.source(operand, lane);
      value[lane] = source.value, unset[lane] = source.bits;
    });
  }
  // The lanes that may have the same value as this one, and those that surely have; whatever lanes do not execute.
  std::uint32_t may_equal(int lane) const {
    return lane_bits([&](int l) { return ((value[lane] ^ value[l]) & ~(unset[lane] | unset[l])) == 0; });
  }
  std::uint32_t surely_equal(int lane) const {
    return lane_bits([&](int l) { return ((value[lane] ^ value[l]) | unset[lane] | unset[l]) == 0; });
  }

  std::uint64_t value[kWarpSize] = {}, unset[kWarpSize] = {};
};

// Calls visit(lanes) for each distinct mask among the executing lanes.
template <class Visit>
void for_each_mask(const UnsetStep& step, const Operand& masks, Visit&& visit) {
  const InLanes mask(step, masks);
  for (std::uint32_t left = step.lanes; left != 0;) {
    const std::uint32_t same = left & mask.may_equal(std::countr_zero(left));
    visit(same);
    left &= ~same;
  }
}

// Of some lanes' values of an operand: the bits that are unset in some lane, and those that are set in some lane, to 1
// or 0.
struct Gathered {
  std::uint64_t unset = 0, ones = 0, zeros = 0;
};
Gathered gather(const UnsetStep& step, const Operand& operand, std::uint32_t lanes) {
  Gathered out;
  for_lanes_of(lanes, [&](int lane) {
    const UnsetSource own = step.source(operand, lane);
    out.unset |= own.bits;
    out.ones |= own.value & ~own.bits;
    out.zeros |= ~own.value & ~own.bits;
  });
  return out;
}

// The lanes whose value of the operand is unset, all or in part.
std::uint32_t marked_lanes(const UnsetStep& step, const Operand& operand, std::uint32_t lanes) {
  const UnsetRegister* const mark = operand.kind == Operand::Kind::reg ? step.find(operand.index) : nullptr;
  return mark == nullptr ? 0 : mark->lanes() & lanes;
}

// One matrix of a product: its registers, and how they hold it.
struct Held {
  const UnsetStep& step;
  const Operand& operand;
  FragmentLayout layout;
  Type type;

  int in_register() const { return std::max(4 / ptx::size_bytes(type), 1); }
  const Operand& register_of(int element) const {
    return operand.elements.empty() ? operand : operand.elements[static_cast<std::size_t>(element / in_register())];
  }
  int shift_of(int element) const { return element % in_register() * 8 * ptx::size_bytes(type); }
  // Calls visit(row, column, origin) for each element that is unset.
  template <class Visit>
  void for_each_unset(Visit&& visit) const {
    // Of a tf32 number in 32 bits, the lowest 13 do not count.
    const std::uint64_t whole = type == Type::tf32 ? 0xffff'e000u : bits_of_type(type);
    for (int element = 0; element < layout.held; ++element) {
      const Operand& reg = register_of(element);
      for_lanes_of(marked_lanes(step, reg, kAllLanes), [&](int lane) {
        const UnsetRegister& mark = *step.find(reg.index);
        if ((mark.bits(lane) >> shift_of(element) & whole) == 0) return;
        const auto [row, column] = layout.place(lane, element);
        visit(row, column, &mark.from(lane));
      });
    }
  }
};

}  // namespace

bool UnsetExchange::prepare_shuffle(UnsetStep& step) {
  const auto& operands = step.in.operands;
  for (std::size_t i = 3; i < operands.size(); ++i) {
    if (!step.uses(operands[i])) return false;
  }
  UnsetRegister out;
  if (marked_lanes(step, operands[2], kAllLanes) != 0) {
    const UnsetRegister& mark = *step.find(operands[2].index);
    for_lanes_of(step.lanes, [&](int lane) {
      const auto b = static_cast<std::uint32_t>(step.source(operands[3], lane).value);
      const auto c = static_cast<std::uint32_t>(step.source(operands[4], lane).value);
      const int from = shuffle_source(step.in.shuffle, lane, b, c).lane;
      out.put(lane, mark.bits(from), mark.from(from));
    });
  }
  for_each_stranger(step.warp, step.op, [&](int lane, int from) {
    const auto mask = static_cast<std::uint32_t>(step.source(operands[5], lane).value);
    out.put(lane, ~0ull, origin_of_shuffled(step.warp, step.op, lane, from, mask));
  });
  add(operands[0], out);
  add(operands[1], {});
  return true;
}

bool UnsetExchange::prepare_vote(UnsetStep& step) {
  const Operand &result = step.in.operands[0], &predicate = step.in.operands[1], &masks = step.in.operands[2];
  if (!step.uses(masks)) return false;
  UnsetRegister out;
  for_each_mask(step, masks, [&](std::uint32_t lanes) {
    const std::uint32_t open = marked_lanes(step, predicate, lanes);
    if (open == 0) return;
    const Gathered of = gather(step, predicate, lanes);
    const bool is_any = (of.ones & 1) != 0, is_not_all = (of.zeros & 1) != 0;
    std::uint64_t bits = 1;
    if (step.in.vote == ptx::VoteMode::ballot) bits = open;
    if (step.in.vote == ptx::VoteMode::any && is_any) bits = 0;
    if (step.in.vote == ptx::VoteMode::all && is_not_all) bits = 0;
    if (step.in.vote == ptx::VoteMode::uni && is_any && is_not_all) bits = 0;
    const UnsetOrigin& from = step.find(predicate.index)->from(std::countr_zero(open));
    for_lanes_of(lanes, [&](int lane) { out.put(lane, bits, from); });
  });
  add(result, out);
  return true;
}

// A bit of match.any is set if the two lanes' values differ in a bit that both have set, or have no unset bits.
// match.all is set if two lanes differ so.
bool UnsetExchange::prepare_match(UnsetStep& step) {
  const auto& operands = step.in.operands;
  const Operand &value = operands[2], &masks = operands[3];
  if (!step.uses(masks)) return false;
  const bool is_any = step.in.vote == ptx::VoteMode::any;
  const InLanes of(step, value);
  UnsetRegister out;
  for_each_mask(step, masks, [&](std::uint32_t lanes) {
    const std::uint32_t open = marked_lanes(step, value, lanes);
    if (open == 0) return;
    const UnsetOrigin& from = step.find(value.index)->from(std::countr_zero(open));
    bool may_be_equal = true;
    for_lanes_of(lanes, [&](int lane) {
      const std::uint32_t like = lanes & of.may_equal(lane), unknown = like & ~of.surely_equal(lane) & ~(1u << lane);
      may_be_equal = may_be_equal && like == lanes;
      if (is_any && unknown != 0) out.put(lane, unknown, from);
    });
    if (!is_any && may_be_equal) for_lanes_of(lanes, [&](int lane) { out.put(lane, ~0ull, from); });
  });
  add(operands[0], out);
  add(operands[1], out);
  return true;
}

bool UnsetExchange::prepare_reduction(UnsetStep& step) {
  const auto& operands = step.in.operands;
  const Operand &value = operands[1], &masks = operands[2];
  if (!step.uses(masks)) return false;
  UnsetRegister out;
  for_each_mask(step, masks, [&](std::uint32_t lanes) {
    const std::uint32_t open = marked_lanes(step, value, lanes);
    if (open == 0) return;
    const Gathered of = gather(step, value, lanes);
    std::uint64_t bits = ~0ull;
    if (step.in.atomic == ptx::AtomicOp::and_) bits = of.unset & ~of.zeros;
    if (step.in.atomic == ptx::AtomicOp::or_) bits = of.unset & ~of.ones;
    if (step.in.atomic == ptx::AtomicOp::xor_) bits = of.unset;
    const UnsetOrigin& from = step.find(value.index)->from(std::countr_zero(open));
    for_lanes_of(lanes, [&](int lane) { out.put(lane, bits, from); });
  });
  add(operands[0], out);
  return true;
}

void UnsetExchange::prepare_product(const UnsetStep& step) {
  const ptx::Instruction& in = step.in;
  const auto held = [&](std::size_t operand, Fragment use, Type type) {
    return Held{step, in.operands[operand], fragment_layout(in, use, type), type};
  };
  const std::size_t rows = in.shape.m, columns = in.shape.n;
  std::vector<const UnsetOrigin*> unset(rows * columns);
  const auto spoil = [&](int row, int column, const UnsetOrigin* from) {
    unset[static_cast<std::size_t>(row) * columns + static_cast<std::size_t>(column)] = from;
  };
  held(1, Fragment::a, in.source_type).for_each_unset([&](int row, int, const UnsetOrigin* from) {
    for (std::size_t column = 0; column < columns; ++column) spoil(row, static_cast<int>(column), from);
  });
  held(2, Fragment::b, in.second_type).for_each_unset([&](int column, int, const UnsetOrigin* from) {
    for (std::size_t row = 0; row < rows; ++row) spoil(static_cast<int>(row), column, from);
  });
  held(3, Fragment::c, in.sum_type).for_each_unset(spoil);

  const Held d = held(0, Fragment::d, in.type);
  for (int element = 0; element < d.layout.held; element += d.in_register()) {
    UnsetRegister out;
    for_lanes_of(step.lanes, [&](int lane) {
      std::uint64_t bits = 0;
      const UnsetOrigin* from = nullptr;
      for (int i = element; i < element + d.in_register(); ++i) {
        const auto [row, column] = d.layout.place(lane, i);
        const UnsetOrigin* const own =
            unset[static_cast<std::size_t>(row) * columns + static_cast<std::size_t>(column)];
        if (own != nullptr) bits |= bits_of_type(d.type) << d.shift_of(i), from = own;
      }
      if (from != nullptr) out.put(lane, bits, *from);
    });
    add(d.register_of(element), out);
  }
}

bool UnsetExchange::prepare(UnsetStep& step) {
  switch (ptx::info(step.in.opcode).form) {
    case ptx::Form::shuffle:
      return prepare_shuffle(step);
    case ptx::Form::vote:
      return prepare_vote(step);
    case ptx::Form::matrix_multiply:
      prepare_product(step);
      return true;
    case ptx::Form::warp_match:
      return prepare_match(step);
    default:
      return prepare_reduction(step);
  }
}

}  // namespace roofwalk::vgpu
