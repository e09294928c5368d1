#include "common/ptx/lexer.h"

#include <bit>
#include <charconv>

#include <fmt/format.h>

namespace roofwalk::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool starts_word(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }
bool continues_word(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }

int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 100;
  if (text.size() <= kShown) return fmt::format("`{}`", text);
  return fmt::format("`{}...`", text.substr(0, kShown));
}

void Lexer::skip_blanks() {
  for (;; ++at_) {
    const char c = at(at_);
    if (c == '\n') {
      ++line_;
    } else if (c == '/' && at(at_ + 1) == '/') {
      const std::size_t end = text_.find('\n', at_);
      if (end == std::string_view::npos) {
        at_ = text_.size();
        return;
      }
      at_ = end;
      ++line_;
    } else if (c == '/' && at(at_ + 1) == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) throw Refusal{"a comment is not closed", line_};
      for (; at_ < end + 1; ++at_) line_ += text_[at_] == '\n';
    } else if (c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v') {
      return;
    }
  }
}

Token Lexer::next() {
  skip_blanks();
  const std::size_t start = at_;
  if (at_ >= text_.size()) return token(Token::Kind::end, start);
  if (tokens_left_-- == 0) throw Refusal{"the text is too long", line_};
  const char c = text_[at_];
  if (is_digit(c)) return number();
  if (c == '"') return string();
  if (starts_word(c)) {
    ++at_;
    while (continues_word(at(at_))) ++at_;
    if (c == '%' && at_ == start + 1) throw Refusal{"a `%` stands alone", line_};
    return token(Token::Kind::word, start);
  }
  if (c == '.') {
    ++at_;
    while (continues_word(at(at_)) || (at(at_) == ':' && at(at_ + 1) == ':' && continues_word(at(at_ + 2)))) {
      at_ += at(at_) == ':' ? 2 : 1;
    }
    if (at_ == start + 1) throw Refusal{"a dot stands alone", line_};
    return token(Token::Kind::dotted, start);
  }
  if (std::string_view("@!|{}[](),;:=+-<>").find(c) != std::string_view::npos) {
    ++at_;
    return token(Token::Kind::punctuation, start);
  }
  if (c < ' ' || c > '~') {
    throw Refusal{fmt::format("a byte that is not PTX text (0x{:02x})", static_cast<unsigned char>(c)), line_};
  }
  throw Refusal{fmt::format("unexpected character `{}`", c), line_};
}

Token Lexer::number() {
  const std::size_t start = at_;
  if (text_[at_] != '0') return digits(10, start, start);
  switch (at(at_ + 1)) {
    case 'x':
    case 'X':
      return digits(16, start, start + 2);
    case 'b':
    case 'B':
      return digits(2, start, start + 2);
    case 'f':
    case 'F':
      return hex_float(start, Token::Kind::float32, 8);
    case 'd':
    case 'D':
      return hex_float(start, Token::Kind::float64, 16);
    default:
      return digits(8, start, start);
  }
}

Token Lexer::digits(int base, std::size_t start, std::size_t first_digit) {
  std::uint64_t value = 0;
  bool fits = true;
  at_ = first_digit;
  for (; digit_value(at(at_)) < base; ++at_) {
    const auto digit = static_cast<std::uint64_t>(digit_value(at(at_)));
    fits = fits && value <= (~std::uint64_t{0} - digit) / static_cast<std::uint64_t>(base);
    value = value * static_cast<std::uint64_t>(base) + digit;
  }
  const bool decimal = base == 10 || base == 8;
  if (decimal && (at(at_) == '.' || at(at_) == 'e' || at(at_) == 'E') && !is_letter(at(at_ + 1))) {
    return decimal_float(start);
  }
  const bool empty = at_ == first_digit;
  if (at(at_) == 'U') ++at_;
  if (empty || continues_word(at(at_))) {
    while (continues_word(at(at_))) ++at_;
    throw Refusal{fmt::format("{} is not a number", in_quotes(text_.substr(start, at_ - start))), line_};
  }
  if (!fits) {
    throw Refusal{fmt::format("the number {} is too large", in_quotes(text_.substr(start, at_ - start))), line_};
  }
  Token result = token(Token::Kind::integer, start);
  result.bits = value;
  return result;
}

Token Lexer::hex_float(std::size_t start, Token::Kind kind, std::size_t digit_count) {
  std::uint64_t value = 0;
  at_ = start + 2;
  for (; digit_value(at(at_)) < 16; ++at_) value = value << 4 | static_cast<std::uint64_t>(digit_value(at(at_)));
  if (at_ != start + 2 + digit_count || continues_word(at(at_))) {
    throw Refusal{fmt::format("{} is not a float: it needs {} hexadecimal digits",
                              in_quotes(text_.substr(start, at_ - start)), digit_count),
                  line_};
  }
  Token result = token(kind, start);
  result.bits = value;
  return result;
}

Token Lexer::decimal_float(std::size_t start) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text_.data() + start, text_.data() + text_.size(), value);
  at_ = static_cast<std::size_t>(end - text_.data());
  if (problem != std::errc{} || continues_word(at(at_))) {
    throw Refusal{fmt::format("{} is not a number", in_quotes(text_.substr(start, at_ - start))), line_};
  }
  Token result = token(Token::Kind::float64, start);
  result.bits = std::bit_cast<std::uint64_t>(value);
  return result;
}

Token Lexer::string() {
  const std::size_t start = at_ + 1;
  const std::size_t end = text_.find_first_of("\"\n", start);
  if (end == std::string_view::npos || text_[end] == '\n') throw Refusal{"a string is not closed", line_};
  at_ = end + 1;
  return {Token::Kind::string, text_.substr(start, end - start), 0, line_};
}

}  // namespace roofwalk::ptx
