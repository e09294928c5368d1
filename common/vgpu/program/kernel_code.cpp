#include "common/vgpu/program/kernel_code.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/vgpu/program/operands.h"
#include "common/vgpu/program/uses.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Variable;

// Calls `visit` with every symbol that the operands name.
template <class Visit>
void for_each_symbol(const Operand& operand, Visit&& visit) {
  if (!operand.symbol.empty()) visit(operand.symbol);
  for (const Operand& element : operand.elements) for_each_symbol(element, visit);
}

std::uint64_t host_bytes_of(const std::vector<Operand>& operands) {
  std::uint64_t bytes = operands.capacity() * sizeof(Operand);
  for (const Operand& operand : operands) bytes += operand.symbol.capacity() + host_bytes_of(operand.elements);
  return bytes;
}

std::uint64_t host_bytes_of(const KernelCode& code) {
  std::uint64_t bytes = code.blocks.capacity() * sizeof(BasicBlock) + code.has_use.capacity() / 8;
  if (code.uses) bytes += code.uses->host_bytes();
  for (const BasicBlock& block : code.blocks)
    bytes += (block.successors.capacity() + block.memory.capacity()) * sizeof(std::uint32_t);
  bytes += code.unwritten.capacity() * sizeof(int);
  for (const auto& [name, offset] : code.shared.offsets) bytes += sizeof name + sizeof offset + name.capacity();
  if (code.linked.function == nullptr) return bytes;
  bytes += code.linked.function->instructions.capacity() * sizeof(Instruction);
  for (const Instruction& in : code.linked.function->instructions)
    bytes += host_bytes_of(in.operands) + host_bytes_of(in.call_results) + host_bytes_of(in.call_arguments);
  for (const ptx::Register& reg : code.linked.function->registers) bytes += sizeof reg + reg.name.capacity();
  for (const Variable& variable : code.linked.function->variables) bytes += sizeof variable + variable.name.capacity();
  return bytes;
}

constexpr std::uint64_t kLeastSharedAlignBytes = 16;

}  // namespace

SharedLayout shared_layout(const ptx::Module& module, const Function& function) {
  // A function's variable hides the module's variable of the same name.
  std::map<std::string_view, const Variable*> variables;
  for (const auto* list : {&function.variables, &module.variables}) {
    for (const Variable& variable : *list) variables.try_emplace(variable.name, &variable);
  }
  SharedLayout out;
  std::vector<const Variable*> dynamic;
  const auto place = [&](const std::string& name) {
    const auto found = variables.find(name);
    if (found == variables.end() || found->second->space != Space::shared) return;
    const Variable& variable = *found->second;
    if (out.offsets.contains(name)) return;
    if (variable.is_extern || variable.size_bytes == 0) {
      out.offsets[name] = 0;
      dynamic.push_back(&variable);
      return;
    }
    const auto align = static_cast<std::uint32_t>(std::max(variable.align_bytes, 1));
    const std::uint32_t at = (out.static_bytes + align - 1) / align * align;
    out.offsets[name] = at;
    out.static_bytes = at + static_cast<std::uint32_t>(std::min<std::uint64_t>(variable.size_bytes, 1u << 30));
  };
  for (const Instruction& in : function.instructions) {
    for (const Operand& operand : in.operands) for_each_symbol(operand, place);
  }
  // nvcc pads the static variables to the largest alignment of all, so that the dynamic ones have theirs.
  std::uint64_t align = kLeastSharedAlignBytes;
  for (const auto& [name, offset] : out.offsets)
    align = std::max<std::uint64_t>(align, static_cast<std::uint64_t>(std::max(variables.at(name)->align_bytes, 1)));
  out.dynamic_at = static_cast<std::uint32_t>(std::min<std::uint64_t>((out.static_bytes + align - 1) / align * align,
                                                                      std::numeric_limits<std::int32_t>::max()));
  for (const Variable* variable : dynamic) out.offsets[variable->name] = out.dynamic_at;
  return out;
}

Result<KernelCode> code_of(const ptx::Module& module, const Function& kernel) {
  KernelCode out;
  ROOFWALK_TRY(out.linked, link_kernel(module, kernel));
  out.function = out.linked.function != nullptr ? out.linked.function.get() : &kernel;
  out.blocks = find_blocks(*out.function);
  std::vector<int> handed;
  for (const LinkedPart& part : out.linked.parts) {
    for (const auto* list : {&part.parameters, &part.results}) {
      for (const Operand& operand : *list) for_each_register(operand, [&](int reg) { handed.push_back(reg); });
    }
  }
  out.uses.emplace(*out.function, out.blocks);
  std::optional<std::vector<bool>> has_use;
  if (out.uses->is_known()) has_use = instructions_with_use(*out.function, out.blocks, *out.uses, handed);
  if (!has_use) {
    return Error{.message =
                     fmt::format("a kernel with {} basic blocks and {} registers that carry values between them: "
                                 "that is more than the virtual GPU takes",
                                 out.blocks.size(), out.uses->registers().size())};
  }
  out.has_use = std::move(*has_use);
  out.shared = shared_layout(module, *out.function);
  std::vector<std::uint32_t> entries;
  for (const LinkedPart& part : out.linked.parts) entries.push_back(part.first);
  out.unwritten = registers_read_unwritten(*out.uses, out.blocks, entries);
  // A call writes its callee's parameters.
  for (const LinkedPart& part : out.linked.parts) {
    for (const Operand& parameter : part.parameters)
      for_each_register(parameter, [&](int reg) { std::erase(out.unwritten, reg); });
  }
  out.host_bytes = host_bytes_of(out);
  return out;
}

}  // namespace roofwalk::vgpu
