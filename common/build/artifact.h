// The result of compiling a learner's file: PTX for every device, and resources to compute occupancy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace roofwalk {

// One machine instruction of ptxas' code for a kernel and the functions that it calls.
struct MachineInstruction {
  std::uint32_t ptx_line = 0;       // the PTX line that it implements; 0 unknown
  std::uint16_t operation = 0;      // low nine bits of the encoding: the operation, without its operands
  std::uint8_t register_reads = 0;  // FFMA: registers that it reads and the instruction before has not; else 0
  std::uint8_t shared_bytes = 0;    // LDS, STS: bytes that each lane loads or stores; else 0
  bool counts_lanes = false;        // ATOMS.POPC.INC: adds the number of lanes that want a word, in one go
  std::int32_t target = -1;         // index of a branch's target in the kernel's code; -1 none or unknown
  bool operator==(const MachineInstruction&) const = default;
};

// The resources that ptxas assigned to one kernel, read from the cubin (not from the tool's text).
struct KernelResources {
  std::string name;  // mangled
  int registers_per_thread = 0;
  int static_shared_bytes = 0;
  int local_bytes_per_thread = 0;  // stack frame, including spills
  // In address order, followed by the code of called functions; empty if the cubin does not give PTX lines.
  std::vector<MachineInstruction> code;
};

struct Artifact {
  std::string source_path;  // the file's name as the learner knows it, for messages
  std::string source_name;  // the name that the compiler saw ("kernel.cu"): PTX `.file` lines end with it
  std::string source_text;
  std::string source_sha256;             // hex
  std::string arch;                      // "compute_80"
  std::string ptx;                       // text, from nvcc -ptx -rdc=true -lineinfo
  std::vector<KernelResources> kernels;  // in cubin order; without the plan entry `solve`
  // Whether SOLVE may call the device-wide algorithms of a library such as CUB, which ask for the machine and launch
  // kernels of their own. Not part of what is compiled: who runs the artifact sets it.
  bool may_call_libraries = false;
};

}  // namespace roofwalk
