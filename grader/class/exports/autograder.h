// An autograder for Gradescope: a zip with setup.sh and run_autograder at its root, and the course as learners get it.
#pragma once

#include <filesystem>

#include "grader/class/terms/course_file.h"
#include "grader/course/course.h"

namespace roofwalk {

// Writes the zip. Its set-up needs no GPU: it grades on the virtual one. The file of secrets goes in, readable only for
// root; `course_file` goes in without the line that names it. Errors: a file that cannot be read or written.
Status write_autograder(const std::filesystem::path& zip, const Course& course, const CourseTerms& terms,
                        const std::filesystem::path& course_file);

}  // namespace roofwalk
