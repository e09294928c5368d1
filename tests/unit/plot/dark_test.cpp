#include "common/plot/dark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofwalk {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Dark, TurnsLightnessRoundAndKeepsHues) {
  EXPECT_EQ(dark_of("#ffffff #000000 rgb( 255, 255,255) black"), "#141414 #ebebeb #141414 #ebebeb");
  EXPECT_EQ(dark_of("<rect fill=\"#0072b2\"/>"), "<rect fill=\"#41bbff\"/>");  // blue becomes a lighter blue
  EXPECT_EQ(dark_of("<text>no colours: white-space #12</text>").find("#12<") != std::string::npos, true);
}

TEST(DarkScheme, HasARuleForEachColourOfAnAttribute) {
  const std::string svg =
      "<svg viewBox='0 0 1 1'><g fill=\"none\" color=\"black\" stroke='rgb(  0, 114, 178)'/>"
      "<text fill = \"#222222\">rgb(1,2,3)</text><a fill=\"#222222\"/></svg>\n";
  EXPECT_EQ(with_dark_scheme(svg),
            "<svg viewBox='0 0 1 1'><style>@media (prefers-color-scheme: dark) {\n"
            "[color=\"black\"] { color: #ebebeb }\n"
            "[fill=\"#222222\"] { fill: #cecece }\n"
            "[stroke='rgb(  0, 114, 178)'] { stroke: #41bbff }\n"
            "}</style>\n" +
                svg.substr(23));
  EXPECT_EQ(without_dark_scheme(with_dark_scheme(svg)), svg);
}

TEST(DarkScheme, IsLeftOutWithoutColours) {
  EXPECT_EQ(with_dark_scheme("<svg><text>fill='red'</text></svg>"), "<svg><text>fill='red'</text></svg>");
  EXPECT_EQ(with_dark_scheme("fill='#000000'"), "fill='#000000'");
  EXPECT_EQ(without_dark_scheme("<svg/>"), "<svg/>");
}

}  // namespace
}  // namespace roofwalk
