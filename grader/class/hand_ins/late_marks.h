// Decides for which chapters the late marks in a platform's zip count.
#pragma once

#include <string>
#include <vector>

#include "grader/class/hand_ins/submissions.h"
#include "grader/class/terms/course_file.h"

namespace roofwalk {

// A mark says whether a file was in time for the assignment of its zip. A deadline is taken for one of that assignment
// if at least half of the zip's students handed in something for it, or more students than for any other deadline; they
// must also be more than a third of all, including students without a file of a known chapter. If somebody is late for
// a past deadline, future deadlines are excluded. The zip may also contain files of other chapters, sent long before or
// after their own deadlines. If a mark does not decide whether such a file is late, the mark is removed, and the file's
// time counts: the time of the download, before which the file came. `before`: the submissions on record. Returns lines
// about removed marks.
std::vector<std::string> drop_foreign_marks(Handed& handed, const std::vector<Submission>& before,
                                            const CourseTerms& terms);

}  // namespace roofwalk
