// What the kernels of a program did, added up over their launches.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "common/record/run_record.h"

namespace roofwalk::cudart {

// All launches of one kernel. Its memsets and its copies within device memory are two more.
struct KernelTotals {
  std::string name;
  std::string file;  // the source; empty: unknown, or no kernel
  std::uint64_t launches = 0;
  std::uint64_t counted_launches = 0;  // the figures of the others are carried over from one of these
  double elapsed_ns = 0;               // modelled
  Counters counters;
  TimeParts parts;
  double occupancy_ns = 0;  // occupancy times elapsed_ns, summed
  int registers_per_thread = 0;
  std::uint32_t most_shared_bytes = 0;
  Dim3 grid, block;  // of the first launch
  bool same_shape = true;

  bool is_kernel() const { return !file.empty() || registers_per_thread > 0; }
  double occupancy() const { return elapsed_ns > 0 ? occupancy_ns / elapsed_ns : 0; }
};

void add_parts(const TimeParts& from, TimeParts& to);

// A mistake that ended a program's work on the GPU, or a call that is not served.
struct Told {
  std::string text;
  bool is_fault = false;
};

// Written by the thread that serves programs and read by the one that reports, also in the middle of a launch.
class KernelRecords {
 public:
  // `at_once` gets what is told, when it is told.
  explicit KernelRecords(std::function<void(const Told&)> at_once = nullptr) : at_once_(std::move(at_once)) {}

  // `is_counted`: false if the record is that of an earlier launch.
  void add(const KernelRecord& record, const std::string& file, bool is_counted);
  void tell(Told told);
  void connected();

  std::vector<KernelTotals> kernels() const;  // longest first
  std::vector<Told> told() const;
  int programs() const;  // that have connected

 private:
  std::function<void(const Told&)> at_once_;
  mutable std::mutex mutex_;
  std::vector<KernelTotals> kernels_;
  std::vector<Told> told_;
  int programs_ = 0;
};

}  // namespace roofwalk::cudart
