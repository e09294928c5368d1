#include "common/roofline/losses.h"

#include <algorithm>
#include <map>

namespace roofwalk {
namespace {

struct ById {
  bool operator()(const Cause* a, const Cause* b) const { return a->id < b->id; }
};

class Ledger {
 public:
  explicit Ledger(const DiagnosisInput& input) : in_(input), ideal_ns_(input.elapsed_ns / total_gap(input)) {
    for (const TimePart unit : kMachineUnits) {
      parts_[unit] = part_ns(in_, unit);
      busiest_ns_ = std::max(busiest_ns_, parts_[unit]);
    }
    for (const TimePart part : {TimePart::waiting, TimePart::launch}) parts_[part] = part_ns(in_, part);
    left_ = parts_;
  }

  std::vector<Loss> take() {
    if (busiest_ns_ > 0) {
      take_claims();
      cure_units();
      for (const TimePart part : {TimePart::launch, TimePart::waiting}) {
        for (const auto& [cause, taken] : claimed_) add(cause, taken[part]);
      }
      divide_waiting();
    } else {
      add(most_evident(), in_.elapsed_ns - ideal_ns_);
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
  void add(const Cause* cause, double ns) {
    if (cause != nullptr && ns > 0) lost_[cause] += ns;
  }

  void take_claims() {
    for (const Cause* cause : causes_in_order()) {
      if (cause->claim == nullptr) continue;
      Claim claim(in_, left_);
      cause->claim(claim);
      claimed_[cause] = claim.taken();
    }
  }

  double slowest_without(const PartTimes& parts, const PartTimes& removed) const {
    double slowest = ideal_ns_;
    for (const TimePart unit : kMachineUnits) slowest = std::max(slowest, parts[unit] - removed[unit]);
    return slowest;
  }

  // Units work concurrently, so a cure saves only the time by which the slowest unit becomes faster. Applies the cures
  // one after the other, the best first. Each is credited with what it saves after the earlier ones, but at most with
  // what it would save alone: a gain that exists only after other cures tells what the next bottleneck would be, not
  // what slows this kernel.
  void cure_units() {
    auto removed_by = claimed_;
    auto parts = parts_;
    double now = busiest_ns_;
    while (!removed_by.empty()) {
      const auto best = std::min_element(removed_by.begin(), removed_by.end(), [&](const auto& a, const auto& b) {
        return slowest_without(parts, a.second) < slowest_without(parts, b.second);
      });
      const auto& [cause, removed] = *best;
      const double after = std::min(now, slowest_without(parts, removed));
      const double saved = std::min(now - after, busiest_ns_ - std::min(busiest_ns_, slowest_without(parts_, removed)));
      add(cause, saved);
      if (saved > 0 && parts_[TimePart::dram] == busiest_ns_) lost_bytes_[cause] = saved;
      if (saved > 0 && main_ == nullptr) main_ = cause;
      for (const TimePart unit : kMachineUnits) parts[unit] -= removed[unit];
      now = after;
      removed_by.erase(best);
    }
  }

  const Cause* cause_of_wait(std::string_view wait) const {
    for (const Cause* cause : causes_in_order()) {
      if (cause->is_behind_wait != nullptr && cause->is_behind_wait(in_, wait, cause == main_)) return cause;
    }
    return main_;  // the wait is a queue at the slowest unit, so the main cause gets it
  }

  // Distributes the waiting time that no cause has claimed over the kinds of wait, in proportion to their shares.
  // Waiting at a barrier counts as whatever the block's last warp does meanwhile.
  void divide_waiting() {
    const double rest_ns = left_[TimePart::waiting], all = total_wait_share(in_);
    if (all <= 0) return add(cause_of_wait("dram"), rest_ns);
    for (const auto& waiting : in_.waiting) {
      if (waiting.id == "tail") continue;
      double rest = 1;
      for (const auto& part : waiting.last_warp) {
        add(cause_of_wait(part.id), rest_ns * waiting.share * part.share / all);
        rest -= part.share;
      }
      add(cause_of_wait(waiting.id), rest_ns * waiting.share * rest / all);
    }
  }

  const Cause* most_evident() const {
    const Cause* found = nullptr;
    int strongest = 0;
    for (const Cause* cause : causes_in_order()) {
      const int evidence = cause->evidence != nullptr ? cause->evidence(in_) : 0;
      if (evidence > strongest) strongest = evidence, found = cause;
    }
    return found;
  }

  const DiagnosisInput& in_;
  PartTimes parts_, left_;
  double ideal_ns_, busiest_ns_ = 0;
  std::map<const Cause*, PartTimes, ById> claimed_;
  std::map<const Cause*, double, ById> lost_, lost_bytes_;
  const Cause* main_ = nullptr;  // the cause whose cure saves most of the slowest unit's time
};

}  // namespace

std::vector<Loss> losses(const DiagnosisInput& input) { return Ledger(input).take(); }

}  // namespace roofwalk
