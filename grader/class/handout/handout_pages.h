// The course's pages for learners: no page shows a solution, and no link leads to a file that was not handed out.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "grader/class/terms/course_file.h"
#include "grader/course/course.h"

namespace roofwalk {

// The learners' version of a page of the book or of a lesson. Where a program wrote text into a page, a mark before the
// text names its source (book/truth). If the source is a file of solutions/ or a profile of one, the text is replaced
// by a line that says so. A link to a file that is not handed out is replaced by its words. `page`: the page's path in
// the handout; `files`: the handout's files.
std::string page_for_learners(const std::string& text, const std::filesystem::path& page,
                              const std::set<std::string>& files);

// The handout's own README.md: how to begin, what is graded, until when and how. It contains no secrets, but tells
// whether there are hidden cases.
std::string handout_readme(const CourseTerms& terms, const std::vector<const Chapter*>& chapters);

}  // namespace roofwalk
