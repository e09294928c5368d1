// What one compilation of a learner's file leaves behind: PTX for every device, resources for occupancy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace roofwalk {

// What ptxas gave one kernel, read from the cubin (not from the tool's text).
struct KernelResources {
  std::string name;  // mangled
  int registers_per_thread = 0;
  int static_shared_bytes = 0;
  int local_bytes_per_thread = 0;  // stack frame, spills included
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
