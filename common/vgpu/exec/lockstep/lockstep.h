// Lockstep code: what a warp runs while all its 32 lanes run together, which is nearly always. Registers whose lanes
// follow from lane 0 (affine.h) are one number: arithmetic on them runs on lane 0 alone, and addresses follow from it.
// It has the same basic blocks and gives the same counts, traces and results as Program::ops, to the bit; tests run
// both.
//
// A full warp starts in lockstep. Where it diverges (a branch that only some lanes take, an exit of some lanes, a
// 32-bit index that wraps around in some lane before it is widened), the lanes that were not kept are filled in, and it
// goes on with Program::ops. Where its lanes reconverge it returns to lockstep, if its registers have the shapes that
// lockstep code assumes. Warps that keep diverging stay out of lockstep, as switching costs more than it gains.
#pragma once

#include <functional>
#include <span>

#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

inline const Op* first_op_of(const Program& program, bool lockstep, std::uint32_t block) {
  return lockstep ? &program.lockstep.ops[program.lockstep.first_op[block]]
                  : &program.ops[program.blocks[block].first_op];
}

// A warp that diverges this often, each time within kSoon instructions, stays out of lockstep until its block ends.
inline constexpr std::uint8_t kMostPartings = 4;
inline constexpr std::uint64_t kSoon = 200;

// Fills in the registers' lanes; from here on the warp runs Program::ops.
void come_apart(const Launch& launch, Warp& warp, const std::vector<LockstepRegister>& registers);
// Whether a warp whose lanes have reconverged before a basic block goes on in lockstep.
bool come_together(const Launch& launch, Warp& warp, std::uint32_t block);

// lockstep_ops.cpp. Fills in the lanes of s[0] from lane 0.
Handler fill_handler(std::uint32_t bytes, std::uint32_t steps);
// Checks that no lane of s[1], a 32-bit signed or unsigned number, wraps around; else the warp leaves lockstep here
// (`offset`: index in at_checks) and goes on at Program::ops[target].
Handler check_handler(bool is_signed);
// As memory_ops.cpp's, for addresses that are one number. A load from a uniform address fills only lane 0, unless
// `all_lanes`. nullptr: not supported.
Handler lockstep_load_handler(const ptx::Instruction& instruction, int register_bytes, const LaneOffsets& steps,
                              bool all_lanes);
Handler lockstep_store_handler(const ptx::Instruction& instruction, int register_bytes);

// The address of lane 0.
inline std::uint64_t first_address(const Warp& warp, const Op* op) {
  const auto offset = static_cast<std::uint64_t>(op->offset);
  if (op->s[4] == kNoSlot) return offset;
  return op->count == 8 ? *warp.lanes<std::uint64_t>(op->s[4]) + offset
                        : static_cast<std::uint32_t>(*warp.lanes<std::uint32_t>(op->s[4]) + offset);
}
// Whether an access to shared memory is of the usual kind: whole warp, in bounds, aligned, wavefronts known.
inline bool is_usual_in_shared(const Launch& launch, const Warp& warp, const Op* op, const LaneOffsets& steps,
                               std::uint64_t first, std::uint32_t bytes) {
  const std::uint64_t low = first + static_cast<std::uint64_t>(steps.low);
  const std::uint64_t high = first + static_cast<std::uint64_t>(steps.high);
  const std::uint64_t extent = launch.program.shared_bytes;
  return warp.mask == kAllLanes && low <= first && high >= first && high < extent && bytes <= extent - high &&
         ((first | steps.bits) & (bytes - 1)) == 0 && bytes >= 4 && launch.shared_memos[op->pc].steps_known;
}

// fusion.cpp. Fuses operations of lockstep code into one handler, which saves dispatch and keeps values in host
// registers. The first operation's `run` becomes that handler; all operations stay as they are, for unusual cases.
// `any_live_after`: whether one of these registers may still be read after an instruction of the block.
using AnyLiveAfter = std::function<bool(std::uint32_t pc, std::span<const int> registers)>;
void fuse(std::span<Op> block, LockstepCode& code, const AnyLiveAfter& any_live_after);

}  // namespace roofwalk::vgpu
