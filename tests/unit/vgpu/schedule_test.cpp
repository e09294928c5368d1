// The order in which hardware runs basic blocks, on code whose order can be told by eye.
#include "common/vgpu/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace roofwalk::vgpu {
namespace {

Machine machine() {
  Machine m;
  m.alu_latency_cycles = 4;
  m.fp64_latency_cycles = 5;
  m.special_latency_cycles = 18;
  m.tensor_latency_cycles = 25;
  m.shuffle_latency_cycles = 23;
  return m;
}

struct Scheduled {
  ptx::Module module;
  Program program;
  ProgramSchedule schedule;

  const ptx::Instruction& instruction(const TimedOp& op) const { return program.function->instructions[op.pc]; }
  // The mnemonics of a block in order: "ld ld add st".
  std::string text(const Schedule& s) const {
    std::string out;
    for (const TimedOp& op : s.ops) {
      out += (out.empty() ? "" : " ") + std::string(ptx::info(instruction(op).opcode).mnemonic);
    }
    return out;
  }
};

std::unique_ptr<Scheduled> scheduled(const std::string& body) {
  auto out = std::make_unique<Scheduled>();
  auto module = ptx::parse(
      ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{\n"
      ".reg .f32 %f<19>;\n.reg .b64 %rd<19>;\n.reg .b32 %r<19>;\n.reg .pred %p<9>;\n" +
          body + "ret;\n}\n",
      "kernel.cu");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  out->module = std::move(*module);
  const std::vector<std::uint8_t> arguments(16);
  auto program = lower({.module = &out->module,
                        .function = &out->module.functions[0],
                        .grid = {1, 1, 1},
                        .block = {32, 1, 1},
                        .dynamic_shared_bytes = 0,
                        .arguments = arguments,
                        .address_of = [](const std::string&) { return std::uint64_t{0}; }});
  EXPECT_TRUE(program.ok()) << (program ? "" : program.error().text());
  out->program = std::move(*program);
  out->schedule = schedule(machine(), out->program, 255);
  return out;
}

TEST(Schedule, ParametersAndMovesVanish) {
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

}  // namespace
}  // namespace roofwalk::vgpu
