#include "common/cudart/link_modules.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/vgpu/program/names.h"

namespace roofwalk::cudart {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;
using ptx::Variable;

using NewNames = std::map<std::string, std::string>;

template <class Symbol>
bool is_local(const Symbol& symbol) {
  return !symbol.is_extern && !symbol.is_visible && !symbol.is_weak;
}

void rename(const NewNames& names, std::string& name) {
  if (const auto found = names.find(name); found != names.end()) name = found->second;
}

void rename_operands(const NewNames& names, std::vector<Operand>& operands) {
  for (Operand& operand : operands) {
    rename(names, operand.symbol);
    rename_operands(names, operand.elements);
  }
}

// A function's own variables hide those of the module.
void rename_in(Function& function, NewNames names) {
  for (const auto* list : {&function.variables, &function.parameters, &function.results}) {
    for (const Variable& own : *list) names.erase(own.name);
  }
  for (Instruction& in : function.instructions) {
    for (auto* list : {&in.operands, &in.call_results, &in.call_arguments}) rename_operands(names, *list);
  }
  for (ptx::Prototype& prototype : function.prototypes) {
    for (std::string& target : prototype.targets) rename(names, target);
  }
}

class ModuleLinker {
 public:
  explicit ModuleLinker(const std::vector<ptx::Module>& modules) {
    for (const ptx::Module& module : modules) {
      for (const Function& each : module.functions) reserve(each);
      for (const Variable& each : module.variables) reserve(each);
    }
  }

  Status add(ptx::Module module) {
    if (linked_.target.empty()) {
      linked_.target = module.target;
      linked_.version_major = module.version_major;
      linked_.version_minor = module.version_minor;
    }
    const NewNames names = new_names(module);
    add_sources(module);
    for (Variable& each : module.variables) {
      rename(names, each.name);
      for (Variable::Fixup& fixup : each.fixups) rename(names, fixup.symbol);
      ROOFWALK_TRY_STATUS(take(std::move(each), linked_.variables));
    }
    for (Function& each : module.functions) {
      rename(names, each.name);
      if (!names.empty()) rename_in(each, names);
      ROOFWALK_TRY_STATUS(take(std::move(each), linked_.functions));
    }
    return kOk;
  }

  ptx::Module finish() { return std::move(linked_); }

 private:
  template <class Symbol>
  void reserve(const Symbol& symbol) {
    if (!is_local(symbol)) taken_.insert(symbol.name);
  }

  // New names for what is local to a module and has a name that is taken.
  NewNames new_names(const ptx::Module& module) {
    NewNames names;
    const auto choose = [&](const auto& symbol) {
      if (!is_local(symbol) || taken_.insert(symbol.name).second) return;
      std::string& name = names[symbol.name];
      do {
        name = fmt::format("{}.{}", symbol.name, ++renamed_);
      } while (!taken_.insert(name).second);
    };
    for (const Function& each : module.functions) choose(each);
    for (const Variable& each : module.variables) choose(each);
    return names;
  }

  // Numbers the module's files and locations behind those of the modules before it.
  void add_sources(ptx::Module& module) {
    const int first_file = static_cast<int>(linked_.files.size());
    const int first_location = static_cast<int>(linked_.locations.size());
    for (auto& frames : module.locations) {
      for (ptx::SourceFrame& frame : frames) frame.file += frame.file >= 0 ? first_file : 0;
    }
    for (Function& function : module.functions) {
      for (Instruction& in : function.instructions) in.location += in.location >= 0 ? first_location : 0;
    }
    std::move(module.files.begin(), module.files.end(), std::back_inserter(linked_.files));
    std::move(module.locations.begin(), module.locations.end(), std::back_inserter(linked_.locations));
  }

  template <class Symbol>
  Status take(Symbol symbol, std::vector<Symbol>& all) {
    const auto [at, is_new] = places_.try_emplace(symbol.name, all.size());
    if (is_new) {
      all.push_back(std::move(symbol));
      return kOk;
    }
    if (at->second >= all.size() || all[at->second].name != symbol.name) return defined_twice(symbol.name);
    Symbol& earlier = all[at->second];
    if constexpr (requires { symbol.align_bytes; }) {
      if (symbol.is_extern && earlier.is_extern)
        earlier.align_bytes = std::max(earlier.align_bytes, symbol.align_bytes);
    }
    if (symbol.is_extern) return kOk;
    if (!earlier.is_extern && !earlier.is_weak && !symbol.is_weak) return defined_twice(symbol.name);
    if (earlier.is_extern || (earlier.is_weak && !symbol.is_weak)) earlier = std::move(symbol);
    return kOk;
  }

  static Error defined_twice(const std::string& name) {
    return {.message = fmt::format("two files of the program define `{}`",
                                   name.starts_with("_Z") ? vgpu::display_name(name) : name)};
  }

  ptx::Module linked_;
  std::set<std::string> taken_;
  std::map<std::string, std::size_t> places_;  // by name: the index among the functions or the variables
  int renamed_ = 0;
};

}  // namespace

void shift_lines(ptx::Module& module, int lines) {
  for (Variable& each : module.variables) each.ptx_line += lines;
  for (Function& function : module.functions) {
    function.ptx_line += lines;
    for (Variable& each : function.variables) each.ptx_line += lines;
    for (Instruction& in : function.instructions) in.ptx_line += lines;
  }
}

Result<ptx::Module> link_modules(std::vector<ptx::Module> modules) {
  ModuleLinker linker(modules);
  for (ptx::Module& module : modules) ROOFWALK_TRY_STATUS(linker.add(std::move(module)));
  return linker.finish();
}

}  // namespace roofwalk::cudart
