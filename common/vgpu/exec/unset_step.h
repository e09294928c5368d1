// One instruction of a warp that holds values that nobody has written (follow_unset.h): the marks of its operands.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/vgpu/exec/unset_bits.h"
#include "common/vgpu/program/operands.h"
#include "common/vgpu/requests/unset_loads.h"
#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

template <class Visit>
void for_lanes_of(std::uint32_t lanes, Visit&& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(std::countr_zero(lanes));
}

class UnsetStep {
 public:
  UnsetStep(Launch& launch_in, Warp& warp_in, const Op* op_in);

  Launch& launch;
  Warp& warp;
  const Op* const op;
  const ptx::Instruction& in;
  const std::uint32_t lanes;  // that execute the instruction

  // The marks of a register; nullptr: it has none.
  const UnsetRegister* find(int reg) const;
  ptx::Type type_of(int reg) const { return launch.program.function->registers[static_cast<std::size_t>(reg)].type; }
  // False, with a fault recorded, if one of these lanes has an unset value there.
  bool uses(int reg, std::uint32_t in_lanes);
  bool uses(const ptx::Operand& operand);

  // The value of a register in a lane, if it has at most 64 bits.
  std::optional<std::uint64_t> value_of(int reg, int lane) const;
  UnsetSource source(const ptx::Operand& operand, int lane) const;

  // Whether an executing lane has an unset value in the operand, or in an operand from the `first` on.
  bool is_marked(const ptx::Operand& operand) const;
  bool is_any_marked(std::size_t first) const;
  // Where the unset bits of these operands come from; they have some in this lane.
  const UnsetOrigin& origin(std::size_t first, int lane) const;

  // Marks a register, or all results, in the executing lanes.
  void put_in(int reg, const UnsetRegister& mark);
  void put_in(const ptx::Operand& operand, const UnsetRegister& mark) {
    if (operand.kind == ptx::Operand::Kind::reg) put_in(operand.index, mark);
  }
  void put(const UnsetRegister& mark) {
    for_each_result(in, [&](int reg) { put_in(reg, mark); });
  }
};

// unset_exchanges.cpp: what lanes get from each other by a shuffle, vote, match, reduction or matrix product. The marks
// move when the instruction has been executed, since its lanes may first have to wait for others.
class UnsetExchange {
 public:
  // False, with a fault recorded, if a member mask, or the number of a lane, is unset.
  bool prepare(UnsetStep& step);
  void finish(UnsetStep& step) const {
    for (const auto& [operand, mark] : results_) step.put_in(*operand, mark);
  }

 private:
  bool prepare_shuffle(UnsetStep& step);
  bool prepare_vote(UnsetStep& step);
  bool prepare_match(UnsetStep& step);
  bool prepare_reduction(UnsetStep& step);
  void prepare_product(const UnsetStep& step);
  void add(const ptx::Operand& result, UnsetRegister mark) { results_.emplace_back(&result, std::move(mark)); }

  std::vector<std::pair<const ptx::Operand*, UnsetRegister>> results_;
};

}  // namespace roofwalk::vgpu
