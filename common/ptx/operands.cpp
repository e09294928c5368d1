// Parses operands independently of the opcode; validate.cpp checks whether the instruction allows them.
#include <fmt/format.h>

#include "common/ptx/names.h"
#include "common/ptx/parser.h"
#include "common/ptx/validate.h"

namespace roofwalk::ptx {
namespace {

constexpr std::string_view kOfDriver = "%envreg";  // cooperative groups read them

// Returns why this machine lacks a special register of PTX. Registers are recognised by their prefixes.
std::string_view why_missing(std::string_view name) {
  if (name.starts_with(kOfDriver))
    return "what only the driver sets, for grid.sync(): a grid does not wait for itself here; end the kernel, and go "
           "on in the next";
  if (name.starts_with("%cluster") || name.starts_with("%is_explicit_cluster") || name.starts_with("%nclusterid"))
    return "of clusters, which are of sm_90";
  return {};
}

}  // namespace

void Parser::operands(Instruction& made) {
  const bool has_second = has_second_result(made);
  if (token_.is(';')) return;
  do {
    if (made.operands.size() >= 8) refuse(fmt::format("{} has too many operands", in_quotes(instruction_text_)));
    made.operands.push_back(operand());
    if (!has_second || made.operands.size() != 1) continue;
    made.operands.push_back(take('|') ? operand() : Operand{});
  } while (take(','));
}

// Refuses stores to the function's own input parameters and loads of its result parameters. The .param variables that a
// function declares for its calls allow both.
void Parser::check_parameter_access(const Instruction& made) const {
  const bool writes = info(made.opcode).form == Form::store;
  if (!writes && info(made.opcode).form != Form::load) return;
  const std::string& name = made.operands[writes ? 0 : 1].symbol;
  const auto found = passable_.find(name);
  if (found == passable_.end() || found->second.role == Passed::Role::local) return;
  const bool is_input = found->second.role == Passed::Role::input;
  if (writes == is_input) {
    refuse(fmt::format("{} {} {}", in_quotes(instruction_text_),
                       writes ? "writes to the parameter" : "reads the result", in_quotes(name)));
  }
}

Operand Parser::operand() {
  if (token_.is('[')) return address_operand();
  if (token_.is('{')) return vector_operand();
  if (take('!')) {
    Operand negated = named_operand();
    if (negated.kind != Operand::Kind::reg) refuse("a `!` before something that is not a predicate");
    negated.negated = true;
    return negated;
  }
  if (token_.kind == Token::Kind::word) return named_operand();
  return number_operand();
}

// Stores the number's notation (Written) in `component`.
Operand Parser::number_operand() {
  Operand made;
  made.kind = Operand::Kind::immediate;
  made.negated = take('-');
  Written written = Written::integer;
  if (token_.kind == Token::Kind::float32)
    written = Written::float32;
  else if (token_.kind == Token::Kind::float64)
    written = Written::float64;
  else if (token_.kind != Token::Kind::integer)
    refuse_token("an operand");
  if (made.negated && written != Written::integer && token_.text.find('.') == std::string_view::npos) {
    refuse("a minus before a hexadecimal float");
  }
  made.bits = token_.bits;
  made.component = static_cast<std::uint8_t>(written);
  advance();
  return made;
}

Operand Parser::named_operand() {
  if (take("_")) return {};
  const std::string_view name = expect_name("an operand");
  const Symbol* symbol = symbols_.find(name);
  Operand made;
  if (symbol == nullptr) {
    if (name.starts_with('%')) return special_operand(name);
    if (name == "WARP_SZ") {
      made.kind = Operand::Kind::immediate;
      made.bits = 32;
      made.component = static_cast<std::uint8_t>(Written::integer);
      return made;
    }
    refuse(fmt::format("{} is not declared", in_quotes(name)));
  }
  switch (symbol->kind) {
    case Symbol::Kind::reg:
      made.kind = Operand::Kind::reg;
      made.index = symbol->index;
      break;
    case Symbol::Kind::function:
      made.kind = Operand::Kind::function;
      made.symbol = name;
      break;
    case Symbol::Kind::label:
      refuse(fmt::format("{} is a label, which only bra may name", in_quotes(name)));
    case Symbol::Kind::branch_table:
      refuse(fmt::format("{} is a table of labels, which only brx.idx may name", in_quotes(name)));
    case Symbol::Kind::prototype:
      refuse(fmt::format("{} is a prototype, which only call may name", in_quotes(name)));
    case Symbol::Kind::variable:
      made.kind = Operand::Kind::variable;
      made.symbol = symbol->unique;
      made.space = symbol->space;
      if (take('+')) made.offset = signed_integer("an offset");
  }
  return made;
}

Operand Parser::special_operand(std::string_view name) {
  const SpecialInfo* special = find_special(name);
  if (special == nullptr || (name.starts_with(kOfDriver) && !limits_.grid_sync)) {
    const std::string_view why = why_missing(name);
    throw Refusal{.message = fmt::format("{} is {}", in_quotes(name), why.empty() ? "not declared" : why),
                  .ptx_line = token_.line,
                  .is_unsupported = !why.empty()};
  }
  Operand made;
  made.kind = Operand::Kind::special;
  made.special = special->value;
  if (special->has_component) {
    if (take(".x"))
      made.component = 0;
    else if (take(".y"))
      made.component = 1;
    else if (take(".z"))
      made.component = 2;
    else
      refuse(fmt::format("{} needs .x, .y or .z", in_quotes(name)));
  }
  return made;
}

// Parses an address: [%rd1+4], [%rd1+-4], [name+8], [name], [4096].
Operand Parser::address_operand() {
  expect('[');
  Operand made;
  made.kind = Operand::Kind::address;
  if (token_.kind == Token::Kind::word) {
    const std::string_view name = expect_name("an address");
    const Symbol* symbol = symbols_.find(name);
    if (symbol == nullptr) refuse(fmt::format("{} is not declared", in_quotes(name)));
    if (symbol->kind != Symbol::Kind::reg && symbol->kind != Symbol::Kind::variable) {
      refuse(fmt::format("{} is not memory", in_quotes(name)));
    }
    if (symbol->kind == Symbol::Kind::reg) {
      made.index = symbol->index;
    } else {
      made.symbol = symbol->unique;
      made.space = symbol->space;
    }
    if (take('+')) made.offset = signed_integer("an offset");
  } else {
    made.offset = signed_integer("an address");
  }
  expect(']');
  return made;
}

Operand Parser::vector_operand() {
  expect('{');
  Operand made;
  made.kind = Operand::Kind::vector;
  do {
    if (made.elements.size() == 8) refuse("a vector of more than 8 elements");
    if (token_.is('{') || token_.is('[')) refuse_token("a register");
    made.elements.push_back(operand());
  } while (take(','));
  expect('}');
  return made;
}

}  // namespace roofwalk::ptx
