#include "grader/profile/figure_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/roofline/si.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

FigureCell time_cell(const Profile& profile, const LineFigures& f) {
  const double share = profile.share_of_time(f);
  if (!profile.attempt.time_is_modelled || share < kShownShare) return {};
  return {fmt::format("{:.0f} %", 100 * share)};
}

FigureCell wait_cell(const Profile& profile, const LineFigures& f) {
  const auto wait = f.main_wait();
  if (!wait || profile.share_of_time(f) < kShownShare) return {};
  return {std::string(short_wait(f))};
}

FigureCell wait_share_cell(const Profile& profile, const LineFigures& f) {
  if (wait_cell(profile, f).text.empty()) return {};
  return {fmt::format("{:.0f} %", 100 * f.share_of(*f.main_wait()))};
}

FigureCell ways_cell(const Profile&, const LineFigures& f) {
  const auto ways = f.bank_conflict_ways();
  if (!ways) return {};
  return {number_text(*ways), *ways >= kTooManyWays};
}

FigureCell words_cell(const Profile&, const LineFigures& f) {
  const auto words = f.constant_words();
  if (!words) return {};
  return {number_text(*words), *words >= kTooManyWords};
}

FigureCell lanes_cell(const Profile&, const LineFigures& f) {
  const auto lanes = f.active_lanes();
  if (!lanes) return {};
  return {number_text(*lanes), *lanes <= kFewLanes};
}

FigureCell amount(double value, std::string_view unit) {
  if (value <= 0) return {};
  return {si_text(value, unit)};
}

constexpr FigureColumn kColumns[] = {
    {"time", "time: of the run; a wait counts at the line that is waited for", 0, time_cell},
    {"wait", "wait: what most of that went to", 1, wait_cell},
    {"of it", "of it: how much of the line's time", 10, wait_share_cell},
    {"sectors", "sectors: 32-byte pieces that a request moves, of as few as would do", 2, sectors_cell},
    {"ways", "ways: turns that shared memory takes for one", 7, ways_cell},
    {"passes", "passes: words of constant memory that a load's lanes differ in, one at a time", 7, words_cell},
    {"lanes", "lanes: threads of a warp that work, of 32", 4, lanes_cell},
    {"runs", "runs: warp instructions", 3,
     [](const Profile&, const LineFigures& f) { return amount(f.count(Counter::warp_instructions), ""); }},
    {"shared", "shared: bytes that shared memory moves", 8,
     [](const Profile&, const LineFigures& f) { return amount(f.count(Counter::shared_bytes), "B"); }},
    {"L1", "L1: bytes that it moves", 6,
     [](const Profile&, const LineFigures& f) { return amount(f.l1_bytes(), "B"); }},
    {"L2", "L2: bytes that it moves", 8,
     [](const Profile&, const LineFigures& f) { return amount(f.l2_bytes(), "B"); }},
    {"DRAM", "DRAM: bytes that it moves", 5,
     [](const Profile&, const LineFigures& f) { return amount(f.dram_bytes(), "B"); }},
    {"FLOPs", "FLOPs: executed", 9, [](const Profile&, const LineFigures& f) { return amount(f.flops(), ""); }},
};

}  // namespace

std::span<const FigureColumn> figure_columns() { return kColumns; }

std::string meaning_of(const FigureColumn& column, const Profile& profile) {
  if (column.cell != wait_cell) return std::string(column.meaning);
  // By short word, in the order of the lines. Lines may wait in queues to L1, to shared memory or to both; the column
  // has one word for them.
  std::vector<std::pair<std::string_view, std::string_view>> meanings;
  for (const ProfileLine& line : profile.lines) {
    if (!line.figures || wait_cell(profile, *line.figures).text.empty()) continue;
    const std::string_view brief = short_wait(*line.figures), in_full = long_wait(*line.figures);
    if (in_full == brief || in_full == "a " + std::string(brief)) continue;
    const auto known = std::ranges::find(meanings, brief, [](const auto& meaning) { return meaning.first; });
    if (known == meanings.end()) {
      meanings.emplace_back(brief, in_full);
    } else if (known->second != in_full) {
      known->second = "room in the queue to L1 or to shared memory";
    }
  }
  if (meanings.empty()) return std::string(column.meaning);
  std::vector<std::string> words;
  for (const auto& [brief, in_full] : meanings) words.push_back(fmt::format("{}: {}", brief, in_full));
  return fmt::format("{} ({})", column.meaning, fmt::join(words, "; "));
}

FigureCell elapsed_cell(const Profile& profile, const LineFigures& f) {
  if (!profile.attempt.time_is_modelled || f.elapsed_ns() <= 0 || profile.share_of_time(f) < kShownShare) return {};
  return {time_text(f.elapsed_ns())};
}

FigureCell sectors_cell(const Profile&, const LineFigures& f) {
  const auto sectors = f.sectors_per_request(), ideal = f.ideal_sectors_per_request();
  if (!sectors) return {};
  if (!ideal) return {number_text(*sectors)};
  return {fmt::format("{} of {}", number_text(*sectors), number_text(*ideal)), *sectors >= kTooManySectors * *ideal};
}

std::string shown_source(std::string_view source) {
  constexpr std::size_t kTab = 4;
  std::string wide;
  for (const char c : source) {
    if (c == '\t') {
      wide.append(kTab - wide.size() % kTab, ' ');
    } else {
      wide += c;
    }
  }
  return printable(wide);
}

std::string elsewhere_text(const LineFigures& figures) {
  if (figures.count(Counter::warp_instructions) <= 0 && figures.launch_ns > 0) return "(the launches)";
  return fmt::format("(headers and the like: {} warp instructions)",
                     si_text(figures.count(Counter::warp_instructions), ""));
}

std::string totals_text(const Profile& profile) {
  const LineFigures& f = profile.total;
  return fmt::format("{}{}, {} warp instructions, {} at DRAM", time_text(profile.attempt.measurement->elapsed_ns.value),
                     profile.attempt.time_is_modelled ? " (modelled)" : "",
                     si_text(f.count(Counter::warp_instructions), ""), si_text(f.dram_bytes(), "B"));
}

}  // namespace roofwalk
