// The one place that knows the whole chain from a learner's file to a judged attempt.
#pragma once

#include <future>
#include <memory>

#include "grader/attempt/attempt.h"
#include "grader/attempt/baseline.h"
#include "grader/rig/bench.h"

namespace roofwalk {

inline constexpr std::uint64_t kPublicSeed = 1;  // fixed, so that `run` shows the same figures each time

// The measured shape's problem and what it should come to. One may serve several attempts.
struct Measured {
  Size size;
  Work work;
  Problem problem;
  std::shared_future<std::vector<Expected>> expected;  // computed in the background
};

// Cases beyond the chapter's own that a class is graded on. Nothing of an attempt tells their sizes, seeds or values.
struct HiddenCases {
  std::vector<Size> sizes;           // run beside the chapter's small ones
  std::vector<std::uint64_t> seeds;  // each with every size; the measured shape takes the first
  bool empty() const { return sizes.empty() && seeds.empty(); }
};

struct Request {
  const Chapter* chapter = nullptr;
  std::filesystem::path file;
  std::uint64_t seed = kPublicSeed;
  std::shared_ptr<const Measured> measured = {};  // made afresh where there is none
  std::optional<StarterDot> starter = {};         // the same
  HiddenCases hidden = {};
  // The measured shape is sanitized like the small ones, on the virtual GPU: slower, with the same figures.
  bool sanitizes_measured = false;
  // A run ends by counts alone, never by the clock: the verdict is the same on a machine that is busy or slow.
  bool ignores_clock = false;
};

// The seed of the measured shape.
std::uint64_t measured_seed(const Request& request);

// Whether the figures at DRAM mean what they say: the compulsory bytes are at least eight times the L2, so that what
// it keeps hardly shows, and the launch is at most 2.5 % of the time that a launch and those bytes at DRAM take.
bool fills(const Work& work, const Machine& machine);

// The size that the manifest names for this machine; for one that it does not name, the smallest of the manifest's that
// fills it, else the default.
Size measured_size(const Chapter& chapter, const Machine& machine);

std::shared_ptr<const Measured> prepare(const Chapter& chapter, const Machine& machine, std::uint64_t seed, int threads,
                                        Phases* phases = nullptr);

// Never an Error for what a learner did: that is a verdict. The result does not depend on the number of threads.
Result<Attempt> run_attempt(const Bench& bench, const Request& request);

// Whose axis a chapter's walk is drawn on: the level of its first goal to the right, else of its first goal.
std::string walk_level(const Chapter& chapter);

// Nothing where this machine can do the chapter, else why not.
std::optional<std::string> not_offered(const Chapter& chapter, const Machine& machine);

}  // namespace roofwalk
