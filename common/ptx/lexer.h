// Splits PTX text into tokens. Opcodes are not keywords: a kernel may be called `add`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/ptx/table/refusal.h"

namespace roofwalk::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    word,        // add, %r1, $L__BB0_1, _
    dotted,      // .f32, .L2::128B: text includes the dot
    integer,     // bits
    float32,     // 0f3F800000: bits is the pattern of a float
    float64,     // 0d..., 1.5: bits is the pattern of a double
    string,      // text without its quotes
    punctuation  // text is the character
  };
  Kind kind = Kind::end;
  std::string_view text;
  std::uint64_t bits = 0;
  int line = 1;

  bool is(char punctuation_mark) const { return kind == Kind::punctuation && text[0] == punctuation_mark; }
  bool is(std::string_view word_or_dotted) const {
    return (kind == Kind::word || kind == Kind::dotted) && text == word_or_dotted;
  }
};

// Splits a text, which must outlive the lexer. Throws Refusal at a character or number that is not valid PTX.
class Lexer {
 public:
  Lexer(std::string_view text, std::size_t max_tokens) : text_(text), tokens_left_(max_tokens) {}

  Token next();

 private:
  void skip_blanks();
  Token number();
  Token digits(int base, std::size_t start, std::size_t first_digit);
  Token hex_float(std::size_t start, Token::Kind kind, std::size_t digit_count);
  Token decimal_float(std::size_t start);
  Token string();
  char at(std::size_t position) const { return position < text_.size() ? text_[position] : '\0'; }
  Token token(Token::Kind kind, std::size_t start) const { return {kind, text_.substr(start, at_ - start), 0, line_}; }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t tokens_left_;
};

}  // namespace roofwalk::ptx
