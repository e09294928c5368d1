// The differences between two profiles, as sentences: what a learner wants to know first after changing a kernel.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "common/record/times.h"
#include "common/roofline/causes.h"
#include "common/roofline/si.h"
#include "grader/attempt/inspect.h"
#include "grader/profile/compare.h"

namespace roofwalk {
namespace {

constexpr double kChanged = 1.1;  // a figure is better or worse if its ratio is at least this
constexpr std::size_t kMostTold = 3;

// A figure of both profiles, and how it changed. A smaller figure is better, unless more_is_better is set.
struct Change {
  std::string title = {};   // title of the column that shows it; empty: none
  double was = 0, now = 0;  // the values whose ratio counts
  std::string text = {};    // "L1 moves 34.6 MB instead of 672 MB"
  bool more_is_better = false;

  double gain() const { return more_is_better ? now / was : was / now; }
};

std::string times_text(const Change& change) {
  const bool is_less = change.now < change.was;
  if (change.title == "sectors") return change.text;
  return fmt::format("{} ({} times {})", change.text,
                     number_text(is_less ? change.was / change.now : change.now / change.was),
                     is_less ? "less" : "more");
}

double blocks_of(const Profile& profile) {
  const auto& kernels = profile.attempt.kernels;
  const auto longest = std::max_element(kernels.begin(), kernels.end(),
                                        [](const auto& a, const auto& b) { return a.elapsed_ns < b.elapsed_ns; });
  return longest == kernels.end() ? 0 : static_cast<double>(longest->grid.count());
}

bool was_about(const Profile& was, std::string_view cause) {
  const auto& diagnoses = was.attempt.finding->diagnoses;
  return !diagnoses.empty() && diagnoses.front().cause == cause;
}

// Sectors per request, divided by the fewest possible: 4 sectors where 4 are needed are no worse than 1 where 1 is
// needed. 0 if unknown.
double excess(const LineFigures& f) {
  const auto sectors = f.sectors_per_request(), ideal = f.ideal_sectors_per_request();
  return sectors && ideal && *ideal > 0 ? *sectors / *ideal : 0;
}

// Returns the change in sectors per request. It is about one line: of the lines in both files that have enough
// requests, the one with the largest change. If there is no such line, it is about the average access.
Change sectors_change(const Profile& was, const Profile& now) {
  Change best{.title = "sectors"};
  const auto compare = [&](const LineFigures& before, const LineFigures& after, const std::string& where) {
    Change own{.title = "sectors", .was = excess(before), .now = excess(after)};
    if (own.was <= 0 || own.now <= 0) return;
    if (best.was > 0 && std::max(own.gain(), 1 / own.gain()) <= std::max(best.gain(), 1 / best.gain())) return;
    own.text = fmt::format("{}{} sectors a request instead of {}", where, number_text(*after.sectors_per_request()),
                           number_text(*before.sectors_per_request()));
    best = std::move(own);
  };
  for (const LinePair& pair : matched(was, now)) {
    if (pair.was == 0 || pair.now == 0) continue;
    const auto& before = was.lines[static_cast<std::size_t>(pair.was) - 1].figures;
    const auto& after = now.lines[static_cast<std::size_t>(pair.now) - 1].figures;
    // Ignores accesses that are rare, however scattered.
    constexpr double kGoodPart = 0.1;
    if (!before || !after || before->global_requests() < kGoodPart * was.total.global_requests()) continue;
    compare(*before, *after, fmt::format("line {}: ", pair.now));
  }
  if (best.was <= 0) compare(was.total, now.total, "");
  return best;
}

std::vector<Change> all_changes(const Profile& was, const Profile& now) {
  const LineFigures &a = was.total, &b = now.total;
  std::vector<Change> changes;
  const auto add = [&](std::string title, double before, double after, std::string_view what, std::string_view unit) {
    changes.push_back({std::move(title), before, after,
                       fmt::format("{}{} instead of {}", what, si_text(after, unit), si_text(before, unit))});
  };
  if (was_about(was, cause::few_blocks.id)) {
    changes.push_back(
        {.was = blocks_of(was),
         .now = blocks_of(now),
         .text = fmt::format("the grid has {:.0f} blocks instead of {:.0f}", blocks_of(now), blocks_of(was)),
         .more_is_better = true});
  }
  add("L1", a.l1_bytes(), b.l1_bytes(), "L1 moves ", "B");
  add("L2", a.l2_bytes(), b.l2_bytes(), "L2 moves ", "B");
  add("DRAM", a.dram_bytes(), b.dram_bytes(), "DRAM moves ", "B");
  add("shared", a.count(Counter::shared_wavefronts), b.count(Counter::shared_wavefronts), "shared memory takes ",
      "turns");
  add("ways", a.count(Counter::shared_bank_conflicts), b.count(Counter::shared_bank_conflicts), "bank conflicts: ", "");
  add("passes", a.count(Counter::constant_passes), b.count(Counter::constant_passes), "the constant cache takes ",
      "passes");
  add("runs", a.count(Counter::warp_instructions), b.count(Counter::warp_instructions), "warp instructions: ", "");
  add("FLOPs", a.flops(), b.flops(), "FLOPs executed: ", "");
  changes.push_back(sectors_change(was, now));
  // The wait that took most time in `was`.
  if (const auto wait = a.main_wait()) {
    const auto w = static_cast<std::size_t>(*wait);
    const auto name = *wait == Wait::pipe ? std::string_view("their turn at a queue") : wait_words(*wait);
    changes.push_back({"wait", a.waits_ns[w], b.waits_ns[w],
                       fmt::format("waiting for {} takes {} instead of {}", name, time_text(b.waits_ns[w]),
                                   time_text(a.waits_ns[w]))});
  }
  std::erase_if(changes, [](const Change& c) { return c.was <= 0 || c.now <= 0; });
  return changes;
}

// Sorts the changes: first those of the figures that a diagnosis refers to, then the others, the largest change first.
std::vector<Change> ordered(std::vector<Change> changes, const Profile& was, const Profile& now) {
  const auto is_proof = [&](const Change& c) {
    return c.title.empty() || c.title == was.figure_of_diagnosis(0) || c.title == now.figure_of_diagnosis(0) ||
           (was.figure_of_diagnosis(0).empty() && c.title == "wait");
  };
  std::stable_sort(changes.begin(), changes.end(), [&](const Change& a, const Change& b) {
    if (is_proof(a) != is_proof(b)) return is_proof(a);
    return std::max(a.gain(), 1 / a.gain()) > std::max(b.gain(), 1 / b.gain());
  });
  return changes;
}

std::vector<std::string> told(const std::vector<Change>& changes, const std::function<bool(double gain)>& is_meant) {
  std::vector<std::string> texts;
  for (const Change& change : changes) {
    if (is_meant(change.gain()) && texts.size() < kMostTold) texts.push_back(times_text(change));
  }
  return texts;
}

}  // namespace

std::vector<std::string> changes(const Profile& was, const Profile& now) {
  const std::vector<Change> all = ordered(all_changes(was, now), was, now);
  const auto better = told(all, [](double gain) { return gain >= kChanged; });
  const auto worse = told(all, [](double gain) { return gain <= 1 / kChanged; });
  std::vector<std::string> says;
  if (!better.empty()) says.push_back(fmt::format("Better: {}.", fmt::join(better, "; ")));
  if (!worse.empty()) says.push_back(fmt::format("Worse: {}.", fmt::join(worse, "; ")));
  if (better.empty() && worse.empty()) says.emplace_back("No figure changed by more than a tenth.");
  const auto& before = was.attempt.finding->diagnoses;
  const auto& after = now.attempt.finding->diagnoses;
  for (std::size_t i = 0; i < std::min(before.size(), kMostTold); ++i) {
    const bool is_there =
        std::any_of(after.begin(), after.end(), [&](const Diagnosis& d) { return d.cause == before[i].cause; });
    if (!is_there && !before[i].brief.empty()) says.push_back(fmt::format("Gone: \"{}\".", before[i].brief));
  }
  if (after.empty()) {
    says.emplace_back("Nothing is in the way any more.");
  } else if (!after.front().brief.empty()) {
    const bool is_same = !before.empty() && before.front().cause == after.front().cause;
    says.push_back(fmt::format("{} in the way: {}{}.", is_same ? "Still" : "Now", after.front().brief,
                               after.front().line > 0 ? fmt::format(" (line {})", after.front().line) : ""));
  }
  return says;
}

}  // namespace roofwalk
