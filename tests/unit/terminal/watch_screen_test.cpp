#include "grader/terminal/watch_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/attempts.h"
#include "tests/support/golden.h"

namespace roofwalk {
namespace {

using ::testing::HasSubstr;
using testing::measured_attempt;
using ::testing::Not;

Chart chart_of(const Attempt& attempt) {
  Chart chart;
  chart.title = "vector-add on virtual:test (n=1048576)";
  chart.level = "dram";
  chart.roofs = attempt.roofs;
  chart.walk = {{.label = "starter", .point = attempt.starter.at("dram")},
                {.label = "1", .point = *attempt.measurement->point("dram")}};
  return chart;
}

class WatchScreenTest : public ::testing::Test {
 protected:
  WatchScreenTest() {
    view_.card = card(attempt_, {}, Colors(false));
    view_.chart = &chart_;
    view_.keys = "h hint  q quit";
    view_.status = "took 1.2 s";
  }

  // Returns the screen at this size, after a check that it has as many rows as the terminal, none of them too wide.
  WatchScreen at(int columns, int rows, bool color = false) {
    const WatchScreen screen = watch_screen(view_, {columns, rows}, color);
    std::istringstream in(screen.text);
    int count = 0;
    for (std::string line; std::getline(in, line); ++count) {
      EXPECT_LE(shown_columns(line), static_cast<std::size_t>(columns)) << line;
    }
    EXPECT_EQ(count, rows) << columns << " x " << rows;
    return screen;
  }

  Attempt attempt_ = measured_attempt();
  Chart chart_ = chart_of(attempt_);
  WatchView view_;
};

TEST_F(WatchScreenTest, FitsEveryScreen) {
  for (const auto plot : {WatchView::Plot::where_it_fits, WatchView::Plot::shown, WatchView::Plot::hidden}) {
    view_.plot = plot;
    for (const int columns : {20, 79, 80, 81, 131, 132, 133, 200, 300}) {
      for (const int rows : {2, 5, 14, 24, 25, 40, 60, 100}) at(columns, rows);
    }
  }
}

TEST_F(WatchScreenTest, ASmallScreenBelongsToTheCard) {
  const WatchScreen screen = at(80, 24);
  EXPECT_FALSE(screen.has_plot);
  for (const CardLine& line : view_.card) EXPECT_THAT(screen.text, HasSubstr(line.text));
  EXPECT_THAT(screen.text, HasSubstr("h hint"));
  EXPECT_THAT(screen.text, HasSubstr("took 1.2 s"));
}

TEST_F(WatchScreenTest, ThePlotTakesTheLeastWorthyLinesWhereItIsAskedFor) {
  view_.plot = WatchView::Plot::shown;
  const WatchScreen screen = at(80, 24);
  EXPECT_TRUE(screen.has_plot);
  EXPECT_THAT(screen.text, HasSubstr("PASS"));
  EXPECT_THAT(screen.text, HasSubstr("goal up"));
  EXPECT_THAT(screen.text, HasSubstr("look at"));
  EXPECT_THAT(screen.text, Not(HasSubstr("FLOPs ")));
}

TEST_F(WatchScreenTest, ANoteIsAlwaysThere) {
  view_.note = {"hint 1/3  one", "          two", "          three", "          four"};
  for (const int rows : {14, 24, 60}) {
    const WatchScreen screen = at(80, rows);
    EXPECT_THAT(screen.text, HasSubstr("hint 1/3  one"));
    EXPECT_THAT(screen.text, HasSubstr("four"));
    EXPECT_THAT(screen.text, HasSubstr("PASS"));
  }
}

TEST_F(WatchScreenTest, AWideScreenHasThePlotBesideTheCard) {
  const WatchScreen screen = at(200, 60);
  EXPECT_TRUE(screen.has_plot);
  testing::expect_golden(TEST_SOURCE_DIR
                         "/tests/unit/terminal/golden"
                         "/watch_wide.txt",
                         screen.text);
  view_.plot = WatchView::Plot::hidden;
  EXPECT_FALSE(at(200, 60).has_plot);
}

TEST_F(WatchScreenTest, ATallScreenHasThePlotBelow) {
  const WatchScreen screen = at(100, 50);
  EXPECT_TRUE(screen.has_plot);
  EXPECT_THAT(screen.text, HasSubstr(view_.card.back().text));
}

TEST_F(WatchScreenTest, ColoursTakeNoRoom) {
  view_.card = card(attempt_, {}, Colors(true));
  const WatchScreen screen = at(200, 60, true);
  EXPECT_THAT(screen.text, HasSubstr("\x1b["));
  EXPECT_TRUE(screen.has_plot);
}

TEST(CutTo, EndsAColourThatItCuts) {
  EXPECT_EQ(cut_to("\x1b[31mmissed\x1b[0m", 3), "\x1b[31mmis\x1b[0m");
  EXPECT_EQ(cut_to("abc", 3), "abc");
  EXPECT_EQ(cut_to("\xc3\xa9\xc3\xa9\xc3\xa9", 2), "\xc3\xa9\xc3\xa9");
  EXPECT_EQ(shown_columns("\x1b[1;33m*\x1b[0m\xc3\xa9"), 2u);
}

TEST(Fitted, LeavesOutWhatIsWorthLeast) {
  const std::vector<CardLine> lines = {
      {"verdict", Worth::verdict}, {"flops", Worth::details}, {"time", Worth::figures}, {"dram", Worth::details}};
  const auto three = fitted(lines, 3);
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(three[1].text, "flops");
  EXPECT_EQ(fitted(lines, 2)[1].text, "time");
  EXPECT_TRUE(fitted(lines, 0).empty());
}

}  // namespace
}  // namespace roofwalk
