// Lockstep code runs while all 32 lanes of a warp are active together, which is nearly always. A register whose lanes
// follow from lane 0 (affine.h) is kept as one number: arithmetic on it runs on lane 0 only, and addresses are
// computed from it. Lockstep code has the same basic blocks as Program::ops and gives bit-identical counts, traces
// and results; tests run both.
//
// A full warp starts in lockstep. When it diverges (some lanes take a branch or exit, or a 32-bit index wraps around
// in some lane before it is widened), the lanes that were not stored are filled in, and the warp continues with
// Program::ops. When its lanes reconverge, it returns to lockstep if its registers have the shapes that lockstep code
// assumes. Warps that keep diverging stay out of lockstep, because switching costs more than it gains.
#pragma once

#include <functional>
#include <span>

#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

inline const Op* first_op_of(const Program& program, bool lockstep, std::uint32_t block) {
  return lockstep ? &program.lockstep.ops[program.lockstep.first_op[block]]
                  : &program.ops[program.blocks[block].first_op];
}

// After this many switches to lockstep that failed or lasted less than kSoon instructions, a warp stays out of lockstep
// until its block ends.
inline constexpr std::uint8_t kMostPartings = 4;
inline constexpr std::uint64_t kSoon = 200;

// Fills in the registers' lanes; from here on the warp runs Program::ops.
void come_apart(const Launch& launch, Warp& warp, const std::vector<LockstepRegister>& registers);
// Puts a warp whose lanes have reconverged in front of a basic block back into lockstep; false if that is impossible.
bool come_together(const Launch& launch, Warp& warp, std::uint32_t block);

// The handlers below are in lockstep_ops.cpp. This one fills in the lanes of s[0] from lane 0.
Handler fill_handler(std::uint32_t bytes, std::uint32_t offsets);
// Checks that no lane of s[1], a 32-bit signed or unsigned number, wraps around. If one does, the warp leaves
// lockstep (`offset`: index in at_checks) and continues at Program::ops[target].
Handler check_handler(bool is_signed);
// Like load_handler() and store_handler(), for addresses that are kept as one number. A load from a uniform address
// fills in only lane 0, unless `all_lanes` is set. nullptr: not supported.
Handler lockstep_load_handler(const Op& op, int register_bytes, const LaneOffsets& offsets, bool all_lanes);
Handler lockstep_store_handler(const ptx::Instruction& instruction, int register_bytes);

// Returns the address of lane 0.
inline std::uint64_t first_address(const Warp& warp, const Op* op) {
  const auto offset = static_cast<std::uint64_t>(op->offset);
  if (op->s[4] == kNoSlot) return offset;
  return op->count == 8 ? *warp.lanes<std::uint64_t>(op->s[4]) + offset
                        : static_cast<std::uint32_t>(*warp.lanes<std::uint32_t>(op->s[4]) + offset);
}
// Whether an access to shared memory qualifies for the fast path: whole warp, in bounds, aligned, wavefronts known.
inline bool is_usual_in_shared(const Launch& launch, const Warp& warp, const Op* op, const LaneOffsets& offsets,
                               std::uint64_t first, std::uint32_t bytes) {
  const std::uint64_t low = first + static_cast<std::uint64_t>(offsets.low);
  const std::uint64_t high = first + static_cast<std::uint64_t>(offsets.high);
  const std::uint64_t extent = launch.program.shared_bytes;
  return warp.mask == kAllLanes && low <= first && high >= first && high < extent && bytes <= extent - high &&
         ((first | offsets.bits) & (bytes - 1)) == 0 && bytes >= 4 && launch.shared_memos[op->pc].lockstep_known;
}

// In fusion.cpp. Fuses operations of lockstep code into one handler, which saves dispatch and keeps values in host
// registers. The first operation's `run` becomes that handler; the operations remain in place for cases that the
// handler does not cover. `any_live_after` tells whether any of `registers` may be read after the block's instruction
// `pc`.
using AnyLiveAfter = std::function<bool(std::uint32_t pc, std::span<const int> registers)>;
void fuse(std::span<Op> block, LockstepCode& code, const AnyLiveAfter& any_live_after);

}  // namespace roofwalk::vgpu
