// A chapter read from its folder: exercise.toml and the paths of its files. Chapters are found by listing the folder;
// no list of them exists.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/base/result.h"
#include "common/exercise/exercise.h"
#include "common/roofline/work_unit.h"

namespace roofwalk {

// What a grade asks for; ratios.
struct Thresholds {
  std::optional<double> pass, ace;
};

// What a goal requires of the attempt's dot in the roofline plot. `pass` and `ace` are each optional, but one must be
// set.
struct Goal {
  enum class Axis { right, up };
  enum class What {
    ai_over_starter,
    ai_unlike_starter,  // the larger of the two AIs over the smaller: the same is best
    share_of_algorithmic_ai,
    sector_use,
    share_of_roof,  // over the dot, at the goal's level
    share_of_peak,  // the compute roof, wherever the dot is
    flops_over_starter,
    // Counts, each as the member of Measurement with that name.
    shared_wavefronts_over_least,
    active_lanes,
    executed_over_useful,
    atomics_per_element,
    sm_active,
    resident_warps_per_scheduler,
    shared_bytes_unlike_starter  // the larger of the two kernels' bytes over the smaller; kept as the starter's bytes
  };
  Axis axis = Axis::up;
  std::string level = "dram";  // "dram", "l2" or "l1": the bytes for the AI, and the roof; empty for a count
  What what = What::share_of_roof;
  std::optional<double> pass, ace;
  // By machine: the thresholds that differ there, because the chip's balance does.
  std::map<std::string, Thresholds> on = {};
  // The chapter's, for words about the goal.
  WorkUnit unit = WorkUnit::flop;
  bool is_over_reference = false;  // what it calls the starter is the reference kernel (FaultyStarter)
};

std::string goal_axis_name(Goal::Axis axis);  // "right", "up"
std::string goal_what_name(Goal::What what);  // as in exercise.toml: "ai_over_starter"
std::optional<Goal::What> goal_what_from_name(std::string_view name);

// Whether the goal is about a count that has no place in a roofline plot, and no level.
bool is_count(Goal::What what);

// Whether the goal is that a figure stays what the starter's is.
bool is_unlike_starter(Goal::What what);

// Whether a goal's thresholds are upper bounds: less is better.
bool is_upper_bound(Goal::What what);

// `for = ["ace"]` in exercise.toml, of a hint that leads on to the ace: it remains after a pass.
inline constexpr std::string_view kForAce = "ace";

struct Hint {
  std::string text;
  std::vector<std::string> causes;  // the diagnoses for which the hint is shown (`for` in exercise.toml); empty, or
                                    // kForAce alone: any attempt
};

// The roofs that a chapter's dots are measured against, besides those of memory. fp32: that of FP32 arithmetic.
// tensor_f16: that of tensor cores with FP16 factors, by mma.sync. memory: none, the memory roofs apply alone.
enum class ChapterRoof { fp32, tensor_f16, memory };

std::string chapter_roof_name(ChapterRoof roof);  // as in exercise.toml: "tensor_f16"

// How far below its algorithm's roof a starter must be, unless its chapter says otherwise: on the course's machine, and
// on others.
inline constexpr double kLeastStarterGap = 3;
inline constexpr double kLeastStarterGapElsewhere = 2;

// How a starter ends that is not correct: it is to be mended.
struct FaultyStarter {
  std::string kind;      // one of fault_names(): "race"
  std::string baseline;  // a file of the chapter's folder, the reference kernel: correct, and in the starter's place
                         // wherever a goal or a chart asks for its dot
};

struct Chapter {
  std::string number;  // "01"; only for sorting
  std::string name;    // "vector-add": identifies the chapter
  std::string title;
  std::string summary;             // half a sentence for the book's contents; may be empty
  std::filesystem::path folder;    // root/chapters/01-vector-add
  int min_compute_capability = 0;  // 75 for 7.5; 0: any
  WorkUnit unit = WorkUnit::flop;  // of Work::useful_flops
  ChapterRoof roof = ChapterRoof::fp32;
  double starter_gap = kLeastStarterGap;          // the least factor to what the algorithm allows
  std::map<std::string, double> starter_gaps_on;  // by chip, where it differs
  std::optional<FaultyStarter> faulty_starter;
  std::vector<Size> correctness_sizes;         // in the order of the manifest
  std::map<std::string, Size> measured_sizes;  // by machine name; "default" for machines without their own
  std::vector<Goal> goals;
  std::vector<Hint> hints;  // from gentle to concrete

  std::filesystem::path starter() const { return folder / "kernel.cu"; }
  std::filesystem::path baseline() const { return faulty_starter ? folder / faulty_starter->baseline : starter(); }
  // Words for the kernel whose dot is the walk's first.
  const char* baseline_name() const { return faulty_starter ? "reference" : "starter"; }
  std::filesystem::path lesson() const { return folder / "lesson.md"; }
  // What a library has for the chapter's task, called as everybody calls it. Few chapters have this file.
  std::filesystem::path library() const { return folder / "library.cu"; }
  bool has_library() const {
    std::error_code unknown;
    return std::filesystem::is_regular_file(library(), unknown);
  }
  const Size& measured_size(const std::string& machine) const;
  // The least gap of the starter on a machine. Elsewhere than on the course's machine, `starter_gap` asks for no more
  // than kLeastStarterGapElsewhere: chips hide a part of most diseases.
  double least_starter_gap(const std::string& chip, bool is_course_machine) const;

  // These return the solution steps, in order (solutions/NN-name/stepK_*.cu), the idioms, by name
  // (tests/grader/idioms/NN-name/*.cu), and the wrong solutions, by name (tests/grader/wrong/NN-name/*.cu and *.patch,
  // see grader/author/patched_kernels.h). Empty if there is no such folder.
  std::vector<std::filesystem::path> solution_steps() const;
  std::vector<std::filesystem::path> idioms() const;
  std::vector<std::filesystem::path> wrong_solutions() const;
};

// Loads all chapters below `root`/chapters, ordered by number. Errors: an invalid manifest, with file and line; two
// chapters with one name; a folder without lesson.md, kernel.cu, exercise.toml or exercise.cpp.
Result<std::vector<Chapter>> load_chapters(const std::filesystem::path& root);

}  // namespace roofwalk
