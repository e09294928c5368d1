// How functions pass values to each other in .param memory.
#pragma once

#include <set>
#include <string_view>

#include "common/ptx/module.h"

namespace roofwalk::vgpu {

// Whether an instruction calls a linked function and passes an argument or a result in memory (link.h): it then reads
// and writes .param variables.
bool passes_in_memory(const ptx::Instruction& in);

// Which loads of .param memory read parameters of the kernel itself, which nobody writes. Others read what a call
// passes.
class OwnParameters {
 public:
  explicit OwnParameters(const ptx::Function& kernel);
  bool has(const ptx::Instruction& load) const;

 private:
  std::set<std::string_view> names_;
};

}  // namespace roofwalk::vgpu
