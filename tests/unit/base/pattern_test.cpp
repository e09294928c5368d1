#include "common/base/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofwalk {
namespace {

using ::testing::ElementsAre;

TEST(Pattern, FindsAllPlacesWithTheirGroups) {
  const Pattern pair("(\\w)=(\\d)?");
  EXPECT_THAT(pair.search_all("a=1, b=, c"), ElementsAre(ElementsAre("a=1", "a", "1"), ElementsAre("b=", "b", "")));
  EXPECT_TRUE(pair.search_all("").empty());
}

TEST(Pattern, ReplacesEachPlaceByWhatItIs) {
  const auto doubled = [](const Pattern::Groups& found) { return found[0] + found[0]; };
  EXPECT_EQ(Pattern("[0-9]").replace_each("1a2", doubled), "11a22");
  EXPECT_EQ(Pattern("[0-9]").replace_each("none", doubled), "none");
}

}  // namespace
}  // namespace roofwalk
