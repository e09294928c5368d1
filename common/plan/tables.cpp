#include "common/plan/tables.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "common/vgpu/program/operands.h"

namespace roofwalk {
namespace {

using ptx::Form;
using ptx::Function;
using ptx::Instruction;
using ptx::Module;
using ptx::Operand;
using Names = std::set<std::string_view>;

template <class Visit>
void for_each_operand(const std::vector<Operand>& operands, Visit&& visit) {
  for (const Operand& operand : operands) {
    visit(operand);
    for_each_operand(operand.elements, visit);
  }
}
template <class Visit>
void for_each_operand(const Instruction& in, Visit&& visit) {
  for_each_operand(in.operands, visit);
  for_each_operand(in.call_arguments, visit);
}

bool is_in_device_memory(const Operand& operand) {
  return operand.space == ptx::Space::global && !operand.symbol.empty() && operand.kind != Operand::Kind::function;
}

// Returns the given functions, those that they name, and so on. A function whose address is in a variable may be
// called by anyone.
std::set<const Function*> reached_from(const Module& module, std::vector<const Function*> functions) {
  std::map<std::string_view, const Function*> by_name;
  for (const Function& function : module.functions) {
    if (!function.is_entry) by_name.emplace(function.name, &function);
  }
  const auto add = [&](std::string_view name) {
    if (const auto found = by_name.find(name); found != by_name.end()) functions.push_back(found->second);
  };
  for (const ptx::Variable& variable : module.variables) {
    for (const ptx::Variable::Fixup& fixup : variable.fixups) add(fixup.symbol);
  }
  std::set<const Function*> reached;
  while (!functions.empty()) {
    const Function* function = functions.back();
    functions.pop_back();
    if (!reached.insert(function).second) continue;
    for (const Instruction& in : function->instructions) {
      for_each_operand(in, [&](const Operand& operand) {
        if (operand.kind == Operand::Kind::function) add(operand.symbol);
      });
    }
  }
  return reached;
}

// Returns the variables in device memory that the functions name, and those whose addresses are in such a variable.
Names named_in(const Module& module, const std::set<const Function*>& functions) {
  Names names;
  for (const Function* function : functions) {
    for (const Instruction& in : function->instructions) {
      for_each_operand(in, [&](const Operand& operand) {
        if (is_in_device_memory(operand)) names.insert(operand.symbol);
      });
    }
  }
  std::map<std::string_view, const ptx::Variable*> with_addresses;
  for (const ptx::Variable& variable : module.variables) {
    if (!variable.fixups.empty()) with_addresses.emplace(variable.name, &variable);
  }
  std::vector<std::string_view> open(names.begin(), names.end());
  while (!open.empty()) {
    const auto found = with_addresses.find(open.back());
    open.pop_back();
    if (found == with_addresses.end()) continue;
    for (const ptx::Variable::Fixup& fixup : found->second->fixups) {
      if (names.insert(fixup.symbol).second) open.push_back(fixup.symbol);
    }
  }
  return names;
}

// Follows the addresses of variables through the registers of one function.
class AddressFlow {
 public:
  explicit AddressFlow(const Function& function) : function_(function), in_register_(function.registers.size()) {}

  // Adds the variables to which the function writes, or whose address goes where it cannot be followed.
  void add_written(Names& out) {
    bool changed = true;
    for (int round = 0; changed && round < kMostRounds; ++round) {
      changed = false;
      for (const Instruction& in : function_.instructions) changed = follow(in) || changed;
    }
    for (const auto& [name, bit] : bits_) {
      if (changed || (bit & written_) != 0) out.insert(name);
    }
  }

 private:
  using Set =
      std::uint64_t;  // of variables: a bit each; the last bit stands for all variables without one of their own
  static constexpr std::size_t kMostBits = 64;
  static constexpr int kMostRounds = 16;  // loops of pointers need two or three

  Set bit_of(std::string_view name) {
    const auto place = std::min(bits_.size(), kMostBits - 1);
    return bits_.emplace(name, Set{1} << place).first->second;
  }

  // Returns whether a register has got another address.
  bool follow(const Instruction& in) {
    Set addresses = 0;
    for_each_operand(in, [&](const Operand& operand) {
      if (is_in_device_memory(operand)) addresses |= bit_of(operand.symbol);
    });
    vgpu::for_each_source(in, [&](int reg) { addresses |= in_register_[static_cast<std::size_t>(reg)]; });
    switch (ptx::info(in.opcode).form) {
      case Form::load:
      case Form::compare:
      case Form::set:
      case Form::number_test:
      case Form::prefetch:
        return false;
      case Form::alu:
      case Form::carry:
      case Form::convert:
      case Form::cvta:
      case Form::move:
      case Form::select: {
        bool changed = false;
        vgpu::for_each_result(in, [&](int reg) {
          Set& held = in_register_[static_cast<std::size_t>(reg)];
          changed = changed || (addresses & ~held) != 0;
          held |= addresses;
        });
        return changed;
      }
      default:
        written_ |= addresses;
        return false;
    }
  }

  const Function& function_;
  std::vector<Set> in_register_;
  std::map<std::string_view, Set> bits_;
  Set written_ = 0;
};

bool takes_address(const Function& function, std::string_view variable) {
  return std::any_of(function.instructions.begin(), function.instructions.end(), [&](const Instruction& in) {
    return std::any_of(in.operands.begin(), in.operands.end(), [&](const Operand& operand) {
      return operand.kind == Operand::Kind::variable && operand.symbol == variable;
    });
  });
}

}  // namespace

std::vector<const ptx::Variable*> tables_of(const Module& module, const Function& solve) {
  const std::set<const Function*> of_solve = reached_from(module, {&solve});
  const Names named = named_in(module, of_solve);
  if (named.empty()) return {};
  std::vector<const Function*> kernels;
  for (const Function& function : module.functions) {
    if (function.is_entry && &function != &solve) kernels.push_back(&function);
  }
  const std::set<const Function*> of_kernels = reached_from(module, std::move(kernels));
  Names written;
  for (const Function* function : of_kernels) AddressFlow(*function).add_written(written);
  const Names named_by_kernels = named_in(module, of_kernels);
  for (const ptx::Variable& variable : module.variables) {
    if (!named_by_kernels.contains(variable.name)) continue;
    for (const ptx::Variable::Fixup& fixup : variable.fixups) written.insert(fixup.symbol);
  }
  std::vector<const ptx::Variable*> tables;
  for (const ptx::Variable& variable : module.variables) {
    if (variable.space != ptx::Space::global || variable.is_extern || variable.size_bytes == 0) continue;
    if (!named.contains(variable.name) || written.contains(variable.name)) continue;
    const bool is_handed_on = variable.name.starts_with('$') &&
                              std::any_of(of_solve.begin(), of_solve.end(),
                                          [&](const Function* f) { return takes_address(*f, variable.name); });
    if (!is_handed_on) tables.push_back(&variable);
  }
  return tables;
}

}  // namespace roofwalk
