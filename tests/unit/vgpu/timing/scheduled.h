// Schedules of small kernels.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/vgpu/lowering/lower.h"
#include "common/vgpu/timing/instruction_schedule.h"

namespace roofwalk::vgpu {

inline Machine machine_with_latencies() {
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
  // Returns the mnemonics of a schedule in order, such as "ld ld add st".
  std::string text(const Schedule& s) const {
    std::string out;
    for (const TimedOp& op : s.ops) {
      out += (out.empty() ? "" : " ") + std::string(ptx::info(instruction(op).opcode).mnemonic);
    }
    return out;
  }
};

// The schedules, by our own rules, of a kernel with this body.
inline std::unique_ptr<Scheduled> scheduled(const std::string& body) {
  auto out = std::make_unique<Scheduled>();
  auto module = ptx::parse(
      ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{\n"
      ".reg .f32 %f<19>;\n.reg .f64 %fd<19>;\n.reg .b64 %rd<19>;\n.reg .b32 %r<19>;\n.reg .pred %p<9>;\n" +
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
  out->schedule = schedule(machine_with_latencies(), out->program);
  return out;
}

}  // namespace roofwalk::vgpu
