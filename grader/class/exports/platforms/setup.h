// The files that a platform needs before the first hand-in: `roofwalk export --setup PLATFORM FOLDER`.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/class/hand_ins/archive.h"
#include "grader/class/terms/course_file.h"
#include "grader/course/course.h"

namespace roofwalk {

struct SetupInput {
  const Course& course;
  const CourseTerms& terms;
  std::filesystem::path course_file;

  bool has_secrets() const { return !terms.secrets_file.empty(); }
  std::vector<const Chapter*> chapters() const;  // those of the terms, in the course's order
};

struct Setup {
  std::string_view platform;
  // The files, by paths relative to the folder. Errors: a file that cannot be read.
  Result<std::vector<ArchiveFile>> (*files)(const SetupInput& input);
};

// All platforms but Gradescope, which takes one zip (autograder.h), by name.
std::span<const Setup> setups();
const Setup* find_setup(std::string_view platform);  // nullptr if there is none

// Writes the files. Errors: the folder has files already, or cannot be written.
Status write_setup(const std::filesystem::path& folder, const std::vector<ArchiveFile>& files);

// What setups have in common.

// The course as handed out, below `folder`, without the book: nobody reads it there, and some of its pages show
// solutions, which a submission could include when it is compiled there.
Result<std::vector<ArchiveFile>> course_for_grading(const SetupInput& input, const std::string& folder);

// course.toml without the line that names the secrets file: where a submission is graded, the secrets come on stdin.
std::string course_without_secrets(const std::filesystem::path& course_file);

// A container's image in `folder`: a Dockerfile, the course, and grade-one, which grades one hand-in.
struct ImageWanted {
  std::string head = {};      // stages before the image's own
  std::string packages = {};  // Debian packages besides those that every image has
  std::string rest = {};      // further lines of the Dockerfile
};
Result<std::vector<ArchiveFile>> image_for_grading(const SetupInput& input, const std::string& folder,
                                                   const ImageWanted& wanted);

// The text of grade-one.
std::string grade_one_script();

// A script or page with each mark, such as HAS_SECRETS, replaced by its value.
std::string filled_in(std::string text, const std::vector<std::pair<std::string, std::string>>& values);

// The chapter that all hand-ins are for, if the course has only one; else empty.
std::string only_chapter(const SetupInput& input);

Result<std::vector<ArchiveFile>> gitlab_setup(const SetupInput& input);
Result<std::vector<ArchiveFile>> prairielearn_setup(const SetupInput& input);
Result<std::vector<ArchiveFile>> autolab_setup(const SetupInput& input);
Result<std::vector<ArchiveFile>> vpl_setup(const SetupInput& input);

}  // namespace roofwalk
