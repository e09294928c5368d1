// The machine code that ptxas made of a kernel, and how it accesses shared memory: ptxas merges accesses at
// neighbouring addresses, so four loads of a word are one LDS.128.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/ptx/module.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// One machine instruction of ptxas' code for a kernel, in order.
struct MachineOp {
  std::uint32_t ptx_line = 0;       // line of the PTX instruction that it implements; 0: unknown
  std::uint16_t operation = 0;      // low nine bits of the encoding
  std::int32_t target = -1;         // branch: index of its target in the code; -1: none
  std::uint8_t register_reads = 0;  // FFMA: registers that it reads from the register file; else 0
  std::uint8_t shared_bytes = 0;    // LDS, STS: bytes per lane; else 0
  bool counts_lanes = false;        // ATOMS.POPC.INC: adds the number of lanes that want a word, in one go
};

// Finds the machine access of each PTX load, store and atomic of shared memory. Merged are accesses of one basic block
// whose addresses are constants apart and fill the machine access, and whose PTX lines have no narrower machine access.
// In a loop of one basic block, they may fill it in several iterations, if each iteration begins where the last one
// ended. An atomic counts lanes if all atomics on its line do.
SharedAccesses find_shared_accesses(const ptx::Function& function, std::span<const BasicBlock> blocks,
                                    std::span<const MachineOp> code);

}  // namespace roofwalk::vgpu
