// Tests schedules (the order in which hardware runs the instructions of a basic block) on small code with an evident
// order. A schedule follows ptxas' machine code if that is given, else our own rules.
#include "common/vgpu/timing/instruction_schedule.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <set>

#include "common/base/rng.h"
#include "tests/unit/vgpu/timing/scheduled.h"

namespace roofwalk::vgpu {
namespace {

// The schedule leaves eight registers for other live values.
TEST(ScheduleByRules, LoadsAheadNeedRegisters) {
  std::string text;
  for (int i = 1; i <= 12; ++i)
    text += fmt::format("ld.global.nc.f32 %f{0}, [%rd1+{0}];\nst.global.f32 [%rd2+{0}], %f{0};\n", i);
  const auto s = scheduled(text);
  const auto order = [&](int registers) {
    return s->text(schedule(machine_with_latencies(), s->program, {}, registers).blocks[0][0]);
  };
  const auto batch = [](int loads) {
    std::string out;
    for (int i = 0; i < loads; ++i) out += "ld ";
    for (int i = 0; i < loads; ++i) out += "st ";
    return out;
  };
  EXPECT_EQ(order(0), batch(12) + "ret");
  EXPECT_EQ(order(255), batch(12) + "ret");
  EXPECT_EQ(order(16), batch(8) + batch(4) + "ret");
}

TEST(ScheduleByRules, ParametersAndMovesVanish) {
  const auto s = scheduled(
      "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nld.global.f32 %f1, [%rd2];\nmov.f32 %f2, %f1;\n"
      "st.global.f32 [%rd2+4], %f2;\n");
  const Schedule& block = s->schedule.blocks[0][0];
  EXPECT_EQ(s->text(block), "ld st ret");
  ASSERT_EQ(block.ops[0].result_count, 1);
  ASSERT_EQ(block.ops[1].source_count, 1);
  EXPECT_EQ(block.operands[block.ops[0].first_operand], block.operands[block.ops[1].first_operand]);
  EXPECT_EQ(block.ops[0].memory, 0);
  EXPECT_EQ(block.ops[1].memory, 1);
}

std::vector<Unit> units(const Schedule& s) {
  std::vector<Unit> out;
  for (const TimedOp& op : s.ops) out.push_back(op.unit);
  return out;
}

TEST(ScheduleByRules, ProductsAndConstantsGoIntoAddresses) {
  const auto s = scheduled(
      "mul.wide.s32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nadd.s64 %rd5, %rd4, 16;\nld.global.f32 %f1, [%rd5];\n"
      "st.global.f32 [%rd4], %f1;\nadd.s64 %rd6, %rd4, %rd7;\nst.global.u64 [%rd4], %rd6;\n");
  const Schedule& block = s->schedule.blocks[0][0];
  EXPECT_EQ(s->text(block), "add ld st add st ret");
  EXPECT_EQ(block.ops[0].unit, Unit::multiply);
  EXPECT_EQ(block.ops[0].issues, 1);
  EXPECT_EQ(block.ops[3].issues, 2);        // 64 bits
  ASSERT_EQ(block.ops[1].source_count, 1);  // the source of the addition that vanished
  EXPECT_EQ(block.operands[block.ops[1].first_operand + 1], block.operands[block.ops[0].first_operand]);
}

TEST(ScheduleByRules, LoadsGoAheadOfWhatNeedsOthersButNotOfStores) {
  const std::string plain =
      "ld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f1;\nld.global.f32 %f3, [%rd1+4];\nadd.f32 %f4, %f3, %f2;\n"
      "st.global.f32 [%rd2], %f4;\nld.global.f32 %f5, [%rd1+8];\nst.global.f32 [%rd2+4], %f5;\n";
  std::string restricted = plain;
  for (std::size_t at = 0; (at = restricted.find("ld.global.f32", at)) != std::string::npos; ++at)
    restricted.replace(at, 13, "ld.global.nc.f32");
  const auto a = scheduled(plain), b = scheduled(restricted);
  EXPECT_EQ(a->text(a->schedule.blocks[0][0]), "ld ld add add st ld st ret");
  EXPECT_EQ(b->text(b->schedule.blocks[0][0]), "ld ld ld add add st st ret");
}

TEST(ScheduleByRules, NoLoadPassesABarrierOrNeedsALoadOfItsRun) {
  const auto s = scheduled(
      "ld.global.u64 %rd2, [%rd1];\nld.global.f32 %f1, [%rd2];\nadd.f32 %f2, %f1, %f1;\nbar.sync 1;\n"
      "ld.global.nc.f32 %f3, [%rd1];\nst.global.f32 [%rd1], %f3;\nst.global.f32 [%rd1], %f2;\n");
  const Schedule& block = s->schedule.blocks[0][0];
  EXPECT_EQ(s->text(block), "ld ld add bar ld st st ret");
  EXPECT_EQ(block.ops[3].kind, TimedKind::barrier);
  EXPECT_EQ(block.ops[3].groups, 1);
}

TEST(ScheduleByRules, EveryOperationHasItsUnitAndLatency) {
  const auto s = scheduled(
      "add.f32 %f1, %f2, %f3;\nadd.s32 %r1, %r2, %r3;\nmul.lo.s32 %r4, %r2, %r3;\nex2.approx.f32 %f4, %f1;\n"
      "cvt.rn.f32.s32 %f5, %r1;\nshfl.sync.bfly.b32 %r5, %r1, 1, 31, -1;\n");
  const Schedule& block = s->schedule.blocks[0][0];
  EXPECT_THAT(units(block), testing::ElementsAre(Unit::fp32, Unit::integer, Unit::multiply, Unit::special,
                                                 Unit::special, Unit::memory, Unit::control));
  EXPECT_EQ(block.ops[0].latency_cycles, 4);
  EXPECT_EQ(block.ops[3].latency_cycles, 18);
  EXPECT_EQ(block.ops[5].latency_cycles, 23);
}

// A loop of one basic block. PTX lines count from the start of the entry's body.
constexpr const char* kLoop =
    "L:\nld.global.f32 %f1, [%rd1];\nfma.rn.f32 %f2, %f1, %f1, %f2;\nadd.s64 %rd1, %rd1, 4;\nadd.s32 %r1, %r1, -1;\n"
    "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra L;\nst.global.f32 [%rd2], %f2;\n";
constexpr std::uint16_t kLoad = 0x181, kStore = 0x186, kFma = 0x023, kAdd = 0x010, kCompare = 0x00c, kBranch = 0x147,
                        kExit = 0x14d, kMove = 0x002, kFloatAdd = 0x021, kStoreLocal = 0x187;

std::vector<MachineOp> at_lines(const Scheduled& s, const std::vector<MachineOp>& by_pc) {
  std::vector<MachineOp> out = by_pc;
  for (MachineOp& op : out)
    op.ptx_line = static_cast<std::uint32_t>(s.program.function->instructions[op.ptx_line].ptx_line);
  return out;
}

TEST(ScheduleByCode, UnrolledLoopsHaveCopiesWhoseLoadsGoAhead) {
  const auto s = scheduled(kLoop);
  // The code has two copies of the loop's body, then one. At the end, each register of the PTX loop is written once for
  // both copies.
  const auto code = at_lines(*s, {{0, kLoad, -1},
                                  {0, kLoad, -1},
                                  {1, kFma, -1},
                                  {2, kAdd, -1},
                                  {3, kAdd, -1},
                                  {1, kFma, -1},
                                  {4, kCompare, -1},
                                  {5, kBranch, 0},
                                  {0, kLoad, -1},
                                  {1, kFma, -1},
                                  {5, kBranch, -1},
                                  {6, kStore, -1},
                                  {7, kExit, -1}});
  const auto schedule = vgpu::schedule(machine_with_latencies(), s->program, code);
  ASSERT_EQ(schedule.blocks[0].size(), 2u);
  const Schedule& two = schedule.blocks[0][0];
  const Schedule& one = schedule.blocks[0][1];
  EXPECT_EQ(two.copies, 2u);
  EXPECT_EQ(one.copies, 1u);
  EXPECT_EQ(s->text(two), "ld ld fma add add fma setp bra");
  EXPECT_EQ(s->text(one), "ld fma bra");
  EXPECT_EQ(two.ops[0].part, 0);
  EXPECT_EQ(two.ops[1].part, 1);
  const auto result = [&](int op) { return two.operands[two.ops[op].first_operand]; };
  const auto sources = [&](int op) {
    const auto from = two.operands.begin() + two.ops[op].first_operand + two.ops[op].result_count;
    return std::vector<std::uint16_t>(from, from + two.ops[op].source_count);
  };
  EXPECT_NE(result(0), result(1));  // the second load does not clobber what the first FMA reads
  EXPECT_THAT(sources(2), testing::Contains(result(0)));
  EXPECT_THAT(sources(5), testing::Contains(result(1)));
  EXPECT_THAT(sources(5), testing::Contains(result(2)));
  EXPECT_THAT(sources(7), testing::Contains(result(6)));
}

TEST(ScheduleByCode, WhatHoldsNoPtxLineOfABlockStillIssuesThere) {
  const auto s = scheduled(kLoop);
  auto code = at_lines(*s, {{0, kMove, -1},
                            {0, kLoad, -1},
                            {1, kFma, -1},
                            {6, kMove, -1},
                            {5, kBranch, 0},
                            {6, kStore, -1},
                            {7, kExit, -1}});
  code[3].ptx_line = 0;
  const auto schedule = vgpu::schedule(machine_with_latencies(), s->program, code);
  EXPECT_EQ(schedule.blocks[0][0].ops.size(), 5u);
  EXPECT_EQ(schedule.blocks[1][0].ops.size(), 2u);
}

TEST(ScheduleByCode, WhatWasHoistedOutOfALoopIsNotInIt) {
  const auto s = scheduled(kLoop);
  const auto code = at_lines(
      *s,
      {{2, kMove, -1}, {0, kLoad, -1}, {1, kFma, -1}, {3, kAdd, -1}, {5, kBranch, 1}, {6, kStore, -1}, {7, kExit, -1}});
  const auto schedule = vgpu::schedule(machine_with_latencies(), s->program, code);
  EXPECT_EQ(s->text(schedule.blocks[0][0]), "ld fma add bra");
}

std::uint32_t issues_on(Unit unit, const Schedule& schedule) {
  std::uint32_t issues = 0;
  for (const TimedOp& op : schedule.ops) issues += op.unit == unit ? op.issues : 0;
  return issues;
}

// ptxas put registers into local memory, which the PTX does not show.
TEST(ScheduleByCode, ALoopWithTwoWaysBackToItsStartIsOneLoop) {
  const auto s = scheduled(kLoop);
  const auto code = at_lines(*s, {{0, kLoad, -1},
                                  {1, kStoreLocal, -1},
                                  {1, kFma, -1},
                                  {3, kAdd, -1},
                                  {5, kBranch, 0},
                                  {4, kCompare, -1},
                                  {5, kBranch, 0},
                                  {6, kStore, -1},
                                  {7, kExit, -1}});
  const auto schedule = vgpu::schedule(machine_with_latencies(), s->program, code);
  EXPECT_EQ(s->text(schedule.blocks[0][0]), "ld fma fma add bra setp bra");
  EXPECT_EQ(issues_on(Unit::memory, schedule.blocks[0][0]), 2u);
}

// The second way back leads into the middle, so that a part of the body seems to be in two loops.
TEST(ScheduleByCode, WhatSeemsToBeInAnotherLoopTakesIssueSlotsAllTheSame) {
  const auto s = scheduled(kLoop);
  for (const std::int32_t middle : {1, 3, 5}) {
    const auto code = at_lines(*s, {{0, kLoad, -1},
                                    {1, kStoreLocal, -1},
                                    {1, kStoreLocal, -1},
                                    {1, kStoreLocal, -1},
                                    {1, kFma, -1},
                                    {1, kStoreLocal, -1},
                                    {5, kBranch, 0},
                                    {6, kStore, -1},
                                    {7, kBranch, middle},
                                    {7, kExit, -1}});
    const auto schedule = vgpu::schedule(machine_with_latencies(), s->program, code);
    EXPECT_EQ(issues_on(Unit::memory, schedule.blocks[0][0]), 5u) << middle;
  }
}

// Two guarded loads and a sum: %f1 stays 0 if %p1 holds, %f2 if %p2 holds.
constexpr const char* kGuards =
    "mov.f32 %f1, 0f00000000;\n@%p1 bra L1;\nld.global.f32 %f1, [%rd1];\nL1:\nmov.f32 %f2, 0f00000000;\n"
    "@%p2 bra L2;\nld.global.f32 %f2, [%rd2];\nL2:\nadd.f32 %f3, %f1, %f2;\nst.global.f32 [%rd3], %f3;\n";

TEST(ScheduleByCode, BasicBlocksWithoutABranchBetweenThemRunAsOne) {
  const auto s = scheduled(kGuards);
  const std::vector<MachineOp> code = at_lines(*s, {{0, kMove, -1},
                                                    {3, kMove, -1},
                                                    {2, kLoad, -1},
                                                    {5, kLoad, -1},
                                                    {6, kFloatAdd, -1},
                                                    {7, kStore, -1},
                                                    {8, kExit, -1}});
  const auto schedule = vgpu::schedule(machine_with_latencies(), s->program, code);
  ASSERT_EQ(schedule.blocks.size(), 5u);
  ASSERT_EQ(schedule.blocks[0].size(), 2u);
  const Schedule& all = schedule.blocks[0][0];
  EXPECT_EQ(all.members, 5u);
  EXPECT_EQ(schedule.parts, 5u);
  EXPECT_EQ(s->text(all), "mov mov ld ld add st ret");
  EXPECT_EQ(all.ops[2].part, 1);
  EXPECT_EQ(all.ops[3].part, 3);
  EXPECT_EQ(all.ops[5].part, 4);
  EXPECT_EQ(all.ops[3].memory, 0);  // memory index within its own basic block
  // The sum waits for the values of both paths.
  const TimedOp& sum = all.ops[4];
  const auto from = all.operands.begin() + sum.first_operand + sum.result_count;
  const std::vector<std::uint16_t> sources(from, from + sum.source_count);
  for (const int way : {0, 1, 2, 3}) EXPECT_THAT(sources, testing::Contains(all.operands[all.ops[way].first_operand]));
  // Each basic block also has an unmerged schedule.
  for (const auto& forms : schedule.blocks) EXPECT_EQ(forms.back().members, 1u);
}

TEST(ScheduleByCode, ABranchThatIsThereKeepsBasicBlocksApart) {
  const auto s = scheduled(kGuards);
  const std::vector<MachineOp> code = at_lines(*s, {{0, kMove, -1},
                                                    {1, kBranch, 3},
                                                    {2, kLoad, -1},
                                                    {3, kMove, -1},
                                                    {5, kLoad, -1},
                                                    {6, kFloatAdd, -1},
                                                    {7, kStore, -1},
                                                    {8, kExit, -1}});
  const auto schedule = vgpu::schedule(machine_with_latencies(), s->program, code);
  EXPECT_EQ(schedule.blocks[0].size(), 1u);
  EXPECT_EQ(schedule.blocks[1].size(), 1u);
  EXPECT_EQ(schedule.blocks[2].front().members, 3u);
}

// ptxas computes the sum of the short arm before the branch, and the branch has the line of the sum.
TEST(ScheduleByCode, ABranchOnTheLineOfArithmeticKeepsItsArmsApart) {
  const auto s = scheduled(
      "@%p1 bra L1;\nadd.f32 %f3, %f1, %f2;\nbra L2;\nL1:\nmul.f32 %f3, %f1, %f2;\nmul.f32 %f3, %f3, %f2;\n"
      "L2:\nst.global.f32 [%rd3], %f3;\n");
  const std::vector<MachineOp> branches = at_lines(
      *s,
      {{1, kFloatAdd, -1}, {1, kBranch, 4}, {3, kFloatAdd, -1}, {4, kFloatAdd, -1}, {5, kStore, -1}, {6, kExit, -1}});
  for (const auto& forms : vgpu::schedule(machine_with_latencies(), s->program, branches).blocks)
    EXPECT_EQ(forms.front().members, 1u);
  std::vector<MachineOp> predicated = branches;
  predicated.erase(predicated.begin() + 1);
  EXPECT_EQ(vgpu::schedule(machine_with_latencies(), s->program, predicated).blocks[0].front().members, 4u);
}

// ptxas predicates only short arms, so a long one is behind a branch even if its branch has been lost.
TEST(ScheduleByCode, ALongArmIsNeverPredicated) {
  for (const auto& [count, members] : {std::pair(8u, 3u), std::pair(40u, 1u)}) {
    std::string text = "@%p1 bra L1;\n";
    for (std::uint32_t i = 0; i < count; ++i) text += "add.f32 %f3, %f3, %f2;\n";
    const auto s = scheduled(text + "L1:\nst.global.f32 [%rd3], %f3;\n");
    std::vector<MachineOp> code;
    for (std::uint32_t i = 0; i < count; ++i) code.push_back(at_lines(*s, {{1 + i, kFloatAdd, -1}})[0]);
    for (const MachineOp& op : at_lines(*s, {{1 + count, kStore, -1}, {2 + count, kExit, -1}})) code.push_back(op);
    EXPECT_EQ(vgpu::schedule(machine_with_latencies(), s->program, code).blocks[0].front().members, members) << count;
  }
}

// The code has groups of basic blocks to merge, each with many st.release, while many registers are in flight. In a
// merged group, each st.release waits for all of these registers. The total number of waits is limited; blocks beyond
// the limit are not merged.
TEST(ScheduleByCode, MergedBlocksWaitForSoManyValuesTogether) {
  constexpr std::uint32_t kGroups = 40, kReleases = 60, kFlying = 4000;
  std::string body = fmt::format(".reg .b32 %z<{}>;\n", kFlying);
  std::vector<MachineOp> by_pc;
  std::uint32_t pc = 0;
  const auto add = [&](const std::string& line, std::optional<std::uint16_t> operation) {
    body += line + ";\n";
    if (operation) by_pc.push_back({pc, *operation, -1});
    ++pc;
  };
  for (std::uint32_t i = 0; i < kFlying; ++i) add(fmt::format("mov.u32 %z{}, 3", i), {});
  for (std::uint32_t g = 0; g < kGroups; ++g) {
    for (std::uint32_t i = 0; i < kReleases; ++i) add("st.release.gpu.global.u32 [%rd1], %r1", kStore);
    add(fmt::format("@%p1 bra L{}", g), {});
    add("add.u32 %r1, %r1, 1", kAdd);
    body += fmt::format("L{}:\n", g);
    add("@%p2 bra END", kBranch);
  }
  body += "END:\n";
  for (std::uint32_t i = 0; i < kFlying; ++i) add(fmt::format("add.u32 %r1, %r1, %z{}", i), kAdd);
  const auto s = scheduled(body);
  const auto schedule = vgpu::schedule(machine_with_latencies(), s->program, at_lines(*s, by_pc));
  std::size_t merged = 0, operands = 0;
  for (const auto& forms : schedule.blocks) {
    merged += forms.front().members > 1;
    for (const Schedule& form : forms) operands += form.operands.size();
  }
  EXPECT_GT(merged, 4u);
  EXPECT_LT(merged, kGroups);
  EXPECT_LT(operands, 3'500'000u);  // 2 million in groups; unmerged blocks have those of their first release only
}

// Of two equal arms of a branch, ptxas keeps one, with its line numbers. The other arm has no machine code, so the
// rules schedule it.
TEST(ScheduleByCode, WhatLacksAnAccessGivesWayToTheRules) {
  const auto s = scheduled(
      "@%p1 bra A;\nld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f1;\nbra B;\n"
      "A:\nld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f1;\nB:\nst.global.f32 [%rd2], %f2;\n");
  const auto code =
      at_lines(*s, {{0, kBranch, 1}, {1, kLoad, -1}, {2, kFloatAdd, -1}, {6, kStore, -1}, {7, kExit, -1}});
  const auto schedule = vgpu::schedule(machine_with_latencies(), s->program, code);
  ASSERT_EQ(schedule.blocks.size(), 4u);
  EXPECT_EQ(s->text(schedule.blocks[1][0]), "ld add");  // in the code's order, without a branch
  EXPECT_EQ(s->text(schedule.blocks[2][0]), "ld add");
}

// ptxas drops a load with an unused result. The schedule keeps the rest of the code's order and adds the load.
TEST(ScheduleByCode, AccessesThatAreMissingAreAdded) {
  const auto s = scheduled(
      "ld.global.f32 %f1, [%rd1];\nld.shared.f32 %f2, [%r1];\nadd.f32 %f3, %f1, %f1;\nst.global.f32 [%rd2], %f3;\n");
  const auto code = at_lines(*s, {{0, kLoad, -1},
                                  {2, kMove, -1},  // a spill or another move that ptxas adds
                                  {2, kMove, -1},
                                  {2, kFloatAdd, -1},
                                  {3, kStore, -1},
                                  {4, kExit, -1}});
  const Schedule block = vgpu::schedule(machine_with_latencies(), s->program, code).blocks[0][0];
  EXPECT_EQ(s->text(block), "ld add add ld add st ret");
  EXPECT_EQ(block.ops[3].memory, 1);
}

// A block whose machine code lacks most instructions is scheduled by the rules. In each unit, these must issue at least
// as many instructions as the machine code does.
TEST(ScheduleByCode, TheRulesIssueNoLessThanTheCode) {
  std::string body;
  for (int i = 0; i < 30; ++i) body += "xor.b32 %r1, %r1, %r2;\n";
  const auto s = scheduled(body);
  const auto code = at_lines(*s, {{0, kAdd, -1}, {1, kStore, -1}, {2, kLoad, -1}, {30, kExit, -1}});
  const Schedule block = vgpu::schedule(machine_with_latencies(), s->program, code).blocks[0][0];
  const auto issues = [&](Unit unit) {
    std::uint32_t count = 0;
    for (const TimedOp& op : block.ops) count += op.unit == unit ? op.issues : 0u;
    return count;
  };
  EXPECT_EQ(issues(Unit::integer), 30u);
  EXPECT_EQ(issues(Unit::memory), 2u);
  EXPECT_EQ(issues(Unit::control), 1u);
}

// Up to four neighbouring words of shared memory may take one 16-byte access.
TEST(ScheduleByCode, NeighboursInSharedMemoryMayBeOneAccess) {
  const auto text_with = [](int loads, int step_bytes) {
    std::string body;
    for (int i = 0; i < loads; ++i)
      body += "ld.shared.f32 %f" + std::to_string(i) + ", [%r1+" + std::to_string(step_bytes * i) + "];\n";
    const auto s = scheduled(body);
    const auto exit = static_cast<std::uint32_t>(loads);
    const auto code = at_lines(*s, {{0, kLoad, -1}, {exit, kExit, -1}});
    return s->text(vgpu::schedule(machine_with_latencies(), s->program, code).blocks[0][0]);
  };
  EXPECT_EQ(text_with(4, 4), "ld ret");
  EXPECT_EQ(text_with(5, 4), "ld ld ld ld ld ret");
  EXPECT_EQ(text_with(2, 16), "ld ld ret");
}

TEST(ScheduleByCode, ProductsThatAreMissingAreAdded) {
  const auto s = scheduled(
      "ld.global.f32 %f1, [%rd1];\nfma.rn.f32 %f2, %f1, %f1, %f1;\nfma.rn.f32 %f3, %f2, %f1, %f1;\n"
      "st.global.f32 [%rd2], %f3;\n");
  const auto code = at_lines(*s, {{0, kLoad, -1}, {2, kFma, -1}, {3, kStore, -1}, {4, kExit, -1}});
  const auto schedule = vgpu::schedule(machine_with_latencies(), s->program, code);
  EXPECT_EQ(s->text(schedule.blocks[0][0]), "ld fma fma st ret");
  EXPECT_EQ(schedule.blocks[0][0].ops[1].unit, Unit::fp32);
}

TEST(ScheduleByCode, MuchIntegerWorkDoesNotVanish) {
  const auto ops_with = [](int additions) {
    std::string body;
    for (int i = 0; i < additions; ++i) body += "xor.b32 %r1, %r1, %r2;\n";
    const auto s = scheduled(body);
    const auto code = at_lines(*s, {{0, kAdd, -1}, {static_cast<std::uint32_t>(additions), kExit, -1}});
    return vgpu::schedule(machine_with_latencies(), s->program, code).blocks[0][0].ops.size();
  };
  EXPECT_EQ(ops_with(7), 2u);
  EXPECT_EQ(ops_with(8), 9u);
}

// A division must count as many instructions as ptxas emits for it, whether the schedule follows the rules or machine
// code that calls a subroutine. A float division calls its subroutine only for unusual operand values, so its schedule
// must contain the path without the call.
constexpr std::uint16_t kCall = 0x144, kReciprocal = 0x108, kCheck = 0x102;

TEST(ScheduleByCode, DivisionsOfIntegersAreCounted) {
  const auto s = scheduled("div.u64 %rd1, %rd1, %rd2;\nst.global.u64 [%rd3], %rd1;\n");
  EXPECT_EQ(s->schedule.blocks[0][0].ops.size(), 70u);  // including a store and an exit
  const auto code = at_lines(*s, {{0, kMove, -1}, {0, kCall, -1}, {1, kStore, -1}, {2, kExit, -1}});
  EXPECT_EQ(vgpu::schedule(machine_with_latencies(), s->program, code).blocks[0][0].ops.size(), 72u);
  const auto half = scheduled("div.u32 %r1, %r1, %r2;\nst.global.u32 [%rd3], %r1;\n");
  EXPECT_EQ(half->schedule.blocks[0][0].ops.size(), 20u);
}

TEST(ScheduleByCode, DivisionsOfFloatsCallForOddOperands) {
  const auto f = scheduled("div.rn.f32 %f1, %f1, %f2;\nxor.b32 %r1, %r1, %r2;\nst.global.f32 [%rd3], %f1;\n");
  const auto code = at_lines(*f, {{0, kReciprocal, -1},
                                  {0, kCheck, -1},
                                  {0, kFma, -1},
                                  {0, kFma, -1},
                                  {0, kBranch, 8},
                                  {0, kMove, -1},
                                  {1, kAdd, -1},
                                  {0, kCall, -1},
                                  {2, kStore, -1},
                                  {3, kExit, -1}});
  EXPECT_EQ(f->text(vgpu::schedule(machine_with_latencies(), f->program, code).blocks[0][0]),
            "div div div div div xor st ret");
}

// Divisions that round towards zero, up or down always call a subroutine, not only for unusual operand values.
TEST(ScheduleByCode, DivisionsThatRoundOneWayAreSubroutines) {
  const auto ops_of = [](const std::string& division) {
    const auto s = scheduled(division + ";\n");
    const auto code = at_lines(*s, {{0, kMove, -1}, {0, kCall, -1}, {1, kExit, -1}});
    return vgpu::schedule(machine_with_latencies(), s->program, code).blocks[0][0].ops.size();
  };
  EXPECT_EQ(ops_of("div.rz.f32 %f1, %f1, %f2"), 3u + 34);
  EXPECT_EQ(ops_of("div.rp.f64 %fd1, %fd1, %fd2"), 3u + 46);
  EXPECT_EQ(ops_of("rcp.rm.f64 %fd1, %fd1"), 3u + 41);
  EXPECT_EQ(ops_of("sqrt.rz.f64 %fd1, %fd1"), 3u + 42);
}

// A division's code continues after its call, in a second part. That part is not taken for another copy of the basic
// block.
TEST(ScheduleByCode, WhatStandsBetweenDivisionsStays) {
  constexpr int kDivisions = 4, kBetween = 20;
  std::string body;
  std::vector<MachineOp> lines;
  std::uint32_t pc = 0;
  for (int i = 0; i < kDivisions; ++i) {
    for (int j = 0; j < kBetween; ++j) {
      body += "xor.b32 %r1, %r1, %r2;\n";
      lines.push_back({pc++, kAdd, -1});
    }
    body += "div.rn.f32 %f1, %f1, %f2;\n";
    lines.push_back({pc, kReciprocal, -1});
    lines.push_back({pc, kMove, -1});
    lines.push_back({pc, kBranch, static_cast<std::int32_t>(lines.size()) + 3});
    lines.push_back({pc, kMove, -1});
    lines.push_back({pc, kCall, -1});
    lines.push_back({pc++, kMove, -1});
  }
  lines.push_back({pc, kExit, -1});
  const auto s = scheduled(body);
  const auto schedule = vgpu::schedule(machine_with_latencies(), s->program, at_lines(*s, lines));
  const std::string text = s->text(schedule.blocks[0][0]);
  std::size_t found = 0;
  for (std::size_t at = text.find("xor"); at != std::string::npos; at = text.find("xor", at + 1)) ++found;
  EXPECT_EQ(found, static_cast<std::size_t>(kDivisions) * kBetween) << text;
}

// Code that does not match the PTX must still give schedules that the clock can run.
TEST(ScheduleByCode, AnyCodeGivesASoundSchedule) {
  const auto s = scheduled(std::string("bar.sync 0;\n") + kLoop + kGuards + "bar.sync 0;\n");
  const auto& instructions = s->program.function->instructions;
  Rng rng(1, "schedule");
  for (int round = 0; round < 2000; ++round) {
    std::vector<MachineOp> code(1 + rng.next() % 40);
    for (MachineOp& op : code) {
      const auto& in = instructions[rng.next() % instructions.size()];
      op.ptx_line =
          rng.next() % 8 == 0 ? static_cast<std::uint32_t>(rng.next()) : static_cast<std::uint32_t>(in.ptx_line);
      op.operation = static_cast<std::uint16_t>(rng.next() % 3 == 0    ? rng.next() % 512
                                                : in.ptx_line % 2 == 0 ? kLoad
                                                                       : kBranch);
      op.target = rng.next() % 3 == 0 ? static_cast<std::int32_t>(rng.next() % 50) - 4 : -1;
    }
    const auto schedule = vgpu::schedule(machine_with_latencies(), s->program, code);
    ASSERT_EQ(schedule.blocks.size(), s->program.blocks.size());
    for (std::size_t b = 0; b < schedule.blocks.size(); ++b) {
      ASSERT_FALSE(schedule.blocks[b].empty());
      ASSERT_EQ(schedule.blocks[b].back().copies, 1u);
      for (const Schedule& form : schedule.blocks[b]) {
        std::set<std::pair<int, int>> accesses;
        std::uint32_t barriers = 0, wanted = 0, wanted_accesses = 0;
        for (const TimedOp& op : form.ops) {
          ASSERT_LE(op.first_operand + op.result_count + op.source_count, form.operands.size());
          ASSERT_LT(op.pc, instructions.size());
          ASSERT_LT(op.part, form.copies * form.members);
          ASSERT_LE(form.copies * form.members, schedule.parts);
          const BasicBlock& own = s->program.blocks[b + op.part % form.members];
          ASSERT_LT(op.memory, static_cast<int>(own.memory.size()));
          if (op.memory >= 0) {
            ASSERT_TRUE(accesses.insert({op.memory, op.part}).second);
          }
          const bool access = op.kind == TimedKind::load || op.kind == TimedKind::store || op.kind == TimedKind::atomic;
          ASSERT_EQ(access, op.memory >= 0);
          barriers += op.kind == TimedKind::barrier;
        }
        const BasicBlock &block = s->program.blocks[b], &last = s->program.blocks[b + form.members - 1];
        for (std::uint32_t pc = block.first; pc < last.first + last.count; ++pc)
          wanted += ptx::info(instructions[pc].opcode).form == ptx::Form::barrier,
              wanted_accesses += is_memory(instructions[pc]);
        ASSERT_EQ(barriers, wanted * form.copies);
        ASSERT_EQ(accesses.size(), wanted_accesses * form.copies);
        for (const std::uint16_t slot : form.operands) ASSERT_LT(slot, schedule.slots);
        for (const auto& [to, from, joins] : form.renames) ASSERT_LT(std::max(to, from), schedule.slots);
      }
    }
  }
}

TEST(ScheduleByCode, FiveThousandInstructionsTakeNoTime) {
  std::string body;
  for (int i = 0; i < 5000; ++i)
    body +=
        i % 8 == 0 ? "ld.global.f32 %f1, [%rd1+" + std::to_string(4 * i) + "];\n" : "fma.rn.f32 %f2, %f1, %f1, %f2;\n";
  const auto s = scheduled(body);
  std::vector<MachineOp> code;
  for (const auto& in : s->program.function->instructions)
    code.push_back({static_cast<std::uint32_t>(in.ptx_line), is_memory(in) ? kLoad : kFma, -1});
  double best_ms = 1e9;
  for (int round = 0; round < 3; ++round) {
    const std::clock_t start = std::clock();
    const auto schedule = vgpu::schedule(machine_with_latencies(), s->program, code);
    best_ms = std::min(best_ms, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    ASSERT_EQ(schedule.blocks[0][0].ops.size(), 5001u);
  }
  EXPECT_LT(best_ms, 20);
}

}  // namespace
}  // namespace roofwalk::vgpu
