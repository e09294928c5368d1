// Work: what a run's budget is counted in. It follows what the host pays, and is made of counts alone, so a run that is
// past its budget is so on every machine, with any number of threads and on a busy computer too.
//
// A unit is what the host pays for a plain warp instruction: 3 to 15 ns. Instructions that cost more have a weight;
// what an access to memory costs beyond that depends on the lines that it touches and on the level that answers. The
// weights are what tests/bench/budget_bench and arithmetic_budget_bench show, rounded up. Where an instruction can be
// cheap or dear and nothing tells which, it counts as dear.
#pragma once

#include <cstdint>

#include "common/ptx/module.h"

namespace roofwalk::vgpu {

namespace work {

// Of each line that a request touches at L1, that is asked of L2, and that is kept of stores until a round ends.
inline constexpr std::uint64_t kL1Line = 1, kL2Line = 8, kStoredLine = 12;
// Of each lane that the sanitizer looks at in shared memory, where it has to look at lanes.
inline constexpr std::uint64_t kCheckedLane = 8;
// Of a block, each of its warps, and bytes of its shared memory.
inline constexpr std::uint64_t kBlock = 32, kWarp = 4, kSharedBytes = 128, kSanitizedSharedBytes = 32;
// Of a launch: itself, each operation of its code, bytes of L1 of the machine, bytes of its warps' registers and local
// memory.
inline constexpr std::uint64_t kLaunch = 2000, kOperation = 20, kL1Bytes = 1024, kHeldBytes = 32;
// Of each instruction that is traced, and of each operation that the clock's model issues for it: some are many.
inline constexpr std::uint64_t kReplayed = 3, kModelled = 12;
// So many operations may be issued for a launch, however little is left of the budget: a kernel whose run was nearly
// all of it has a time too.
inline constexpr std::uint64_t kLeastModelled = 50'000'000;
// Of lanes that stand in front of a barrier, and of who looks for them. Of who looks for a way back to them: of each
// basic block on it, and of so many blocks of the code.
inline constexpr std::uint64_t kStanding = 16, kSoughtBlock = 4, kSeenBits = 512;
// Of each instruction of PTX and of the machine that is put in the order of the clock, once in a plan.
inline constexpr std::uint64_t kOrdered = 100;
// Of each line that a memset or a copy moves.
inline constexpr std::uint64_t kMovedLine = 8;
// Of each thread that prints.
inline constexpr std::uint64_t kPrint = 150;

}  // namespace work

}  // namespace roofwalk::vgpu
