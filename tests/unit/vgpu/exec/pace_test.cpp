#include "common/vgpu/exec/pace.h"

#include <gtest/gtest.h>

namespace roofwalk::vgpu {
namespace {

// Returns how many rounds the team of threads runs, if a round takes the team `team_seconds` and one thread 1 s.
int team_rounds(Pace& pace, int rounds, double team_seconds) {
  int out = 0;
  for (int i = 0; i < rounds; ++i) {
    out += pace.team();
    pace.note(pace.team() ? team_seconds : 1.0, 1000);
  }
  return out;
}

TEST(Pace, StaysWithTheFasterOneAndNoticesChanges) {
  Pace pace;
  EXPECT_GT(team_rounds(pace, 10'000, 0.6), 9'800);
  EXPECT_LT(team_rounds(pace, 20'000, 3.0), 5'000);  // the team is retried every few thousand rounds
  EXPECT_GT(team_rounds(pace, 20'000, 0.6), 15'000);
}

TEST(Pace, OneSlowRoundIsNotTheRule) {
  Pace pace;
  int by_team = 0;
  for (int i = 0; i < 10'000; ++i) {  // some rounds are slow, because the system took a processor away
    by_team += pace.team();
    pace.note(pace.team() ? (i % 7 == 3 ? 10.0 : 0.6) : 1.0, 1000);
  }
  EXPECT_GT(by_team, 9'000);
}

TEST(Pace, SlowTeamsCostLittle) {
  Pace pace;
  EXPECT_LT(team_rounds(pace, 1'000, 10.0), 60);
}

}  // namespace
}  // namespace roofwalk::vgpu
