// The files for learners: the course without files that give solutions away.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "grader/class/terms/course_file.h"
#include "grader/course/course.h"

namespace roofwalk {

// The files of a checkout that a handout with these chapters contains, as sorted relative paths: the program, its
// set-up and the chapters. Left out are: solutions, starters of other chapters, tests (which contain right and wrong
// solutions), kernels of grader/operations, the pages for instructors, users' own files, and links. The README is
// replaced by handout_readme() (handout_pages.h).
Result<std::vector<std::filesystem::path>> handout_files(const std::filesystem::path& root,
                                                         const std::vector<const Chapter*>& chapters);

// Pairs of chapters with the same task, where the later chapter's starter shows how to solve the earlier one.
std::vector<std::string> spoilers(const std::vector<const Chapter*>& chapters);

}  // namespace roofwalk
