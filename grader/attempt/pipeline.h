// Takes a learner's file through all steps to a judged attempt. No other file knows all of these steps.
#pragma once

#include <memory>

#include "grader/attempt/attempt.h"
#include "grader/attempt/baseline.h"
#include "grader/attempt/measured_size.h"
#include "grader/rig/rig.h"

namespace roofwalk {

inline constexpr std::uint64_t kPublicSeed = 1;  // fixed, so that `run` shows the same figures each time

// Cases for grading a class, in addition to the chapter's own. No attempt reveals their sizes, seeds or values.
struct HiddenCases {
  std::vector<Size> sizes;           // in addition to the chapter's small sizes
  std::vector<std::uint64_t> seeds;  // each runs with every size; the measured shape uses the first
  bool empty() const { return sizes.empty() && seeds.empty(); }
};

struct Request {
  const Chapter* chapter = nullptr;
  std::filesystem::path file;
  std::uint64_t seed = kPublicSeed;
  std::shared_ptr<const Measured> measured = {};  // empty: prepared for this attempt
  std::optional<StarterDot> starter = {};         // empty: stored or measured
  HiddenCases hidden = {};
  // Whether the run of the measured shape is sanitized, on the virtual GPU, after another sanitized run that collects
  // no figures, and one at an uneven size. Takes longer, and gives the same figures.
  bool sanitizes_measured = false;
  // Whether runs are limited by counted work only, never by wall time, so that a busy or slow machine gives the same
  // verdict.
  bool ignores_clock = false;
  // Whether SOLVE may call a library that launches kernels of its own: only the course's library.cu may.
  bool may_call_libraries = false;
};

// The seed of the measured shape.
std::uint64_t measured_seed(const Request& request);

// Judges a learner's file. A learner's mistake gives a verdict, never an Error. The result does not depend on the
// number of threads.
Result<Attempt> run_attempt(const Rig& rig, const Request& request);

// The memory level against whose bytes a chapter's walk is drawn: that of the chapter's first goal with Axis::right or,
// if there is none, of its first goal; "dram" without goals.
std::string walk_level(const Chapter& chapter);

// Returns why this machine cannot run the chapter; nullopt if it can.
std::optional<std::string> not_offered(const Chapter& chapter, const Machine& machine);

}  // namespace roofwalk
