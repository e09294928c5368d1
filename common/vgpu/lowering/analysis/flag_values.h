// Follows values that decide branches back to the instructions that make them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/ptx/module.h"

namespace roofwalk::vgpu {

// Whether an instruction only makes new values of its sources.
bool only_computes(const ptx::Instruction& in);

class FlagValues {
 public:
  explicit FlagValues(const ptx::Function& function);

  // Follows the values that an instruction reads: through moves, comparisons, integer arithmetic, exchanges in the warp
  // and the returns from functions, up to what comes from memory.
  void follow_sources(const ptx::Instruction& in);
  void follow_operand(const ptx::Operand& operand);
  void follow_guard(const ptx::Instruction& in);
  // Whether a value that was followed is a result of this instruction.
  bool come_from(const ptx::Instruction& in) const;
  // The instructions that write a register.
  const std::vector<std::uint32_t>& makers_of(int reg) const { return makers_[static_cast<std::size_t>(reg)]; }

 private:
  void want(int reg);
  void follow();
  void want_returned(const ptx::Instruction& load);

  const ptx::Function& function_;
  std::vector<std::vector<std::uint32_t>> makers_;  // by register: the instructions that write it
  std::vector<bool> wanted_;                        // by register
  std::vector<int> ahead_;                          // wanted registers whose makers are still to be visited
  std::set<std::string> returned_;                  // variables that receive the results of calls
  bool returned_wanted_ = false;
};

}  // namespace roofwalk::vgpu
