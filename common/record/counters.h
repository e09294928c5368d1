// What a device counts. Counters that a device cannot count are absent, never 0.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/base/json_fwd.h"

namespace roofwalk {

// All counters that a device may report. The name is the JSON key and includes the unit; names without one count
// events.
#define ROOFWALK_COUNTERS(X)                                                                        \
  X(warp_instructions)   /* PTX instructions, counted per warp */                                   \
  X(thread_instructions) /* the same, per active lane that is not predicated off */                 \
  X(flops_f16)           /* executed, on 16-bit floats; add and mul 1, fma 2 */                     \
  X(flops_f32)                                                                                      \
  X(flops_f64)                                                                                      \
  X(flops_tensor)                                                                                   \
  X(tensor_integer_operations) /* of 8-bit factors on tensor cores; add and mul 1 each */           \
  X(integer_operations)        /* on integers: add, sub, mul and div 1, mad 2; also on indices */   \
  X(atomic_flops)              /* float adds by atom and red; outside of SMs, so not in flops_* */  \
  X(special_functions)         /* div, sqrt, rcp, ex2, ...: 1 each, also in flops_* */              \
  X(branches)                                                                                       \
  X(divergent_branches)                                                                             \
  X(barriers)             /* warp arrivals at bar.sync */                                           \
  X(global_load_requests) /* warp instructions with at least one active lane */                     \
  X(global_store_requests)                                                                          \
  X(atomic_requests)              /* global atom and red */                                         \
  X(atomic_operations)            /* the same, per lane that takes part */                          \
  X(l1_read_sectors)              /* 32-byte sectors that global and local loads ask L1 for */      \
  X(l1_write_sectors)             /* the same for stores and atomics */                             \
  X(l1_ideal_sectors)             /* sectors of global requests if lanes were contiguous */         \
  X(l1_uncoalesced_sectors)       /* of loads and atomics that touch more sectors than that */      \
  X(l1_uncoalesced_ideal_sectors) /* sectors of these if lanes were contiguous */                   \
  X(l1_read_hit_sectors)                                                                            \
  X(l1_lines)            /* 128-byte lines that requests touch */                                   \
  X(local_sectors)       /* the part of L1 sectors in local memory */                               \
  X(local_write_sectors) /* of these, the written ones */                                           \
  X(l2_read_sectors)                                                                                \
  X(l2_write_sectors)                                                                               \
  X(l2_read_hit_sectors)                                                                            \
  X(dram_read_bytes)                                                                                \
  X(dram_write_bytes)                                                                               \
  X(shared_load_requests)                                                                           \
  X(shared_store_requests)                                                                          \
  X(shared_bytes) /* bytes that active lanes read or write */                                       \
  X(shared_wavefronts)                                                                              \
  X(shared_bank_conflicts) /* wavefronts beyond the minimum for the request's width */              \
  X(constant_requests)     /* loads of constant memory, at most 8 bytes per lane each */            \
  X(constant_passes)       /* one per distinct 4- or 8-byte word among their lanes */               \
  X(constant_misses)       /* passes that missed the first constant cache */                        \
  X(constant_bytes)        /* bytes read by passes: one word each, however many lanes */            \
  /* Those from here on are of launches, not of lines. */                                           \
  X(machine_warp_instructions)   /* as warp_instructions, of machine code; counted by GPUs alone */ \
  X(machine_thread_instructions) /* as thread_instructions, likewise */                             \
  X(sm_cycles)                   /* of all SMs, from a launch's begin to its end */                 \
  X(sm_active_cycles)            /* of these, those with at least one resident warp */              \
  X(scheduler_cycles)            /* of the warp schedulers of SMs while these are active */         \
  X(resident_warp_cycles)        /* sum of the cycles for which each warp was resident */

enum class Counter {
#define ROOFWALK_ENUM(name) name,
  ROOFWALK_COUNTERS(ROOFWALK_ENUM)
#undef ROOFWALK_ENUM
};
#define ROOFWALK_ONE(name) +1
inline constexpr std::size_t kCounterCount = 0 ROOFWALK_COUNTERS(ROOFWALK_ONE);
#undef ROOFWALK_ONE

std::string_view counter_name(Counter counter);

// Whether lines have the counter, because it counts instructions and what they do.
constexpr bool is_of_lines(Counter counter) { return counter <= Counter::constant_bytes; }

// Whether the counter counts machine code. The virtual GPU runs PTX and cannot count it.
constexpr bool is_of_machine_code(Counter counter) {
  return counter == Counter::machine_warp_instructions || counter == Counter::machine_thread_instructions;
}

class Counters {
 public:
  std::optional<std::uint64_t> operator[](Counter c) const { return values_[static_cast<std::size_t>(c)]; }
  void set(Counter c, std::uint64_t value) { values_[static_cast<std::size_t>(c)] = value; }
  void add(Counter c, std::uint64_t value) {
    auto& slot = values_[static_cast<std::size_t>(c)];
    slot = slot.value_or(0) + value;
  }
  bool operator==(const Counters&) const = default;

 private:
  std::array<std::optional<std::uint64_t>, kCounterCount> values_{};
};

Json to_json(const Counters& counters);

}  // namespace roofwalk
