// Where the walk begins: the starter, measured on the same device, size and seed as the attempt. Kept by content, so
// that it is measured again only when something that it depends on has changed.
#pragma once

#include <optional>
#include <string>

#include "common/base/json.h"
#include "grader/bench.h"

namespace roofwalk {

// A hash of all that the starter's dot depends on: the chapter's folder, the kernel header, the machine, this program,
// the toolkit, the size and the seed.
std::string baseline_key(const Bench& bench, const Chapter& chapter, const Size& size, std::uint64_t seed);

// Builds and measures the starter. Errors: it is the course's own file, so any trouble is the harness's.
Result<LevelPoints> measure_starter(const Bench& bench, const Chapter& chapter, const Problem& problem,
                                    const Work& work);

Json to_json(const LevelPoints& points);
std::optional<LevelPoints> level_points_from_json(const std::string& text);  // nothing where the text is not such

}  // namespace roofwalk
