#include "common/base/demangle.h"

#include <gtest/gtest.h>

namespace roofwalk {
namespace {

TEST(Demangled, IsWhatTheAuthorWrote) {
  EXPECT_EQ(demangled("_Z3addPKfS0_Pfi"), "add(float const*, float const*, float*, int)");
  EXPECT_EQ(demangled("_Z5scaleILi128EEvPf"), "void scale<128>(float*)");
  EXPECT_EQ(demangled("solve"), std::nullopt);
}

TEST(Demangled, ManyParametersOfOneTypeAreNoReasonToGiveUp) {
  std::string symbol = "_Z3addPKf";
  for (int i = 0; i < 40; ++i) symbol += "S0_";
  EXPECT_TRUE(demangled(symbol).has_value());
}

// Builds the symbol of k<T35>. T0 is P<int, float>, and each further T is P of the previous T, twice, so the demangled
// name has about 2^36 characters.
TEST(Demangled, ASymbolThatGrowsWithoutEndIsLeftAlone) {
  std::string symbol = "_Z1kI1PI";
  for (int i = 0; i < 35; ++i) symbol += "S0_I";
  symbol += "if";
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (int i = 1; i < 36; ++i) symbol += std::string("ES") + digits[static_cast<std::size_t>(i)] + "_";
  symbol += "EEvPT_";
  EXPECT_EQ(demangled(symbol), std::nullopt);
  EXPECT_EQ(demangled("_Z" + std::string(5000, 'P')), std::nullopt);
}

}  // namespace
}  // namespace roofwalk
