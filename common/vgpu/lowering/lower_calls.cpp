// Lowering of calls: direct, through pointers, and to externs.
#include "common/vgpu/lowering/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;

Status Lowering::lower_call(const Instruction& in, Op op, std::uint32_t block) {
  if (!calls_linked(in)) return lower_extern_call(in, op);
  op.next_block = block + 1 < program_.blocks.size() ? block + 1 : kExitBlock;
  if (calls_through_pointer(in)) return lower_pointer_call(in, op);
  const LinkedPart& part = part_at(in.operands[0]);
  op.offset = static_cast<std::int64_t>(program_.calls.size());
  op.target = block_at(part.first);
  ROOFWALK_TRY_STATUS(add_call_site(in, part));
  return emit_ok(op, op_call);
}

Status Lowering::lower_pointer_call(const Instruction& in, Op op) {
  if (program_.function_names.empty()) {
    for (const Function& function : input_.module->functions) {
      if (function.is_entry || function.is_extern) continue;
      program_.function_names[input_.address_of(function.name)] = function.name;
    }
  }
  std::vector<CallTarget> targets;
  for (const Operand& label : in.operands[1].elements) {
    const LinkedPart& part = part_at(label);
    targets.push_back({input_.address_of(part.function->name), block_at(part.first),
                       static_cast<std::uint32_t>(program_.calls.size())});
    ROOFWALK_TRY_STATUS(add_call_site(in, part));
  }
  op.s[0] = source(in.operands[0], 8);
  op.offset = static_cast<std::int64_t>(program_.call_targets.size());
  program_.call_targets.push_back(std::move(targets));
  return emit_ok(op, op_call_pointer);
}

const LinkedPart& Lowering::part_at(const Operand& label) const {
  const auto first = static_cast<std::uint32_t>(label.index);
  return *std::lower_bound(linked_.parts.begin(), linked_.parts.end(), first,
                           [](const LinkedPart& part, std::uint32_t at) { return part.first < at; });
}

Status Lowering::add_call_site(const Instruction& in, const LinkedPart& part) {
  CallSite site;
  site.recursive = part.recursive;
  if (site.recursive) {
    // What else ptxas puts into a frame is unknown. This is the minimum: a return address and saved registers.
    constexpr std::uint32_t kLeastFrame = 16;
    const auto number = static_cast<std::size_t>(&part - linked_.parts.data());
    site.frame_bytes = round_up(frame_bytes_[number], 16) + kLeastFrame;
  }
  const auto has_place = [&](const Operand& operand) {
    return operand.kind != Operand::Kind::variable || program_.locals.contains(operand.symbol);
  };
  if (!std::all_of(in.call_arguments.begin(), in.call_arguments.end(), has_place) ||
      !std::all_of(in.call_results.begin(), in.call_results.end(), has_place))
    return unsupported(in, "with a parameter of the kernel itself");
  for (std::size_t i = 0; i < part.parameters.size(); ++i)
    site.arguments.emplace_back(place(in.call_arguments[i]), place(part.parameters[i]));
  for (std::size_t i = 0; i < part.results.size(); ++i)
    site.results.emplace_back(place(part.results[i]), place(in.call_results[i]));
  // An immediate takes the width of its parameter.
  for (auto& [from, to] : site.arguments) from.bytes = from.bytes == 0 ? to.bytes : from.bytes;
  for (std::size_t i = 0; i < part.parameters.size(); ++i) {
    auto& [from, to] = site.arguments[i];
    if (in.call_arguments[i].kind == Operand::Kind::immediate)
      from.slot = slots_.constant(in.call_arguments[i].bits, to.bytes);
  }
  program_.calls.push_back(std::move(site));
  return kOk;
}

bool Lowering::is_called_by_name(std::uint32_t pc) const {
  if (!is_called(pc)) return true;
  const auto behind = std::upper_bound(linked_.parts.begin(), linked_.parts.end(), pc,
                                       [](std::uint32_t at, const LinkedPart& part) { return at < part.first; });
  return std::prev(behind)->by_name;
}

CallSite::Place Lowering::place(const Operand& operand) const {
  if (operand.kind == Operand::Kind::reg) {
    const int bytes = ptx::size_bytes(function_.registers[static_cast<std::size_t>(operand.index)].type);
    return {slots_.of_register(static_cast<std::size_t>(operand.index)), 0, static_cast<std::uint32_t>(bytes)};
  }
  const auto at = program_.locals.find(operand.symbol);
  if (at == program_.locals.end()) return {};
  return {kNoSlot, at->second.first, at->second.second};
}

std::uint64_t Lowering::passed_bytes(const Instruction& call) const {
  std::uint64_t bytes = 0;
  for (const Operand& argument : call.call_arguments) bytes += place(argument).bytes;
  for (const Operand& result : call.call_results) bytes += place(result).bytes;
  return bytes;
}

Status Lowering::lower_extern_call(const Instruction& in, const Op& op) {
  if (input_.may_call_externs) return emit_ok(op, op_call_extern);
  const std::string& name = in.operands[0].symbol;
  if (name == "vprintf") return emit_ok(op, op_print);
  if (name == "__assertfail") return emit_ok(op, op_assertion_failed);
  if (input_.has_heap && name == "malloc") return emit_ok(op, op_allocate);
  if (input_.has_heap && name == "free") return emit_ok(op, op_release);
  // A function that is reachable only through a pointer, such as a destructor in a virtual function table, may never
  // run. So if it calls an extern that is missing, that is a fault only when the call is executed.
  if (!is_called_by_name(op.pc)) return emit_ok(op, op_call_missing);
  Error error = missing_function(name);
  error.message = fmt::format("PTX line {}: {}", in.ptx_line, error.message);
  return error;
}

}  // namespace roofwalk::vgpu
