// Parses function bodies.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "common/ptx/modifiers.h"
#include "common/ptx/names.h"
#include "common/ptx/parser.h"
#include "common/ptx/validate.h"

namespace roofwalk::ptx {
namespace {

// Maps the opcode of add, sub or mad to that of addc, subc or madc: add.cc is treated as an addc.cc that ignores the
// old carry flag, likewise sub.cc and mad.cc.
Opcode setting_carry(Opcode opcode) {
  const auto carry = find_opcode(std::string(info(opcode).mnemonic) + "c");
  return carry && info(*carry).form == Form::carry ? *carry : opcode;
}

}  // namespace

// Parses a function's body up to its closing brace. The caller advances past the brace.
void Parser::body(Function& function) {
  function_ = &function;
  names_used_.clear();
  passable_.clear();
  branch_tables_.clear();
  carry_ = -1;
  sources_.reset();
  open_block();
  const auto declare_parameters = [&](const std::vector<Variable>& parameters, Passed::Role role) {
    for (const Variable& parameter : parameters) {
      Symbol symbol{Symbol::Kind::variable, parameter.type, Space::param};
      symbol.unique = parameter.name;
      const std::string_view name = symbols_.keep(parameter.name);
      if (!symbols_.declare(name, symbol)) refuse(fmt::format("{} is declared twice", in_quotes(name)));
      ++names_used_[name];
      Passed passed = passed_as(parameter);
      passed.role = role;
      passable_.emplace(parameter.name, passed);
    }
  };
  declare_parameters(function.parameters, Passed::Role::input);
  declare_parameters(function.results, Passed::Role::result);
  advance();
  while (!(token_.is('}') && label_scopes_.size() == 1)) statement();
  close_block();
  sources_.reset();
  function_ = nullptr;
}

// Skips the rest of a function's body, up to its closing brace.
void Parser::skip_body() {
  while (!token_.is(';')) {  // leaves the instruction, whose operands may stand in braces
    if (token_.kind == Token::Kind::end) refuse_token("`;`");
    advance();
  }
  for (std::size_t depth = label_scopes_.size(); !(token_.is('}') && depth == 1); advance()) {
    if (token_.kind == Token::Kind::end) refuse_token("`}`");
    depth += token_.is('{');
    depth -= token_.is('}');
  }
  for (; !label_scopes_.empty(); label_scopes_.pop_back()) symbols_.close_scope();
  sources_.reset();
  function_ = nullptr;
}

void Parser::open_block() {
  if (label_scopes_.size() >= limits_.nesting)
    refuse(fmt::format("more than {} braces inside each other", limits_.nesting));
  symbols_.open_scope();
  label_scopes_.emplace_back();
}

// Resolves the pending branches that go to labels of this block. Passes the other pending branches on to the enclosing
// block.
void Parser::close_block() {
  LabelScope scope = std::move(label_scopes_.back());
  label_scopes_.pop_back();
  for (const PendingBranch& branch : scope.pending) {
    Instruction& instruction = function_->instructions[branch.instruction];
    if (const auto found = scope.labels.find(branch.label); found != scope.labels.end()) {
      Operand& target = branch.entry < 0 ? instruction.operands[0]
                                         : instruction.operands[1].elements[static_cast<std::size_t>(branch.entry)];
      target.index = found->second;
    } else if (!label_scopes_.empty()) {
      label_scopes_.back().pending.push_back(branch);
    } else {
      sources_.restore(instruction.location);
      throw Refusal{fmt::format("the label {} is nowhere in its function", in_quotes(branch.label)),
                    instruction.ptx_line};
    }
  }
  symbols_.close_scope();
}

void Parser::statement() {
  if (take('{')) return open_block();
  if (take('}')) return close_block();
  if (token_.kind == Token::Kind::word && ahead_.is(':')) return label();
  if (token_.kind == Token::Kind::dotted) return directive();
  if (token_.kind == Token::Kind::word || token_.is('@')) return instruction();
  refuse_token("an instruction");
}

void Parser::label() {
  count_symbol();
  const int target = static_cast<int>(function_->instructions.size());
  const Token name = token_;
  advance();
  advance();
  if (take(".branchtargets")) return branch_table(name.text);
  if (take(".callprototype")) return call_prototype(name.text);
  if (take(".calltargets")) return call_targets(name.text);
  if (!symbols_.declare(name.text, {Symbol::Kind::label})) {
    throw Refusal{fmt::format("{} is declared twice", in_quotes(name.text)), name.line};
  }
  label_scopes_.back().labels.emplace(name.text, target);
}

// Parses the rest of `table: .branchtargets L1, L2, ...;`.
void Parser::branch_table(std::string_view name) {
  Symbol symbol{Symbol::Kind::branch_table};
  symbol.index = static_cast<int>(branch_tables_.size());
  if (!symbols_.declare(name, symbol)) refuse(fmt::format("{} is declared twice", in_quotes(name)));
  std::vector<std::string_view>& labels = branch_tables_.emplace_back();
  do {
    labels.push_back(expect_name("a label"));
  } while (take(','));
  expect(';');
}

// Parses the rest of `name: .callprototype (results) _ (parameters);`.
void Parser::call_prototype(std::string_view name) {
  Prototype made;
  if (token_.is('(')) parameter_list(made.results, /*may_be_unnamed=*/true);
  if (!take("_")) refuse_token("`_`");
  if (token_.is('(')) parameter_list(made.parameters, /*may_be_unnamed=*/true);
  if (made.results.size() > 1) refuse("a prototype with more than one result");
  take(".noreturn");
  expect(';');
  add_prototype(name, std::move(made));
}

// Parses the rest of `name: .calltargets function, function, ...;`.
void Parser::call_targets(std::string_view name) {
  Prototype made;
  do {
    const std::string_view target = expect_name("a function's name");
    const Function& head = callee(target);
    if (made.targets.empty()) {
      made.results = head.results;
      made.parameters = head.parameters;
    }
    if (!same_parameters(head.results, made.results) || !same_parameters(head.parameters, made.parameters))
      refuse(fmt::format("{} has other parameters than {}, beside which it stands", in_quotes(target),
                         in_quotes(made.targets[0])));
    count_symbol();
    made.targets.emplace_back(target);
  } while (take(','));
  expect(';');
  add_prototype(name, std::move(made));
}

void Parser::add_prototype(std::string_view name, Prototype prototype) {
  Symbol symbol{Symbol::Kind::prototype};
  symbol.index = static_cast<int>(function_->prototypes.size());
  if (!symbols_.declare(name, symbol)) refuse(fmt::format("{} is declared twice", in_quotes(name)));
  function_->prototypes.push_back(std::move(prototype));
}

void Parser::directive() {
  if (take(".loc")) return location();
  if (take(".reg")) return registers();
  if (take(".param")) return local_variables(Space::param);
  if (take(".local")) return local_variables(Space::local);
  if (take(".shared")) return local_variables(Space::shared);
  if (take(".pragma")) return pragma();
  if (take(".file")) return file_directive();
  refuse(fmt::format("{} is not supported by the virtual GPU", in_quotes(token_.text)));
}

// Parses the rest of `.loc file line column [, function_name label [+ offset]] [, inlined_at file line column]`.
void Parser::location() {
  constexpr std::uint64_t kAny = 0xffffffff;
  const auto place = [&] {
    Place read;
    read.file = expect_integer("a file number", kAny);
    read.line = expect_integer("a line", kAny);
    read.column = expect_integer("a column", kAny);
    return read;
  };
  const Place here = place();
  Place outer;
  bool is_inlined = false;
  while (take(',')) {
    if (take("function_name")) {
      expect_name("a label");
      if (take('+')) expect_integer("an offset", kAny);
    } else if (take("inlined_at")) {
      outer = place();
      is_inlined = true;
    } else {
      refuse_token("`function_name` or `inlined_at`");
    }
  }
  sources_.set_location(here, is_inlined ? &outer : nullptr);
}

void Parser::registers() {
  const auto type = find_name(kTypeNames, token_.text);
  if (!type) refuse(fmt::format("{} is not a supported register type", in_quotes(token_.text)));
  const bool of_operations = (bit(*type) & kOfOperations) != 0;
  if (size_bytes(*type) == 1 || of_operations) {
    refuse(fmt::format("there are no registers of {}", of_operations ? token_.text : "8 bits"));
  }
  advance();
  do {
    const std::string_view name = expect_name("a register's name");
    if (!take('<')) {
      add_register(name, *type);
      continue;
    }
    const std::uint64_t count = expect_integer("a number of registers", limits_.registers_per_function);
    expect('>');
    for (std::uint64_t r = 0; r < count; ++r) add_register(symbols_.keep(fmt::format("{}{}", name, r)), *type);
  } while (take(','));
  expect(';');
}

void Parser::add_register(std::string_view name, Type type) {
  std::vector<Register>& all = function_->registers;
  if (all.size() >= limits_.registers_per_function) {
    refuse(fmt::format("more than {} registers in a function", limits_.registers_per_function));
  }
  if (++register_count_ > limits_.registers) refuse(fmt::format("more than {} registers", limits_.registers));
  Symbol symbol{Symbol::Kind::reg, type};
  symbol.index = static_cast<int>(all.size());
  if (!symbols_.declare(name, symbol)) refuse(fmt::format("{} is declared twice", in_quotes(name)));
  all.push_back({std::string(name), type});
}

void Parser::local_variables(Space space) {
  Variable made = variable(space);
  if (made.size_bytes == 0) refuse(fmt::format("{} has no size", in_quotes(made.name)));
  count_symbol();
  const std::string_view name = symbols_.keep(made.name);
  made.name = unique_name(name);
  Symbol symbol{Symbol::Kind::variable, made.type, space};
  symbol.unique = made.name;
  if (!symbols_.declare(name, symbol)) refuse(fmt::format("{} is declared twice", in_quotes(name)));
  if (space == Space::param) passable_.emplace(made.name, passed_as(made));
  function_->variables.push_back(std::move(made));
  expect(';');
}

// Returns a unique name for a variable: its own name, with a number appended if the name is already in use, be it in an
// enclosing or in a sibling scope.
std::string Parser::unique_name(std::string_view name) {
  int& uses = names_used_[name];
  if (uses == 0 && symbols_.find(name) != nullptr) ++uses;
  const int number = uses++;
  return number == 0 ? std::string(name) : fmt::format("{}#{}", name, number);
}

void Parser::instruction() {
  if (++instruction_count_ > limits_.instructions)
    refuse(fmt::format("more than {} instructions", limits_.instructions));
  Instruction made;
  made.location = sources_.current();
  if (take('@')) guard(made);
  made.ptx_line = token_.line;
  if (token_.kind != Token::Kind::word) refuse_token("an instruction");
  instruction_text_ = token_.text;
  auto opcode = find_opcode(token_.text);
  advance();
  constexpr std::size_t kMaxModifiers = 12;
  std::vector<std::string_view> words;
  for (; token_.kind == Token::Kind::dotted && words.size() < kMaxModifiers; advance()) {
    words.push_back(token_.text);
    instruction_text_ += token_.text;
  }
  std::span<const std::string_view> modifiers = words;
  if (!opcode && !words.empty()) {
    opcode = find_opcode(instruction_text_.substr(0, instruction_text_.find('.') + words[0].size()));
    modifiers = modifiers.subspan(1);
  }
  const bool sets_carry = std::find(words.begin(), words.end(), ".cc") != words.end();
  if (opcode && sets_carry) opcode = setting_carry(*opcode);
  const auto unsupported = [&] {
    const std::string_view why = why_refused(instruction_text_, words);
    throw Refusal{.message = fmt::format("{} is not supported by the virtual GPU{}{}", in_quotes(instruction_text_),
                                         why.empty() ? "" : ": ", why),
                  .ptx_line = made.ptx_line,
                  .is_unsupported = true};
  };
  if (!opcode || token_.kind == Token::Kind::dotted) unsupported();
  made.opcode = *opcode;
  made.carry_in = info(*opcode).form == Form::carry && instruction_text_.starts_with(info(*opcode).mnemonic);
  if (const auto reason = read_modifiers(modifiers, made)) {
    if (reason->empty()) unsupported();
    throw Refusal{fmt::format("{} {}", in_quotes(instruction_text_), *reason), made.ptx_line};
  }
  const Form form = info(made.opcode).form;
  if (form == Form::branch) {
    branch_operands(made);
  } else if (form == Form::indexed_branch) {
    indexed_branch_operands(made);
  } else if (form == Form::call) {
    call_operands(made);
  } else {
    operands(made);
    check_operands(made, function_->registers, instruction_text_);
    if (made.space == Space::param) check_parameter_access(made);
    // A kernel's parameters lie in constant memory. The address is that of a struct, computed at run time.
    const bool by_register = form == Form::load && made.space == Space::param && made.operands[1].index >= 0;
    if (by_register && function_->is_entry) made.space = Space::constant;
    if (form == Form::carry) add_carry(made);
  }
  expect(';');
  function_->instructions.push_back(std::move(made));
}

void Parser::guard(Instruction& made) {
  made.guard_negated = take('!');
  const std::string_view name = expect_name("a predicate");
  const Symbol* symbol = symbols_.find(name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::reg || symbol->type != Type::pred) {
    refuse(fmt::format("{} is not a predicate register", in_quotes(name)));
  }
  made.guard = symbol->index;
}

void Parser::branch_operands(Instruction& made) {
  Operand target;
  target.kind = Operand::Kind::label;
  label_scopes_.back().pending.push_back({function_->instructions.size(), expect_name("a label")});
  made.operands.push_back(std::move(target));
}

// The carry flag has no name in PTX. It becomes a register of the function: the second result of instructions that set
// the flag, and the last source of those that read it.
void Parser::add_carry(Instruction& made) {
  if (carry_ < 0) {
    carry_ = static_cast<int>(function_->registers.size());
    add_register(symbols_.keep(fmt::format("carry flag of {}", function_->name)), Type::pred);
  }
  Operand flag;
  flag.kind = Operand::Kind::reg;
  flag.index = carry_;
  made.operands.insert(made.operands.begin() + 1, made.carry_out ? flag : Operand{});
  if (made.carry_in) made.operands.push_back(flag);
}

// Parses the operands of `brx.idx index, table`.
void Parser::indexed_branch_operands(Instruction& made) {
  made.operands.push_back(operand());
  const Operand& index = made.operands[0];
  if (index.kind != Operand::Kind::reg || index.negated ||
      (bit(function_->registers[static_cast<std::size_t>(index.index)].type) & (kB32 | kU32 | kS32)) == 0) {
    refuse(fmt::format("{} takes its index from a register of 32 bits", in_quotes(instruction_text_)));
  }
  expect(',');
  const std::string_view name = expect_name("a table of .branchtargets");
  const Symbol* symbol = symbols_.find(name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::branch_table) {
    refuse(fmt::format("{} is not a table of .branchtargets above this line", in_quotes(name)));
  }
  Operand& table = made.operands.emplace_back();
  table.kind = Operand::Kind::vector;
  for (const std::string_view label : branch_tables_[static_cast<std::size_t>(symbol->index)]) {
    count_symbol();  // each instruction has its own copy of the table, and the limit applies to all copies
    Operand& target = table.elements.emplace_back();
    target.kind = Operand::Kind::label;
    label_scopes_.back().pending.push_back(
        {function_->instructions.size(), label, static_cast<int>(table.elements.size()) - 1});
  }
}

// Parses the operands of `call (results), name, (arguments)`; either list may be left out. If the name is a register, a
// prototype follows the arguments.
void Parser::call_operands(Instruction& made) {
  if (token_.is('(')) {
    call_list(made.call_results);
    expect(',');
  }
  const std::string_view name = expect_name("a function's name");
  const Symbol* symbol = symbols_.find(name);
  if (symbol != nullptr && symbol->kind == Symbol::Kind::reg) return pointer_call_operands(made, name, *symbol);
  const Function& head = callee(name);
  Operand called;
  called.kind = Operand::Kind::function;
  called.symbol = name;
  made.operands.push_back(std::move(called));
  if (take(',')) call_list(made.call_arguments);
  check_call(made, name, head.results, head.parameters);
}

void Parser::pointer_call_operands(Instruction& made, std::string_view name, const Symbol& pointer) {
  if (is_float(pointer.type) || size_bytes(pointer.type) != 8)
    refuse(fmt::format("{} cannot hold a function's address, which has 64 bits", in_quotes(name)));
  Operand called;
  called.kind = Operand::Kind::reg;
  called.index = pointer.index;
  made.operands.push_back(std::move(called));
  expect(',');
  if (token_.is('(')) {
    call_list(made.call_arguments);
    expect(',');
  }
  const std::string_view shape = expect_name("a .callprototype or .calltargets");
  const Symbol* symbol = symbols_.find(shape);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::prototype)
    refuse(fmt::format("{} is not a .callprototype or .calltargets above this line", in_quotes(shape)));
  made.prototype = symbol->index;
  const Prototype& prototype = function_->prototypes[static_cast<std::size_t>(symbol->index)];
  check_call(made, name, prototype.results, prototype.parameters);
}

// Returns the header of a function that may be called. A function may call itself, because its header is added to the
// module before its body is parsed.
const Function& Parser::callee(std::string_view name) const {
  const Symbol* symbol = symbols_.find(name);
  if (symbol == nullptr) refuse(fmt::format("the function {} is not declared", in_quotes(name)));
  if (symbol->kind != Symbol::Kind::function) refuse(fmt::format("{} is not a function", in_quotes(name)));
  const Function& head = module_.functions[static_cast<std::size_t>(symbol->index)];
  if (head.is_entry) refuse(fmt::format("{} is a kernel: it can be launched, not called", in_quotes(name)));
  return head;
}

void Parser::call_list(std::vector<Operand>& list) {
  expect('(');
  if (take(')')) return;
  do {
    list.push_back(operand());
  } while (take(','));
  expect(')');
}

void Parser::check_call(const Instruction& made, std::string_view name, const std::vector<Variable>& results,
                        const std::vector<Variable>& parameters) const {
  if (made.call_results.size() != results.size() || made.call_arguments.size() != parameters.size()) {
    refuse(fmt::format("a call of {} with {} results and {} arguments, not {} and {}", in_quotes(name),
                       made.call_results.size(), made.call_arguments.size(), results.size(), parameters.size()));
  }
  for (std::size_t p = 0; p < results.size(); ++p) check_passed(made.call_results[p], results[p]);
  for (std::size_t p = 0; p < parameters.size(); ++p) check_passed(made.call_arguments[p], parameters[p]);
  const auto is_number = [](const Operand& operand) { return operand.kind == Operand::Kind::immediate; };
  if (std::any_of(made.call_results.begin(), made.call_results.end(), is_number))
    refuse("a call that writes to a number");
}

void Parser::check_passed(const Operand& passed, const Variable& parameter) const {
  const Passed wanted = passed_as(parameter);
  if (passed.kind == Operand::Kind::immediate && wanted.count == 1) return;
  const Passed given = passed_by(passed);
  if (given.element_bytes != wanted.element_bytes || given.count != wanted.count) {
    refuse(fmt::format("a call passes {} of {} bytes for the parameter {}, which is {} of {}", given.count,
                       given.element_bytes, in_quotes(parameter.name), wanted.count, wanted.element_bytes));
  }
}

// Returns the element size and count of an operand that can be passed in a call; zeros for any other operand.
Parser::Passed Parser::passed_by(const Operand& passed) const {
  if (passed.kind == Operand::Kind::reg && !passed.negated) {
    const Type type = function_->registers[static_cast<std::size_t>(passed.index)].type;
    return {static_cast<std::uint64_t>(size_bytes(type)), 1, Passed::Role::local};
  }
  if (passed.kind == Operand::Kind::variable && passed.space == Space::param && passed.offset == 0) {
    const auto found = passable_.find(passed.symbol);
    if (found != passable_.end()) return found->second;
  }
  return {};
}

Parser::Passed Parser::passed_as(const Variable& variable) {
  const auto element_bytes = static_cast<std::uint64_t>(size_bytes(variable.type));
  return {element_bytes, variable.size_bytes / element_bytes, Passed::Role::local};
}

}  // namespace roofwalk::ptx
