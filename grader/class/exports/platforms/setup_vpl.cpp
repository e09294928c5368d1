// Moodle's VPL: the execution files of an activity, and an installer for the jail server. A job has a folder and a user
// of its own; the hidden cases are among the execution files, and are read and removed before a compiler starts. The
// grade is printed by vpl_execution, which holds the finished text and runs nothing.
#include <fmt/format.h>

#include "grader/class/exports/platforms/setup.h"

namespace roofwalk {
namespace {

constexpr const char* kEvaluate = R"sh(#!/bin/bash
# Grades one submission of VPL and leaves vpl_execution, which prints the comment and the grade.
set -uo pipefail
has_secrets=HAS_SECRETS
if [[ -f vpl_environment.sh ]]; then . ./vpl_environment.sh; fi
secrets=
if ((has_secrets)) && [[ -f secrets.toml ]]; then secrets=$(cat secrets.toml); fi
rm -f secrets.toml  # where the activity has none, it is a student's file
finish() {
  printf '#!/bin/bash\ncat "$(dirname "$0")/roofwalk_result.txt"\n' >vpl_execution
  chmod 755 vpl_execution
  exit 0
}
give_up() {
  printf 'Comment :=>>-Not graded.\nComment :=>>> %s. That is a fault of the grader, not of your kernel: tell your instructor.\n' "$1" >roofwalk_result.txt
  finish
}
if ((has_secrets)) && [[ -z $secrets ]]; then give_up "The hidden cases are not among the execution files"; fi
if [[ ! ${VPL_GRADEMAX:-100} =~ ^100([.]0*)?$ ]]; then give_up "The activity's maximum grade has to be 100"; fi
mkdir roofwalk_hand_in || give_up "No folder can be made"
shopt -s nullglob
for file in *.cu *.zip; do cp -- "$file" roofwalk_hand_in/; done
printf '%s' "$secrets" |
  "${GRADE_ONE:-/opt/roofwalk/grade-one}" vpl roofwalk_hand_in course.toml roofwalk_result.txt 'CHAPTER' >/dev/null 2>&1 ||
  give_up "The grader did not finish"
finish
)sh";

constexpr const char* kInstall = R"sh(#!/usr/bin/env bash
# Installs the grader on a jail server of VPL, in /opt/roofwalk. Run it as root, with the jail server stopped.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p /opt/roofwalk
cp -R "$here/roofwalk/." /opt/roofwalk/
install -m 755 "$here/grade-one" /opt/roofwalk/grade-one
cd /opt/roofwalk
export ROOFWALK_NATIVE=OFF
./roofwalk list --yes
./roofwalk help >/dev/null
./roofwalk roofs >/dev/null
chmod -R a+rX /opt/roofwalk
)sh";

}  // namespace

Result<std::vector<ArchiveFile>> vpl_setup(const SetupInput& input) {
  ROOFWALK_TRY(auto files, course_for_grading(input, "jail/roofwalk"));
  files.push_back({"jail/grade-one", grade_one_script(), true});
  files.push_back({"jail/install.sh", kInstall, true});
  files.push_back(
      {"execution/vpl_evaluate.sh",
       filled_in(kEvaluate, {{"HAS_SECRETS", input.has_secrets() ? "1" : "0"}, {"CHAPTER", only_chapter(input)}}),
       true});
  files.push_back({"execution/course.toml", course_without_secrets(input.course_file)});
  if (input.has_secrets()) files.push_back({"execution/secrets.toml", file_text(input.terms.secrets_file)});
  for (const Chapter* chapter : input.chapters())
    files.push_back({"requested/" + chapter->name + ".cu", file_text(chapter->starter())});
  return files;
}

}  // namespace roofwalk
