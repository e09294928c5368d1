// An attempt line by line: what each line of the learner's file did, which lines are hot, and what is wrong with them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/record/run_record.h"
#include "grader/attempt/attempt.h"

namespace roofwalk {

// From here on a figure is told as something to look at.
inline constexpr double kTooManySectors = 1.5;  // of a request, over those that would do
inline constexpr double kTooManyWays = 1.5;     // of a bank conflict
inline constexpr double kTooManyWords = 1.5;    // of constant memory, a load
inline constexpr double kFewLanes = 24;         // of 32
inline constexpr double kShownShare = 0.005;    // of the time: less is left blank

// What a line did, over all launches of the plan. Counts of a line in a function that was inlined, or in a template,
// are the line's own, whoever called it; code of a header that was inlined counts at the line that calls it.
struct LineFigures {
  Counters counters;
  // The line's part of the modelled time: a kernel's time is split like the cycles of its warps (`tail` left out: no
  // warp was there), and a wait counts at the line whose result was waited for. Launches count where they stand.
  std::array<double, kWaitCount> waits_ns{};  // by wait_name(); `issued` is the part without waiting
  double launch_ns = 0;
  std::vector<std::string> kernels;  // that it is part of, in the order of their launches
  std::vector<HeldUpBy> held_up;     // of its waits at barriers: what the last warp was about
  std::vector<LineCounters::Load> loads;
  std::vector<int> callers;  // lines that call the function it belongs to, where that was inlined; ascending

  void add(const LineFigures& other);

  double elapsed_ns() const;
  std::optional<Wait> main_wait() const;  // what took most of its time; nothing where that is work, or a launch
  double share_of(Wait wait) const;       // of its time

  double count(Counter counter) const { return static_cast<double>(counters[counter].value_or(0)); }
  double global_requests() const;
  double global_sectors() const;  // at L1, local memory left out
  double l1_bytes() const;        // local memory's too
  double l2_bytes() const;
  double dram_bytes() const;
  double flops() const;
  double shared_requests() const;

  // Averages; nothing where there was no such request.
  std::optional<double> sectors_per_request() const;
  std::optional<double> ideal_sectors_per_request() const;
  std::optional<double> bank_conflict_ways() const;  // 1: no conflict
  std::optional<double> constant_words() const;      // of constant memory that the lanes of a load differ in
  std::optional<double> active_lanes() const;        // of 32
};

struct ProfileLine {
  int number = 0;
  std::string source;  // as the learner wrote it
  // Nothing where no instruction comes from it, as is the case for all but a few of a stranger's million lines.
  std::shared_ptr<const LineFigures> figures;
  std::string note;           // of a hot line: what is wrong with it, in a few words; empty for all others
  bool is_diagnosed = false;  // the note is the first diagnosis': the line to look at

  bool is_hot() const { return !note.empty(); }
};

struct Profile {
  Attempt attempt;
  std::vector<ProfileLine> lines;        // all of the file's; empty where nothing was measured
  std::optional<LineFigures> elsewhere;  // instructions that no line of the file owns
  LineFigures total;
  std::vector<std::string> says;  // sentences: where the time goes, and what the diagnosis says

  bool is_measured() const { return !lines.empty(); }
  // The figure that the diagnosis of this rank (0: the first) speaks of, a column's title; empty where there is none.
  std::string figure_of_diagnosis(std::size_t rank) const;
  double share_of_time(const LineFigures& figures) const;
};

Profile profile_of(Attempt attempt, const std::string& source_text);

// "roofwalk.profile/1": stable as the attempt's is. Always the same keys; null where something is not known.
// - As in "roofwalk.attempt/1": chapter, device, size, seed, file, source_sha256, verdict, grade, reasons, elapsed_ns,
//   time_is_modelled, bytes_are_modelled, diagnosis, diagnoses.
// - says: the sentences. lines: every line of the file in order, {line, source, hot, note, figures}; none of a kernel
//   that was not measured. elsewhere, total: figures. page: where --html wrote it.
// - figures: {kernels, elapsed_ns, time_share, launch_ns, waits_ns, main_wait, main_wait_share, warp_instructions,
//   active_lanes, global_requests, sectors_per_request, ideal_sectors_per_request, l1_bytes, l2_bytes, dram_bytes,
//   shared_requests, bank_conflict_ways, constant_words, flops, callers, loads, held_up_by, counters}; null for a line
//   that no instruction comes from. elapsed_ns is launch_ns and all of waits_ns. callers: lines at which its function
//   was inlined; loads: of each of its loads of global memory {sectors, requests}; held_up_by: what the last warp at
//   its barriers was about, {line, wait, share}. Lines and elsewhere add up to total: counts and bytes exactly.
// - With --against: against, the same object of the other file, and pairs of {line, against_line} in reading order,
//   null on the side that lacks the line.
Json to_json(const Profile& profile);

// What a line mostly waits for, in a word ("DRAM"), and as it follows "wait for" ("the result of the instruction
// before"). Only where it has a main_wait().
std::string_view short_wait(const LineFigures& figures);
std::string_view long_wait(const LineFigures& figures);

}  // namespace roofwalk
