// Decides for which chapters the late marks in a platform's zip are valid.
#pragma once

#include <string>
#include <vector>

#include "grader/class/hand_ins/submissions.h"
#include "grader/class/terms/course_file.h"

namespace roofwalk {

// Removes the late marks that do not apply to their file's chapter, and returns lines about them. A mark says whether a
// file was in time for the assignment of its zip. But the zip may also contain files of other chapters, sent long
// before or after their own deadlines. If a mark does not decide whether such a file is late, the mark is removed, and
// the file's time counts: that of the download, which is later than the hand-in. A deadline is taken for one of the
// zip's assignment if at least half of the zip's students handed in something for it, or if no other deadline has more
// students; in both cases they must be more than a third of all students, including those without a file of a known
// chapter. If somebody is late, deadlines that were still to come when the zip was made are excluded. A later zip with
// other files of a chapter may be of another assignment, with a deadline that is not in the terms, so it makes no file
// on time that was late. `before`: the submissions on record.
std::vector<std::string> drop_foreign_marks(Handed& handed, const std::vector<Submission>& before,
                                            const CourseTerms& terms);

// A line about files of chapters with deadlines whose time is unknown; empty if there are none.
std::string unknown_times_text(const Handed& handed, const CourseTerms& terms);

}  // namespace roofwalk
