#include "common/cudart/kernel_records.h"

#include <algorithm>

namespace roofwalk::cudart {

void add_parts(const TimeParts& from, TimeParts& to) {
  to.dram_ns += from.dram_ns;
  to.l2_ns += from.l2_ns;
  to.l1_ns += from.l1_ns;
  to.shared_ns += from.shared_ns;
  to.issue_ns += from.issue_ns;
  to.flops_ns += from.flops_ns;
  to.latency_ns += from.latency_ns;
  to.launch_ns += from.launch_ns;
  to.constant_ns += from.constant_ns;
  to.contention_ns += from.contention_ns;
}

void KernelRecords::add(const KernelRecord& record, const std::string& file, bool is_counted) {
  const std::lock_guard lock(mutex_);
  auto at = std::find_if(kernels_.begin(), kernels_.end(),
                         [&](const KernelTotals& totals) { return totals.name == record.name && totals.file == file; });
  if (at == kernels_.end()) {
    kernels_.emplace_back();
    at = kernels_.end() - 1;
    at->name = record.name;
    at->file = file;
    at->registers_per_thread = record.registers_per_thread;
    at->grid = record.grid;
    at->block = record.block;
  }
  ++at->launches;
  at->counted_launches += is_counted ? 1 : 0;
  at->elapsed_ns += record.elapsed_ns;
  at->occupancy_ns += record.occupancy * record.elapsed_ns;
  at->most_shared_bytes = std::max(at->most_shared_bytes, record.shared_bytes);
  at->same_shape = at->same_shape && at->grid == record.grid && at->block == record.block;
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (const auto value = record.counters[counter]) at->counters.add(counter, *value);
  }
  add_parts(record.parts, at->parts);
}

void KernelRecords::tell(Told told) {
  const std::lock_guard lock(mutex_);
  if (at_once_) at_once_(told);
  told_.push_back(std::move(told));
}

void KernelRecords::connected() {
  const std::lock_guard lock(mutex_);
  ++programs_;
}

std::vector<KernelTotals> KernelRecords::kernels() const {
  const std::lock_guard lock(mutex_);
  std::vector<KernelTotals> sorted = kernels_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const KernelTotals& a, const KernelTotals& b) { return a.elapsed_ns > b.elapsed_ns; });
  return sorted;
}

std::vector<Told> KernelRecords::told() const {
  const std::lock_guard lock(mutex_);
  return told_;
}

int KernelRecords::programs() const {
  const std::lock_guard lock(mutex_);
  return programs_;
}

}  // namespace roofwalk::cudart
