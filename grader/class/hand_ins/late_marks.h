// Which chapters the marks of a platform's zip speak of.
#pragma once

#include <string>
#include <vector>

#include "grader/class/hand_ins/submissions.h"
#include "grader/class/terms/course_file.h"

namespace roofwalk {

// A mark says whether a file came in time for the assignment in whose zip it lies: for the deadlines that at least
// half of the students in it handed in something for, or that most did; more than a third where files of no known
// chapter are counted, too; none that is to come where another is over and somebody is late already. Another
// chapter's file may lie there, long after its own deadline or before it. Unless the mark says enough of it, it is
// taken off, and the file's time counts: that of the download, before which it came. `before`: what the record
// holds. Gives lines about it.
std::vector<std::string> drop_foreign_marks(Handed& handed, const std::vector<Submission>& before,
                                            const CourseTerms& terms);

}  // namespace roofwalk
