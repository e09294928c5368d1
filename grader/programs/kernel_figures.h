// Figures of one kernel of a program, over all its launches.
#pragma once

#include <string>

#include "common/cudart/kernel_records.h"
#include "common/roofline/roofline.h"
#include "common/specs/machine.h"

namespace roofwalk {

double count_of(const cudart::KernelTotals& totals, Counter counter);  // 0 if absent
double flops_of(const cudart::KernelTotals& totals);                   // executed, of any type
double dram_bytes_of(const cudart::KernelTotals& totals);
double l2_bytes_of(const cudart::KernelTotals& totals);
double l1_bytes_of(const cudart::KernelTotals& totals);

// What a part of the machine at least needs for all launches of a kernel: the largest of TimeParts, by its name in
// charts ("DRAM", "L2", "FLOPs", "launch"), and its share of the modelled time.
struct BindingRoof {
  std::string name;
  double share = 0;
};
BindingRoof binding_roof(const cudart::KernelTotals& totals);

// The compute roof of what these counters have of FLOPs: the peak of the type with most of them, or of their mixture.
// Without FLOPs, there is none.
Roofs roofs_for(const Machine& machine, const Counters& counters);

// The roofs of a chart for all kernels: the memory's, FP32's, and those of other types of FLOPs that a kernel executes.
Roofs roofs_for_chart(const Machine& machine, const std::vector<cudart::KernelTotals>& kernels);

}  // namespace roofwalk
