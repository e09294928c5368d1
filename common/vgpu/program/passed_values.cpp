#include "common/vgpu/program/passed_values.h"

#include <algorithm>

#include "common/vgpu/program/instructions.h"

namespace roofwalk::vgpu {

bool passes_in_memory(const ptx::Instruction& in) {
  if (!calls_linked(in)) return false;
  const auto is_in_memory = [](const ptx::Operand& each) { return each.kind == ptx::Operand::Kind::variable; };
  return std::any_of(in.call_results.begin(), in.call_results.end(), is_in_memory) ||
         std::any_of(in.call_arguments.begin(), in.call_arguments.end(), is_in_memory);
}

OwnParameters::OwnParameters(const ptx::Function& kernel) {
  for (const ptx::Variable& parameter : kernel.parameters) names_.insert(parameter.name);
}

bool OwnParameters::has(const ptx::Instruction& load) const {
  return load.space == ptx::Space::param && load.operands[1].index < 0 && names_.contains(load.operands[1].symbol);
}

}  // namespace roofwalk::vgpu
