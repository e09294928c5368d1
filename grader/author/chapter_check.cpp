#include "grader/author/chapter_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/roofline/diagnosis.h"
#include "grader/attempt/baseline.h"
#include "grader/attempt/library_dot.h"
#include "grader/attempt/pipeline.h"
#include "grader/author/claims.h"
#include "grader/author/figures.h"
#include "grader/author/half.h"
#include "grader/author/patched_kernels.h"
#include "grader/author/quick_files.h"
#include "grader/rig/workers.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr double kClaimMargin = 0.005;

class Lines {
 public:
  explicit Lines(std::string chapter) : chapter_(std::move(chapter)) {}
  void add(std::string what, bool holds, std::string found) {
    lines_.push_back({chapter_, std::move(what), holds, std::move(found)});
  }
  std::vector<CheckLine> take() { return std::move(lines_); }

 private:
  std::string chapter_;
  std::vector<CheckLine> lines_;
};

std::string first_line(const fs::path& file) {
  const std::string text = file_text(file);
  return text.substr(0, text.find('\n'));
}

std::string outcome(const Attempt& attempt) {
  std::string text =
      fmt::format("{}, grade {}", verdict_name(attempt.judgement.verdict), grade_name(attempt.judgement.grade));
  for (const std::string& reason : attempt.judgement.reasons) text += "; " + reason.substr(0, reason.find('\n'));
  return text;
}

void check_words(const Chapter& chapter, Lines& lines) {
  const auto is_blank = [](const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; };
  lines.add("lesson.md says something", !is_blank(file_text(chapter.lesson())), chapter.lesson().string());
  const bool all_speak =
      std::none_of(chapter.hints.begin(), chapter.hints.end(), [&](const Hint& hint) { return is_blank(hint.text); });
  lines.add("there are hints, and each says something", !chapter.hints.empty() && all_speak,
            fmt::format("{} hints", chapter.hints.size()));
  const auto known = diagnosis_causes();
  std::string unknown;
  for (const Hint& hint : chapter.hints) {
    for (const std::string& cause : hint.causes) {
      const bool is_for_ace = cause == kForAce && hint.causes.size() == 1;
      if (!is_for_ace && std::find(known.begin(), known.end(), cause) == known.end()) unknown += " " + cause;
    }
  }
  lines.add("hints are for diagnoses that there are", unknown.empty(),
            unknown.empty() ? "all known"
                            : fmt::format("no such diagnosis:{}; there are {}", unknown, fmt::join(known, ", ")));
}

// The FLOP/s that the roofs allow at the algorithm's AI, divided by the achieved FLOP/s: how far the dot can still rise
// if it also moves right.
double gap_to_algorithm(const Measurement& measurement, const Roofs& roofs) {
  const MemoryRoof* dram = roofs.memory_roof("dram");
  const auto peak = roofs.peak();
  ROOFWALK_CHECK(dram != nullptr && peak);
  return attainable_flops_per_s(measurement.algorithmic_ai.value, dram->bytes_per_s, *peak) /
         measurement.achieved_flops_per_s.value;
}

// A faulty starter faults as the manifest says.
void check_fault(const FaultyStarter& starter, const Attempt& attempt, Lines& lines) {
  const bool faults = attempt.judgement.verdict == Verdict::fault && attempt.fault;
  const std::string kind = faults ? std::string(fault_name(attempt.fault->kind)) : "no fault";
  lines.add(fmt::format("the starter faults: {}", starter.kind), kind == starter.kind,
            fmt::format("{}: {}", kind, outcome(attempt)));
}

// `starter`: the attempt of the chapter's baseline.
void check_starter(const Chapter& chapter, const Machine& machine, const Attempt& starter, Lines& lines) {
  const std::string name = chapter.baseline_name();
  lines.add(fmt::format("the {} is correct and misses a goal", name), starter.judgement.verdict == Verdict::fail,
            outcome(starter));
  const double gap = starter.measurement ? gap_to_algorithm(*starter.measurement, starter.roofs) : 0;
  const double least = chapter.least_starter_gap(machine.chip_name(), machine.name == kCourseMachine);
  lines.add(fmt::format("the {} is at least x{} below what its algorithm allows", name, least), gap >= least,
            factor(gap));
}

void check_factor(const std::string& what, double claimed, std::optional<double> found, Lines& lines) {
  const bool holds = found && std::abs(*found / claimed - 1) <= kClaimMargin;
  lines.add(what, holds, found ? fmt::format("x{:.4g}", *found) : "not measured");
}

// Checks that the best kernel has no diagnosis; if it had one, learners would try to cure a problem that does not
// exist.
void check_nothing_to_cure(const std::string& name, const Attempt& attempt, Lines& lines) {
  std::vector<std::string> causes;
  if (attempt.finding) {
    for (const Diagnosis& diagnosis : attempt.finding->diagnoses) causes.push_back(diagnosis.cause);
  }
  const bool holds = attempt.finding && causes.empty() && attempt.finding->diagnosis.cause == "none";
  lines.add(name + ": the last step has no diagnosis", holds,
            !attempt.finding ? "not measured"
            : causes.empty() ? "none"
                             : fmt::format("{}", fmt::join(causes, ", ")));
}

// Checks where the dot is, from the starter, at the claim's level.
void check_moves(const std::string& name, const StepClaim& claim, const Attempt& attempt, Lines& lines) {
  std::optional<Movement> moved;
  if (attempt.measurement) {
    const auto point = attempt.measurement->point(claim.level);
    const auto from = attempt.starter.find(claim.level);
    if (point && from != attempt.starter.end()) moved = movement(from->second, *point);
  }
  const auto part = [&](double Movement::*field) {
    return moved ? std::optional<double>((*moved).*field) : std::nullopt;
  };
  if (claim.right) {
    check_factor(fmt::format("{}: right x{} ({})", name, *claim.right, claim.level), *claim.right,
                 part(&Movement::right), lines);
  }
  if (claim.up) check_factor(fmt::format("{}: up x{}", name, *claim.up), *claim.up, part(&Movement::up), lines);
}

// A library's kernel is right, also where all of it is sanitized, and its dot is where its file says. No grade is
// asked.
void check_library(const fs::path& file, const std::string& machine, const Attempt& attempt, Lines& lines) {
  const std::string name = file.filename().string();
  const auto claim = library_claim_on(machine, file_text(file));
  if (!claim) return lines.add(name + ": states its dot", false, claim.error().text());
  const Verdict verdict = attempt.judgement.verdict;
  lines.add(name + ": is right", verdict == Verdict::pass || verdict == Verdict::fail, outcome(attempt));
  check_moves(name, *claim, attempt, lines);
}

void check_step(const fs::path& file, const std::string& machine, const Attempt& attempt, bool is_last, Lines& lines) {
  const std::string name = file.filename().string();
  const auto claim = step_claim_on(machine, file_text(file));
  if (!claim) return lines.add(name + ": states its step", false, claim.error().text());
  lines.add(name + ": is the step that it says", name.starts_with(fmt::format("step{}_", claim->step)),
            fmt::format("step {}", claim->step));
  check_moves(name, *claim, attempt, lines);
  if (!is_last) return;
  lines.add(name + ": the last step meets every goal", attempt.judgement.grade == Grade::ace, outcome(attempt));
  if (machine == kCourseMachine) check_nothing_to_cure(name, attempt, lines);
}

// The wrong solutions whose claim is about this machine or about all machines. Includes those with an unreadable claim,
// so that they are reported.
std::vector<fs::path> wrong_solutions_on(const Chapter& chapter, const std::string& machine) {
  std::vector<fs::path> files = chapter.wrong_solutions();
  std::erase_if(files, [&](const fs::path& file) {
    const auto claim = parse_wrong_claim(first_line(file));
    return claim && !claim->machine.empty() && claim->machine != machine;
  });
  return files;
}

// Returns the kernel of each wrong solution. Removes from `wrong`, and reports, those for which no kernel can be made,
// for example because a patch does not apply.
std::vector<fs::path> kernels_of(std::vector<fs::path>& wrong, const PatchedKernels& patched, Lines& lines) {
  std::vector<fs::path> kept, kernels;
  for (const fs::path& file : wrong) {
    if (const auto kernel = patched.kernel_of(file)) {
      kept.push_back(file);
      kernels.push_back(*kernel);
    } else {
      lines.add(file.filename().string() + ": makes a kernel", false, kernel.error().text());
    }
  }
  wrong = kept;
  return kernels;
}

void check_idiom(const fs::path& file, const std::string& machine, const Attempt& attempt, Lines& lines) {
  const std::string name = file.filename().string();
  const auto grade = idiom_grade_on(machine, file_text(file));
  if (!grade) return lines.add(name + ": states its grade", false, grade.error().text());
  const Verdict verdict = *grade == Grade::none ? Verdict::fail : Verdict::pass;
  lines.add(fmt::format("{}: grade {}", name, grade_name(*grade)),
            attempt.judgement.grade == *grade && attempt.judgement.verdict == verdict, outcome(attempt));
}

void check_wrong(const fs::path& file, const Attempt& attempt, Lines& lines) {
  const std::string name = file.filename().string();
  const auto claim = parse_wrong_claim(first_line(file));
  if (!claim) return lines.add(name + ": states its verdict", false, claim.error().text());
  const auto& reasons = attempt.judgement.reasons;
  const bool says_so =
      claim->text.empty() || std::any_of(reasons.begin(), reasons.end(), [&](const std::string& reason) {
        return reason.find(claim->text) != std::string::npos;
      });
  lines.add(fmt::format("{}: {}, {}", name, claim->verdict, claim->text),
            claim->verdict == verdict_name(attempt.judgement.verdict) && says_so, outcome(attempt));
}

// Checks that half precision is refused where single precision is required. The starter's check shows that single
// precision passes.
CheckLine check_half(const Chapter& chapter, const Exercise& exercise, const Size& size, const Problem& problem,
                     const std::vector<Expected>& expected) {
  const auto answer = half_answer(exercise, size, problem);
  Correctness worst;
  worst.correct = true;
  for (std::size_t i = 0; i < expected.size() && worst.correct; ++i) worst = compare(answer[i], expected[i]);
  return {chapter.name, fmt::format("half precision is refused at {}", size.text()), !worst.correct,
          fmt::format("worst error {:.3g}", worst.worst_error)};
}

// Whether the chapter's values must not be halves. Numbers of keys and small integers are halves, and so are the
// factors that tensor cores take.
bool refuses_half(const Chapter& chapter) {
  return chapter.unit == WorkUnit::flop && chapter.roof != ChapterRoof::tensor_f16;
}

StarterDot dot_of(const Attempt& starter) {
  return {starter.starter, starter.bytes_are_modelled, starter.starter_sector_use, starter.starter_counts};
}

// The files that a check runs, in this order: the baseline, steps, idioms, wrong solutions, the starter if that is
// another file, and the library's.
struct CheckedFiles {
  std::vector<fs::path> files, kernels;  // a kernel is the file itself, or what a patch makes
  std::size_t steps = 0, idioms = 0;
};

CheckedFiles checked_files(const Rig& rig, const Chapter& chapter, CheckScope scope, const PatchedKernels& patched,
                           Lines& lines) {
  auto steps = chapter.solution_steps();
  auto idioms = chapter.idioms();
  auto wrong = wrong_solutions_on(chapter, rig.machine.chip_name());
  lines.add("there are solution steps and wrong solutions", !steps.empty() && !wrong.empty(),
            fmt::format("{} and {}", steps.size(), wrong.size()));
  const auto dodge = quick_dodge(wrong), idiom = quick_idiom(steps);
  lines.add("the quick check has one dodge", dodge.ok(), dodge ? dodge->filename().string() : dodge.error().message);
  lines.add("the quick check has one idiom", idiom.ok(), idiom ? idiom->filename().string() : idiom.error().message);
  if (scope == CheckScope::quick) {
    const fs::path last = steps.empty() ? fs::path() : steps.back();
    std::erase_if(steps, [&](const fs::path& step) { return step != last && !(idiom && step == *idiom); });
    std::erase_if(wrong, [&](const fs::path& file) { return !(dodge && file == *dodge); });
    idioms.clear();
  }
  const auto wrong_kernels = kernels_of(wrong, patched, lines);
  CheckedFiles out{.files = {chapter.baseline()}, .kernels = {}, .steps = steps.size(), .idioms = idioms.size()};
  out.files.insert(out.files.end(), steps.begin(), steps.end());
  out.files.insert(out.files.end(), idioms.begin(), idioms.end());
  out.kernels = out.files;
  out.files.insert(out.files.end(), wrong.begin(), wrong.end());
  out.kernels.insert(out.kernels.end(), wrong_kernels.begin(), wrong_kernels.end());
  if (chapter.faulty_starter) {
    out.files.push_back(chapter.starter());
    out.kernels.push_back(chapter.starter());
  }
  if (chapter.has_library() && scope == CheckScope::everything) {
    out.files.push_back(chapter.library());
    out.kernels.push_back(chapter.library());
  }
  return out;
}

}  // namespace

Result<std::vector<CheckLine>> check_chapter(const Rig& rig, const Chapter& chapter, CheckScope scope) {
  const Exercise* exercise = find_exercise(chapter.name);
  if (exercise == nullptr) return Error{fmt::format("chapter `{}` has no exercise in this program", chapter.name)};
  Lines lines(chapter.name);
  check_words(chapter, lines);
  const PatchedKernels patched(chapter.folder.parent_path().parent_path());
  const CheckedFiles checked = checked_files(rig, chapter, scope, patched, lines);
  const std::vector<fs::path>& files = checked.files;
  const std::size_t steps = checked.steps, idioms = checked.idioms;

  const auto measured = prepare(chapter, rig.machine, kPublicSeed, rig.threads);
  ROOFWALK_TRY(Attempt first, run_attempt(rig, {&chapter, chapter.baseline(), kPublicSeed, measured}));
  std::optional<StarterDot> starter;  // none if the baseline is wrong
  if (!first.starter.empty()) starter = dot_of(first);
  Rig alone = rig;  // one thread per attempt, because the attempts run in parallel
  alone.threads = 1;
  const auto& sizes = chapter.correctness_sizes;
  std::vector<std::optional<Result<Attempt>>> attempts(files.size());
  // Each size has a reference to compute, so a quick check takes the last of the correctness sizes only.
  const std::size_t first_half = scope == CheckScope::quick ? sizes.size() - 1 : 0;
  const std::size_t half_count = scope == CheckScope::quick ? 1 : sizes.size() + 1;
  std::vector<CheckLine> halves(refuses_half(chapter) ? half_count : 0);
  attempts[0] = std::move(first);
  parallel_for(files.size() - 1 + halves.size(), rig.threads, [&](std::size_t other) {
    if (const std::size_t i = other + 1; i < files.size()) {
      Request request{&chapter, checked.kernels[i], kPublicSeed, measured, starter};
      request.may_call_libraries = request.sanitizes_measured = is_library_of(chapter, files[i]);
      attempts[i] = run_attempt(alone, request);
    } else if (const std::size_t h = i - files.size(); first_half + h < sizes.size()) {
      const Size& size = sizes[first_half + h];
      const Problem problem = exercise->problem(size, kPublicSeed);
      halves[h] = check_half(chapter, *exercise, size, problem, exercise->reference(size, problem));
    } else {
      halves[h] = check_half(chapter, *exercise, measured->size, measured->problem, measured->expected.get());
    }
  });

  AttemptJsons shown;  // the attempts to which the lesson's figures refer
  for (std::size_t i = 0; i < files.size(); ++i) {
    ROOFWALK_TRY(const Attempt attempt, *std::move(attempts[i]));
    const std::string stem = files[i].stem().string();
    const bool is_step = i >= 1 && i <= steps;
    const bool is_faulty_starter = files[i] != chapter.baseline() && files[i] == chapter.starter();
    shown[i == 0              ? chapter.baseline_name()
          : is_faulty_starter ? "starter"
          : is_step           ? stem.substr(0, stem.find('_'))
                              : stem] = to_json(attempt);
    if (i == 0) {
      check_starter(chapter, rig.machine, attempt, lines);
    } else if (is_library_of(chapter, files[i])) {
      check_library(files[i], rig.machine.name, attempt, lines);
    } else if (is_faulty_starter) {
      check_fault(*chapter.faulty_starter, attempt, lines);
    } else if (is_step) {
      check_step(files[i], rig.machine.name, attempt, i == steps, lines);
    } else if (i <= steps + idioms) {
      check_idiom(files[i], rig.machine.chip_name(), attempt, lines);
    } else {
      check_wrong(files[i], attempt, lines);
    }
  }
  auto all = lines.take();
  if (rig.machine.name == kCourseMachine) {
    const auto figures = check_figures(chapter.name, file_text(chapter.lesson()), shown, scope);
    all.insert(all.end(), figures.begin(), figures.end());
  }
  all.insert(all.end(), halves.begin(), halves.end());
  return all;
}

}  // namespace roofwalk
