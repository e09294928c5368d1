// Tests which scoreboard slots values are in: an operation must wait for all values that it needs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include "common/vgpu/program/instructions.h"
#include "tests/unit/vgpu/timing/scheduled.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::uint16_t kLoadOperation = 0x181, kStoreOperation = 0x186, kAddOperation = 0x010;  // LDG, STG, IADD3

// A value that passes through moves is ready when its origin is, however many moves there are.
TEST(Schedule, ValuesGoThroughAnyNumberOfMoves) {
  for (const int moves : {1, 63, 64, 65, 5000}) {
    std::string body = "ld.global.f32 %f1, [%rd1];\n";
    for (int i = 0; i < moves; ++i) body += i % 2 == 0 ? "mov.b32 %f2, %f1;\n" : "mov.b32 %f1, %f2;\n";
    body += std::string("st.global.f32 [%rd2], ") + (moves % 2 == 0 ? "%f1" : "%f2") + ";\n";
    const auto s = scheduled(body);
    const Schedule& block = s->schedule.blocks[0][0];
    ASSERT_EQ(s->text(block), "ld st ret");
    const auto sources = block.operands.begin() + block.ops[1].first_operand;
    EXPECT_THAT(std::vector(sources, sources + block.ops[1].source_count),
                testing::Contains(block.operands[block.ops[0].first_operand]))
        << moves;
  }
}

// A value merged from many sources has a bounded list of origins. Where the list would become too long, the schedule
// gets an operation that collects the origins so far. The store must still wait for all loads.
TEST(Schedule, ValuesMadeOfManyWaitForAll) {
  constexpr int kLoads = 200;
  std::string body;
  for (int i = 0; i < kLoads; ++i) {
    body += "ld.global.f32 %f1, [%rd1+" + std::to_string(4 * i) + "];\n@%p1 mov.b32 %f2, %f1;\n";
  }
  const auto s = scheduled(body + "st.global.f32 [%rd2], %f2;\n");
  std::vector<MachineOp> code;
  for (const auto& in : s->program.function->instructions) {
    if (is_memory(in)) code.push_back({static_cast<std::uint32_t>(in.ptx_line), kLoadOperation, -1});
  }
  const auto schedule = vgpu::schedule(machine_with_latencies(), s->program, code);
  const Schedule& block = schedule.blocks[0][0];
  // Follows the store's sources back to the loads.
  std::set<std::uint16_t> wanted;
  std::size_t loads = 0;
  for (std::size_t i = block.ops.size(); i-- > 0;) {
    const TimedOp& op = block.ops[i];
    const auto results = block.operands.begin() + op.first_operand;
    bool needed = op.kind == TimedKind::store;
    for (auto result = results; result != results + op.result_count; ++result)
      needed = wanted.erase(*result) > 0 || needed;
    if (!needed) continue;
    wanted.insert(results + op.result_count, results + op.result_count + op.source_count);
    loads += op.kind == TimedKind::load;
  }
  EXPECT_EQ(loads, kLoads);
}

// A register's value at the end of a basic block must wait for all of its parts, here the two halves that mov.b64
// packs.
TEST(Schedule, ARegisterOfSeveralValuesWaitsForTheLatest) {
  const auto s = scheduled(
      "ld.global.u32 %r1, [%rd1];\nld.shared.u32 %r2, [%r3];\nmov.b64 %rd2, {%r1, %r2};\n@%p1 bra END;\n"
      "st.global.u64 [%rd1], %rd2;\nEND:\n");
  const Schedule& block = s->schedule.blocks[0][0];
  ASSERT_EQ(s->text(block), "ld ld bra");
  std::map<std::uint16_t, std::set<std::uint16_t>> made_of;  // by slot: the result slots that it waits for
  for (const TimedOp& op : block.ops) {
    for (std::uint32_t i = 0; i < op.result_count; ++i) {
      const std::uint16_t slot = block.operands[op.first_operand + i];
      made_of[slot] = {block.operands[op.first_operand]};
    }
  }
  for (const Rename& rename : block.renames) {
    if (!rename.joins) made_of[rename.to].clear();
    made_of[rename.to].merge(std::set(made_of[rename.from]));
  }
  const auto loaded = [&](int op) { return block.operands[block.ops[op].first_operand]; };
  const Schedule& next = s->schedule.blocks[1][0];
  const TimedOp& store = next.ops[0];
  ASSERT_EQ(store.kind, TimedKind::store);
  std::set<std::uint16_t> waits_for;
  for (std::uint32_t i = 0; i < store.source_count; ++i)
    waits_for.merge(std::set(made_of[next.operands[store.first_operand + store.result_count + i]]));
  EXPECT_TRUE(waits_for.contains(loaded(0)));
  EXPECT_TRUE(waits_for.contains(loaded(1)));
}

// A delay line: in each iteration, every register takes the value of the register before it.
TEST(Schedule, ManyMovesAreQuickToPutInOrder) {
  static constexpr int kRegisters = 20'000;
  std::string body = ".reg .b32 %d<" + std::to_string(kRegisters + 1) + ">;\nL:\n";
  for (int i = kRegisters; i > 0; --i)
    body += "mov.b32 %d" + std::to_string(i) + ", %d" + std::to_string(i - 1) + ";\n";
  body += "mov.b32 %d0, %d" + std::to_string(kRegisters) + ";\n@%p1 bra L;\n";
  const std::clock_t start = std::clock();
  const auto s = scheduled(body);
  const double took_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_GE(s->schedule.blocks[0][0].renames.size(), 20'000u);
  EXPECT_LT(took_s, 5);  // would be minutes if each move searched all others
}

// Where fences times registers are too many to list what each fence waits for, the first fence of a block waits for
// everything in flight.
TEST(Schedule, FencesWaitForMoreThanCanBeListed) {
  static constexpr int kRegisters = 2'000;
  const auto with_fences = [](int fences) {
    std::string uses, body = fmt::format(".reg .b32 %z<{}>;\n", int{kRegisters});
    for (int i = 0; i < kRegisters; ++i) {
      body += fmt::format("ld.global.u32 %z{}, [%rd1];\n", i);
      uses += fmt::format("add.u32 %r1, %r1, %z{};\n", i);
    }
    for (int i = 0; i < fences; ++i) body += fmt::format("bra.uni L{0};\nL{0}:\nfence.acq_rel.cta;\n", i);
    return scheduled(body + uses);
  };
  const auto few = with_fences(2), many = with_fences(1'100);
  const Schedule &listed = few->schedule.blocks[1][0], &block = many->schedule.blocks[1][0];
  EXPECT_FALSE(listed.ops[0].waits_for_all);
  EXPECT_GE(listed.ops[0].source_count, kRegisters);
  EXPECT_TRUE(block.ops[0].waits_for_all);
  EXPECT_EQ(block.ops[0].source_count, 0);
  EXPECT_GE(block.slots, kRegisters);
}

// More values live at once than a scoreboard has slots.
TEST(Schedule, ValuesWithoutASlotShareOne) {
  constexpr int kValues = 60'500;
  std::string uses, body = fmt::format(".reg .b32 %z<{}>;\n", kValues);
  for (int i = 0; i < kValues; ++i) {
    body += fmt::format("ld.volatile.global.u32 %z{}, [%rd1];\n", i);
    uses += fmt::format("add.u32 %r1, %r1, %z{};\n", i);
  }
  const auto s = scheduled(body + uses);
  const Schedule& block = s->schedule.blocks[0][0];
  const auto value_of = [&](int op) { return block.operands[block.ops[static_cast<std::size_t>(op)].first_operand]; };
  EXPECT_GE(value_of(0), kFirstFreeSlot);
  EXPECT_EQ(value_of(kValues - 1), kOverflowSlot);
  EXPECT_EQ(value_of(kValues - 2), kOverflowSlot);
  EXPECT_LE(s->schedule.slots, 60'000u);
}

// A register that one of many branches may have written is read again and again. The origins of its values must be
// visited once per operation, not once per value.
TEST(Schedule, ValuesOfManyBranchesAreQuickToTell) {
  constexpr int kBranches = 250, kStores = 400;
  std::string body = "ld.global.f32 %f1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n";
  for (int i = 0; i < kBranches; ++i)
    body += "@%p1 bra L" + std::to_string(i) + ";\nmov.b32 %f1, %f2;\nL" + std::to_string(i) + ":\n";
  for (int i = 0; i < kStores; ++i) body += "st.global.f32 [%rd1+" + std::to_string(4 * i) + "], %f1;\n";
  const auto s = scheduled(body);
  std::vector<MachineOp> code;  // ptxas' code lacks the moves and branches
  for (const auto& in : s->program.function->instructions) {
    if (is_memory(in)) code.push_back({static_cast<std::uint32_t>(in.ptx_line), kLoadOperation, -1});
  }
  double best_ms = 1e9;
  for (int round = 0; round < 3; ++round) {
    const std::clock_t start = std::clock();
    const auto schedule = vgpu::schedule(machine_with_latencies(), s->program, code);
    best_ms = std::min(best_ms, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    ASSERT_EQ(schedule.blocks[0].front().members, 2u * kBranches + 1);
    ASSERT_EQ(schedule.blocks[0].front().ops.size(), 1u + kStores);
  }
  EXPECT_LT(best_ms, 500);
}

// Machine code whose store comes before the sums that it stores: it waits for what they are made of, or for everything
// if there are too many to find that.
TEST(Schedule, WhatComesTooEarlyWaitsForTheOriginsOfItsValue) {
  const auto store_before_sums = [](int sums) {
    std::string body = "ld.global.u32 %r1, [%rd1];\n";
    for (int i = 0; i < sums; ++i) body += "add.u32 %r1, %r1, %r2;\n";
    const auto s = scheduled(body + "st.global.u32 [%rd2], %r1;\n");
    const auto& instructions = s->program.function->instructions;
    std::vector<MachineOp> code;
    const auto add = [&](std::size_t pc, std::uint16_t operation) {
      code.push_back({static_cast<std::uint32_t>(instructions[pc].ptx_line), operation, -1});
    };
    const auto last = static_cast<std::size_t>(sums) + 1;
    add(0, kLoadOperation);
    add(last, kStoreOperation);
    for (std::size_t pc = 1; pc < last; ++pc) add(pc, kAddOperation);
    const Schedule block = schedule(machine_with_latencies(), s->program, code).blocks[0][0];
    EXPECT_EQ(block.ops[1].kind, TimedKind::store);
    return block;
  };
  const Schedule few = store_before_sums(10), many = store_before_sums(5'000);
  const auto sources = few.operands.begin() + few.ops[1].first_operand;
  EXPECT_THAT(std::vector(sources, sources + few.ops[1].source_count),
              testing::Contains(few.operands[few.ops[0].first_operand]));
  EXPECT_FALSE(few.ops[1].waits_for_all);
  EXPECT_TRUE(many.ops[1].waits_for_all);
}

}  // namespace
}  // namespace roofwalk::vgpu
