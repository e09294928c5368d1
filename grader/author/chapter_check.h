// Proves a chapter: starter, last step, every step's claim, every wrong solution's verdict; or only a few of these.
#pragma once

#include <string>
#include <vector>

#include "grader/rig/rig.h"

namespace roofwalk {

struct CheckLine {
  std::string chapter;
  std::string what;  // "step1_fill_the_machine.cu: up x15"
  bool holds = false;
  std::string found;  // the actual result
};

enum class CheckScope {
  everything,
  quick,  // the starter, the last step, one dodge and one idiom (grader/author/quick_files.h)
};

// The checks of one chapter, in a fixed order. An Error means that the harness failed, not the chapter.
Result<std::vector<CheckLine>> check_chapter(const Rig& rig, const Chapter& chapter, CheckScope scope);

}  // namespace roofwalk
