#include "grader/attempt/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "common/record/run_record.h"
#include "common/roofline/causes.h"
#include "common/roofline/si.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

double count(const Counters& counters, Counter counter) { return static_cast<double>(counters[counter].value_or(0)); }

// Estimates the ideal sectors for devices that do not count them: the sectors that the same accesses would touch if the
// bytes that they use were contiguous. If the accesses use their 128-byte lines fully, all their sectors count as
// ideal, unless a request has more sectors than 32 threads can use with 16 bytes each. Otherwise each thread is assumed
// to use 4 bytes.
double ideal_sectors(double sectors, double lines, double requests) {
  constexpr double kSectorsPerLine = 4, kMostSectors = 16;
  const bool lines_are_full = lines > 0 && sectors >= 0.9 * kSectorsPerLine * lines;
  const bool can_use_all = sectors <= kMostSectors * requests;
  return lines_are_full && can_use_all ? sectors : std::min(sectors, kSectorsPerLine * requests);
}

double flops_of(const Counters& c) {
  return count(c, Counter::flops_f16) + count(c, Counter::flops_f32) + count(c, Counter::flops_f64) +
         count(c, Counter::flops_tensor);
}

double dram_bytes_of(const Counters& c) {
  return count(c, Counter::dram_read_bytes) + count(c, Counter::dram_write_bytes);
}

// Whether a line of the source has threads arrive at a barrier object. Counts do not tell these conflicts from those
// of arrays. Inline PTX may stand on the lines below its `asm`.
bool has_arrival(const std::string& source_text, int line) {
  constexpr int kLinesOfAsm = 3;
  std::string text = source_line(source_text, line);
  if (text.find("asm") != std::string::npos) {
    for (int more = 1; more < kLinesOfAsm; ++more) text += "\n" + source_line(source_text, line + more);
  }
  return std::ranges::any_of(
      std::initializer_list<const char*>{"arrive(", "arrive_", "producer_commit(", "consumer_release(", "mbarrier."},
      [&](const char* word) {
        const std::size_t at = text.find(word);
        return at != std::string::npos && at < text.find("//");
      });
}

std::vector<DiagnosisInput::Line> lines_of(const RunRecord& record, const std::string& source_text) {
  std::map<int, DiagnosisInput::Line> by_line;
  for (const KernelRecord& kernel : record.kernels) {
    for (const LineCounters& of_line : kernel.lines) {
      const Counters& c = of_line.counters;
      DiagnosisInput::Line& line = by_line[of_line.line];
      const double loads = count(c, Counter::global_load_requests);
      const double stores = count(c, Counter::global_store_requests) + count(c, Counter::atomic_requests);
      const double local = count(c, Counter::local_sectors);
      const double sectors = count(c, Counter::l1_read_sectors) + count(c, Counter::l1_write_sectors) - local;
      line.line = of_line.line;
      line.load_requests += loads;
      line.store_requests += stores;
      line.l1_sectors += sectors;
      line.l1_lines += count(c, Counter::l1_lines);
      line.local_sectors += local;
      const auto ideal = c[Counter::l1_ideal_sectors];
      line.ideal_l1_sectors +=
          ideal ? static_cast<double>(*ideal) : ideal_sectors(sectors, count(c, Counter::l1_lines), loads + stores);
      line.dram_bytes += dram_bytes_of(c);
      line.flops += flops_of(c);
      line.warp_instructions += count(c, Counter::warp_instructions);
      line.shared_wavefronts += count(c, Counter::shared_wavefronts);
      line.shared_bank_conflicts += count(c, Counter::shared_bank_conflicts);
      line.constant_requests += count(c, Counter::constant_requests);
      line.constant_passes += count(c, Counter::constant_passes);
      line.divergent_branches += count(c, Counter::divergent_branches);
      line.atomics += count(c, Counter::atomic_operations);
    }
  }
  std::vector<DiagnosisInput::Line> lines;
  for (const auto& entry : by_line) lines.push_back(entry.second);
  for (DiagnosisInput::Line& line : lines) {
    if (line.shared_bank_conflicts > 0 && has_arrival(source_text, line.line))
      line.arrival_conflicts = line.shared_bank_conflicts;
  }
  return lines;
}

// The waits that a learner can do something about, in the words that diagnoses use.
constexpr std::pair<Wait, const char*> kWaitWords[] = {{Wait::dram, "DRAM"},
                                                       {Wait::l2, "L2"},
                                                       {Wait::l1, "L1"},
                                                       {Wait::shared, "shared memory"},
                                                       {Wait::bank_conflict, "bank conflicts"},
                                                       {Wait::constant, "constant memory"},
                                                       {Wait::barrier, "a barrier"},
                                                       {Wait::dependency, "the result of the instruction before"},
                                                       {Wait::pipe, "an arithmetic unit that is busy"},
                                                       {Wait::tail, "work"}};

// Names the resource of an SM that has no room for one more block, by one block's use of it: "its 255 registers a
// thread times 256 threads"; empty if neither shared memory nor registers are short.
std::string limit_of(const KernelRecord& kernel, const Machine& machine) {
  const auto threads = static_cast<double>(kernel.block.count());
  const double more = kernel.resident_blocks_per_sm + 1;
  if (kernel.shared_bytes * more > machine.shared_bytes_per_sm) {
    return fmt::format("its {:.3g} KiB of shared memory", kernel.shared_bytes / 1024.0);
  }
  if (kernel.registers_per_thread * threads * more > machine.registers_per_sm) {
    return fmt::format("its {} registers a thread times {:.0f} threads", kernel.registers_per_thread, threads);
  }
  return "";
}

std::vector<DiagnosisInput::Waiting> waiting_in(const RunRecord& record) {
  WarpCycles all;
  std::map<int, WarpCycles> lines;
  std::vector<HeldUpBy> late;
  for (const KernelRecord& kernel : record.kernels) {
    all.add(kernel.waits);
    for (const LineCounters& line : kernel.lines) {
      lines[line.line].add(line.waits);
      late.insert(late.end(), line.held_up.begin(), line.held_up.end());
    }
  }
  std::vector<DiagnosisInput::Waiting> waiting;
  if (all.total() == 0) return waiting;
  for (const auto& [wait, words] : kWaitWords) {
    const auto most = std::max_element(lines.begin(), lines.end(),
                                       [w = wait](const auto& a, const auto& b) { return a.second[w] < b.second[w]; });
    waiting.push_back({wait_name(wait), words, all[wait] / all.total(), most == lines.end() ? 0 : most->first});
    if (wait == Wait::barrier && all[wait] > 0) waiting.back().last_warp = last_warp_of(late, all[wait]);
  }
  std::stable_sort(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return waiting;
}

// The number of kernels that stream: each of them moves a considerable part of the plan's bytes, or of the compulsory
// ones, and hardly any byte twice. If there are several, and DRAM moves more than the compulsory bytes, then some of
// these kernels pass arrays to later ones through DRAM.
double streaming_kernels(const RunRecord& record, double dram_bytes, double compulsory_bytes) {
  constexpr double kGoodPart = 0.1, kLargePart = 0.2, kHardlyTwice = 1.5;
  double streaming = 0;
  for (const KernelRecord& kernel : record.kernels) {
    const double bytes = dram_bytes_of(kernel.counters);
    const double at_l1 = kSectorBytes * (count(kernel.counters, Counter::l1_read_sectors) +
                                         count(kernel.counters, Counter::l1_write_sectors));
    const bool is_much = bytes >= kGoodPart * dram_bytes || bytes >= kLargePart * compulsory_bytes;
    if (is_much && at_l1 <= kHardlyTwice * bytes) ++streaming;
  }
  return streaming;
}

// The number of different kernels that each move a considerable part of the plan's bytes; 0 if a single kernel moves
// far more than the compulsory bytes. If there are several, and DRAM moves more than the compulsory bytes, then some
// kernel fetches again what an earlier kernel read or wrote. Launches of the same kernel count once, because they may
// be pieces of one step, unless each moves about all of the compulsory bytes, as the sweeps of a stencil do.
double chained_kernels(const RunRecord& record, double dram_bytes, double compulsory_bytes) {
  constexpr double kGoodPart = 0.1, kLittleMore = 1.1, kAboutAll = 0.9;
  std::set<std::string_view> chained;
  double whole = 0;
  for (const KernelRecord& kernel : record.kernels) {
    const double bytes = dram_bytes_of(kernel.counters);
    if (bytes > kLittleMore * compulsory_bytes) return 0;
    if (bytes >= kGoodPart * dram_bytes) chained.insert(kernel.name);
    if (bytes >= kAboutAll * compulsory_bytes) ++whole;
  }
  return std::max(static_cast<double>(chained.size()), whole);
}

// Adds the time that spills cost: writing the spilled registers and reading them back once, at the nearest memory level
// that can hold the spills of all resident threads.
void add_spills(const RunRecord& record, const Machine& machine, DiagnosisInput& in) {
  for (const KernelRecord& kernel : record.kernels) {
    const auto spilled = static_cast<double>(kernel.spilled_bytes_per_thread);
    const auto block = static_cast<double>(kernel.block.count());
    const double on_sm = spilled * block * kernel.resident_blocks_per_sm;
    const double bytes = 2 * spilled * block * static_cast<double>(kernel.grid.count());
    const double bytes_per_s = on_sm <= machine.l1_bytes                 ? machine.l1_bytes_per_s()
                               : on_sm * machine.sms <= machine.l2_bytes ? machine.l2_bytes_per_s()
                                                                         : machine.dram_bytes_per_s;
    in.local_bytes += kSectorBytes * count(kernel.counters, Counter::local_sectors);
    in.spilled_bytes_per_thread = std::max(in.spilled_bytes_per_thread, spilled);
    if (bytes > 0) in.spill_ns += bytes / bytes_per_s * 1e9;
  }
}

// Bytes that a kernel's spilled registers move to DRAM and back once: of the threads that are at work together, those
// beyond what L1 and L2 hold, and of all others the same share.
double spilled_to_dram(const KernelRecord& kernel, const Machine& machine) {
  const double of_block = static_cast<double>(kernel.spilled_bytes_per_thread * kernel.block.count());
  const auto blocks = static_cast<double>(kernel.grid.count());
  const double at_work = of_block * std::min(blocks, static_cast<double>(kernel.resident_blocks_per_sm) * machine.sms);
  const double held = static_cast<double>(machine.l1_bytes) * machine.sms + static_cast<double>(machine.l2_bytes);
  return at_work <= held ? 0 : 2 * of_block * blocks * (1 - held / at_work);
}

// The line with the most bytes at DRAM, or with the most sectors at L1 on a device that does not count DRAM bytes by
// line.
int busiest_line(const std::vector<DiagnosisInput::Line>& lines) {
  const auto most = [&](auto amount) {
    const auto found = std::max_element(lines.begin(), lines.end(),
                                        [&](const auto& a, const auto& b) { return amount(a) < amount(b); });
    return found == lines.end() || amount(*found) <= 0 ? 0 : found->line;
  };
  const auto named = [](auto amount) { return [amount](const auto& l) { return l.line > 0 ? amount(l) : 0.0; }; };
  const int at_dram = most(named([](const auto& l) { return l.dram_bytes; }));
  return at_dram > 0 ? at_dram : most(named([](const auto& l) { return l.l1_sectors; }));
}

}  // namespace

std::string_view wait_words(Wait wait) {
  if (wait == Wait::issue) return "its turn";
  const auto found = std::find_if(std::begin(kWaitWords), std::end(kWaitWords),
                                  [&](const auto& entry) { return entry.first == wait; });
  ROOFWALK_CHECK(found != std::end(kWaitWords));
  return found->second;
}

std::vector<DiagnosisInput::Waiting::Part> last_warp_of(const std::vector<HeldUpBy>& held_up, double cycles) {
  std::map<std::pair<int, Wait>, double> shares;
  for (const HeldUpBy& part : held_up) shares[{part.line, part.wait}] += part.cycles / cycles;
  std::vector<DiagnosisInput::Waiting::Part> parts;
  for (const auto& [by, share] : shares) parts.push_back({wait_name(by.second), by.first, share});
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return parts;
}

std::optional<std::string> uncounted_spills(const RunRecord& record, const Measurement& measurement,
                                            const Machine& machine) {
  constexpr double kConsiderable = 0.7;  // of the bytes that are counted
  // Less is what functions save of their callers' registers, once for each thread.
  constexpr std::uint64_t kSpilledBytes = 256;
  double bytes = 0, most_of_thread = 0;
  for (const KernelRecord& kernel : record.kernels) {
    if (kernel.spilled_bytes_per_thread < kSpilledBytes) continue;
    const double moved = spilled_to_dram(kernel, machine);
    bytes += moved;
    if (moved > 0) most_of_thread = std::max(most_of_thread, static_cast<double>(kernel.spilled_bytes_per_thread));
  }
  const auto counted = measurement.level("dram").bytes.get();
  if (!counted || bytes <= kConsiderable * *counted) return std::nullopt;
  return fmt::format(
      "registers run out: {:.0f} bytes a thread spill, {} that go to DRAM and back, and the virtual GPU counts none of "
      "them: let a thread hold fewer values",
      most_of_thread, si_text(bytes / 2, "B"));
}

Finding inspect_wrong(const Correctness& correctness, int suspect_line) {
  DiagnosisInput in;
  in.looks_like_half = correctness.looks_like_half;
  in.suspect_line = suspect_line;
  Finding finding;
  finding.diagnoses = diagnose(in);
  finding.diagnosis = first_diagnosis(in, finding.diagnoses);
  return finding;
}

void settle(Finding& finding) {
  if (finding.diagnoses.empty()) return;
  const std::string limit = finding.diagnoses.front().text;
  std::erase_if(finding.diagnoses, [](const Diagnosis& d) { return d.cause != cause::spills.id; });
  finding.diagnosis = finding.diagnoses.empty()
                          ? Diagnosis{"none", "Every goal of this chapter is met. What limits the kernel now: " + limit}
                          : finding.diagnoses.front();
}

namespace {

// The diagnoses to which a missed goal about a count points, best first.
std::vector<std::string_view> causes_behind(Goal::What what) {
  switch (what) {
    case Goal::What::shared_wavefronts_over_least:
      return {cause::bank_conflicts.id, cause::arrivals.id};
    case Goal::What::active_lanes:
      return {cause::divergence.id};
    case Goal::What::executed_over_useful:
      return {cause::executed_over_useful.id};
    case Goal::What::sm_active:
      return {cause::few_blocks.id, cause::tail.id};
    case Goal::What::resident_warps_per_scheduler:
      return {cause::few_blocks.id, cause::low_occupancy.id};
    default:
      return {};
  }
}

void lead_with_count(Goal::What what, Finding& finding) {
  for (const std::string_view cause : causes_behind(what)) {
    const auto is_it = [&](const Diagnosis& diagnosis) { return diagnosis.cause == cause; };
    const auto first = std::ranges::find_if(finding.diagnoses, is_it);
    const auto other = std::ranges::find_if(finding.of_counts, is_it);
    if (first != finding.diagnoses.end()) {
      std::rotate(finding.diagnoses.begin(), first, first + 1);
    } else if (other != finding.of_counts.end()) {
      finding.diagnoses.insert(finding.diagnoses.begin(), *other);
    } else {
      continue;
    }
    finding.diagnosis = finding.diagnoses.front();
    return;
  }
}

// Where only the roof above the dot is missed, bytes that come from DRAM again are no reason: without them the roof
// would be as far above. Leads with the first other diagnosis, if there is one.
void lead_upwards(Finding& finding) {
  const auto is_of_bytes = [](const Diagnosis& diagnosis) { return diagnosis.figure == "DRAM"; };
  const auto other = std::ranges::find_if_not(finding.diagnoses, is_of_bytes);
  if (other == finding.diagnoses.end()) return;
  std::rotate(finding.diagnoses.begin(), other, other + 1);
  finding.diagnosis = finding.diagnoses.front();
}

}  // namespace

void lead_with_missed(const Judgement& judgement, Finding& finding) {
  const Grade next = judgement.grade == Grade::none ? Grade::pass : Grade::ace;
  std::vector<Goal::What> counts;
  bool misses_others = false;
  for (const GoalResult& row : judgement.goals) {
    if (row.met || row.wanted_for != next) continue;
    misses_others |= !is_count(row.goal.what);
    if (!causes_behind(row.goal.what).empty()) counts.push_back(row.goal.what);
  }
  if (!misses_others && !counts.empty()) return lead_with_count(counts.front(), finding);
  bool misses_right = false, misses_up = false, misses_sectors = false, misses_roof_alone = true;
  for (const GoalResult& row : judgement.goals) {
    if (row.met || row.wanted_for != next) continue;
    (row.goal.axis == Goal::Axis::right ? misses_right : misses_up) = true;
    misses_sectors |= row.goal.what == Goal::What::sector_use;
    misses_roof_alone &= row.goal.what == Goal::What::share_of_roof;
  }
  if (misses_up && misses_roof_alone) return lead_upwards(finding);
  if (!misses_right || misses_up) return;
  const auto is_about_it = [&](const Diagnosis& diagnosis) {
    return diagnosis.moves_right && (!misses_sectors || diagnosis.cause == cause::over_fetch.id);
  };
  const auto first = std::ranges::find_if(finding.diagnoses, is_about_it);
  const auto other = std::ranges::find_if(finding.of_bytes, is_about_it);
  if (first != finding.diagnoses.end()) {
    std::rotate(finding.diagnoses.begin(), first, first + 1);
  } else if (other != finding.of_bytes.end()) {
    finding.diagnoses.insert(finding.diagnoses.begin(), *other);
  } else if (misses_sectors && finding.of_sectors) {
    finding.diagnoses.insert(finding.diagnoses.begin(), *finding.of_sectors);
  } else {
    return;
  }
  finding.diagnosis = finding.diagnoses.front();
}

namespace {

std::string filling_of(const KernelRecord& kernel, const Machine& machine) {
  constexpr double kHalf = 0.5;
  const std::uint64_t blocks = kernel.grid.count();
  const auto sms = static_cast<std::uint64_t>(machine.sms);
  std::string text;
  if (blocks < sms) text = fmt::format("{} of {} at work", blocks, sms);
  const std::uint64_t on_one =
      std::min<std::uint64_t>((blocks + sms - 1) / sms, static_cast<std::uint64_t>(kernel.resident_blocks_per_sm));
  const std::uint64_t warps = on_one * ((kernel.block.count() + 31) / 32);
  const auto most = static_cast<std::uint64_t>(machine.max_threads_per_sm / 32);
  if (static_cast<double>(warps) < kHalf * static_cast<double>(most))
    text += fmt::format("{} with {} of {} warps", text.empty() ? "each" : ",", warps, most);
  return text;
}

void add_work(const Measurement& m, WorkUnit unit, DiagnosisInput& in) {
  in.unit = unit;
  in.useful_work = m.useful_flops.value;
  in.useful_flops = unit == WorkUnit::flop ? in.useful_work : 0;
  in.least_flops = unit == WorkUnit::flop ? m.least_flops : 0;
  in.executed_flops = m.executed_flops.get().value_or(in.useful_flops);
  in.atomic_flops = m.atomic_flops.get().value_or(0);
}

}  // namespace

Finding inspect(const RunRecord& record, const Measurement& m, const Machine& machine, const Roofs& roofs,
                const std::string& source_text) {
  DiagnosisInput in;
  add_work(m, roofs.unit, in);
  in.compulsory_bytes = m.compulsory_bytes.value;
  in.dram_bytes = m.level("dram").bytes.value;
  in.l1_bytes = m.l1_bytes.value;
  in.l2_bytes = m.l2_bytes.value;
  in.observed_ai = m.level("dram").ai.value;
  in.algorithmic_ai = m.algorithmic_ai.value;
  if (const MemoryRoof* dram = roofs.memory_roof("dram"); dram != nullptr && roofs.peak()) {
    in.ridge = ridge_flops_per_byte(dram->bytes_per_s, *roofs.peak());
  }
  in.elapsed_ns = record.elapsed_ns;
  in.vertical_gap = m.vertical_gap.value;
  in.horizontal_gap = m.horizontal_gap.value;
  const KernelRecord* longest = nullptr;
  for (const KernelRecord& kernel : record.kernels) {
    const TimeParts& p = kernel.parts;
    in.dram_ns += p.dram_ns;
    in.l2_ns += p.l2_ns;
    in.l1_ns += p.l1_ns;
    in.shared_ns += p.shared_ns;
    in.constant_ns += p.constant_ns;
    in.contention_ns += p.contention_ns;
    in.issue_ns += p.issue_ns;
    in.flops_ns += p.flops_ns;
    in.latency_ns += p.latency_ns;
    in.launch_ns += p.launch_ns;
    if (longest == nullptr || kernel.elapsed_ns > longest->elapsed_ns) longest = &kernel;
  }
  if (longest != nullptr) {
    in.launch_line = longest->line;
    in.limit = limit_of(*longest, machine);
    in.occupancy = longest->occupancy;
    in.resident_blocks_per_sm = longest->resident_blocks_per_sm;
    in.blocks = static_cast<double>(longest->grid.count());
    in.resident_blocks = static_cast<double>(longest->resident_blocks_per_sm) * machine.sms;
  }
  in.shared_wavefronts = m.shared_wavefronts.value;
  in.shared_bank_conflicts = count(record.counters, Counter::shared_bank_conflicts);
  in.constant_requests = count(record.counters, Counter::constant_requests);
  in.constant_passes = count(record.counters, Counter::constant_passes);
  in.branches = count(record.counters, Counter::branches);
  in.divergent_branches = count(record.counters, Counter::divergent_branches);
  in.warp_instructions = count(record.counters, Counter::warp_instructions);
  in.thread_instructions = count(record.counters, Counter::thread_instructions);
  in.launches = static_cast<double>(record.kernels.size());
  in.streaming_kernels = streaming_kernels(record, in.dram_bytes, in.compulsory_bytes);
  in.chained_kernels = chained_kernels(record, in.dram_bytes, in.compulsory_bytes);
  in.global_write_bytes = kSectorBytes * (count(record.counters, Counter::l1_write_sectors) -
                                          count(record.counters, Counter::local_write_sectors));
  in.dram_write_bytes = count(record.counters, Counter::dram_write_bytes);
  add_spills(record, machine, in);
  in.is_impossible = !implausible(m, roofs).empty();
  in.lines = lines_of(record, source_text);
  in.waiting = waiting_in(record);

  Finding finding;
  finding.diagnoses = diagnose(in);
  finding.diagnosis = first_diagnosis(in, finding.diagnoses);
  finding.of_bytes = diagnose_bytes(in);
  finding.of_sectors = diagnose_sectors(in);
  finding.of_counts = diagnose_counts(in);
  if (longest != nullptr) finding.filling = filling_of(*longest, machine);
  finding.traffic_line = busiest_line(in.lines);
  finding.traffic_source = source_line(source_text, finding.traffic_line);
  return finding;
}

std::string source_line(const std::string& text, int line) {
  std::istringstream in(text);
  std::string found;
  for (int i = 0; i < line; ++i) {
    if (!std::getline(in, found)) return {};
  }
  return line <= 0 ? std::string() : std::string(trimmed(found, " \t\r"));
}

}  // namespace roofwalk
