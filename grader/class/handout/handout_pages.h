// The course's pages as learners get them: no page prints a solution, and no link leads to what was not handed out.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "grader/class/terms/course_file.h"
#include "grader/course/course.h"

namespace roofwalk {

// A page of the book or a lesson. `page`: its path in the tree; `files`: what the tree holds.
// Whatever a program wrote into a page stands behind a mark that says where it comes from (book/truth). A block that
// comes from a file of solutions/, or is a profile of one, gives way to a line that says so. A link to a file that the
// tree lacks becomes its words.
std::string page_for_learners(const std::string& text, const std::filesystem::path& page,
                              const std::set<std::string>& files);

// The tree's own README.md: how to begin, what is graded, until when and how. Nothing secret is in it but whether there
// are hidden cases.
std::string handout_readme(const CourseTerms& terms, const std::vector<const Chapter*>& chapters);

}  // namespace roofwalk
