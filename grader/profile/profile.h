// An attempt line by line: the work of each line of the learner's file, which lines are hot, and what is wrong with
// them.
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

// Thresholds from which a figure is shown as a problem.
inline constexpr double kTooManySectors = 1.5;  // per request, over the fewest possible
inline constexpr double kTooManyWays = 1.5;     // of a bank conflict
inline constexpr double kTooManyWords = 1.5;    // of constant memory, per load
inline constexpr double kFewLanes = 24;         // of 32
inline constexpr double kShownShare = 0.005;    // of the time; smaller shares are left blank

// The work of a line over all launches of the plan. Code of an inlined function or a template counts at its own
// lines, whichever line calls it; inlined code of a header counts at the calling line.
struct LineFigures {
  Counters counters;
  // The line's part of the modelled time. A kernel's time is split in proportion to the cycles that its warps spend
  // (not `tail`, when no warp is present). A wait counts at the line whose result the warp waits for, a launch at the
  // line of the launch.
  std::array<double, kWaitCount> waits_ns{};  // by Wait; `issued` is the part without waiting
  double launch_ns = 0;
  std::vector<std::string> kernels;  // kernels with code in this line, in launch order
  std::vector<HeldUpBy> held_up;     // for its waits at barriers: what the last warp did
  std::vector<LineCounters::Load> loads;
  std::vector<int> callers;  // lines that call its function, if the function was inlined; ascending

  void add(const LineFigures& other);

  double elapsed_ns() const;
  std::optional<Wait> main_wait() const;  // the wait with the largest part of its time; nullopt if that part is work
                                          // or a launch
  double share_of(Wait wait) const;       // of the line's time

  double count(Counter counter) const { return static_cast<double>(counters[counter].value_or(0)); }
  double global_requests() const;
  double global_sectors() const;  // at L1, without local memory
  double l1_bytes() const;        // including local memory
  double l2_bytes() const;
  double dram_bytes() const;
  double flops() const;
  double shared_requests() const;

  // Averages; nullopt if there was no request of this kind.
  std::optional<double> sectors_per_request() const;
  std::optional<double> ideal_sectors_per_request() const;
  std::optional<double> bank_conflict_ways() const;  // 1: no conflict
  std::optional<double> constant_words() const;      // number of different words of constant memory per load
  std::optional<double> active_lanes() const;        // of 32
};

struct ProfileLine {
  int number = 0;
  std::string source;  // as the learner wrote it
  // Null if no instruction comes from this line. It is a pointer because a file may have a million such lines.
  std::shared_ptr<const LineFigures> figures;
  std::string note;           // for a hot line: what is wrong with it, in a few words; empty for other lines
  bool is_diagnosed = false;  // the note is from the first diagnosis, so this is the line to look at

  bool is_hot() const { return !note.empty(); }
};

struct Profile {
  Attempt attempt;
  std::vector<ProfileLine> lines;        // all lines of the file; empty if nothing was measured
  std::optional<LineFigures> elsewhere;  // instructions that belong to no line of the file
  LineFigures total;
  std::vector<std::string> says;  // sentences: which lines take the time, and what the diagnosis says

  bool is_measured() const { return !lines.empty(); }
  // The title of the column to which the diagnosis with this rank (0: the first) refers; empty if there is none.
  std::string figure_of_diagnosis(std::size_t rank) const;
  double share_of_time(const LineFigures& figures) const;
};

Profile profile_of(Attempt attempt, const std::string& source_text);

// "roofwalk.profile/1": as stable as the attempt's JSON. Always the same keys; null for values that are not known.
// - As in "roofwalk.attempt/1": chapter, device, size, seed, file, source_sha256, verdict, grade, reasons, elapsed_ns,
//   time_is_modelled, bytes_are_modelled, diagnosis, diagnoses.
// - says: the sentences. lines: every line of the file in order, {line, source, hot, note, figures}; empty for a kernel
//   that was not measured. elsewhere, total: figures. page: the file that --html wrote.
// - figures: {kernels, elapsed_ns, time_share, launch_ns, waits_ns, main_wait, main_wait_share, warp_instructions,
//   active_lanes, global_requests, sectors_per_request, ideal_sectors_per_request, l1_bytes, l2_bytes, dram_bytes,
//   shared_requests, bank_conflict_ways, constant_words, flops, callers, loads, held_up_by, counters}; null for a line
//   that no instruction comes from. elapsed_ns is launch_ns plus all of waits_ns. callers: lines at which its function
//   was inlined; loads: of each of its loads of global memory {sectors, requests}; held_up_by: what the last warp at
//   its barriers did, {line, wait, share}. Lines and elsewhere add up to total: counts and bytes exactly.
// - With --against: against, the same object of the other file, and pairs of {line, against_line} in reading order,
//   null on the side without the line.
Json to_json(const Profile& profile);

// The main wait of a line in one word ("DRAM"), and in words that complete "wait for" ("the result of the instruction
// before"). Only for a line with a main_wait().
std::string_view short_wait(const LineFigures& figures);
std::string_view long_wait(const LineFigures& figures);

}  // namespace roofwalk
