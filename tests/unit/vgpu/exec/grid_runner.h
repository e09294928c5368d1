// Runs PTX bodies directly on the grid, without a device, for tests of traces and of host threads.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/ptx/module.h"
#include "common/vgpu/exec/grid.h"
#include "common/vgpu/lowering/lower.h"

namespace roofwalk::vgpu::test {

// A kernel k(a, b) of PTX instructions. %rd1 and %rd2 are the addresses of its two buffers, %r1 is the thread's index
// in its block, %r2 the block's index, and %r11 the start of shared memory.
struct Kernel {
  std::string body;
  Dim3 grid{1, 1, 1}, block{32, 1, 1};
  std::size_t words = 1024;  // 32-bit words of each buffer
  bool sanitized = false;    // a fault is then a result, not a test failure
  int block_cycles = 0;      // latency of each basic block
};

struct GridRun {
  GridTrace trace;
  std::vector<std::uint32_t> a, b;
  std::vector<InstructionCounters> sites;
  std::vector<InstructionTraffic> traffic;
  std::vector<BasicBlock> blocks;
  std::optional<Fault> fault;
};

inline Machine small_machine() {
  Machine machine;
  machine.sms = 2;
  machine.l1_bytes = machine.l1_shared_bytes = 4096;
  machine.l1_ways = 4;
  machine.l2_bytes = 16384;
  machine.l2_ways = 4;
  return machine;
}

inline GridRun run(const Kernel& kernel, const TraceLimits& traces = {}, int blocks_per_sm = 2) {
  const auto module = ptx::parse(
      ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b)\n{\n.reg .pred "
      "%p<9>;\n.reg .b32 %r<19>;\n.reg .f32 %f<19>;\n.reg .b64 %rd<19>;\n.shared .align 16 .b8 s[8192];\n.local .align "
      "16 .b8 l[64];\n"
      "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r11, "
      "s;\n" +
          kernel.body + "ret;\n}\n",
      "kernel.cu");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  const Machine machine = small_machine();
  Memory memory(1 << 24);
  const int ids[] = {*memory.allocate("a", kernel.words * 4, 4, Memory::Region::buffers),
                     *memory.allocate("b", kernel.words * 4, 4, Memory::Region::buffers)};
  std::vector<std::uint8_t> arguments(16);
  for (int i = 0; i < 2; ++i) std::memcpy(&arguments[i * 8], &memory.buffer(ids[i]).address, 8);
  auto program = lower({.module = &*module,
                        .function = &module->functions[0],
                        .grid = kernel.grid,
                        .block = kernel.block,
                        .dynamic_shared_bytes = 0,
                        .arguments = arguments,
                        .address_of = [](const std::string&) { return std::uint64_t{0}; }});
  EXPECT_TRUE(program.ok()) << (program ? "" : program.error().text());
  program->rests.resize(program->function->instructions.size());
  for (std::size_t b = 0; b < program->blocks.size(); ++b) {
    program->ops[program->blocks[b].first_op].offset = kernel.block_cycles;
    if (!program->lockstep.ops.empty())
      program->lockstep.ops[program->lockstep.first_op[b]].offset = kernel.block_cycles;
    const BasicBlock& block = program->blocks[b];
    for (std::uint32_t i = 0; i < block.count; ++i)
      program->rests[block.first + i] =
          static_cast<std::uint32_t>(kernel.block_cycles) * (block.count - i) / block.count;
  }
  L2Cache l2(machine.l2_bytes, machine.l2_ways);
  GridRun out;
  out.traffic.resize(program->function->instructions.size());
  std::vector<Multiprocessor> sms;
  for (int i = 0; i < machine.sms; ++i) sms.emplace_back(machine, machine.l1_bytes).index = i;
  Launch launch(machine, *program, memory, l2, out.traffic, 0);
  RunLimits limits{100'000'000, 10, traces};
  limits.sanitize = kernel.sanitized;
  out.trace = run_grid(launch, {kernel.grid, kernel.block, blocks_per_sm}, sms, limits);
  EXPECT_TRUE(!launch.fault || kernel.sanitized) << launch.fault->message;
  out.fault = launch.fault;
  out.sites = launch.sites;
  out.blocks = program->blocks;
  for (auto [id, words] : {std::pair{ids[0], &out.a}, std::pair{ids[1], &out.b}}) {
    words->resize(kernel.words);
    std::memcpy(words->data(), memory.buffer(id).data, kernel.words * 4);
  }
  return out;
}

}  // namespace roofwalk::vgpu::test
