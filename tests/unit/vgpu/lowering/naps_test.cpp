// Which sleep follows a poll that fails.
#include "common/vgpu/lowering/naps.h"

#include <gtest/gtest.h>

#include "common/vgpu/program/instructions.h"

namespace roofwalk::vgpu {
namespace {

// The nap after the first volatile load of a kernel with this body. Register i is in slot i.
Nap nap_in(const std::string& body) {
  const auto module = ptx::parse(
      ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n.reg .pred %p<9>;\n"
      ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.shared .b32 flag;\n" +
          body + "\nDONE:\nret;\n}\n",
      "kernel.cu");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  if (!module) return {};
  const ptx::Function& function = module->functions[0];
  const auto naps = find_naps(function, find_blocks(function), [](int reg) { return static_cast<Slot>(reg); });
  for (std::uint32_t pc = 0; pc < function.instructions.size(); ++pc) {
    if (function.instructions[pc].is_volatile) return naps.contains(pc) ? naps.at(pc) : Nap{};
  }
  ADD_FAILURE() << "no poll";
  return {};
}

const std::string kLook = "ld.volatile.shared.u32 %r1, [flag];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra DONE;\n";

TEST(Nap, IsTheLoopsSleep) {
  EXPECT_EQ(nap_in("L:\n" + kLook + "nanosleep.u32 100;\nbra L;").least_ns, 100u);
  EXPECT_EQ(nap_in("L:\n" + kLook + "bra L;").least_ns, 0u);
}

TEST(Nap, MayBeInARegister) {
  EXPECT_EQ(nap_in("L:\n" + kLook + "mov.u32 %r2, 100;\nnanosleep.u32 %r2;\nbra L;").least_ns, 100u);
  const Nap nap = nap_in("ld.param.u32 %r3, [n];\nL:\n" + kLook + "nanosleep.u32 %r3;\nbra L;");
  EXPECT_EQ(nap.least_ns, 0u);
  EXPECT_NE(nap.length, kNoSlot);
}

// What a loop computes before it sleeps is unknown when it polls. What it computes after the sleep is the next one's.
TEST(Nap, ThatGrowsIsTheFirst) {
  const std::string grow = "shl.b32 %r2, %r2, 1;\n", sleep = "nanosleep.u32 %r2;\n";
  EXPECT_EQ(nap_in("mov.u32 %r2, 8;\nL:\n" + kLook + sleep + grow + "bra L;").least_ns, 8u);
  EXPECT_EQ(nap_in("mov.u32 %r2, 8;\nL:\n" + kLook + grow + sleep + "bra L;").least_ns, kMostSleepNs);
}

// nvcc puts the first try ahead of the loop.
TEST(Nap, FollowsATryAheadOfTheLoop) {
  EXPECT_EQ(nap_in(kLook + "L:\nnanosleep.u32 100;\nld.relaxed.cta.shared.u32 %r1, [flag];\nsetp.eq.u32 %p1, %r1, 0;\n"
                           "@%p1 bra L;")
                .least_ns,
            100u);
}

TEST(Nap, MayDependOnAConditionButNotOnAClock) {
  const auto if_at_least = [](const std::string& value) {
    return "L:\n" + kLook + "mov.u32 %r4, " + value +
           ";\nsetp.lt.u32 %p2, %r4, 1000;\n@%p2 bra L;\nnanosleep.u32 100;\nbra L;";
  };
  EXPECT_EQ(nap_in(if_at_least("%tid.x")).least_ns, 100u);
  EXPECT_EQ(nap_in(if_at_least("%clock")).least_ns, 0u);
}

TEST(Nap, OfALaterLoopIsNotThisPolls) {
  EXPECT_EQ(nap_in("L:\nld.volatile.shared.u32 %r1, [flag];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\n"
                   "M:\nld.volatile.shared.u32 %r2, [flag];\nsetp.ne.u32 %p2, %r2, 1;\n@%p2 bra DONE;\n"
                   "nanosleep.u32 100;\nbra M;")
                .least_ns,
            0u);
}

}  // namespace
}  // namespace roofwalk::vgpu
