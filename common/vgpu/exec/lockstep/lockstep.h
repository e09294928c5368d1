// Lockstep code: what a warp runs while all its 32 lanes run together, which is nearly always. Registers whose lanes
// follow from lane 0 (affine.h) are then one number: their arithmetic works on lane 0 alone, their addresses are known
// from it. It has the same basic blocks and makes the same counts, traces and results as Program::ops, to the bit;
// tests run both.
//
// A warp starts in lockstep if it is whole. Where it comes apart (a branch that only some lanes take, some lanes leave,
// a 32-bit index that wraps around in some lane before it is widened), the lanes that were not kept are filled in and
// it goes on with Program::ops. Where its lanes meet again it comes back, if its registers are what lockstep code takes
// them for. Warps that keep coming apart are left alone, for this costs more than it gains.
#pragma once

#include <functional>
#include <span>

#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

inline const Op* first_op_of(const Program& program, bool lockstep, std::uint32_t block) {
  return lockstep ? &program.lockstep.ops[program.lockstep.first_op[block]]
                  : &program.ops[program.blocks[block].first_op];
}

// A warp that came apart this often, each time within kSoon instructions, stays apart until its block ends.
inline constexpr std::uint8_t kMostPartings = 4;
inline constexpr std::uint64_t kSoon = 200;

// Fills the registers' lanes; from here on the warp runs Program::ops.
void come_apart(const Launch& launch, Warp& warp, const std::vector<LockstepRegister>& registers);
// Whether a warp whose lanes have met before a basic block goes on in lockstep.
bool come_together(const Launch& launch, Warp& warp, std::uint32_t block);

// lockstep_ops.cpp. Fills the lanes of s[0] from lane 0.
Handler fill_handler(std::uint32_t bytes, std::uint32_t steps);
// Whether s[1], 32 bits, wraps around in no lane as a signed or unsigned number; else the warp comes apart here
// (`offset`: which of at_checks) and goes on at Program::ops[target].
Handler check_handler(bool is_signed);
// Whether each eight lanes load a sector of their own, of `bytes` a lane side by side, where lane 0's begins with one.
bool has_whole_sectors(const Steps& steps, std::uint64_t bytes);
// Loads and stores whose address is one number, as memory_ops.cpp's. A load of one address for all lanes fills lane 0
// only, unless `all_lanes`. nullptr: there is none.
Handler lockstep_load_handler(const ptx::Instruction& instruction, int register_bytes, const Steps& steps,
                              bool all_lanes);
Handler lockstep_store_handler(const ptx::Instruction& instruction, int register_bytes);

// The address of lane 0.
inline std::uint64_t first_address(const Warp& warp, const Op* op) {
  const auto offset = static_cast<std::uint64_t>(op->offset);
  if (op->s[4] == kNoSlot) return offset;
  return op->count == 8 ? *warp.lanes<std::uint64_t>(op->s[4]) + offset
                        : static_cast<std::uint32_t>(*warp.lanes<std::uint32_t>(op->s[4]) + offset);
}
// Whether a load or store of shared memory is as nearly all are: of the whole warp, inside, aligned, its turns known.
inline bool is_usual_in_shared(const Launch& launch, const Warp& warp, const Op* op, const Steps& steps,
                               std::uint64_t first, std::uint32_t bytes) {
  const std::uint64_t low = first + static_cast<std::uint64_t>(steps.low);
  const std::uint64_t high = first + static_cast<std::uint64_t>(steps.high);
  const std::uint64_t extent = launch.program.shared_bytes;
  return warp.mask == kAllLanes && low <= first && high >= first && high < extent && bytes <= extent - high &&
         ((first | steps.bits) & (bytes - 1)) == 0 && bytes >= 4 && launch.shared_memos[op->pc].steps_known;
}

// fusion.cpp. Operations of lockstep code that one handler does at once, which saves choosing a handler for each and
// bringing registers to memory and back in between. The first one's `run` becomes that handler; all of them stay as
// they are, for when something is unusual. `any_live_after`: whether somebody may yet read what one of these registers
// holds after an instruction of the block.
using AnyLiveAfter = std::function<bool(std::uint32_t pc, std::span<const int> registers)>;
void fuse(std::span<Op> block, LockstepCode& code, const AnyLiveAfter& any_live_after);

}  // namespace roofwalk::vgpu
