// Work: the unit of a run's budget. It approximates host time but is computed from counts alone, so whether a run
// exceeds its budget does not depend on the machine, the number of threads or the load of the computer. The exception
// is kSubnormal.
//
// One unit is the host time of a plain warp instruction: 3 to 15 ns. More expensive instructions weigh more, and a
// memory access also pays for the lines that it touches and the levels that serve it. The weights are results of
// tests/bench/budget_bench and arithmetic_budget_bench, rounded up. An instruction whose cost cannot be predicted is
// charged its highest cost.
#pragma once

#include <cstdint>

#include "common/ptx/module.h"

namespace roofwalk::vgpu {

namespace work {

// Per line: touched at L1; requested from L2; held in the store log until the round ends.
inline constexpr std::uint64_t kL1Line = 1, kL2Line = 8, kStoredLine = 12;
// Per pass of a load of constant memory.
inline constexpr std::uint64_t kConstantPass = 3;
// Per lane of a shared memory access that the sanitizer checks lane by lane; per further word that such a lane
// accesses, unless it is obvious that the word's earlier accesses are ordered before it.
inline constexpr std::uint64_t kCheckedLane = 8, kCheckedWord = 3;
// Per lane and word of a pattern that the sanitizer makes of an access (touch_patterns.h), once per launch.
inline constexpr std::uint64_t kPatternTouch = 4;
// The sanitizer's vector clocks: per join by a fence or lock; per row of lane times that is joined or copied; per lane,
// if only some lanes of a warp synchronize.
inline constexpr std::uint64_t kJoined = 4, kJoinedRow = 1, kMetLane = 1;
// Per operation of a warp while it holds values that nobody has written (exec/follow_unset.h); per instruction with
// such a value among its operands, and if that is a matrix product.
inline constexpr std::uint64_t kFollowed = 16, kMarked = 200, kMarkedProduct = 1000;
// Per round of the grid, even if a single warp has a turn; number of working SMs per unit.
inline constexpr std::uint64_t kRound = 6, kRoundSms = 16;
// Per block; per warp of a block; per warp and register that it may read unwritten. Bytes of shared memory per unit:
// plain and sanitized.
inline constexpr std::uint64_t kBlock = 32, kWarp = 4, kUnwritten = 2, kSharedBytes = 128, kSanitizedSharedBytes = 32;
// Per launch; per operation, variable and register of the launch's code. Bytes per unit: of the machine's L1; of the
// registers and local memory of the resident warps.
inline constexpr std::uint64_t kLaunch = 2000, kOperation = 20, kVariable = 20, kRegister = 1, kL1Bytes = 1024,
                               kHeldBytes = 32;
// Per traced instruction; per operation that the timing model issues (one instruction may become many operations).
inline constexpr std::uint64_t kReplayed = 3, kModelled = 12;
// The timing model may issue this many operations per launch even if less budget is left, so that there is a time even
// for a kernel that used up nearly all of the budget.
inline constexpr std::uint64_t kLeastModelled = 50'000'000;
// Each time that lanes of a warp stop in front of a barrier, or that a warp-wide exchange checks for such lanes.
inline constexpr std::uint64_t kStanding = 16;
// For repeats_before(): per basic block that it visits; and number of basic blocks per unit, for clearing its set of
// visited blocks.
inline constexpr std::uint64_t kSoughtBlock = 4, kSeenBits = 512;
// Per PTX and machine instruction that is scheduled for the timing model, once per plan.
inline constexpr std::uint64_t kOrdered = 250;
// Per line moved by a memset or a copy.
inline constexpr std::uint64_t kMovedLine = 8;
// Per unit of an SM's turn in which the host met subnormal floats, also in lanes that are not active. The only charge
// that depends on the host. Less than the real cost, because an honest kernel may leave such values in inactive lanes.
inline constexpr std::uint64_t kSubnormal = 3;
// Bytes that a recursive call saves, per unit.
inline constexpr std::uint64_t kSavedBytes = 16;
// Per thread that prints; per byte of its format, texts and output; per argument that it converts.
inline constexpr std::uint64_t kPrint = 150, kPrintedByte = 1, kPrintedArgument = 60;
// Per lookup of a word or sector of global memory among the stores of a block; per word of a lane's access to a flag.
inline constexpr std::uint64_t kTracedWord = 4, kFlagWords = 1;

}  // namespace work

}  // namespace roofwalk::vgpu
