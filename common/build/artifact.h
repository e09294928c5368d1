// What one compilation of a learner's file leaves behind: PTX for every device, resources for occupancy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace roofwalk {

// One instruction of the code that ptxas made of a kernel and of what it calls.
struct MachineInstruction {
  std::uint32_t ptx_line = 0;   // that it was made for; 0 unknown
  std::uint16_t operation = 0;  // the low nine bits of its encoding: what it does, whatever its operands
  std::int32_t target = -1;     // of a branch: place in the kernel's code; -1 none or unknown
  bool operator==(const MachineInstruction&) const = default;
};

// What ptxas gave one kernel, read from the cubin (not from the tool's text).
struct KernelResources {
  std::string name;  // mangled
  int registers_per_thread = 0;
  int static_shared_bytes = 0;
  int local_bytes_per_thread = 0;  // stack frame, spills included
  // In order, then that of the functions that it calls; empty where the cubin does not tell the PTX lines.
  std::vector<MachineInstruction> code;
};

struct Artifact {
  std::string source_path;  // as the learner knows the file; what messages print
  std::string source_name;  // as the compiler saw it ("kernel.cu"): how PTX `.file` lines end
  std::string source_text;
  std::string source_sha256;             // hex
  std::string arch;                      // "compute_80"
  std::string ptx;                       // text, nvcc -ptx -rdc=true -lineinfo
  std::vector<KernelResources> kernels;  // in cubin order; the plan entry `solve` is not among them
};

}  // namespace roofwalk
