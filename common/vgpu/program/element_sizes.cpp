#include "common/vgpu/program/element_sizes.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace roofwalk::vgpu {
namespace {

using ptx::Opcode;
using ptx::Operand;
using Numbers = std::unordered_map<std::string_view, int>;  // of variables whose elements are sought

// What a register holds, as far as it matters here.
struct Held {
  int variable = -1;         // an address in this variable
  std::uint64_t stride = 0;  // a product with this constant
};

class StrideSearch {
 public:
  StrideSearch(const ptx::Function& function, const Numbers& numbers, const ptx::Module& module,
               std::vector<std::uint32_t>& sizes)
      : numbers_(numbers), module_(module), sizes_(sizes), held_(function.registers.size()) {
    for (const ptx::Instruction& in : function.instructions) visit(in);
  }

 private:
  Held held(const Operand& operand) const {
    if (operand.kind == Operand::Kind::reg) return held_[static_cast<std::size_t>(operand.index)];
    if (operand.kind != Operand::Kind::variable) return {};
    const auto found = numbers_.find(operand.symbol);
    return {.variable = found == numbers_.end() ? -1 : found->second};
  }

  Held sum(const Held& a, const Held& b) {
    const int variable = std::max(a.variable, b.variable);
    const std::uint64_t stride =
        a.stride == 0 || b.stride == 0 ? std::max(a.stride, b.stride) : std::min(a.stride, b.stride);
    if (variable < 0) return {.stride = stride};
    const auto number = static_cast<std::size_t>(variable);
    const auto align_bytes = static_cast<std::uint64_t>(module_.variables[number].align_bytes);
    if (stride == align_bytes) sizes_[number] = static_cast<std::uint32_t>(align_bytes);
    return {.variable = variable};
  }

  void visit(const ptx::Instruction& in) {
    if (in.operands.size() < 2 || in.operands[0].kind != Operand::Kind::reg) return;
    Held& result = held_[static_cast<std::size_t>(in.operands[0].index)];
    const Operand& last = in.operands.back();
    const bool by_constant = in.operands.size() > 2 && in.operands[2].kind == Operand::Kind::immediate;
    const std::uint64_t factor = by_constant ? in.operands[2].bits : 0;
    if (in.opcode == Opcode::Mov || in.opcode == Opcode::Cvta || in.opcode == Opcode::Cvt) {
      result = held(in.operands[1]);
    } else if (in.opcode == Opcode::Mul) {
      result = {.stride = factor};
    } else if (in.opcode == Opcode::Shl && by_constant && factor < 32) {
      result = {.stride = std::uint64_t{1} << factor};
    } else if (in.opcode == Opcode::Mad) {
      result = sum({.stride = factor}, held(last));
    } else if (in.opcode == Opcode::Add) {
      result = sum(held(in.operands[1]), held(last));
    }
  }

  const Numbers& numbers_;
  const ptx::Module& module_;
  std::vector<std::uint32_t>& sizes_;
  std::vector<Held> held_;
};

}  // namespace

std::vector<std::uint32_t> element_sizes(const ptx::Module& module) {
  std::vector<std::uint32_t> sizes;
  Numbers numbers;
  for (const ptx::Variable& variable : module.variables) {
    const auto align_bytes = static_cast<std::uint64_t>(variable.align_bytes);
    const bool in_memory = variable.space == ptx::Space::global || variable.space == ptx::Space::constant;
    if (in_memory && ptx::size_bytes(variable.type) == 1 && align_bytes > 1 && variable.size_bytes % align_bytes == 0)
      numbers.emplace(variable.name, static_cast<int>(sizes.size()));
    sizes.push_back(static_cast<std::uint32_t>(std::max(ptx::size_bytes(variable.type), 1)));
  }
  if (numbers.empty()) return sizes;
  for (const ptx::Function& function : module.functions) StrideSearch(function, numbers, module, sizes);
  return sizes;
}

}  // namespace roofwalk::vgpu
