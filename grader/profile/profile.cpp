#include "grader/profile/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <sstream>

#include "common/measure/measurement.h"
#include "common/record/run_record.h"
#include "common/roofline/causes.h"
#include "common/roofline/last_warp.h"
#include "common/roofline/si.h"
#include "grader/attempt/inspect.h"

namespace roofwalk {
namespace {

constexpr double kHot = 0.1;  // a hot line takes at least this share of the time
constexpr std::size_t kMostHotLines = 5;
constexpr std::size_t kMostDiagnoses = 3;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

void add_counters(const Counters& from, Counters& to) {
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (const auto value = from[counter]) to.add(counter, *value);
  }
}

template <class Value>
void append(const std::vector<Value>& from, std::vector<Value>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

void add_callers(const std::vector<int>& from, std::vector<int>& to) {
  append(from, to);
  std::sort(to.begin(), to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
}

// Splits each kernel's time and counters among its lines.
std::map<int, LineFigures> figures_by_line(const std::vector<KernelRecord>& kernels) {
  std::map<int, LineFigures> by_line;
  for (const KernelRecord& kernel : kernels) {
    const double cycles = kernel.waits.total() - kernel.waits[Wait::start] - kernel.waits[Wait::tail];
    const double working_ns = kernel.elapsed_ns - kernel.parts.launch_ns;
    const double ns_per_cycle = cycles > 0 ? working_ns / cycles : 0;
    LineFigures& launch = by_line[kernel.line];
    // A step without warps, such as a memset, adds its time to the line that requests it.
    launch.launch_ns += cycles > 0 ? kernel.parts.launch_ns : kernel.elapsed_ns;
    for (const LineCounters& of_line : kernel.lines) {
      LineFigures& figures = by_line[of_line.line];
      add_counters(of_line.counters, figures.counters);
      append(of_line.held_up, figures.held_up);
      append(of_line.loads, figures.loads);
      add_callers(of_line.callers, figures.callers);
      for (std::size_t w = 0; w < kWaitCount; ++w) figures.waits_ns[w] += ns_per_cycle * of_line.waits.cycles[w];
      if (std::find(figures.kernels.begin(), figures.kernels.end(), kernel.name) == figures.kernels.end()) {
        figures.kernels.push_back(kernel.name);
      }
    }
  }
  return by_line;
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// Whether a line that waits for a pipe waits for the memory path: it accesses memory, and these accesses queue behind
// earlier ones on the way to L1 or shared memory.
bool waits_in_memory_path(const LineFigures& f) { return f.global_requests() + f.shared_requests() > 0; }

std::string_view queue_words(const LineFigures& f) {
  if (f.global_requests() <= 0) return "room in the queue to shared memory";
  return f.shared_requests() > 0 ? "room in the queue to L1 and shared memory" : "room in the queue to L1";
}

bool is_memory(Wait wait) { return wait == Wait::dram || wait == Wait::l2 || wait == Wait::l1; }

// The share of the time for which DRAM was busy, over the kernels that have code in this line.
double dram_busy(const Profile& profile, const LineFigures& f) {
  double busy = 0, all = 0;
  for (const KernelRecord& kernel : profile.attempt.kernels) {
    if (std::find(f.kernels.begin(), f.kernels.end(), kernel.name) == f.kernels.end()) continue;
    busy += kernel.parts.dram_ns;
    all += kernel.elapsed_ns;
  }
  return all > 0 ? busy / all : 0;
}

bool spills(const Profile& profile, const LineFigures& f) {
  return std::any_of(profile.attempt.kernels.begin(), profile.attempt.kernels.end(), [&](const KernelRecord& kernel) {
    return kernel.spilled_bytes_per_thread > 0 &&
           std::find(f.kernels.begin(), f.kernels.end(), kernel.name) != f.kernels.end();
  });
}

// The note for a line's main wait, and other facts that explain the wait. If a diagnosis is about waiting for memory,
// other lines that wait for memory get the same words, so that one problem has one name.
std::string note_of_wait(const Profile& profile, const LineFigures& f, Wait wait) {
  constexpr double kAtRoof = 0.85;
  if (wait == Wait::barrier) {
    const double here = std::accumulate(f.held_up.begin(), f.held_up.end(), 0.0,
                                        [](double sum, const HeldUpBy& part) { return sum + part.cycles; });
    const std::string last = here > 0 ? last_warp_words(last_warp_of(f.held_up, here)) : "";
    if (!last.empty()) return fmt::format("waits until the last warp of the block is here, which {}", last);
  }
  if (const double busy = dram_busy(profile, f); wait == Wait::dram && busy >= kAtRoof) {
    return fmt::format("DRAM is busy {} of the time: this is its roof", percent(busy));
  }
  if (wait == Wait::dependency && spills(profile, f)) {
    return "waits for results, and for registers that were spilled to come back from local memory";
  }
  const auto& diagnoses = profile.attempt.finding->diagnoses;
  for (std::size_t i = 0; i < std::min(diagnoses.size(), kMostDiagnoses); ++i) {
    if (is_memory(wait) && diagnoses[i].cause == cause::latency.id) return diagnoses[i].brief;
  }
  return fmt::format("waits for {}", long_wait(f));
}

// The note for a line that no diagnosis names, made from the line's own figures.
std::string note_from(const Profile& profile, const LineFigures& f) {
  constexpr double kMostOfIt = 0.4;
  const auto sectors = f.sectors_per_request(), ideal = f.ideal_sectors_per_request(), ways = f.bank_conflict_ways(),
             differing = f.constant_words(), lanes = f.active_lanes();
  std::string note;
  const auto add = [&](const std::string& words) { note += (note.empty() ? "" : "; ") + words; };
  if (sectors && ideal && *sectors >= kTooManySectors * *ideal) {
    add(fmt::format("{} sectors a request where {} would do", number_text(*sectors), number_text(*ideal)));
  }
  if (ways && *ways >= kTooManyWays) add(fmt::format("{}-way bank conflicts", number_text(*ways)));
  if (differing && *differing >= kTooManyWords) {
    add(fmt::format("{0} words of constant memory a load: {0} passes", number_text(*differing)));
  }
  if (lanes && *lanes <= kFewLanes) add(fmt::format("{} of 32 lanes work", number_text(*lanes)));
  const auto wait = f.main_wait();
  if (note.empty() && f.launch_ns > f.elapsed_ns() / 2) add("the launch itself");
  if (note.empty() && wait && f.share_of(*wait) >= kMostOfIt) add(note_of_wait(profile, f, *wait));
  return note;
}

// Tells which of a line's loads are bad: "half of its loads take 32 sectors, the others 1". Empty unless the line has
// two kinds of loads.
std::string differing_loads(const LineFigures& f) {
  std::map<double, double> requests;  // by sectors per request, rounded to quarters
  double all = 0;
  for (const LineCounters::Load& load : f.loads) {
    requests[std::round(4 * load.sectors / load.requests) / 4] += load.requests;
    all += load.requests;
  }
  if (requests.size() != 2) return "";
  const auto [fewest, most] = std::pair{*requests.begin(), *requests.rbegin()};
  const double share = most.second / all;
  const std::string some = std::abs(share - 0.5) < 0.01 ? "half" : percent(share);
  return fmt::format("{} of its loads take {} sectors, the others {}", some, number_text(most.first),
                     number_text(fewest.first));
}

// "called at lines 32, 37": the callers of a hot line in a helper function.
std::string called_at(const LineFigures& f) {
  if (f.callers.empty()) return "";
  return fmt::format("called at line{} {}", f.callers.size() == 1 ? "" : "s", fmt::join(f.callers, ", "));
}

// Sets the notes of hot lines: from the diagnosis if one names the line, otherwise from the line's own figures. A line
// that takes much time but only works gets no note, because nothing is wrong with it.
void mark_hot_lines(Profile& profile) {
  const auto at = [&](int number) -> ProfileLine* {
    const bool exists = number > 0 && static_cast<std::size_t>(number) <= profile.lines.size();
    return exists ? &profile.lines[static_cast<std::size_t>(number) - 1] : nullptr;
  };
  const auto& diagnoses = profile.attempt.finding->diagnoses;
  bool has_first = false;
  for (std::size_t i = 0; i < std::min(diagnoses.size(), kMostDiagnoses); ++i) {
    ProfileLine* line = at(diagnoses[i].line);
    if (line == nullptr || diagnoses[i].brief.empty()) continue;
    if (!has_first) line->is_diagnosed = has_first = true;
    line->note += (line->note.empty() ? "" : "; ") + diagnoses[i].brief;
  }
  std::vector<ProfileLine*> busiest;
  for (ProfileLine& line : profile.lines) {
    if (line.figures && profile.share_of_time(*line.figures) >= kHot) busiest.push_back(&line);
  }
  std::stable_sort(busiest.begin(), busiest.end(), [](const ProfileLine* a, const ProfileLine* b) {
    return a->figures->elapsed_ns() > b->figures->elapsed_ns();
  });
  if (busiest.size() > kMostHotLines) busiest.resize(kMostHotLines);
  for (ProfileLine* line : busiest) {
    if (line->note.empty()) line->note = note_from(profile, *line->figures);
  }
  for (ProfileLine& line : profile.lines) {
    if (!line.is_hot() || !line.figures) continue;
    const auto sectors = line.figures->sectors_per_request(), ideal = line.figures->ideal_sectors_per_request();
    const bool is_scattered = sectors && ideal && *sectors >= kTooManySectors * *ideal;
    for (const std::string& more : {is_scattered ? differing_loads(*line.figures) : "", called_at(*line.figures)}) {
      if (!more.empty()) line.note += "; " + more;
    }
  }
}

// For example: "Line 17 takes 79 % of the time, mostly waiting for L1; line 19 takes 12 %."
std::string where_the_time_goes(const Profile& profile) {
  constexpr std::size_t kMostLines = 3;
  constexpr double kMostly = 0.4;
  std::vector<const ProfileLine*> lines;
  for (const ProfileLine& line : profile.lines) {
    if (line.figures && profile.share_of_time(*line.figures) >= kHot) lines.push_back(&line);
  }
  std::stable_sort(lines.begin(), lines.end(), [](const ProfileLine* a, const ProfileLine* b) {
    return a->figures->elapsed_ns() > b->figures->elapsed_ns();
  });
  if (lines.empty()) return "No line takes a tenth of the time.";
  if (lines.size() > kMostLines) lines.resize(kMostLines);
  const auto waiting = [](const ProfileLine* line) {
    const auto wait = line->figures->main_wait();
    const bool is_mostly = wait && line->figures->share_of(*wait) >= kMostly;
    return is_mostly ? fmt::format(", mostly waiting for {}", long_wait(*line->figures)) : std::string();
  };
  const bool all_alike = std::all_of(lines.begin(), lines.end(),
                                     [&](const ProfileLine* line) { return waiting(line) == waiting(lines.front()); });
  std::vector<std::string> parts;
  for (const ProfileLine* line : lines) {
    parts.push_back(fmt::format("line {} takes {}{}{}", line->number, percent(profile.share_of_time(*line->figures)),
                                parts.empty() ? " of the time" : "", all_alike ? "" : waiting(line)));
  }
  parts.front().front() = 'L';
  std::string of_all = all_alike ? waiting(lines.front()) : "";
  if (!of_all.empty() && lines.size() > 1) of_all.insert(1, " all");
  return fmt::format("{}{}.", fmt::join(parts, "; "), of_all);
}

std::vector<std::string> sentences(const Profile& profile) {
  std::vector<std::string> says;
  if (profile.attempt.time_is_modelled) says.push_back(where_the_time_goes(profile));
  const Finding& finding = *profile.attempt.finding;
  says.push_back(finding.diagnosis.text);
  for (std::size_t i = 1; i < std::min(finding.diagnoses.size(), kMostDiagnoses); ++i) {
    const Diagnosis& next = finding.diagnoses[i];
    if (next.line > 0 && !next.brief.empty()) says.push_back(fmt::format("Then line {}: {}.", next.line, next.brief));
  }
  return says;
}

}  // namespace

void LineFigures::add(const LineFigures& other) {
  add_counters(other.counters, counters);
  for (std::size_t w = 0; w < kWaitCount; ++w) waits_ns[w] += other.waits_ns[w];
  launch_ns += other.launch_ns;
  append(other.held_up, held_up);
  append(other.loads, loads);
  add_callers(other.callers, callers);
  for (const std::string& kernel : other.kernels) {
    if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end()) kernels.push_back(kernel);
  }
}

double LineFigures::elapsed_ns() const { return std::accumulate(waits_ns.begin(), waits_ns.end(), launch_ns); }

std::optional<Wait> LineFigures::main_wait() const {
  const auto most = std::max_element(waits_ns.begin(), waits_ns.end());
  const auto wait = static_cast<Wait>(most - waits_ns.begin());
  if (*most <= 0 || *most < launch_ns || wait == Wait::issued) return std::nullopt;
  return wait;
}

double LineFigures::share_of(Wait wait) const {
  const double all = elapsed_ns();
  return all > 0 ? waits_ns[static_cast<std::size_t>(wait)] / all : 0;
}

double LineFigures::global_requests() const {
  return count(Counter::global_load_requests) + count(Counter::global_store_requests) + count(Counter::atomic_requests);
}

double LineFigures::global_sectors() const {
  return count(Counter::l1_read_sectors) + count(Counter::l1_write_sectors) - count(Counter::local_sectors);
}

double LineFigures::l1_bytes() const {
  return kSectorBytes * (count(Counter::l1_read_sectors) + count(Counter::l1_write_sectors));
}

double LineFigures::l2_bytes() const {
  return kSectorBytes * (count(Counter::l2_read_sectors) + count(Counter::l2_write_sectors));
}

double LineFigures::dram_bytes() const { return count(Counter::dram_read_bytes) + count(Counter::dram_write_bytes); }

double LineFigures::flops() const {
  return count(Counter::flops_f16) + count(Counter::flops_f32) + count(Counter::flops_f64) +
         count(Counter::flops_tensor);
}

double LineFigures::shared_requests() const {
  return count(Counter::shared_load_requests) + count(Counter::shared_store_requests);
}

std::optional<double> LineFigures::sectors_per_request() const {
  if (global_requests() <= 0) return std::nullopt;
  return global_sectors() / global_requests();
}

std::optional<double> LineFigures::ideal_sectors_per_request() const {
  if (global_requests() <= 0 || !counters[Counter::l1_ideal_sectors]) return std::nullopt;
  return count(Counter::l1_ideal_sectors) / global_requests();
}

std::optional<double> LineFigures::bank_conflict_ways() const {
  const double wavefronts = count(Counter::shared_wavefronts);
  const double needed = wavefronts - count(Counter::shared_bank_conflicts);
  if (needed <= 0) return std::nullopt;
  return wavefronts / needed;
}

std::optional<double> LineFigures::constant_words() const {
  if (count(Counter::constant_requests) <= 0) return std::nullopt;
  return count(Counter::constant_passes) / count(Counter::constant_requests);
}

std::optional<double> LineFigures::active_lanes() const {
  if (count(Counter::warp_instructions) <= 0) return std::nullopt;
  return count(Counter::thread_instructions) / count(Counter::warp_instructions);
}

std::string Profile::figure_of_diagnosis(std::size_t rank) const {
  const auto& diagnoses = attempt.finding->diagnoses;
  return rank < diagnoses.size() ? diagnoses[rank].figure : "";
}

double Profile::share_of_time(const LineFigures& figures) const {
  const double all = total.elapsed_ns();
  return all > 0 ? figures.elapsed_ns() / all : 0;
}

Profile profile_of(Attempt attempt, const std::string& source_text) {
  Profile profile;
  profile.attempt = std::move(attempt);
  if (!profile.attempt.measurement) return profile;
  for (std::string& line : lines_of(source_text)) {
    ProfileLine& added = profile.lines.emplace_back();
    added.number = static_cast<int>(profile.lines.size());
    added.source = std::move(line);
  }
  for (const auto& [number, figures] : figures_by_line(profile.attempt.kernels)) {
    profile.total.add(figures);
    // A `#line` may give a line that the file does not have.
    if (number > 0 && static_cast<std::size_t>(number) <= profile.lines.size()) {
      profile.lines[static_cast<std::size_t>(number) - 1].figures = std::make_shared<const LineFigures>(figures);
    } else {
      if (!profile.elsewhere) profile.elsewhere.emplace();
      profile.elsewhere->add(figures);
    }
  }
  mark_hot_lines(profile);
  profile.says = sentences(profile);
  return profile;
}

std::string_view short_wait(const LineFigures& figures) {
  switch (*figures.main_wait()) {
    case Wait::issue:
      return "turn";
    case Wait::dependency:
      return "result";
    case Wait::pipe:
      return waits_in_memory_path(figures) ? "queue" : "pipe";
    case Wait::l1:
      return "L1";
    case Wait::l2:
      return "L2";
    case Wait::dram:
      return "DRAM";
    case Wait::shared:
      return "shared";
    case Wait::bank_conflict:
      return "banks";
    case Wait::constant:
      return "constant";
    case Wait::barrier:
      return "barrier";
    case Wait::issued:
    case Wait::start:
    case Wait::tail:
      break;
  }
  ROOFWALK_CHECK(false);
}

std::string_view long_wait(const LineFigures& figures) {
  const Wait wait = *figures.main_wait();
  if (wait == Wait::pipe && waits_in_memory_path(figures)) return queue_words(figures);
  return wait_words(wait);
}

}  // namespace roofwalk
