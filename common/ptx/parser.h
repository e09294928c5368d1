// Recursive descent parser for a module, private to this layer. declarations.cpp and variables.cpp parse text outside
// braces, body.cpp and operands.cpp text inside; parser.cpp handles tokens and turns a Refusal into an Error.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/ptx/lexer.h"
#include "common/ptx/module.h"
#include "common/ptx/source_map.h"
#include "common/ptx/symbols.h"

namespace roofwalk::ptx {

class Parser {
 public:
  Parser(std::string_view text, std::string_view source_name, const Limits& limits);

  Result<Module> run();

 private:
  struct Linkage {
    bool is_extern = false;
    bool is_visible = false;
    bool is_weak = false;
  };
  struct FunctionState {
    bool is_defined = false;
    bool is_extern = false;  // declared .extern
  };
  struct PendingBranch {
    std::size_t instruction;
    std::string_view label;
    int entry = -1;  // index in a branch table; -1: the instruction's only target
  };
  struct LabelScope {
    std::unordered_map<std::string_view, int> labels;
    std::vector<PendingBranch> pending;
  };
  struct Passed {  // a value passed in a call: an array, or a scalar as an array of one
    std::uint64_t element_bytes = 0;
    std::uint64_t count = 0;
    enum class Role : std::uint8_t { local, input, result } role = Role::local;
  };
  struct InitialValue {  // of one element
    std::uint64_t bits = 0;
    std::string symbol;
    std::int64_t addend = 0;
  };

  // Tokens (parser.cpp).
  void advance();
  bool take(char punctuation);
  bool take(std::string_view word_or_dotted);
  void expect(char punctuation);
  std::string_view expect_name(std::string_view what);
  std::uint64_t expect_integer(std::string_view what, std::uint64_t max);
  std::int64_t signed_integer(std::string_view what);
  [[noreturn]] void refuse(std::string message) const;
  [[noreturn]] void refuse_token(std::string_view wanted) const;
  void count_symbol();
  Error located(const Refusal& refusal);
  Error error_of(const Refusal& refusal) const;

  // Outside braces (declarations.cpp, variables.cpp).
  void header();
  void module_item();
  void target();
  void file_directive();
  void debug_section();
  void pragma();
  void function(const Linkage& linkage, bool is_entry);
  void parameter_list(std::vector<Variable>& parameters, bool may_be_unnamed = false);
  Variable parameter(bool may_be_unnamed);
  void performance_directives(Function& function);
  void thread_counts(int (&counts)[3]);
  int declare_function(const Function& function, const Linkage& linkage, bool is_definition);
  // Functions that the machine implements itself: they may be declared but not defined.
  static bool is_reserved(std::string_view name);
  void check_reserved(const Function& function, const Linkage& linkage, bool is_definition) const;
  void module_variable(const Linkage& linkage, Space space);
  void redeclare_variable(Variable variable, const Linkage& linkage, const Symbol& known);
  Variable variable(Space space, bool may_be_unnamed = false);
  void dimensions(Variable& variable, std::vector<std::uint64_t>& extents);
  void initializer(Variable& variable, const std::vector<std::uint64_t>& extents);
  void initial_elements(Variable& variable, const std::vector<std::uint64_t>& extents, std::size_t depth,
                        std::uint64_t first);
  void initial_element(Variable& variable, std::uint64_t index);
  InitialValue initial_value(Type type);
  InitialValue initial_symbol();

  // Inside braces (body.cpp, operands.cpp).
  void body(Function& function);
  void skip_body();
  void statement();
  void open_block();
  void close_block();
  void label();
  void directive();
  void location();
  void registers();
  void add_register(std::string_view name, Type type);
  void local_variables(Space space);
  std::string unique_name(std::string_view name);
  void instruction();
  void guard(Instruction& instruction);
  void branch_table(std::string_view name);
  void call_prototype(std::string_view name);
  void call_targets(std::string_view name);
  void add_prototype(std::string_view name, Prototype prototype);
  void branch_operands(Instruction& instruction);
  void indexed_branch_operands(Instruction& instruction);
  void add_carry(Instruction& instruction);
  void call_operands(Instruction& instruction);
  void call_list(std::vector<Operand>& list);
  void pointer_call_operands(Instruction& instruction, std::string_view name, const Symbol& pointer);
  const Function& callee(std::string_view name) const;
  void check_call(const Instruction& instruction, std::string_view name, const std::vector<Variable>& results,
                  const std::vector<Variable>& parameters) const;
  void check_passed(const Operand& operand, const Variable& parameter) const;
  Passed passed_by(const Operand& operand) const;
  static Passed passed_as(const Variable& variable);
  void operands(Instruction& instruction);
  void check_parameter_access(const Instruction& instruction) const;
  Operand operand();
  Operand number_operand();
  Operand named_operand();
  Operand special_operand(std::string_view name);
  Operand address_operand();
  Operand vector_operand();

  std::string_view text_;
  std::string_view source_name_;
  const Limits& limits_;
  Lexer lexer_;
  Token token_, ahead_;
  Module module_;
  SourceMap sources_;
  SymbolTable symbols_;
  std::size_t symbol_count_ = 0, register_count_ = 0, instruction_count_ = 0, initializer_bytes_ = 0;
  std::uint64_t constant_bytes_ = 0;
  std::vector<FunctionState> function_states_;            // by index in module_.functions
  std::vector<std::pair<std::size_t, int>> unsupported_;  // functions refused alone, and the locations where

  Function* function_ = nullptr;  // the function whose body is being parsed
  std::vector<LabelScope> label_scopes_;
  std::vector<std::vector<std::string_view>> branch_tables_;  // of this function: the labels of each table
  std::unordered_map<std::string_view, int> names_used_;      // how often each variable name occurs in this function
  std::unordered_map<std::string, Passed> passable_;          // this function's .param variables, by unique name
  int carry_ = -1;                                            // this function's carry flag, a register; -1: none yet
  std::string instruction_text_;                              // "ld.global.f32", of the current instruction
};

}  // namespace roofwalk::ptx
