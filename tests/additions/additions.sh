#!/usr/bin/env bash
# Adds a chapter, an opcode, a machine, a verb, an exporter and a diagnosis to a copy of the project, builds and uses
# each, and prints the files that each addition changed. Fails if an addition changes files that CONTRIBUTING.md does
# not name. Exits with 4 if it cannot run, and prints the reason.
#
#   additions.sh BUILD    the project's build folder. The copy of the project gets a copy of BUILD and is mounted at
#                         the project's path, so that only changed files are compiled. Needs bubblewrap.
set -euo pipefail

skip() { echo "skipped: $*"; exit 4; }

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd -- "$1" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
failures=0

source "$root/tests/setup/copied_project.sh"
[[ $build == "$root"/* ]] || skip "$build is outside of the project"
type -P git >/dev/null || skip "git is not installed"
can_mount || skip "bubblewrap is missing or may not mount here"
copy_project "$copy"
cd "$copy"

# takes WHAT FILE...: checks that the addition WHAT has changed only these files since the last commit. A folder stands
# for all its files.
takes() {
  local what=$1 file allowed is_allowed
  shift
  git add -A
  printf '%s:\n' "$what"
  while read -r file; do
    is_allowed=
    for allowed; do if [[ $file == "$allowed" || $file == "$allowed"/* ]]; then is_allowed=1; fi; done
    if [[ -n $is_allowed ]]; then
      if [[ $file != chapters/* && $file != solutions/* && $file != tests/grader/wrong/* ]]; then echo "  $file"; fi
    else
      echo "  $file: more than CONTRIBUTING.md says"
      failures=$((failures + 1))
    fi
  done < <(git diff --cached --name-only)
  for allowed; do if [[ $allowed != */*.* ]]; then echo "  $allowed/"; fi; done
  commit_copy "$what"
}

# uses WHAT COMMAND...: runs the command, which uses the addition WHAT, and checks that it exits with 0.
uses() {
  local what=$1
  shift
  if ! in_copy env ROOFWALK_ROOT="$root" "$@" >"$copy/build/output" 2>&1; then
    echo "FAILED: $what: $*"
    tail -n 20 "$copy/build/output"
    failures=$((failures + 1))
  fi
}

add_chapter() {
  local parent file
  for parent in chapters solutions tests/grader/wrong; do cp -r "$parent/01-vector-add" "$parent/97-additive"; done
  sed -i 's/"vector-add"/"additive"/' chapters/97-additive/exercise.{toml,cpp}
  for file in {chapters,solutions,tests/grader/wrong}/97-additive/*.cu; do echo "// additive" >>"$file"; done
  takes "a chapter" {chapters,solutions,tests/grader/wrong}/97-additive
}

add_opcode() {
  sed -i '/^PTX_ALU(Xor,/a PTX_ALU(Triple, "triple", kU32, kUnary, none, integers, plain, 0, 0, Triple)' \
    common/ptx/table/opcodes.def
  sed -i '/^}  \/\/ namespace roofwalk::vgpu::sem/i struct Triple {\n  template <class T>\n  static T apply(T a) {\n    return a + a + a;\n  }\n};\n' \
    common/vgpu/exec/ops/semantics.h
  sed -i '/^}  \/\/ namespace$/i ROW_TEST(Triple, AddsThreeTimes) {\n  EXPECT_EQ(execute("triple.u32 =r, $r", {{0, 1, 14}}), (Values{0, 3, 42}));\n}\n' \
    tests/isa/integer_test.cpp
  takes "an opcode" common/ptx/table/opcodes.def common/vgpu/exec/ops/semantics.h tests/isa/integer_test.cpp
}

add_machine() {
  sed '/^driver_name/s/RTX 4090/Tryout/' common/specs/rtx4090.toml >common/specs/tryout.toml
  takes "a machine" common/specs/tryout.toml
}

add_verb() {
  cat >grader/cmd/tryout.cpp <<'END'
// roofwalk tryout: says that it is there.
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

void add_tryout_command(Verb& program, Session&, int& exit_code) {
  Verb command = program.add_subcommand("tryout", "Say that it is there");
  command.callback([&exit_code] {
    print("here\n");
    exit_code = kAccepted;
  });
}

ROOFWALK_VERB(300, add_tryout_command);

}  // namespace
}  // namespace roofwalk
END
  printf '# WHY: a verb registers itself\n# RUN: tryout\n# EXIT: 0\nhere\n' >tests/e2e/tryout.txt
  takes "a verb" grader/cmd/tryout.cpp tests/e2e/tryout.txt
}

add_exporter() {
  cat >grader/class/exports/formats/tryout.cpp <<'END'
// A line for each student: the name.
#include "grader/class/exports/exporter.h"

namespace roofwalk {
namespace {

std::string to_tryout(const Gradebook& book) {
  std::string text;
  for (const StudentRow& row : book.rows) text += row.owner.student + "\n";
  return text;
}

}  // namespace

extern const Exporter tryout_exporter{"tryout", "", to_tryout};

}  // namespace roofwalk
END
  cat >tests/unit/class/exports/tryout_test.cpp <<'END'
#include <gtest/gtest.h>

#include "grader/class/exports/exporter.h"
#include "tests/support/golden.h"
#include "tests/support/small_class.h"

namespace roofwalk {

TEST(Tryout, IsTheGolden) {
  const Gradebook book = test::small_class();
  std::string wanted;
  for (const StudentRow& row : book.rows) wanted += row.owner.student + "\n";
  EXPECT_EQ(find_exporter("tryout")->text(book), wanted);
}

}  // namespace roofwalk
END
  takes "an exporter" grader/class/exports/formats/tryout.cpp tests/unit/class/exports/tryout_test.cpp
}

add_diagnosis() {
  cat >common/roofline/causes/tryout.cpp <<'END'
// A grid of 97 blocks.
#include "common/roofline/causes.h"

namespace roofwalk {
namespace {

bool is_tryout(const DiagnosisInput& in) { return in.blocks == 97; }

void claim_tryout(Claim& claim) {
  if (!is_tryout(claim.input())) return;
  for (const TimePart part : {TimePart::waiting, TimePart::dram, TimePart::l2, TimePart::l1}) claim.take_rest(part);
}

}  // namespace

const Cause cause::tryout = {
    .id = "tryout",
    .order = 1,
    .claim = claim_tryout,
    .evidence = [](const DiagnosisInput& in) { return is_tryout(in) ? 999 : 0; },
    .explain = [](const DiagnosisInput& in) { return Explanation{"the grid has 97 blocks.", in.launch_line, "97"}; },
    .hints = {"How many blocks are there?", "97 is a number.", "Take another one."}};

}  // namespace roofwalk
END
  cat >tests/diagnosis/vector-add/tryout.cu <<'END'
// diagnosis: tryout, line 9
#include <roofwalk.cuh>

__global__ void add(const float* a, const float* b, float* c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}

SOLVE(const float* a, const float* b, float* c, int n) {
    add<<<97, 64>>>(a, b, c, n);
}
END
  takes "a diagnosis" common/roofline/causes/tryout.cpp tests/diagnosis/vector-add/tryout.cu
}

add_chapter
add_opcode
add_machine
add_verb
add_exporter
add_diagnosis

if ! in_copy ninja -C "$build" roofwalk roofwalk-learner isa_test unit_exports unit_sizes unit_common e2e_test \
  diagnosis_kernels_test >"$copy/build/output" 2>&1; then
  echo "FAILED: the build"
  grep -E "error|FAILED" "$copy/build/output" | head -n 20
  exit 1
fi
uses "the chapter" "$build/grader/roofwalk" dev check additive --quick
uses "the opcode" "$build/tests/isa/isa_test" --gtest_filter='Row*Triple*:*AddsThreeTimes:OpcodeTable.*'
uses "the machine" "$build/grader/roofwalk-learner" machines tryout
uses "the machine's figures" "$build/tests/unit/unit_common" --gtest_filter='Machines.*'
uses "the machine's sizes" "$build/tests/unit/attempt/unit_sizes"
uses "the verb" "$build/grader/roofwalk-learner" tryout
uses "the verb's transcript" "$build/tests/e2e/e2e_test" --gtest_filter='*tryout*:*usage*'
uses "the exporter" "$build/tests/unit/class/exports/unit_exports" --gtest_filter='Tryout.*'
uses "the diagnosis" "$build/tests/diagnosis/diagnosis_kernels_test" --gtest_filter='*tryout*:DiseasedKernels.*'
if ((failures > 0)); then exit 1; fi
echo "each addition takes the files that CONTRIBUTING.md says"
