// The size of a chapter's measured problem on a machine; an uneven size below it; the problem of a size.
#pragma once

#include <future>
#include <memory>

#include "common/exercise/chapter.h"
#include "common/specs/machine.h"
#include "grader/rig/phases.h"

namespace roofwalk {

// Whether a problem is large enough for figures at DRAM. Its compulsory bytes must be at least eight times the L2, so
// that L2 hits are negligible. The launch overhead must be at most 2.5 % of the time, which is that overhead plus the
// time of the compulsory bytes at DRAM. If the overhead is unknown (a GPU without a machine file), 3 us are assumed.
bool fills(const Work& work, const Machine& machine);

// The size for this machine: the manifest's, if the manifest names the machine. Otherwise, if a goal is a share of the
// DRAM roof: the default size, its largest extent halved until half of the size would no longer fill the machine, and
// further if the size does not fit into its memory, but never below the manifest's smallest size. If there is no such
// goal: the manifest's smallest size that fills the machine, or the default if none does; on a slice of a chip, the
// chip's size with so few results that each SM has about as many as on the chip.
Size measured_size(const Chapter& chapter, const Machine& machine);

// A large size that is a multiple of no block and no tile, as the measured one is of all: a kernel that leaves out
// tails and guards where the size is large is right there and wrong here. The seed decides. Each extent is the measured
// one less a quarter to a half of it, and odd; with half of the seeds, all of several extents are four times an odd
// number, so that rows are aligned for vectors of four.
//
// An extent changes only if it is at least 64 and free: those numbers above one that the manifest's correctness sizes
// have for it have no common divisor. A chapter whose n must be a multiple of four, or a power of two, keeps its
// measured size.
Size uneven_size(const Chapter& chapter, const Size& measured, std::uint64_t seed);

// A problem with its expected result. Several attempts may share that of the measured size.
struct Measured {
  Size size;
  Work work;
  Problem problem;
  std::shared_future<std::vector<Expected>> expected;  // computed in the background
};

std::shared_ptr<const Measured> prepare(const Chapter& chapter, const Size& size, std::uint64_t seed, int threads,
                                        Phases* phases = nullptr);
std::shared_ptr<const Measured> prepare(const Chapter& chapter, const Machine& machine, std::uint64_t seed, int threads,
                                        Phases* phases = nullptr);

}  // namespace roofwalk
