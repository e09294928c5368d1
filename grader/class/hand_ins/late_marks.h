// Decides for which chapters the late marks of a platform's zip count.
#pragma once

#include <string>
#include <vector>

#include "grader/class/hand_ins/submissions.h"
#include "grader/class/terms/course_file.h"

namespace roofwalk {

// A mark says whether a file came in time for the assignment of its zip. The deadlines of that assignment are those
// that at least half of the zip's students handed in something for, or more than for any other; they must be more than
// a third of all, counting students without a file of a known chapter. If somebody is late for a past deadline, future
// deadlines are excluded. The zip may also hold files of other chapters, sent long before or after their own deadlines.
// A mark that does not settle such a file's lateness is removed, and the file's time counts: that of the download,
// before which it came. `before`: what is on record. Returns lines about this.
std::vector<std::string> drop_foreign_marks(Handed& handed, const std::vector<Submission>& before,
                                            const CourseTerms& terms);

}  // namespace roofwalk
