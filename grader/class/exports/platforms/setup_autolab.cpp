// Autolab: autograde-Makefile and autograde.tar for the assessment, and an image for Tango. Tango mounts the folder
// with a job's three files into the container, where every user can read them, and runs make as the user `autograde`,
// who compiles, too. So the hidden cases are not in the tar, but in the image, in a file that only root can read;
// `sudo` lets `autograde` run the one command that prints it, which a compiler cannot.
#include <fmt/format.h>

#include "grader/class/exports/platforms/setup.h"
#include "grader/class/exports/platforms/tar.h"

namespace roofwalk {
namespace {

constexpr const char* kMakefile = "all:\n\t@tar xf autograde.tar && bash roofwalk/grade.sh\n";

constexpr const char* kGradeHandIn = R"sh(#!/usr/bin/env bash
# Grades one hand-in of Autolab. Prints nothing but the results: Autolab reads the last two lines.
set -uo pipefail
has_secrets=HAS_SECRETS
give_up() {
  echo "Not graded: $1. That is a fault of the grader, not of your kernel: tell your instructor."
  echo '{"scores":{}}'
  exit 0
}
secrets=
if ((has_secrets)); then
  print_secrets=(sudo -n /usr/bin/cat /etc/roofwalk/secrets.toml)
  if [[ -n ${PRINT_SECRETS:-} ]]; then print_secrets=("$PRINT_SECRETS"); fi  # of tests
  secrets=$("${print_secrets[@]}" 2>/dev/null)
  if [[ -z $secrets ]]; then give_up "the hidden cases are not in the image"; fi
fi
mkdir hand-in || give_up "no folder can be made"
shopt -s nullglob
for file in *.cu *.zip; do cp -- "$file" hand-in/; done
printf '%s' "$secrets" |
  "${GRADE_ONE:-grade-one}" autolab hand-in roofwalk/course.toml result.txt 'CHAPTER' >/dev/null 2>&1 ||
  give_up "the grader did not finish"
cat result.txt
)sh";

// autodriver starts the job as `autograde`; Tango's own program, from Tango's sources.
constexpr const char* kAutodriver = R"docker(FROM debian:12 AS autodriver
RUN apt-get update && apt-get install -y --no-install-recommends git ca-certificates gcc libc6-dev \
 && git clone --depth 1 https://github.com/autolab/Tango /tango \
 && gcc -O2 -o /tango/autodriver/autodriver /tango/autodriver/autodriver.c

)docker";

constexpr const char* kUsers = R"docker(WORKDIR /home
COPY --from=autodriver /tango/autodriver/autodriver /usr/bin/autodriver
RUN chmod u+s /usr/bin/autodriver \
 && useradd --shell /bin/bash autolab && useradd --shell /bin/bash autograde \
 && mkdir autolab autograde output && chown autolab:autolab autolab output && chown autograde:autograde autograde
)docker";

constexpr const char* kSecrets = R"docker(COPY secrets.toml /etc/roofwalk/secrets.toml
RUN chmod 700 /etc/roofwalk && chmod 600 /etc/roofwalk/secrets.toml \
 && echo 'autograde ALL=(root) NOPASSWD: /usr/bin/cat /etc/roofwalk/secrets.toml' >/etc/sudoers.d/roofwalk \
 && chmod 440 /etc/sudoers.d/roofwalk
)docker";

}  // namespace

Result<std::vector<ArchiveFile>> autolab_setup(const SetupInput& input) {
  const std::string rest = std::string(kUsers) + (input.has_secrets() ? kSecrets : "");
  ROOFWALK_TRY(auto files,
               image_for_grading(input, "image", {.head = kAutodriver, .packages = "make procps sudo", .rest = rest}));
  if (input.has_secrets()) files.push_back({"image/secrets.toml", file_text(input.terms.secrets_file)});
  ROOFWALK_TRY(const std::string tar,
               tar_of({{"roofwalk/grade.sh",
                        filled_in(kGradeHandIn,
                                  {{"HAS_SECRETS", input.has_secrets() ? "1" : "0"}, {"CHAPTER", only_chapter(input)}}),
                        true},
                       {"roofwalk/course.toml", course_without_secrets(input.course_file)}}));
  files.push_back({"autograde-Makefile", kMakefile});
  files.push_back({"autograde.tar", tar});
  return files;
}

}  // namespace roofwalk
