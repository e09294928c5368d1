#include "common/measure/roofs.h"

#include <algorithm>

namespace roofwalk {

Roofs roofs_of(const Machine& machine) {
  constexpr auto kSource = "data sheet";
  Roofs roofs;
  roofs.memory = {{"dram", machine.dram_bytes_per_s, kSource},
                  {"l2", machine.l2_bytes_per_s(), kSource},
                  {"l1", machine.l1_bytes_per_s(), kSource},
                  {"shared", machine.shared_bytes_per_s(), kSource}};
  std::stable_sort(roofs.memory.begin(), roofs.memory.end(),
                   [](const MemoryRoof& a, const MemoryRoof& b) { return a.bytes_per_s < b.bytes_per_s; });
  roofs.compute = {{"fp32", machine.peak_fp32_flops_per_s(), kSource}};
  return roofs;
}

}  // namespace roofwalk
