#include "common/base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace roofwalk {
namespace {

TEST(Error, TextLeavesOutWhatIsEmpty) {
  EXPECT_EQ((Error{.message = "no such chapter"}).text(), "no such chapter");
  EXPECT_EQ((Error{.message = "odd", .file = "a.toml"}).text(), "a.toml: odd");
  EXPECT_EQ((Error{.message = "odd", .file = "a.toml", .line = 7}).text(), "a.toml:7: odd");
  EXPECT_EQ((Error{.message = "odd", .line = 7, .advice = "fix it"}).text(), "odd (fix it)");
}

Result<int> half(int value) {
  if (value % 2 != 0) return Error{.message = "odd"};
  return value / 2;
}

Result<int> quarter(int value) {
  ROOFWALK_TRY(const int once, half(value));
  ROOFWALK_TRY(const int twice, half(once));
  return twice;
}

Status even(int value) {
  ROOFWALK_TRY_STATUS(half(value));
  return kOk;
}

TEST(Result, TryHandsValuesAndErrorsOn) {
  EXPECT_EQ(*quarter(8), 2);
  ASSERT_FALSE(quarter(6).ok());
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_TRUE(even(4).ok());
  EXPECT_FALSE(even(3).ok());
}

TEST(Result, CarriesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 5);
}

TEST(ResultDeathTest, TheSideThatIsNotThereEndsTheProgramAsOurFault) {
  const Result<int> bad = Error{.message = "odd"};
  EXPECT_EXIT((void)*bad, testing::ExitedWithCode(3), "check failed");
  const Result<int> good = 1;
  EXPECT_EXIT((void)good.error(), testing::ExitedWithCode(3), "check failed");
}

}  // namespace
}  // namespace roofwalk
