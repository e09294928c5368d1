#include "common/ptx/parser.h"

#include <algorithm>

#include <fmt/format.h>

namespace roofwalk::ptx {
namespace {

// Finds all `.file` lines of the text. A message about an error needs them even though nvcc writes them at the end,
// after the line of the error.
std::vector<std::pair<std::uint64_t, std::string_view>> find_files(std::string_view text) {
  constexpr std::size_t kMost = 4096;
  constexpr std::string_view kDirective = "\n\t.file\t";
  std::vector<std::pair<std::uint64_t, std::string_view>> files;
  for (std::size_t at = text.find(kDirective); at != std::string_view::npos && files.size() < kMost;
       at = text.find(kDirective, at + 1)) {
    try {
      Lexer lexer(text.substr(at + kDirective.size()), 2);
      const Token index = lexer.next(), path = lexer.next();
      if (index.kind == Token::Kind::integer && path.kind == Token::Kind::string)
        files.emplace_back(index.bits, path.text);
    } catch (const Refusal&) {
      // not a valid `.file` line
    }
  }
  return files;
}

std::string describe(const Token& token) {
  if (token.kind == Token::Kind::end) return "the end of the text";
  if (token.kind == Token::Kind::string) return "a string";
  return in_quotes(token.text);
}

}  // namespace

Parser::Parser(std::string_view text, std::string_view source_name, const Limits& limits)
    : text_(text), source_name_(source_name), limits_(limits), lexer_(text, limits.tokens) {}

Result<Module> Parser::run() {
  try {
    token_ = lexer_.next();
    ahead_ = lexer_.next();
    header();
    while (token_.kind != Token::Kind::end) module_item();
  } catch (const Refusal& refusal) {
    return located(refusal);
  }
  sources_.move_to(module_);
  for (const auto& [function, location] : unsupported_) {
    Instruction there;
    there.location = location;
    Error& why = *module_.functions[function].unsupported;
    why.line = module_.line_in(there, source_name_);
    if (!source_name_.empty() || location < 0) continue;
    // Any file may be meant. The outermost frame is the kernel's own; the others may be the toolkit's headers.
    const SourceFrame& frame = module_.locations[static_cast<std::size_t>(location)].back();
    if (frame.file < 0) continue;
    why.file = module_.files[static_cast<std::size_t>(frame.file)];
    why.line = frame.line;
  }
  return std::move(module_);
}

Error Parser::error_of(const Refusal& refusal) const {
  return {.message = fmt::format("PTX line {}: {}", refusal.ptx_line, refusal.message), .advice = refusal.advice};
}

Error Parser::located(const Refusal& refusal) {
  Error error = error_of(refusal);
  const int location = sources_.current();
  for (const auto& [index, path] : find_files(text_)) sources_.add_file(index, path);
  sources_.move_to(module_);
  Instruction there;
  there.location = location;
  error.line = module_.line_in(there, source_name_);
  if (error.line > 0) error.file = source_name_;
  return error;
}

void Parser::advance() {
  token_ = ahead_;
  ahead_ = lexer_.next();
}

bool Parser::take(char punctuation) {
  if (!token_.is(punctuation)) return false;
  advance();
  return true;
}

bool Parser::take(std::string_view word_or_dotted) {
  if (!token_.is(word_or_dotted)) return false;
  advance();
  return true;
}

void Parser::expect(char punctuation) {
  if (!take(punctuation)) refuse_token(fmt::format("`{}`", punctuation));
}

std::string_view Parser::expect_name(std::string_view what) {
  if (token_.kind != Token::Kind::word || token_.text == "_") refuse_token(what);
  const std::string_view name = token_.text;
  advance();
  return name;
}

std::uint64_t Parser::expect_integer(std::string_view what, std::uint64_t max) {
  if (token_.kind != Token::Kind::integer) refuse_token(what);
  if (token_.bits > max) refuse(fmt::format("{} of {} is too large", what, in_quotes(token_.text)));
  const std::uint64_t value = token_.bits;
  advance();
  return value;
}

std::int64_t Parser::signed_integer(std::string_view what) {
  const bool negative = take('-');
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  const auto magnitude = static_cast<std::int64_t>(expect_integer(what, kMost));
  return negative ? -magnitude : magnitude;
}

void Parser::refuse(std::string message) const { throw Refusal{std::move(message), token_.line}; }

void Parser::refuse_token(std::string_view wanted) const {
  refuse(fmt::format("{} where {} is expected", describe(token_), wanted));
}

void Parser::count_symbol() {
  if (++symbol_count_ > limits_.symbols) refuse(fmt::format("more than {} names", limits_.symbols));
}

}  // namespace roofwalk::ptx
