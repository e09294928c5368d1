#include "grader/programs/launch_log.h"

#include <algorithm>
#include <cmath>

namespace roofwalk {
namespace {

void add_times(const TimeParts& from, TimeParts& to, double times) {
  const auto add = [&](double TimeParts::*part) { to.*part += times * from.*part; };
  add(&TimeParts::dram_ns);
  add(&TimeParts::l2_ns);
  add(&TimeParts::l1_ns);
  add(&TimeParts::shared_ns);
  add(&TimeParts::issue_ns);
  add(&TimeParts::flops_ns);
  add(&TimeParts::latency_ns);
  add(&TimeParts::launch_ns);
  add(&TimeParts::constant_ns);
  add(&TimeParts::contention_ns);
}

void add_counts(const Counters& from, Counters& to) {
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (const auto value = from[counter]) to.add(counter, *value);
  }
}

void add_last_warps(const std::vector<HeldUpBy>& from, std::vector<HeldUpBy>& to) {
  for (const HeldUpBy& each : from) {
    const auto at = std::find_if(to.begin(), to.end(),
                                 [&](const HeldUpBy& own) { return own.line == each.line && own.wait == each.wait; });
    if (at == to.end()) {
      to.push_back(each);
    } else {
      at->cycles += each.cycles;
    }
  }
}

// Launches of the same kernel have the same loads in the same order.
void add_loads(const std::vector<LineCounters::Load>& from, std::vector<LineCounters::Load>& to) {
  if (to.empty()) to.resize(from.size());
  for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
    to[i].sectors += from[i].sectors;
    to[i].requests += from[i].requests;
  }
}

void add_line(const LineCounters& from, LineCounters& to) {
  to.line = from.line;
  add_counts(from.counters, to.counters);
  to.waits.add(from.waits);
  add_last_warps(from.held_up, to.held_up);
  add_loads(from.loads, to.loads);
  if (to.callers.empty()) to.callers = from.callers;
}

void add_lines(const std::vector<LineCounters>& from, std::vector<LineCounters>& to) {
  for (const LineCounters& each : from) {
    auto at = std::lower_bound(to.begin(), to.end(), each.line,
                               [](const LineCounters& own, int line) { return own.line < line; });
    if (at == to.end() || at->line != each.line) at = to.insert(at, LineCounters{});
    add_line(each, *at);
  }
}

void divide(Counters& counters, double by) {
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (const auto value = counters[counter])
      counters.set(counter, static_cast<std::uint64_t>(std::llround(static_cast<double>(*value) / by)));
  }
}

}  // namespace

void add_launch(const KernelRecord& launch, MeasuredKernel& kernel) {
  KernelRecord& sum = kernel.sum;
  ++kernel.launches;
  if (kernel.launches == 1 || launch.elapsed_ns > kernel.longest_ns) {
    kernel.longest_ns = launch.elapsed_ns;
    sum.name = launch.name;
    sum.grid = launch.grid;
    sum.block = launch.block;
    sum.registers_per_thread = launch.registers_per_thread;
    sum.shared_bytes = launch.shared_bytes;
    sum.local_bytes_per_thread = launch.local_bytes_per_thread;
    sum.spilled_bytes_per_thread = launch.spilled_bytes_per_thread;
    sum.shared_counts_from = launch.shared_counts_from;
    sum.resident_blocks_per_sm = launch.resident_blocks_per_sm;
    sum.occupancy = launch.occupancy;
  }
  sum.elapsed_ns += launch.elapsed_ns;
  add_times(launch.parts, sum.parts, 1);
  sum.waits.add(launch.waits);
  add_counts(launch.counters, sum.counters);
  add_lines(launch.lines, sum.lines);
}

KernelRecord mean_launch(const MeasuredKernel& kernel) {
  KernelRecord mean = kernel.sum;
  if (kernel.launches <= 1) return mean;
  const auto launches = static_cast<double>(kernel.launches);
  mean.elapsed_ns /= launches;
  mean.parts = {};
  add_times(kernel.sum.parts, mean.parts, 1 / launches);
  divide(mean.counters, launches);
  for (LineCounters& line : mean.lines) divide(line.counters, launches);
  return mean;
}

bool LaunchLog::begins(const std::string& kernel) {
  const std::lock_guard lock(mutex_);
  running_ = kernel;
  is_in_launch_ = true;
  began_ = Clock::now();
  ++launches_of_[kernel];
  ++launches_;
  if (selection_.check_only) return false;
  auto known = is_chosen_.find(kernel);
  if (known == is_chosen_.end()) known = is_chosen_.emplace(kernel, any_matches(selection_.kernels, kernel)).first;
  if (!known->second) return false;
  const std::uint64_t number = matching_++;
  if (number < selection_.skip || (selection_.count && number - selection_.skip >= *selection_.count)) return false;
  ++chosen_;
  return true;
}

void LaunchLog::measured(const KernelRecord& record, const std::string& file) {
  const std::lock_guard lock(mutex_);
  auto at = std::find_if(kernels_.begin(), kernels_.end(),
                         [&](const MeasuredKernel& each) { return each.sum.name == record.name && each.file == file; });
  if (at == kernels_.end()) {
    kernels_.emplace_back();
    at = kernels_.end() - 1;
    at->file = file;
  }
  add_launch(record, *at);
}

void LaunchLog::ended() {
  {
    const std::lock_guard lock(mutex_);
    is_in_launch_ = false;
  }
  if (at_end_) at_end_();
}

Progress LaunchLog::progress() const {
  const std::lock_guard lock(mutex_);
  Progress now;
  if (launches_ == 0) return now;
  now.is_in_launch = is_in_launch_;
  now.kernel = running_;
  now.launch = launches_of_.at(running_);
  now.launches = launches_;
  if (is_in_launch_) now.in_launch_s = std::chrono::duration<double>(Clock::now() - began_).count();
  double all_ns = 0, own_ns = 0;
  for (const MeasuredKernel& each : kernels_) {
    all_ns += each.sum.elapsed_ns;
    if (each.sum.name == running_) own_ns += each.sum.elapsed_ns;
  }
  if (all_ns > 0) now.time_share = own_ns / all_ns;
  return now;
}

std::vector<MeasuredKernel> LaunchLog::kernels() const {
  const std::lock_guard lock(mutex_);
  return kernels_;
}

std::map<std::string, std::uint64_t> LaunchLog::launches_by_name() const {
  const std::lock_guard lock(mutex_);
  return launches_of_;
}

std::uint64_t LaunchLog::launches() const {
  const std::lock_guard lock(mutex_);
  return launches_;
}

std::uint64_t LaunchLog::chosen_launches() const {
  const std::lock_guard lock(mutex_);
  return chosen_;
}

}  // namespace roofwalk
