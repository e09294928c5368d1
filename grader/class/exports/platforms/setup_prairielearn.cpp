// PrairieLearn: an image, a question per chapter, and the grader's entry point in the course's serverFilesCourse. The
// form of info.json: uuid, title, topic, type "v3", gradingMethod "External", externalGradingOptions {enabled, image,
// entrypoint, serverFilesCourse, timeout <= 600}.
#include <fmt/format.h>

#include "common/base/hash.h"
#include "common/base/json.h"
#include "grader/class/exports/platforms/setup.h"

namespace roofwalk {
namespace {

// Runs as root, as containers do unless their image says otherwise. The hidden cases lie in the question's tests; they
// are read and removed before a compiler starts, which in addition runs as another user.
constexpr const char* kEntryPoint = R"sh(#!/usr/bin/env bash
# grade.sh CHAPTER: PrairieLearn's entry point. Grades one submission.
set -uo pipefail
has_secrets=HAS_SECRETS
chapter=$1
root=${GRADE_ROOT:-/grade}
results=$root/results/results.json
secrets_file=$root/tests/secrets.toml
mkdir -p "$root/results"
# A result first, so that no failure costs points or an attempt.
printf '%s\n' '{"gradable": false, "score": 0, "format_errors": ["The grader did not finish. That is a fault of the grader, not of your kernel: tell your instructor."]}' >"$results"
secrets=
if ((has_secrets)); then
  if [[ ! -s $secrets_file ]]; then
    echo "the hidden cases are not among the question's tests" >&2
    exit 1
  fi
  secrets=$(cat "$secrets_file")
  rm -f "$secrets_file" || exit 1
fi
work=$(mktemp -d) || exit 1
mkdir "$work/student"
cp -R --no-dereference "$root/student/." "$work/student/" 2>/dev/null
cp "$(dirname "$0")/course.toml" "$work/course.toml"
chmod -R a+rX "$work"
as_user=()
if [[ $(id -u) == 0 ]] && id roofwalk >/dev/null 2>&1; then
  chown -R roofwalk "$work"
  as_user=(runuser -u roofwalk --)
fi
if printf '%s' "$secrets" | ${as_user[@]+"${as_user[@]}"} "${GRADE_ONE:-grade-one}" prairielearn "$work/student" \
  "$work/course.toml" "$work/results.json" "$chapter"; then
  cp "$work/results.json" "$results"
fi
rm -rf "$work"
)sh";

constexpr const char* kQuestion = R"html(<pl-question-panel>
  <p>Write <code>CHAPTER.cu</code>: TITLE. It runs on a virtual GPU; the results show its dot under the roofs.</p>
</pl-question-panel>
<pl-file-editor file-name="CHAPTER.cu" ace-mode="ace/mode/c_cpp" source-file-name="CHAPTER.cu" directory="clientFilesQuestion"></pl-file-editor>
<pl-submission-panel>
  <pl-external-grader-results></pl-external-grader-results>
  <pl-file-preview></pl-file-preview>
</pl-submission-panel>
)html";

// The same question has the same identifier whenever it is generated, and a question of another course another one.
std::string uuid_of(const std::string& text) {
  std::string hex = sha256_hex(text).substr(0, 32);
  hex[12] = '4';
  hex[16] = 'a';
  return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4), hex.substr(16, 4),
                     hex.substr(20));
}

std::string info_of(const SetupInput& input, const Chapter& chapter) {
  Json info;
  info["uuid"] = uuid_of("roofwalk question\n" + input.terms.title + "\n" + chapter.name);
  info["title"] = chapter.title;
  info["topic"] = "GPU performance";
  info["tags"] = Json::array({"roofwalk"});
  info["type"] = "v3";
  info["gradingMethod"] = "External";
  info["singleVariant"] = true;
  Json& options = info["externalGradingOptions"];
  options["enabled"] = true;
  options["image"] = "ACCOUNT/roofwalk-grader";
  options["serverFilesCourse"] = Json::array({"roofwalk/"});
  options["entrypoint"] = "/grade/serverFilesCourse/roofwalk/grade.sh " + chapter.name;
  options["timeout"] = 600;
  return json_text(info) + "\n";
}

}  // namespace

Result<std::vector<ArchiveFile>> prairielearn_setup(const SetupInput& input) {
  ROOFWALK_TRY(auto files, image_for_grading(input, "image", {}));
  const std::string shared = "course/serverFilesCourse/roofwalk/";
  files.push_back(
      {shared + "grade.sh", filled_in(kEntryPoint, {{"HAS_SECRETS", input.has_secrets() ? "1" : "0"}}), true});
  files.push_back({shared + "course.toml", course_without_secrets(input.course_file)});
  for (const Chapter* chapter : input.chapters()) {
    const std::string question = "course/questions/roofwalk/" + chapter->name + "/";
    files.push_back({question + "info.json", info_of(input, *chapter)});
    files.push_back(
        {question + "question.html", filled_in(kQuestion, {{"CHAPTER", chapter->name}, {"TITLE", chapter->title}})});
    files.push_back({question + "clientFilesQuestion/" + chapter->name + ".cu", file_text(chapter->starter())});
    if (input.has_secrets()) files.push_back({question + "tests/secrets.toml", file_text(input.terms.secrets_file)});
  }
  return files;
}

}  // namespace roofwalk
