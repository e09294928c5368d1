// Where the walk begins: the starter, measured on the same device, size and seed as the attempt. Kept by content, so
// that it is measured again only when something that it depends on has changed.
#pragma once

#include <optional>
#include <string>

#include "common/base/json_fwd.h"
#include "grader/attempt/verdict.h"
#include "grader/rig/bench.h"

namespace roofwalk {

struct Measured;  // grader/attempt/pipeline.h

// The starter's dot, and whose bytes it has: a card's and the virtual GPU's are not to be compared.
struct StarterDot {
  LevelPoints points;
  bool bytes_are_modelled = false;
};

// A hash of all that the starter's dot depends on: the chapter's folder, the kernel header, the machine, this program,
// the toolkit, the size, the seed, and whether a card's counters may be read.
std::string baseline_key(const Bench& bench, const Chapter& chapter, const Size& size, std::uint64_t seed);

// Builds and measures the starter; waits for its turn on a real GPU, so nobody may call it who has one. Errors: it is
// the course's own file, so any trouble is the harness's.
Result<StarterDot> measure_starter(const Bench& bench, const Chapter& chapter, const Problem& problem,
                                   const Work& work);

// From an earlier call, by the key; nothing without a store, and where it holds none that can be read.
std::optional<StarterDot> kept_starter(const Bench& bench, const std::string& key);

// For later calls, where there is a store. Not where counting failed this time only.
Status keep_starter(const Bench& bench, const std::string& key, const StarterDot& starter);

// The one that is kept, else measured now, and kept.
Result<StarterDot> baseline_of(const Bench& bench, const Chapter& chapter, const Measured& measured,
                               std::uint64_t seed);

Json to_json(const StarterDot& starter);
std::optional<StarterDot> starter_from_json(const std::string& text);  // nothing where the text is not such

}  // namespace roofwalk
