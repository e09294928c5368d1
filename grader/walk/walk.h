// The dots of a chapter on one device, oldest first: kept in the store, and drawn as a chart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/plot/plot.h"
#include "grader/attempt/attempt.h"
#include "grader/attempt/library_dot.h"
#include "grader/attempt/pipeline.h"
#include "grader/rig/rig.h"

namespace roofwalk {

struct StoredAttempt;  // common/store/stored_attempt.h

// One dot of the walk.
struct Dot {
  std::string label;  // "1", "2", ...; the file's stem if the file is not the learner's own
  LevelPoints points;
  Grade grade = Grade::none;
  bool is_modelled = true;  // whether its time or its bytes are modelled
  bool is_older = false;    // whether by another version of the model
};

std::vector<Dot> dots_of(const std::vector<StoredAttempt>& stored);

// The best dot: one of the present model, if there is one; of these, the highest grade, then the most FLOP/s; nullptr
// in an empty walk.
const Dot* best_dot(const std::vector<Dot>& dots);

// `level`: the memory level whose AI is on the axis. `goal_for`: the grade whose region is marked.
Chart walk_chart(const Rig& rig, const Chapter& chapter, const std::string& level, const Size& size, const Work& work,
                 const LevelPoints& starter, const std::vector<Dot>& dots, Grade goal_for);

// Adds the library's dot to a chart of one chapter, beside the walk.
void add_library(const Rig& rig, const LibraryDot& library, Chart& chart);

// One chapter's part of a chart of several chapters.
struct ChapterWalk {
  std::string name;
  std::vector<Dot> dots;
};

// One chart for chapters with the same work and roofs: the first chapter's starter, then the best dot of each chapter,
// labelled with its name. A chapter without a dot is left out.
Chart joint_chart(const Rig& rig, const Chapter& first, const std::string& level, const Size& size, const Work& work,
                  const LevelPoints& starter, const std::vector<ChapterWalk>& chapters);

// What changed in the walk when an attempt was recorded.
struct WalkNews {
  bool joined = false;                 // the attempt is a new dot of the walk
  bool is_beside = false;              // the attempt was measured, but does not join the walk
  bool unchanged = false;              // the attempt equals the last one
  std::optional<Movement> since_last;  // relative to the dot before this one, unless that is of another model version
  bool follows_older = false;          // whether the dot before this one is of another model version
  bool first_move = false;             // the walk's first dot that moved away from the starter
  std::optional<Chart> chart;          // the walk with this attempt's dot; nullopt if the attempt has none
  std::optional<LibraryDot> library;   // if it has been measured on this device
  std::string next_chapter;            // after a pass: the next chapter of the course; empty: none is left
  std::string record_trouble;          // why the attempt is not kept; empty if it is, or need not be
  std::string plot_trouble;            // the reason why there is no picture; empty if there is one, or nothing to
                                       // draw
};

// Stores the attempt and, at the same time, draws the walk with it. Sets attempt.plot. An attempt that does not join
// the walk is neither stored nor drawn to a file, but its chart is in the news. The stored record contains no
// prediction, because predictions are stored separately, as notes, and may change.
Result<WalkNews> record(const Rig& rig, const Chapter& chapter, Store& store, bool joins, Attempt& attempt);

// The starter's dot for a chart without an attempt: from the store, otherwise measured.
Result<LevelPoints> starter_of(const Rig& rig, const Chapter& chapter);

std::string utc_now();  // ISO 8601

}  // namespace roofwalk
