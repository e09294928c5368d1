#include "grader/class/exports/platforms/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/atomic_file.h"
#include "grader/class/handout/handout.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr std::array<Setup, 4> kSetups = {Setup{"autolab", autolab_setup}, Setup{"gitlab", gitlab_setup},
                                          Setup{"prairielearn", prairielearn_setup}, Setup{"vpl", vpl_setup}};

// The text of grade-one. The hidden cases come on stdin and go on by pipes, so that no file has them while a compiler
// runs: a compiler can read any file that its user can.
constexpr const char* kGradeOne = R"sh(#!/usr/bin/env bash
# grade-one PLATFORM FOLDER COURSE RESULT [CHAPTER] <SECRETS
# Grades the hand-in in FOLDER by the course.toml COURSE on the virtual GPU, and writes what PLATFORM reads to RESULT.
# SECRETS are the hidden cases, or nothing. Ends with 0 only if RESULT is complete.
set -uo pipefail
platform=$1 folder=$2 course=$3
result=$(realpath -m -- "$4") || exit 3
only=()
if [[ -n ${5:-} ]]; then only=(--chapter "$5"); fi
installed=${ROOFWALK_INSTALLED:-/opt/roofwalk}
secrets=$(cat)
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
# A course of the job's own, with the installed files: the program keeps what it measures in my/ and .cache/, and the
# user may not write where it is installed.
mkdir -p "$work/course/my" || exit 3
for entry in "$installed"/*; do
  if [[ ${entry##*/} != my ]]; then ln -s "$entry" "$work/course/"; fi
done
cp -R "$installed/.cache" "$work/course/.cache"
export ROOFWALK_ROOT=$work/course
if [[ -f $installed/build/setup/ready ]]; then  # its second line is the CUDA toolkit
  ROOFWALK_CUDA=$(sed -n 2p "$installed/build/setup/ready")
  export ROOFWALK_CUDA
fi
program=$installed/build/default/grader/roofwalk
hand_in=$work/class/submission
mkdir -p "$hand_in" "$work/grades"
for file in "$folder"/*; do  # not .git
  if [[ -e $file ]]; then cp -R --no-dereference -- "$file" "$hand_in/"; fi
done
cp -- "$course" "$work/course.toml" || exit 3
cd "$work" || exit 3
places=(--course "$work/course.toml" --grades "$work/grades" --secrets -)
# All of the folder is one student's, whatever is in it. A container is the box here: most give no right to make another
# inside.
printf '%s' "$secrets" |
  "$program" grade "$hand_in" --each "${places[@]}" ${only[@]+"${only[@]}"} --unsandboxed --workers 1 >"$work/log" 2>&1
if (($? > 1)); then  # 1: files were left out; the results say which
  cat "$work/log" >&2
  exit 3
fi
printf '%s' "$secrets" |
  "$program" export "$platform" "${places[@]}" ${only[@]+"${only[@]}"} --out "$work/result" >"$work/log" 2>&1
if (($? != 0)); then
  cat "$work/log" >&2
  exit 3
fi
if [[ -d $work/result ]]; then
  mkdir -p "$result" && cp -- "$work/result"/* "$result/"
else
  cp -- "$work/result" "$result"
fi
)sh";

// All packages are installed before the course is set up, because ./roofwalk looks again for missing ones after an
// installation.
constexpr const char* kDockerfile = R"docker(HEADFROM debian:12
RUN apt-get update \
 && apt-get install -y --no-install-recommends git ca-certificatesPACKAGES \
 && rm -rf /var/lib/apt/lists/*
# An image runs on other processors than it was built on.
ENV ROOFWALK_NATIVE=OFF PIP_NO_CACHE_DIR=1
WORKDIR /opt/roofwalk
COPY roofwalk .
# The first two build both programs, the third measures the roofs once.
RUN ./roofwalk list --yes && ./roofwalk help && ./roofwalk roofs && chmod -R a+rX .
COPY grade-one /usr/local/bin/grade-one
RUN chmod 755 /usr/local/bin/grade-one && useradd --create-home --shell /bin/bash roofwalk
REST)docker";

}  // namespace

std::vector<const Chapter*> SetupInput::chapters() const {
  std::vector<const Chapter*> found;
  for (const Chapter& chapter : course.chapters) {
    if (terms.find(chapter.name) != nullptr) found.push_back(&chapter);
  }
  return found;
}

std::span<const Setup> setups() { return kSetups; }

const Setup* find_setup(std::string_view platform) {
  const auto found =
      std::find_if(kSetups.begin(), kSetups.end(), [&](const Setup& setup) { return setup.platform == platform; });
  return found == kSetups.end() ? nullptr : &*found;
}

Status write_setup(const fs::path& folder, const std::vector<ArchiveFile>& files) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_empty(folder, error)) {
    return Error{.message = "has files already", .file = folder.string(), .advice = "name a new folder"};
  }
  for (const ArchiveFile& file : files) {
    const fs::path path = folder / file.name;
    ROOFWALK_TRY_STATUS(replace_file(path, file.bytes));
    if (file.is_program) fs::permissions(path, fs::perms(0755), error);
    if (error) return Error{.message = "cannot be made a program: " + error.message(), .file = path.string()};
  }
  return kOk;
}

Result<std::vector<ArchiveFile>> course_for_grading(const SetupInput& input, const std::string& folder) {
  const fs::path root = input.course.root.empty() ? fs::current_path() : input.course.root;
  std::vector<ArchiveFile> files;
  ROOFWALK_TRY(const auto paths, handout_files(root, input.chapters()));
  for (const fs::path& path : paths) {
    if (path.parent_path() == "book" || path.parent_path() == "book/images") continue;
    const bool is_program = (fs::status(root / path).permissions() & fs::perms::owner_exec) != fs::perms::none;
    files.push_back({(fs::path(folder) / path).string(), file_text(root / path), is_program});
  }
  return files;
}

std::string course_without_secrets(const fs::path& course_file) {
  const std::string text = file_text(course_file);
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line.compare(first, 7, "secrets") != 0) out += line + "\n";
    begin = end + 1;
  }
  return out;
}

Result<std::vector<ArchiveFile>> image_for_grading(const SetupInput& input, const std::string& folder,
                                                   const ImageWanted& wanted) {
  ROOFWALK_TRY(auto files, course_for_grading(input, folder + "/roofwalk"));
  files.push_back({folder + "/grade-one", kGradeOne, true});
  files.push_back({folder + "/Dockerfile",
                   filled_in(kDockerfile, {{"HEAD", wanted.head},
                                           {"PACKAGES", wanted.packages.empty() ? "" : " " + wanted.packages},
                                           {"REST", wanted.rest}}),
                   false});
  return files;
}

std::string grade_one_script() { return kGradeOne; }

std::string filled_in(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [mark, value] : values) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size()))
      text.replace(at, mark.size(), value);
  }
  return text;
}

std::string only_chapter(const SetupInput& input) {
  const auto chapters = input.chapters();
  return chapters.size() == 1 ? chapters.front()->name : "";
}

}  // namespace roofwalk
