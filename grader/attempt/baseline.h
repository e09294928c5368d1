// The first dot of the walk: the starter, measured on the same device, at the same size and with the same seed as the
// attempt; in a chapter whose starter faults, the reference kernel in its place. The starter's dot is cached, and
// measured again only if something on which it depends has changed.
#pragma once

#include <optional>
#include <string>

#include "common/base/json_fwd.h"
#include "grader/attempt/verdict.h"
#include "grader/rig/rig.h"

namespace roofwalk {

struct Measured;  // grader/attempt/pipeline.h

// The starter's dot, and the origin of its bytes: a GPU's counted bytes and the virtual GPU's modelled ones are not
// comparable.
struct StarterDot {
  LevelPoints points;
  bool bytes_are_modelled = false;
  std::optional<double> sector_use = {};  // as Measurement::sector_use; nullopt if unknown
  GoalCounts counts = {};
};

StarterDot starter_dot_of(const Measurement& starter, bool bytes_are_modelled);

// A hash of everything on which the starter's dot depends: the chapter's folder, the kernel header, the machine, this
// program, the toolkit, the size, the seed, and whether a GPU's counters can be read.
std::string baseline_key(const Rig& rig, const Chapter& chapter, const Size& size, std::uint64_t seed);

// Builds and measures the starter. On a real GPU, waits for a turn, so the caller must not hold one already. Any
// failure is an Error, even one of the kernel, because the starter is the course's own file.
Result<StarterDot> measure_starter(const Rig& rig, const Chapter& chapter, const Problem& problem, const Work& work);

// Returns the dot that an earlier call stored under `key`; nullopt if there is no store, or no readable dot in it.
std::optional<StarterDot> kept_starter(const Rig& rig, const std::string& key);

// Stores the dot for later calls. Does nothing if there is no store, or if the GPU's counters could usually be read but
// not this time.
Status keep_starter(const Rig& rig, const std::string& key, const StarterDot& starter);

// Returns the stored dot. If there is none, measures the starter and stores its dot.
Result<StarterDot> baseline_of(const Rig& rig, const Chapter& chapter, const Measured& measured, std::uint64_t seed);

Json to_json(const StarterDot& starter);
std::optional<StarterDot> starter_from_json(const std::string& text);  // nullopt if the text is not a starter's dot

}  // namespace roofwalk
