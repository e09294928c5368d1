#include "common/vgpu/exec/thread_team.h"

#include <array>
#include <chrono>

#include <gtest/gtest.h>

namespace roofwalk::vgpu {
namespace {

TEST(Team, EveryMemberWorksOnceAPieceAndSeesThePieceBefore) {
  Team team(3);
  std::array<std::uint64_t, 3> done{};
  std::uint64_t seen = 0;
  for (std::uint64_t piece = 0; piece < 2000; ++piece) {
    const auto before = done;
    team.run([&](int member) {
      // All members' work on the previous piece is visible: no two pieces overlap.
      if (before[static_cast<std::size_t>((member + 1) % 3)] != piece) return;
      ++done[static_cast<std::size_t>(member)];
    });
    seen += done[0] + done[1] + done[2] == 3 * (piece + 1);
  }
  EXPECT_EQ(seen, 2000u);
}

TEST(Team, MembersThatFellAsleepWakeUp) {
  Team team(2);
  std::array<int, 2> done{};
  const auto work = [&](int member) {
    std::this_thread::sleep_for(std::chrono::milliseconds(member == 0 ? 0 : 5));  // member 0 must wait
    ++done[static_cast<std::size_t>(member)];
  };
  for (int piece = 0; piece < 3; ++piece) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    team.run(work);
  }
  EXPECT_EQ(done, (std::array<int, 2>{3, 3}));
}

TEST(Team, OfOneIsTheCaller) {
  Team team(1);
  int calls = 0;
  team.run([&](int member) { calls += 1 + member; });
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace roofwalk::vgpu
