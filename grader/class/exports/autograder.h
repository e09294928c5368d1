// An autograder for Gradescope: a zip with setup.sh and run_autograder at its root, and the course as handed out.
#pragma once

#include <filesystem>

#include "grader/class/terms/course_file.h"
#include "grader/course/course.h"

namespace roofwalk {

// Writes the zip. Grading runs on the virtual GPU, so the set-up needs no GPU. The zip contains the secrets file,
// readable only by root, and `course_file` without the line that names the secrets file. Errors: a file that cannot be
// read or written.
Status write_autograder(const std::filesystem::path& zip, const Course& course, const CourseTerms& terms,
                        const std::filesystem::path& course_file);

}  // namespace roofwalk
