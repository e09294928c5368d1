#include "common/vgpu/program/link.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using ptx::Variable;

constexpr std::size_t kMostInstructions = 400'000, kMostFunctions = 1001, kMostTargets = 100'000;
constexpr std::size_t kMostHandedOver = 1'000'000;

Form form_of(const Instruction& in) { return ptx::info(in.opcode).form; }

// Functions whose address is taken anywhere in the module: the possible values of a function pointer.
std::set<std::string> functions_with_address(const ptx::Module& module) {
  std::set<std::string> out;
  for (const Variable& variable : module.variables) {
    for (const Variable::Fixup& fixup : variable.fixups) out.insert(fixup.symbol);
  }
  for (const Function& function : module.functions) {
    for (const Instruction& in : function.instructions) {
      if (form_of(in) == Form::call) continue;
      for (const Operand& operand : in.operands) {
        if (operand.kind == Operand::Kind::function) out.insert(operand.symbol);
      }
    }
  }
  return out;
}

template <class Visit>
void for_each_operand(Instruction& in, Visit&& visit) {
  const auto all = [&](auto&& self, std::vector<Operand>& operands) -> void {
    for (Operand& operand : operands) {
      visit(operand);
      self(self, operand.elements);
    }
  };
  all(all, in.operands);
  all(all, in.call_results);
  all(all, in.call_arguments);
}

class Linker {
 public:
  Linker(const ptx::Module& module, const Function& kernel) : module_(module), kernel_(kernel) {
    for (const Function& function : module.functions) {
      if (!function.is_entry && !function.is_extern) bodies_.emplace(function.name, &function);
    }
  }

  Result<LinkedKernel> run() {
    find_parts();
    if (functions_.size() == 1 && !through_pointer_) return LinkedKernel{};
    if (functions_.size() > kMostFunctions) {
      return Error{.message = fmt::format("a kernel that calls more than {} functions", kMostFunctions - 1)};
    }
    if (targets_ > kMostTargets) {
      return Error{.message = fmt::format("a kernel whose calls through pointers may lead to too many functions: more "
                                          "than {}, counted anew for each call",
                                          kMostTargets)};
    }
    if (handed_over_ > kMostHandedOver) {
      return Error{.message = fmt::format("a kernel whose calls pass too many values: more than {}, counted anew for "
                                          "each function that a call may lead to",
                                          kMostHandedOver)};
    }
    const std::set<const Function*> by_name = called_by_name();
    const std::vector<bool> recursive = parts_that_call_themselves();
    LinkedKernel out;
    out.function = std::make_shared<Function>();
    code_ = out.function.get();
    code_->name = kernel_.name;
    code_->is_entry = kernel_.is_entry;
    code_->parameters = kernel_.parameters;
    for (std::uint32_t part = 0; part < functions_.size(); ++part) {
      out.parts.push_back({.function = functions_[part],
                           .first = static_cast<std::uint32_t>(code_->instructions.size()),
                           .recursive = recursive[part],
                           .by_name = by_name.contains(functions_[part]),
                           .parameters = {},
                           .results = {}});
      add(part);
      out.parts[part].count = static_cast<std::uint32_t>(code_->instructions.size()) - out.parts[part].first;
      if (code_->instructions.size() > kMostInstructions) {
        return Error{.message =
                         fmt::format("a kernel with more than {} instructions in what it calls", kMostInstructions)};
      }
    }
    for (std::uint32_t part = 0; part < functions_.size(); ++part) {
      for (const Variable& parameter : functions_[part]->parameters)
        out.parts[part].parameters.push_back(place(part, parameter));
      for (const Variable& result : functions_[part]->results) out.parts[part].results.push_back(place(part, result));
    }
    point_calls(out);
    return out;
  }

 private:
  void find_parts() {
    functions_.push_back(&kernel_);
    std::set<const Function*> seen{&kernel_};
    for (std::size_t i = 0; i < functions_.size() && functions_.size() <= kMostFunctions; ++i) {
      for (const Instruction& in : functions_[i]->instructions) {
        if (form_of(in) != Form::call) continue;
        const bool through_pointer = calls_through_pointer(in);
        if (through_pointer) {
          through_pointer_ = true;
          targets_ += candidates(*functions_[i], in).size();
          if (targets_ > kMostTargets) return;
        }
        for (const Function* callee : callees_of(*functions_[i], in)) {
          handed_over_ += callee->parameters.size() + callee->results.size();
          callees_[functions_[i]].insert(callee);
          if (!through_pointer) called_[functions_[i]].insert(callee);
          if (seen.insert(callee).second) functions_.push_back(callee);
        }
      }
    }
  }

  // The function of this name that has a body; nullptr for an extern or a kernel.
  const Function* body_of(const std::string& name) const {
    const auto found = bodies_.find(name);
    return found == bodies_.end() ? nullptr : found->second;
  }

  static const ptx::Prototype& prototype_of(const Function& function, const Instruction& in) {
    return function.prototypes[static_cast<std::size_t>(in.prototype)];
  }

  // Names of the possible callees of a call through a pointer, whether their parameters match or not.
  const std::vector<std::string>& candidates(const Function& function, const Instruction& in) {
    const std::vector<std::string>& listed = prototype_of(function, in).targets;
    if (!listed.empty()) return listed;
    if (!with_address_) {
      const std::set<std::string> names = functions_with_address(module_);
      with_address_.emplace(names.begin(), names.end());
    }
    return *with_address_;
  }

  // Possible callees of a call; empty for an extern.
  std::vector<const Function*> callees_of(const Function& function, const Instruction& in) {
    std::vector<const Function*> out;
    if (!calls_through_pointer(in)) {
      if (const Function* callee = body_of(in.operands[0].symbol)) out.push_back(callee);
      return out;
    }
    const ptx::Prototype& prototype = prototype_of(function, in);
    for (const std::string& name : candidates(function, in)) {
      const Function* callee = body_of(name);
      if (callee != nullptr && ptx::same_parameters(callee->results, prototype.results) &&
          ptx::same_parameters(callee->parameters, prototype.parameters) &&
          std::find(out.begin(), out.end(), callee) == out.end())
        out.push_back(callee);
    }
    return out;
  }

  // The kernel and all functions reachable from it without calls through pointers.
  std::set<const Function*> called_by_name() {
    std::set<const Function*> out{&kernel_};
    std::vector<const Function*> open{&kernel_};
    while (!open.empty()) {
      const Function* from = open.back();
      open.pop_back();
      for (const Function* to : called_[from]) {
        if (out.insert(to).second) open.push_back(to);
      }
    }
    return out;
  }

  // By part: whether its calls can lead back to it.
  std::vector<bool> parts_that_call_themselves() {
    std::map<const Function*, std::uint32_t> part_of;
    for (std::uint32_t part = 0; part < functions_.size(); ++part) part_of[functions_[part]] = part;
    std::vector<BasicBlock> calls(functions_.size());
    for (std::uint32_t part = 0; part < functions_.size(); ++part) {
      for (const Function* callee : callees_[functions_[part]]) calls[part].successors.push_back(part_of.at(callee));
    }
    return find_loops(calls, [](const BasicBlock&) { return true; });
  }

  static std::string renamed(std::uint32_t part, const std::string& name) { return fmt::format("{}@{}", name, part); }

  void add(std::uint32_t part) {
    const Function& function = *functions_[part];
    const auto first_register = static_cast<int>(code_->registers.size());
    const auto first = static_cast<int>(code_->instructions.size());
    code_->registers.insert(code_->registers.end(), function.registers.begin(), function.registers.end());
    const std::set<std::string> mine = add_variables(part);
    find_registers(part, mine);
    const UsesOfNames uses(function);
    bool to_end = false;
    for (std::size_t i = 0; i < function.instructions.size(); ++i) {
      Instruction in = function.instructions[i];
      if (in.guard >= 0) in.guard += first_register;
      for_each_operand(in, [&](Operand& operand) {
        const bool label = operand.kind == Operand::Kind::label;
        to_end = to_end || (label && operand.index == static_cast<int>(function.instructions.size()));
        if (label) operand.index += first;
        if (operand.index >= 0 && (operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::address))
          operand.index += first_register;
        if (!operand.symbol.empty() && mine.contains(operand.symbol)) operand.symbol = renamed(part, operand.symbol);
      });
      if (form_of(in) == Form::call && !calls_through_pointer(in) && in.call_results.size() == 1 &&
          uses.are_at_once_behind(i, function.instructions[i].call_results[0].symbol))
        at_once_.insert(code_->instructions.size());
      code_->instructions.push_back(std::move(in));
      hand_over(code_->instructions.back());
    }
    // Adds a return if control could fall through into the next function.
    const bool ends = !function.instructions.empty() && form_of(function.instructions.back()) == Form::leave &&
                      function.instructions.back().guard < 0;
    if (ends && !to_end) return;
    Instruction back;
    back.opcode = Opcode::Ret;
    if (!function.instructions.empty()) {
      back.ptx_line = function.instructions.back().ptx_line;
      back.location = function.instructions.back().location;
    }
    code_->instructions.push_back(std::move(back));
  }

  // Adds the part's variables and returns the names that were made unique. Shared variables and the kernel's
  // variables keep their names.
  std::set<std::string> add_variables(std::uint32_t part) {
    const Function& function = *functions_[part];
    std::set<std::string> mine;
    const auto add = [&](Variable variable) {
      if (variable.space != Space::shared && part != 0) {
        mine.insert(variable.name);
        variable.name = renamed(part, variable.name);
      }
      code_->variables.push_back(std::move(variable));
    };
    for (const Variable& variable : function.variables) add(variable);
    if (part == 0) return mine;
    for (const Variable& variable : function.parameters) add(variable);
    for (const Variable& variable : function.results) add(variable);
    return mine;
  }

  // Assigns a register to each .param variable that is always moved whole, as one value, and never passed to an
  // extern.
  void find_registers(std::uint32_t part, const std::set<std::string>& mine) {
    const Function& function = *functions_[part];
    std::map<std::string, const Variable*> candidates;
    const auto may_be = [&](const Variable& variable) {
      const int size = ptx::size_bytes(variable.type);
      const bool whole = variable.size_bytes == static_cast<std::uint64_t>(size) && size >= 2 && size <= 8;
      if (variable.space == Space::param && whole) candidates[variable.name] = &variable;
    };
    for (const Variable& variable : function.variables) may_be(variable);
    if (part != 0) {
      for (const Variable& variable : function.parameters) may_be(variable);
      for (const Variable& variable : function.results) may_be(variable);
    }
    for (const Instruction& in : function.instructions) {
      if (form_of(in) == Form::call) {
        if (calls_through_pointer(in) || !callees_of(function, in).empty()) continue;
        for (const auto* list : {&in.call_results, &in.call_arguments}) {
          for (const Operand& operand : *list) candidates.erase(operand.symbol);
        }
        continue;
      }
      for (std::size_t o = 0; o < in.operands.size(); ++o) {
        const auto found = candidates.find(in.operands[o].symbol);
        if (found == candidates.end()) continue;
        if (!moves_whole(function, in, o, *found->second)) candidates.erase(found);
      }
    }
    for (const auto& [name, variable] : candidates) {
      const std::string now = mine.contains(name) ? renamed(part, name) : name;
      registers_[now] = static_cast<int>(code_->registers.size());
      code_->registers.push_back({now, variable->type});
    }
  }

  static bool moves_whole(const Function& function, const Instruction& in, std::size_t operand,
                          const Variable& variable) {
    const bool store = form_of(in) == Form::store;
    if ((form_of(in) != Form::load && !store) || in.vector != 1 || in.operands[operand].offset != 0) return false;
    if (in.operands[operand].kind != Operand::Kind::address || operand != (store ? 0 : 1)) return false;
    const int size = ptx::size_bytes(variable.type);
    const Operand& other = in.operands[store ? 1 : 0];
    if (other.kind == Operand::Kind::reg &&
        ptx::size_bytes(function.registers[static_cast<std::size_t>(other.index)].type) != size)
      return false;
    return ptx::size_bytes(in.type) == size;
  }

  // Tells whether a call's result is read before another call could overwrite it.
  class UsesOfNames {
   public:
    explicit UsesOfNames(const Function& function) : next_turn_(function.instructions.size() + 1) {
      const auto& code = function.instructions;
      for (std::size_t i = 0; i < code.size(); ++i) {
        for (const auto* list : {&code[i].operands, &code[i].call_arguments, &code[i].call_results}) {
          for (const Operand& operand : *list) uses_.try_emplace(operand.symbol, i, i).first->second.second = i;
        }
      }
      next_turn_[code.size()] = code.size();
      for (std::size_t i = code.size(); i-- > 0;) {
        const Form form = form_of(code[i]);
        const bool turns =
            form == Form::call || form == Form::branch || form == Form::indexed_branch || form == Form::leave;
        next_turn_[i] = turns ? i : next_turn_[i + 1];
      }
    }

    // Whether all uses of `name`, the result of `call`, lie between that call and the next call, branch or return. Then
    // they can read the result where the callee left it.
    bool are_at_once_behind(std::size_t call, const std::string& name) const {
      const auto found = uses_.find(name);
      return found == uses_.end() || (found->second.first >= call && found->second.second < next_turn_[call + 1]);
    }

   private:
    // By name: the first and the last instruction that uses it.
    std::map<std::string_view, std::pair<std::size_t, std::size_t>> uses_;
    std::vector<std::size_t> next_turn_;  // by instruction: the first one, from it on, that calls, branches or
                                          // returns
  };

  Operand register_operand(const std::string& name) const {
    Operand out;
    out.kind = Operand::Kind::reg;
    out.index = registers_.at(name);
    return out;
  }

  // Turns a load or store of a parameter into a move if the parameter is kept in a register.
  void hand_over(Instruction& in) const {
    if (form_of(in) != Form::load && form_of(in) != Form::store) return;
    const bool store = form_of(in) == Form::store;
    Operand& there = in.operands[store ? 0 : 1];
    if (!registers_.contains(there.symbol)) return;
    const int width = ptx::size_bytes(in.type);
    there = register_operand(there.symbol);
    in.opcode = Opcode::Mov;
    in.space = Space::generic;
    in.type = width == 2 ? Type::b16 : width == 4 ? Type::b32 : Type::b64;
  }

  Operand place(std::uint32_t part, const Variable& variable) const {
    const std::string name = part == 0 ? variable.name : renamed(part, variable.name);
    if (registers_.contains(name)) return register_operand(name);
    Operand out;
    out.kind = Operand::Kind::variable;
    out.symbol = name;
    out.space = Space::param;
    return out;
  }

  // Points calls at their callees' code. Registers that pass values become operands, so that analyses of reads and
  // writes see them: a call reads the arguments and the callee's results, and writes the callee's parameters.
  void point_calls(const LinkedKernel& out) {
    std::map<int, int> same;  // maps the caller's result register to the callee's
    std::map<const Function*, const LinkedPart*> parts;
    for (const LinkedPart& part : out.parts) parts[part.function] = &part;
    for (const LinkedPart& caller : out.parts) {
      for (std::uint32_t i = caller.first; i < caller.first + caller.count; ++i) {
        Instruction& in = code_->instructions[i];
        if (form_of(in) != Form::call) continue;
        std::vector<const LinkedPart*> callees;
        for (const Function* callee : callees_of(*caller.function, in)) callees.push_back(parts.at(callee));
        if (callees.empty() && !calls_through_pointer(in)) continue;
        for (auto* list : {&in.call_results, &in.call_arguments}) {
          for (Operand& operand : *list) {
            if (registers_.contains(operand.symbol)) operand = register_operand(operand.symbol);
          }
        }
        if (at_once_.contains(i) && in.call_results[0].kind == Operand::Kind::reg &&
            callees[0]->results[0].kind == Operand::Kind::reg)
          same[in.call_results[0].index] = callees[0]->results[0].index;
        point_at(in, callees);
      }
    }
    for (Instruction& in : code_->instructions) {
      for_each_operand(in, [&](Operand& operand) {
        if (operand.kind != Operand::Kind::reg) return;
        if (const auto found = same.find(operand.index); found != same.end()) operand.index = found->second;
      });
    }
  }

  static void point_at(Instruction& in, const std::vector<const LinkedPart*>& callees) {
    const auto label = [](Operand& operand, const LinkedPart& part) {
      operand.kind = Operand::Kind::label;
      operand.index = static_cast<int>(part.first);
    };
    if (calls_through_pointer(in)) {
      Operand& list = in.operands.emplace_back();
      list.kind = Operand::Kind::vector;
      for (const LinkedPart* part : callees) label(list.elements.emplace_back(), *part);
    } else {
      label(in.operands[0], *callees[0]);
    }
    for (const LinkedPart* part : callees) {
      in.call_results.insert(in.call_results.end(), part->parameters.begin(), part->parameters.end());
      in.call_arguments.insert(in.call_arguments.end(), part->results.begin(), part->results.end());
    }
  }

  const ptx::Module& module_;
  const Function& kernel_;
  std::map<std::string_view, const Function*> bodies_;
  std::vector<const Function*> functions_;
  std::map<const Function*, std::set<const Function*>> callees_, called_;  // called_: without calls through pointers
  std::optional<std::vector<std::string>> with_address_;
  bool through_pointer_ = false;  // whether there is any call through a pointer
  std::size_t targets_ = 0;       // number of possible targets, summed over all calls through pointers
  std::size_t handed_over_ = 0;   // parameters and results, counted once per function that a call may lead to
  Function* code_ = nullptr;
  std::set<std::size_t> at_once_;         // instructions for which are_at_once_behind() holds
  std::map<std::string, int> registers_;  // registers of parameters, by name in the linked code
};

}  // namespace

Result<LinkedKernel> link_kernel(const ptx::Module& module, const Function& kernel) {
  if (const Error* why = ptx::why_unsupported(module, kernel)) return *why;
  return Linker(module, kernel).run();
}

}  // namespace roofwalk::vgpu
