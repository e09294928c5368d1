// Parses variables of every space, and initial values of those at module scope.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "common/ptx/names.h"
#include "common/ptx/parser.h"
#include "common/ptx/validate.h"

namespace roofwalk::ptx {
namespace {

constexpr std::size_t kMaxDimensions = 8;
constexpr std::uint64_t kMaxAlignment = 1u << 16;
constexpr std::uint64_t kMaxConstantBytes = 1u << 16;

}  // namespace

void Parser::module_variable(const Linkage& linkage, Space space) {
  Variable made = variable(space);
  made.is_extern = linkage.is_extern;
  made.is_visible = linkage.is_visible;
  made.is_weak = linkage.is_weak;
  if (made.size_bytes == 0 && !linkage.is_extern) {
    refuse(fmt::format("{} has no size", in_quotes(made.name)));
  }
  if (linkage.is_extern && !made.initial.empty()) {
    refuse(fmt::format("{} is .extern and has a value", in_quotes(made.name)));
  }
  if (is_reserved(made.name))
    refuse(fmt::format("{} belongs to the machine and cannot be defined", in_quotes(made.name)));
  if (space == Space::constant) {
    constant_bytes_ += made.size_bytes;
    if (constant_bytes_ > kMaxConstantBytes) refuse("more than 64 KiB of constant memory");
  }
  expect(';');
  if (const Symbol* known = symbols_.find(made.name)) return redeclare_variable(std::move(made), linkage, *known);
  count_symbol();
  Symbol symbol{Symbol::Kind::variable, made.type, space};
  symbol.unique = made.name;
  symbol.index = static_cast<int>(module_.variables.size());
  symbols_.declare(symbols_.keep(made.name), symbol);
  module_.variables.push_back(std::move(made));
}

// An .extern declaration may be followed by the same declaration or by a definition visible to other modules.
void Parser::redeclare_variable(Variable made, const Linkage& linkage, const Symbol& known) {
  const bool may_follow = linkage.is_extern || linkage.is_visible || linkage.is_weak;
  if (known.kind == Symbol::Kind::variable && may_follow) {
    Variable& earlier = module_.variables[static_cast<std::size_t>(known.index)];
    if (earlier.is_extern && earlier.space == made.space && earlier.type == made.type &&
        earlier.size_bytes == made.size_bytes) {
      earlier = std::move(made);
      return;
    }
  }
  refuse(fmt::format("{} is declared twice", in_quotes(made.name)));
}

// Parses a declaration after its state space: attributes, type, name, extents and a value, as in
// ".align 4 .b8 name[12] = {1, 2}".
Variable Parser::variable(Space space, bool may_be_unnamed) {
  Variable made;
  made.space = space;
  made.ptx_line = token_.line;
  std::uint64_t alignment = 0;
  bool has_type = false;
  for (; token_.kind == Token::Kind::dotted;) {
    if (take(".align")) {
      const std::uint64_t given = expect_integer("an alignment", kMaxAlignment);
      if (!std::has_single_bit(given)) refuse("an alignment that is not a power of two");
      if (!has_type) alignment = given;  // after the type: alignment of what a `.ptr` points to
    } else if (space == Space::param && take(".ptr")) {
      const auto pointed = find_name(kSpaceNames, token_.text);
      if (pointed) advance();
    } else if (take(".attribute")) {
      expect('(');
      if (!take(".managed")) refuse(fmt::format("the attribute {} is not supported", in_quotes(token_.text)));
      made.is_managed = true;
      expect(')');
    } else {
      const auto type = find_name(kTypeNames, token_.text);
      if (!type || has_type) refuse(fmt::format("{} is not supported here", in_quotes(token_.text)));
      if ((bit(*type) & (kPred | kOfOperations)) != 0) {
        refuse(fmt::format("a variable cannot be {}", token_.text));
      }
      made.type = *type;
      has_type = true;
      advance();
    }
  }
  if (!has_type) refuse_token("a type");
  made.align_bytes = std::max(static_cast<int>(alignment), size_bytes(made.type));
  made.name = may_be_unnamed && take("_") ? "_" : expect_name("a variable's name");
  std::vector<std::uint64_t> extents;
  dimensions(made, extents);
  if (token_.is('=')) initializer(made, extents);
  return made;
}

void Parser::dimensions(Variable& made, std::vector<std::uint64_t>& extents) {
  made.size_bytes = static_cast<std::uint64_t>(size_bytes(made.type));
  while (take('[')) {
    if (extents.size() == kMaxDimensions) refuse("too many dimensions");
    std::uint64_t extent = 0;
    if (!token_.is(']')) {
      extent = expect_integer("a size", limits_.variable_bytes);
      if (extent == 0) refuse(fmt::format("{} has a size of 0", in_quotes(made.name)));
    } else if (!extents.empty()) {
      refuse("only the first dimension may be open");
    }
    if (extent > limits_.variable_bytes / std::max<std::uint64_t>(made.size_bytes, 1)) {
      refuse(fmt::format("{} is too large", in_quotes(made.name)));
    }
    made.size_bytes *= extent;
    extents.push_back(extent);
    expect(']');
  }
}

void Parser::initializer(Variable& made, const std::vector<std::uint64_t>& extents) {
  expect('=');
  if (made.space != Space::global && made.space != Space::constant) {
    refuse(fmt::format("{} cannot have an initial value", in_quotes(made.name)));
  }
  if (made.size_bytes == 0) refuse("an open array with a value is not supported: give its size");
  if (!token_.is('{')) {
    if (!extents.empty()) refuse_token("`{`");
    return initial_element(made, 0);
  }
  if (extents.empty()) refuse(fmt::format("{} is not an array", in_quotes(made.name)));
  initial_elements(made, extents, 0, 0);
}

// Parses one pair of braces in an initial value: `depth` is its dimension, `first` the index of its first element.
void Parser::initial_elements(Variable& made, const std::vector<std::uint64_t>& extents, std::size_t depth,
                              std::uint64_t first) {
  expect('{');
  std::uint64_t stride = 1;
  for (std::size_t inner = depth + 1; inner < extents.size(); ++inner) stride *= extents[inner];
  const std::uint64_t end = first + stride * extents[depth];
  std::uint64_t at = first;
  if (take('}')) return;
  do {
    if (at >= end) refuse(fmt::format("more values than {} holds", in_quotes(made.name)));
    if (token_.is('{')) {
      if (depth + 1 >= extents.size()) refuse("more braces than dimensions");
      initial_elements(made, extents, depth + 1, at);
      at += stride;
    } else if (depth + 1 < extents.size()) {
      refuse_token("`{`");
    } else {
      initial_element(made, at++);
    }
  } while (take(','));
  expect('}');
}

void Parser::initial_element(Variable& made, std::uint64_t index) {
  const auto size = static_cast<std::uint64_t>(size_bytes(made.type));
  const std::uint64_t offset = index * size;
  const std::uint64_t needed = offset + size;
  if (needed > limits_.initializer_bytes || initializer_bytes_ > limits_.initializer_bytes) {
    refuse(fmt::format("initial values of more than {} bytes", limits_.initializer_bytes));
  }
  if (made.initial.size() < needed) {
    initializer_bytes_ += needed - made.initial.size();
    made.initial.resize(needed);
  }
  InitialValue value = initial_value(made.type);
  if (!value.symbol.empty()) {
    if (made.type != Type::u64) refuse(fmt::format("the address of {} needs a .u64", in_quotes(value.symbol)));
    made.fixups.push_back({offset, std::move(value.symbol), value.addend});
    return;
  }
  for (std::uint64_t byte = 0; byte < size; ++byte) {
    made.initial[offset + byte] = static_cast<std::uint8_t>(byte < 8 ? value.bits >> (8 * byte) : 0);
  }
}

Parser::InitialValue Parser::initial_value(Type type) {
  if (token_.kind == Token::Kind::word) return initial_symbol();
  InitialValue value;
  const int line = token_.line;
  const Operand number = number_operand();
  value.bits = immediate_bits(number, type, "the initial value", line);
  return value;
}

// Parses name, name+offset or generic(name)+offset.
Parser::InitialValue Parser::initial_symbol() {
  InitialValue value;
  const bool is_generic = token_.is("generic") && ahead_.is('(');
  if (is_generic) {
    advance();
    advance();
  }
  const std::string_view name = expect_name("a name");
  const Symbol* symbol = symbols_.find(name);
  if (symbol == nullptr) refuse(fmt::format("{} is not declared", in_quotes(name)));
  const bool is_function = symbol->kind == Symbol::Kind::function;
  const bool is_plain = is_function ? !is_generic : symbol->space == Space::global;
  if (!is_plain && !(is_generic && symbol->space == Space::constant)) {
    refuse(fmt::format("the address of {} cannot be an initial value", in_quotes(name)));
  }
  value.symbol = name;
  if (is_generic) expect(')');
  if (take('+')) value.addend = signed_integer("an offset");
  return value;
}

}  // namespace roofwalk::ptx
