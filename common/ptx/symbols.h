// Names and their scopes. PTX opens a scope at every brace.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/ptx/module.h"

namespace roofwalk::ptx {

struct Symbol {
  enum class Kind : std::uint8_t { reg, variable, function, label, branch_table, prototype };
  Kind kind = Kind::reg;
  Type type = Type::none;
  Space space = Space::generic;
  int index = -1;  // in Function::registers, Module::functions, the function's branch tables or prototypes or, at
                   // module scope, Module::variables
  std::string unique = {};  // variable: its name in operands
};

// Stores names as views, so each name must be part of the PTX text or come from `keep`.
class SymbolTable {
 public:
  SymbolTable() { open_scope(); }

  void open_scope() { scopes_.emplace_back(); }
  void close_scope();
  std::size_t depth() const { return scopes_.size(); }

  // Declares a name. False if the innermost scope already has it.
  bool declare(std::string_view name, Symbol symbol);
  const Symbol* find(std::string_view name) const;

  std::string_view keep(std::string name) { return kept_.emplace_back(std::move(name)); }

 private:
  struct Entry {
    Symbol symbol;
    std::size_t scope = 0;
    int shadowed = -1;  // entry of the same name in an outer scope
  };
  std::vector<Entry> entries_;
  std::unordered_map<std::string_view, int> visible_;
  std::vector<std::vector<std::string_view>> scopes_;
  std::deque<std::string> kept_;
};

}  // namespace roofwalk::ptx
