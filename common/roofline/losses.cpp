#include "common/roofline/losses.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace roofwalk {
namespace {

constexpr double kOverFetch = 1.5;       // sectors over needed sectors; 1.25 is mere misalignment
constexpr double kConflictShare = 0.25;  // of the shared-memory wavefronts
constexpr double kManyWords = 1.5;       // words of constant memory per load
constexpr double kDivergentShare = 0.1;  // of the branches
constexpr double kLanesLost = 0.15;      // of all lanes of issued instructions
constexpr double kRepeats = 1.9;         // executed over useful FLOPs: nearly twice, to exclude sums in several passes
constexpr double kStoredAgain = 1.5;     // bytes stored over bytes that reach DRAM, or over all compulsory ones
constexpr double kManyStores = 4;        // stores per sector that reaches DRAM: a sum kept in memory
constexpr double kExtraFlops = 1.25;     // executed over useful FLOPs
constexpr double kRedundant = 1.25;      // bytes at a level over compulsory bytes
constexpr double kVeryRedundant = 8;     // the same, if waiting for the bytes takes longer than moving them
constexpr double kReuseInL1 = 2;         // bytes at L1 over bytes at L2: above it, blocks reuse what they fetched
constexpr double kLowOccupancy = 0.5;
constexpr double kLaunchShare = 0.25;       // of the time: above it, launches are too short to hide their start and end
constexpr double kBarrierShare = 0.1;       // of the waiting
constexpr double kFewBlocksToSwitchTo = 2;  // per SM: while one waits at a barrier, hardly any other has work
constexpr double kFlopsOfFma = 64;          // per warp

enum Part { kDram, kL2, kL1, kShared, kConstant, kIssue, kFlops, kParts };

class Ledger {
 public:
  explicit Ledger(const DiagnosisInput& input)
      : in_(input),
        parts_{input.dram_ns,     input.l2_ns,    input.l1_ns,   input.shared_ns,
               input.constant_ns, input.issue_ns, input.flops_ns},
        ideal_ns_(input.elapsed_ns / total_gap(input)),
        ratio_(sector_ratio(input)),
        repeats_(repeats_of_work(input)) {
    rest_ = parts_;
    busiest_ns_ = *std::max_element(parts_.begin(), parts_.end());
  }

  std::vector<Loss> take() {
    if (busiest_ns_ > 0) {
      cure_parts();
      cure_launches();
      cure_waiting();
    } else {
      add(first_that_fits(), in_.elapsed_ns - ideal_ns_);
    }
    std::vector<Loss> losses;
    const double most = std::max(0.0, in_.elapsed_ns - ideal_ns_);
    for (const auto& [cause, ns] : lost_) {
      const auto bytes = lost_bytes_.find(cause);
      losses.push_back({cause, std::min(ns, most), bytes != lost_bytes_.end() && bytes->second > ns / 2});
    }
    std::stable_sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) { return a.ns > b.ns; });
    return losses;
  }

 private:
  void add(std::optional<std::string_view> cause, double ns) {
    if (cause && ns > 0) lost_[*cause] += ns;
  }

  bool over_fetches() const { return ratio_ >= kOverFetch; }
  bool conflicts() const {
    return in_.shared_bank_conflicts > 0 && in_.shared_bank_conflicts >= kConflictShare * in_.shared_wavefronts;
  }
  bool constants_diverge() const {
    return in_.constant_passes > 0 && in_.constant_passes >= kManyWords * in_.constant_requests;
  }
  bool diverges() const {
    return in_.divergent_branches > 0 && in_.divergent_branches >= kDivergentShare * in_.branches &&
           active_lanes() <= 1 - kLanesLost;
  }
  // Average share of active lanes per instruction.
  double active_lanes() const {
    return in_.warp_instructions > 0 ? in_.thread_instructions / (32 * in_.warp_instructions) : 1;
  }
  bool executes_too_much() const {
    return in_.useful_flops > 0 && in_.executed_flops >= kExtraFlops * in_.useful_flops;
  }
  // A sum is stored to memory at every step.
  bool sums_in_memory() const { return repeats_ == 1 && times_stored(in_) >= kManyStores; }
  // Bytes of the stores that a register would save, and of the loads that read them back.
  double sum_bytes() const {
    double stores = 0, loads = 0;
    for (const auto& line : in_.lines) {
      if (line.store_requests <= 0) continue;
      stores += line.store_requests;
      loads += std::min(line.load_requests, line.store_requests);
    }
    const double per_store = stores > 0 ? 1 + loads / stores : 1;
    return in_.global_write_bytes * (1 - 1 / times_stored(in_)) * per_store;
  }
  // At most half of the block slots are used, or not all SMs.
  bool has_few_blocks() const {
    return in_.blocks > 0 &&
           (in_.blocks <= in_.resident_blocks / 2 || in_.blocks * in_.resident_blocks_per_sm < in_.resident_blocks);
  }
  double blocks_on_sm() const {
    if (in_.resident_blocks <= 0) return in_.resident_blocks_per_sm;
    return in_.resident_blocks_per_sm * std::min(1.0, in_.blocks / in_.resident_blocks);
  }

  double bytes_at(Part level) const {
    return level == kDram ? in_.dram_bytes : level == kL2 ? in_.l2_bytes : in_.l1_bytes;
  }

  // Time of a level for only the compulsory bytes.
  double compulsory_ns(Part level) const {
    return bytes_at(level) > 0 ? parts_[level] * std::min(1.0, in_.compulsory_bytes / bytes_at(level)) : 0;
  }

  // Why the same bytes are moved repeatedly although all of their sectors are used.
  std::string_view reuse_cause(Part level) const {
    if (in_.streaming_kernels > 1 || (level == kDram && in_.chained_kernels > 1)) return cause::kUnfused;
    return in_.l1_bytes <= kReuseInL1 * in_.l2_bytes ? cause::kRedundantLoads : cause::kNoReuse;
  }

  // Attributes `ns` of a part's time to a cause. No time is attributed twice.
  void claim(std::string_view cause, Part part, double ns) {
    ns = std::clamp(ns, 0.0, rest_[part]);
    rest_[part] -= ns;
    removed_[cause][part] += ns;
  }

  // The parts of the machine work in parallel: a cure saves as much as the slowest part becomes faster.
  void cure_parts() {
    // Without repetition, everything takes 1 / repeats_ of the time.
    for (int part = 0; part < kParts; ++part) {
      claim(cause::kExecutedOverUseful, static_cast<Part>(part), parts_[part] * (1 - 1 / repeats_));
    }
    // Local memory uses the same path as other data; its share of the traffic is the same at each level.
    for (const Part level : {kDram, kL2, kL1}) {
      if (in_.local_bytes > 0) {
        claim(cause::kSpills, level,
              std::min(parts_[level] * in_.local_bytes / in_.l1_bytes, parts_[level] - compulsory_ns(level)));
      }
    }
    for (const Part level : {kL2, kL1}) {
      if (!sums_in_memory() || bytes_at(level) <= 0) continue;
      claim(cause::kSumInMemory, level, parts_[level] * std::min(1.0, sum_bytes() / bytes_at(level)));
    }
    for (const Part level : {kDram, kL2, kL1}) {
      const double floor = level == kL1 ? 0 : compulsory_ns(level);
      if (over_fetches())
        claim(cause::kOverFetch, level, std::min(parts_[level] * (1 - 1 / ratio_), parts_[level] - floor));
    }
    for (const Part level : {kDram, kL2, kL1}) {
      if (bytes_at(level) >= kRedundant * in_.compulsory_bytes) {
        claim(reuse_cause(level), level, rest_[level] - compulsory_ns(level));
      }
    }
    if (conflicts()) {
      claim(cause::kBankConflicts, kShared, parts_[kShared] * in_.shared_bank_conflicts / in_.shared_wavefronts);
    }
    claim(cause::kSharedTraffic, kShared, rest_[kShared]);
    if (constants_diverge()) {
      claim(cause::kDivergentConstants, kConstant,
            parts_[kConstant] * (1 - in_.constant_requests / in_.constant_passes));
    }
    claim(cause::kInstructionBound, kConstant, rest_[kConstant]);  // one load per word, like any other instruction
    // Lower bound of the share of float arithmetic in all instructions; the upper bound is twice that.
    const double arithmetic =
        in_.warp_instructions > 0 ? std::min(1.0, in_.executed_flops / kFlopsOfFma / in_.warp_instructions) : 1;
    for (const Part part : {kIssue, kFlops}) {
      if (executes_too_much()) {
        claim(cause::kExecutedOverUseful, part,
              parts_[part] * arithmetic * (1 - in_.useful_flops / in_.executed_flops));
      }
      if (diverges()) claim(cause::kDivergence, part, parts_[part] * (1 - active_lanes()));
    }
    claim(cause::kInstructionBound, kIssue, rest_[kIssue]);
    claim(2 * arithmetic < 0.5 ? cause::kInstructionBound : cause::kFpBound, kFlops, rest_[kFlops]);

    cure_one_by_one();
  }

  double slowest_without(const std::array<double, kParts>& parts, const std::array<double, kParts>& removed) const {
    double slowest = ideal_ns_;
    for (int part = 0; part < kParts; ++part) slowest = std::max(slowest, parts[part] - removed[part]);
    return slowest;
  }

  // Best cure first. Each further one saves what it adds to the previous ones, but no more than on its own: what
  // appears only after another cure is not this kernel's problem yet.
  void cure_one_by_one() {
    auto parts = parts_;
    double now = busiest_ns_;
    while (!removed_.empty()) {
      const auto best = std::min_element(removed_.begin(), removed_.end(), [&](const auto& a, const auto& b) {
        return slowest_without(parts, a.second) < slowest_without(parts, b.second);
      });
      const auto& [cause, removed] = *best;
      const double after = std::min(now, slowest_without(parts, removed));
      const double saved = std::min(now - after, busiest_ns_ - std::min(busiest_ns_, slowest_without(parts_, removed)));
      add(cause, saved);
      if (saved > 0 && parts_[kDram] == busiest_ns_) lost_bytes_[cause] = saved;
      if (saved > 0 && !main_) main_ = cause;
      for (int part = 0; part < kParts; ++part) parts[part] -= removed[part];
      now = after;
      removed_.erase(best);
    }
  }

  void cure_launches() {
    add(cause::kLaunchBound, in_.launches > 1 ? in_.launch_ns * (1 - 1 / in_.launches) : in_.launch_ns);
  }

  // Share of the warps' cycles spent waiting, without empty warp slots.
  double waiting() const {
    double all = 0;
    for (const auto& wait : in_.waiting) all += wait.id == "tail" ? 0 : wait.share;
    return all;
  }

  // Whether the line that waits most for memory over-fetches: no warp waits for a scattered store.
  bool waits_for_scattered() const {
    for (const auto& wait : in_.waiting) {
      if (wait.id != "dram" && wait.id != "l2" && wait.id != "l1") continue;
      for (const auto& line : in_.lines) {
        if (line.line == wait.line) return line.l1_sectors >= kOverFetch * line.ideal_l1_sectors;
      }
    }
    return true;
  }

  // The cause of waits for memory.
  std::string_view memory_cause() const {
    if (sums_in_memory()) return cause::kSumInMemory;
    if (over_fetches() && waits_for_scattered()) return cause::kOverFetch;
    // One warp waits for the load itself; all others wait at the barrier behind it.
    const double barrier = wait_share(in_, "barrier");
    const double memory = wait_share(in_, "dram") + wait_share(in_, "l2") + wait_share(in_, "l1");
    const bool nobody_else = blocks_on_sm() <= kFewBlocksToSwitchTo && barrier >= kBarrierShare * waiting();
    if (barrier > 0 && (nobody_else || barrier >= memory)) return cause::kBarriers;
    // The wait is due to these bytes, unless they are few or take far less time to move.
    for (const Part level : {kDram, kL2, kL1}) {
      const bool is_slowest = parts_[level] == std::max({parts_[kDram], parts_[kL2], parts_[kL1]});
      if (is_slowest && parts_[level] >= in_.latency_ns / 2 &&
          bytes_at(level) >= kVeryRedundant * in_.compulsory_bytes) {
        return reuse_cause(level);
      }
    }
    return in_.occupancy > 0 && in_.occupancy < kLowOccupancy ? cause::kLowOccupancy : cause::kLatency;
  }

  std::optional<std::string_view> cause_of_wait(std::string_view id) const {
    if (id == "dram" || id == "l2" || id == "l1") return memory_cause();
    if (id == "shared") return cause::kSharedTraffic;
    if (id == "bank_conflict") return cause::kBankConflicts;
    if (id == "constant") return constants_diverge() ? cause::kDivergentConstants : cause::kDependency;
    if (id == "barrier") return cause::kBarriers;
    if (id == "dependency") {
      if (main_ == cause::kDivergence || main_ == cause::kExecutedOverUseful) return main_;
      return cause::kDependency;
    }
    return main_;  // a queue for what takes the time anyway
  }

  // A warp at a barrier waits for what the last warp waits for; if that one works, for an equal distribution of work.
  std::optional<std::string_view> cause_of_last_warp(std::string_view id) const {
    return id == "issued" || id == "issue" ? cause::kBarriers : cause_of_wait(id);
  }

  void cure_waiting() {
    double latency = in_.latency_ns;
    if (in_.launch_ns >= kLaunchShare * in_.elapsed_ns) return add(cause::kLaunchBound, latency);
    add(cause::kExecutedOverUseful, latency * (1 - 1 / repeats_));
    latency /= repeats_;
    if (has_few_blocks()) return add(cause::kFewBlocks, latency);
    const double empty = std::min(latency, wait_share(in_, "tail") * (in_.elapsed_ns - in_.launch_ns));
    add(cause::kTail, empty);
    latency -= empty;
    const double all = waiting();
    if (all <= 0) return add(memory_cause(), latency);
    for (const auto& waiting : in_.waiting) {
      if (waiting.id == "tail") continue;
      double rest = 1;
      for (const auto& part : waiting.last_warp) {
        add(cause_of_last_warp(part.id), latency * waiting.share * part.share / all);
        rest -= part.share;
      }
      add(cause_of_wait(waiting.id), latency * waiting.share * rest / all);
    }
  }

  // For a real GPU, which reports only counts and one time.
  std::optional<std::string_view> first_that_fits() const {
    if (repeats_ > 1) return cause::kExecutedOverUseful;
    if (has_few_blocks()) return cause::kFewBlocks;
    if (over_fetches()) return cause::kOverFetch;
    if (sums_in_memory()) return cause::kSumInMemory;
    if (conflicts()) return cause::kBankConflicts;
    if (constants_diverge()) return cause::kDivergentConstants;
    if (diverges()) return cause::kDivergence;
    if (executes_too_much()) return cause::kExecutedOverUseful;
    if (in_.dram_bytes >= kRedundant * in_.compulsory_bytes || in_.l1_bytes >= kVeryRedundant * in_.compulsory_bytes) {
      return reuse_cause(kDram);
    }
    return in_.observed_ai < in_.ridge ? memory_cause() : cause::kFpBound;
  }

  const DiagnosisInput& in_;
  std::array<double, kParts> parts_{}, rest_{};
  double ideal_ns_, ratio_, repeats_, busiest_ns_ = 0;
  std::map<std::string_view, std::array<double, kParts>> removed_;
  std::map<std::string_view, double> lost_, lost_bytes_;
  std::optional<std::string_view> main_;  // the cure that saves most of the slowest part
};

}  // namespace

double total_gap(const DiagnosisInput& in) {
  if (in.vertical_gap <= 0 || in.observed_ai <= 0 || in.ridge <= 0) return 1;
  const double roof = std::min(in.ridge, in.observed_ai), best = std::min(in.ridge, in.algorithmic_ai);
  return std::max(1.0, in.vertical_gap * std::max(1.0, best / roof));
}

double sector_ratio(const DiagnosisInput& in) {
  double sectors = 0, ideal = 0;
  for (const auto& line : in.lines) {
    sectors += line.l1_sectors;
    ideal += line.ideal_l1_sectors;
  }
  return ideal > 0 ? sectors / ideal : 1;
}

double repeats_of_work(const DiagnosisInput& in) {
  if (in.useful_flops <= 0 || in.executed_flops < kRepeats * in.useful_flops) return 1;
  // A result that is recomputed where it is needed is stored once; repeated work stores it each time. Scattered stores
  // count as if they were contiguous.
  const double once = std::min(in.compulsory_bytes, in.dram_write_bytes);
  return in.global_write_bytes / sector_ratio(in) >= kStoredAgain * once && once > 0
             ? in.executed_flops / in.useful_flops
             : 1;
}

double times_stored(const DiagnosisInput& in) {
  if (in.dram_write_bytes <= 0) return 0;
  double sectors = 0, ideal = 0;
  for (const auto& line : in.lines) {
    if (line.store_requests <= 0) continue;
    sectors += line.l1_sectors;
    ideal += line.ideal_l1_sectors;
  }
  const double scattered = ideal > 0 ? sectors / ideal : 1;
  return in.global_write_bytes / scattered / in.dram_write_bytes;
}

double wait_share(const DiagnosisInput& in, std::string_view id) {
  for (const auto& waiting : in.waiting) {
    if (waiting.id == id) return waiting.share;
  }
  return 0;
}

std::vector<Loss> losses(const DiagnosisInput& input) { return Ledger(input).take(); }

}  // namespace roofwalk
