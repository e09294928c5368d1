#include "grader/rig/phases.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "common/base/json.h"

namespace roofwalk {
namespace {

std::string seconds_since_1970(double ago_s) {
  const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return std::to_string(now - ago_s);
}

TEST(Phases, BeginWhereThePersonsCommandBegan) {
  ::setenv("ROOFWALK_STARTED", seconds_since_1970(2).c_str(), 1);
  const Phases phases;
  ASSERT_EQ(phases.all().size(), 1u);
  EXPECT_NEAR(phases.all()[0].seconds, 2, 0.5);
  EXPECT_NEAR(phases.now_s(), 2, 0.5);
  for (const std::string& nonsense : {seconds_since_1970(-60), seconds_since_1970(1e5), std::string("soon")}) {
    ::setenv("ROOFWALK_STARTED", nonsense.c_str(), 1);
    EXPECT_TRUE(Phases().all().empty()) << nonsense;
    EXPECT_LT(Phases().now_s(), 1) << nonsense;
  }
  ::unsetenv("ROOFWALK_STARTED");
}

TEST(Phases, AreThoseOfTheTimersInTheOrderInWhichTheyBegan) {
  ::unsetenv("ROOFWALK_STARTED");
  Phases phases;
  {
    const PhaseTimer outer(&phases, "outer");
    const PhaseTimer inner(&phases, "inner");
    const PhaseTimer nobody_asked(nullptr, "none");
  }
  ASSERT_EQ(phases.all().size(), 2u);
  EXPECT_EQ(phases.all()[0].name, "outer");
  EXPECT_GE(phases.all()[0].seconds, phases.all()[1].seconds);
}

TEST(Phases, AreShownAsBarsOverTime) {
  const std::vector<Phases::Phase> phases{
      {"compile", 0, 0.5}, {"expected values", 0.25, 0.5}, {"record", 0.999, 0.001}};
  EXPECT_EQ(timings_text(phases, 1),
            "\ntimings, in seconds; bars in the same columns ran in parallel\n  compile                    0.500  "
            "====================\n  expected values            0.500            ====================\n  record        "
            "             0.001                                          =\n  all                        1.000\n");
  EXPECT_EQ(
      json_line(timings_json(phases, 1)),
      R"({"schema":"roofwalk.timings/1","total_s":1.0,"phases":[{"phase":"compile","begin_s":0.0,"seconds":0.5},)"
      R"({"phase":"expected values","begin_s":0.25,"seconds":0.5},{"phase":"record","begin_s":0.999,"seconds":0.001}]})");
}

}  // namespace
}  // namespace roofwalk
