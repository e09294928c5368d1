// A module of a program: its PTX, and what ptxas makes of it for the chip.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/build/artifact.h"
#include "common/build/build.h"
#include "common/ptx/module.h"
#include "common/specs/machine.h"
#include "common/vgpu/program/machine_code.h"

namespace roofwalk::cudart {

struct ModuleCode {
  ptx::Module module;
  std::vector<KernelResources> resources;                    // by ptxas
  std::map<std::string, std::vector<vgpu::MachineOp>> code;  // the same of machine code, by kernel
  std::uint64_t hash = 0;                                    // of the instructions: chooses the sampled blocks
};

// Parses the PTX and assembles it for the machine's chip; machine code is kept in `cache`. Several texts, at least one,
// are those of files that are linked (-rdc=true). Errors: PTX that is none, or that ptxas refuses; files that cannot be
// linked.
Result<ModuleCode> load_module_code(const Toolkit& toolkit, const Machine& machine, const std::filesystem::path& cache,
                                    const std::vector<std::string>& texts);

// The source file that most instructions of a kernel come from, counted where they are inlined; empty without line
// tables.
std::string source_of(const ptx::Module& module, const ptx::Function& kernel);

}  // namespace roofwalk::cudart
