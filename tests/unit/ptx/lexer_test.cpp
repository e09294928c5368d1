#include "common/ptx/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

namespace roofwalk::ptx {
namespace {

std::vector<Token> tokens_of(std::string_view text) {
  Lexer lexer(text, 1000);
  std::vector<Token> tokens;
  for (Token token = lexer.next(); token.kind != Token::Kind::end; token = lexer.next()) tokens.push_back(token);
  return tokens;
}

std::vector<std::string> texts_of(std::string_view text) {
  std::vector<std::string> texts;
  for (const Token& token : tokens_of(text)) texts.emplace_back(token.text);
  return texts;
}

std::string refusal_of(std::string_view text) {
  try {
    tokens_of(text);
  } catch (const Refusal& refusal) {
    return refusal.message;
  }
  return "accepted";
}

TEST(Lexer, SplitsAnInstruction) {
  EXPECT_THAT(texts_of("@!%p1 ld.global.L2::128B.f32 %f1, [%rd4+-4];"),
              ::testing::ElementsAre("@", "!", "%p1", "ld", ".global", ".L2::128B", ".f32", "%f1", ",", "[", "%rd4",
                                     "+", "-", "4", "]", ";"));
}

TEST(Lexer, ALabelsColonIsNoPartOfItsName) {
  EXPECT_THAT(texts_of("$L__BB0_4: ret;"), ::testing::ElementsAre("$L__BB0_4", ":", "ret", ";"));
}

TEST(Lexer, KnowsNumbers) {
  EXPECT_EQ(tokens_of("0x1F")[0].bits, 31u);
  EXPECT_EQ(tokens_of("017")[0].bits, 15u);
  EXPECT_EQ(tokens_of("0b101")[0].bits, 5u);
  EXPECT_EQ(tokens_of("7U")[0].bits, 7u);
  EXPECT_EQ(tokens_of("0")[0].bits, 0u);
  EXPECT_EQ(tokens_of("18446744073709551615")[0].bits, ~std::uint64_t{0});
}

TEST(Lexer, KnowsFloatsByTheirBits) {
  EXPECT_EQ(tokens_of("0f3F800000")[0].kind, Token::Kind::float32);
  EXPECT_EQ(tokens_of("0f3F800000")[0].bits, 0x3F800000u);
  EXPECT_EQ(tokens_of("0d3FF0000000000000")[0].kind, Token::Kind::float64);
  EXPECT_EQ(tokens_of("1.5e1")[0].bits, std::bit_cast<std::uint64_t>(15.0));
}

TEST(Lexer, RefusesWhatIsNoNumber) {
  EXPECT_EQ(refusal_of("18446744073709551616"), "the number `18446744073709551616` is too large");
  EXPECT_EQ(refusal_of("018"), "`018` is not a number");
  EXPECT_EQ(refusal_of("0x"), "`0x` is not a number");
  EXPECT_EQ(refusal_of("12abc"), "`12abc` is not a number");
  EXPECT_EQ(refusal_of("0f3F8"), "`0f3F8` is not a float: it needs 8 hexadecimal digits");
}

TEST(Lexer, CountsLinesThroughCommentsAndStrings) {
  const std::vector<Token> tokens = tokens_of("a // b\n/* c\n d */ e\r\n\"f\" g");
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[0].line, 1);
  EXPECT_EQ(tokens[1].line, 3);
  EXPECT_EQ(tokens[2].line, 4);
  EXPECT_EQ(tokens[2].text, "f");
}

TEST(Lexer, RefusesForeignBytesButInCommentsAndStrings) {
  EXPECT_EQ(refusal_of("a \xc3\xa4"), "a byte that is not PTX text (0xc3)");
  EXPECT_EQ(refusal_of(std::string_view("a \0", 3)), "a byte that is not PTX text (0x00)");
  EXPECT_EQ(refusal_of("// \xc3\xa4\n\"\xc3\xa4\""), "accepted");
}

TEST(Lexer, EndsAtItsLimit) {
  Lexer lexer("a b c", 2);
  lexer.next();
  lexer.next();
  EXPECT_THROW(lexer.next(), Refusal);
}

}  // namespace
}  // namespace roofwalk::ptx
