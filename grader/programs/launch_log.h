// What a program's launches do: those that are asked for are measured, added up by kernel, line by line.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/cudart/session.h"
#include "common/record/run_record.h"
#include "grader/programs/kernel_names.h"

namespace roofwalk {

// The launches that are asked for. Without `check_only`, those of chosen kernels, in the order of the program, but for
// the first `skip` and no more than `count`.
struct Selection {
  std::vector<KernelFilter> kernels;  // empty: all
  std::uint64_t skip = 0;
  std::optional<std::uint64_t> count;
  bool check_only = false;  // none: all run for their results alone

  bool is_of_all() const { return kernels.empty() && skip == 0 && !count && !check_only; }
};

// The launches of one kernel that were measured, added up.
struct MeasuredKernel {
  std::string file;
  KernelRecord sum;  // grid, block and occupancy: of the longest launch
  std::uint64_t launches = 0;
  double longest_ns = 0;
};

// What runs at the moment.
struct Progress {
  bool is_in_launch = false;
  std::string kernel;
  std::uint64_t launch = 0;          // of this kernel, from 1
  std::uint64_t launches = 0;        // of all kernels
  double in_launch_s = 0;            // of the clock on the wall
  std::optional<double> time_share;  // the kernel's, of the modelled time until now
};

// Is written by the thread that serves programs, and read by others.
class LaunchLog : public cudart::LaunchObserver {
 public:
  explicit LaunchLog(Selection selection) : selection_(std::move(selection)) {}

  bool begins(const std::string& kernel) override;
  void measured(const KernelRecord& record, const std::string& file) override;
  void ended() override;

  // `at_end` is called at the end of each launch, before the program goes on.
  void when_a_launch_ends(std::function<void()> at_end) { at_end_ = std::move(at_end); }

  Progress progress() const;
  std::vector<MeasuredKernel> kernels() const;
  std::map<std::string, std::uint64_t> launches_by_name() const;  // measured or not
  std::uint64_t launches() const;                                 // the same, all together
  std::uint64_t chosen_launches() const;

 private:
  using Clock = std::chrono::steady_clock;

  const Selection selection_;
  std::function<void()> at_end_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> launches_of_;
  std::map<std::string, bool> is_chosen_;  // by name: expressions take long for what a launch may take
  std::vector<MeasuredKernel> kernels_;
  std::uint64_t launches_ = 0, matching_ = 0, chosen_ = 0;
  std::string running_;
  bool is_in_launch_ = false;
  Clock::time_point began_{};
};

// Adds a launch of the same kernel.
void add_launch(const KernelRecord& launch, MeasuredKernel& kernel);

// What one launch did in the mean.
KernelRecord mean_launch(const MeasuredKernel& kernel);

}  // namespace roofwalk
