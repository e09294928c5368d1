#include "grader/class/exports/autograder.h"

#include <fmt/format.h>

#include "grader/class/exports/platforms/setup.h"
#include "grader/class/hand_ins/archive.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

// The text of setup.sh. Gradescope runs it once, as root, when it builds the image. Only tests set AUTOGRADER;
// Gradescope's folder is always /autograder.
constexpr const char* kSetUp = R"sh(#!/usr/bin/env bash
# Builds Roofwalk once, when Gradescope makes the image. It needs no GPU.
set -euo pipefail
source=${AUTOGRADER:-/autograder}/source
chmod 700 "$source"/setup.sh "$source"/run_autograder
if [[ -f $source/secrets.toml ]]; then chmod 600 "$source/secrets.toml"; fi
if ! id roofwalk >/dev/null 2>&1; then useradd --create-home --shell /usr/sbin/nologin roofwalk; fi
cd "$source/roofwalk"
export ROOFWALK_NATIVE=OFF
./roofwalk --yes list
./roofwalk help >/dev/null  # builds the program that grades, too
./roofwalk roofs >/dev/null
chown -R roofwalk "$source/roofwalk"
)sh";

// The text of run_autograder. Gradescope runs it for each submission, also as root. It writes a result first, so that
// no failure becomes a zero without explanation. A compiler can read any file that its user can. So if the compiler
// runs as a user of its own, the secrets stay on disk, readable only by root. Otherwise they are removed from disk
// until grading is over and then restored, so that the container can be used again. If the secrets are missing, nothing
// is graded.
constexpr const char* kRun = R"sh(#!/usr/bin/env bash
# Grades one submission on the virtual GPU.
set -uo pipefail
has_secrets=HAS_SECRETS
root=${AUTOGRADER:-/autograder}
source=$root/source
results=$root/results/results.json
mkdir -p "$root/results"
printf '%s\n' '{"score": 0, "output": "The grader did not finish. That is a fault of the grader, not of your kernel: tell your instructor.", "stdout_visibility": "hidden"}' >"$results"
work=$(mktemp -d)
chmod 755 "$work"
mkdir -p "$work/class/submission" "$work/grades"  # a class of one
cp -R --no-dereference "$root/submission/." "$work/class/submission/" 2>/dev/null
# Who and when: the copies' times are those of now.
if [[ -f $root/submission_metadata.json ]]; then cp "$root/submission_metadata.json" "$work/class/"; fi
chmod -R a+rX "$work/class"
cp "$source/course.toml" "$work/course.toml"
as_user=()
if [[ $(id -u) == 0 ]] && id roofwalk >/dev/null 2>&1; then
  chown -R roofwalk "$work"
  as_user=(runuser -u roofwalk --)
fi
secrets=
secrets_file=$source/secrets.toml
put_back() {
  [[ -z $secrets || -f $secrets_file ]] || (umask 077 && printf '%s\n' "$secrets" >"$secrets_file")
}
if ((has_secrets)); then
  if [[ ! -s $secrets_file ]]; then
    echo "the hidden cases are gone: build the autograder's image again" >&2
    exit 1
  fi
  secrets=$(cat "$secrets_file")
  chmod 600 "$secrets_file"
  if ((${#as_user[@]} == 0)); then
    trap put_back EXIT
    trap 'exit 1' HUP INT TERM
    rm -f "$secrets_file"
  fi
fi
verb=("$source/roofwalk/roofwalk")
places=(--course "$work/course.toml" --grades "$work/grades" --secrets -)
cd "$work"
# A container is the box here: most give no right to make another inside.
printf '%s' "$secrets" | "${as_user[@]}" "${verb[@]}" grade "$work/class" "${places[@]}" --unsandboxed --workers 1
graded=$?
if ((graded <= 1)); then  # 1: files were left out; the results say which
  printf '%s' "$secrets" | "${as_user[@]}" "${verb[@]}" export gradescope "${places[@]}" >"$work/results.json" &&
    cp "$work/results.json" "$results"
fi
rm -rf "$work"
)sh";

std::string run_script(bool has_secrets) {
  std::string script = kRun;
  const std::string_view mark = "HAS_SECRETS";
  return script.replace(script.find(mark), mark.size(), has_secrets ? "1" : "0");
}

}  // namespace

Status write_autograder(const fs::path& zip, const Course& course, const CourseTerms& terms,
                        const fs::path& course_file) {
  const SetupInput input{course, terms, course_file};
  std::vector<ArchiveFile> files = {{"setup.sh", kSetUp, true},
                                    {"run_autograder", run_script(input.has_secrets()), true},
                                    {"course.toml", course_without_secrets(course_file), false}};
  if (input.has_secrets()) files.push_back({"secrets.toml", file_text(terms.secrets_file), false});
  ROOFWALK_TRY(const auto course_files, course_for_grading(input, "roofwalk"));
  files.insert(files.end(), course_files.begin(), course_files.end());
  return write_archive(zip, files);
}

}  // namespace roofwalk
