// A chapter's folder, read: exercise.toml, and where its files lie. Chapters are found by walking; there is no list.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/exercise/exercise.h"

namespace roofwalk {

// What a goal asks of the dot. Thresholds are ratios; `pass` and `ace` are each optional, but not both absent.
struct Goal {
  enum class Axis { right, up };
  enum class What { ai_over_starter, share_of_algorithmic_ai, share_of_roof, flops_over_starter };
  Axis axis = Axis::up;
  std::string level = "dram";  // "dram", "l2" or "l1": whose bytes make the AI and whose roof applies
  What what = What::share_of_roof;
  std::optional<double> pass, ace;
};

std::string goal_axis_name(Goal::Axis axis);  // "right", "up"
std::string goal_what_name(Goal::What what);  // as in exercise.toml: "ai_over_starter"

struct Hint {
  std::string text;
  std::vector<std::string> causes;  // the diagnoses that it helps with (`for` in exercise.toml); empty: any attempt
};

struct Chapter {
  std::string number;  // "01"; sorts, identifies nothing
  std::string name;    // "vector-add": the identity
  std::string title;
  std::string summary;                         // half a sentence for the book's contents; may be empty
  std::filesystem::path folder;                // root/chapters/01-vector-add
  int min_compute_capability = 0;              // 75 for 7.5; 0 where any will do
  std::vector<Size> correctness_sizes;         // in the order of the manifest
  std::map<std::string, Size> measured_sizes;  // by machine name; "default" for the others
  std::vector<Goal> goals;
  std::vector<Hint> hints;  // from gentle to concrete

  std::filesystem::path starter() const { return folder / "kernel.cu"; }
  std::filesystem::path lesson() const { return folder / "lesson.md"; }
  const Size& measured_size(const std::string& machine) const;

  // Solution steps, in order (solutions/NN-name/stepK_*.cu), and wrong solutions (tests/grader/wrong/NN-name/*.cu).
  // Empty where there is no such folder.
  std::vector<std::filesystem::path> solution_steps() const;
  std::vector<std::filesystem::path> wrong_solutions() const;
};

// All chapters below `root`/chapters, by number. Errors: the file and line of the manifest that is wrong, two chapters
// of one name, a folder without one of its four files.
Result<std::vector<Chapter>> load_chapters(const std::filesystem::path& root);

}  // namespace roofwalk
