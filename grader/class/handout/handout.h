// What learners get: the course without anything that gives solutions away.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "grader/class/terms/course_file.h"
#include "grader/course/course.h"

namespace roofwalk {

// The files of a checkout that belong in a tree with these chapters, by their paths below it, sorted: the program, its
// set-up and the chapters. No solutions, no starters of other chapters, no tests (they hold solutions and wrong ones),
// no kernels of grader/operations, no page for instructors, no user's files, and no links. The README is replaced by
// handout_readme() (handout_pages.h).
Result<std::vector<std::filesystem::path>> handout_files(const std::filesystem::path& root,
                                                         const std::vector<const Chapter*>& chapters);

// Pairs of chapters that do the same work, so that the later one's starter shows how to solve the earlier one.
std::vector<std::string> spoilers(const std::vector<const Chapter*>& chapters);

}  // namespace roofwalk
