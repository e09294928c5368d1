#include "common/measure/measurement.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "common/base/check.h"
#include "common/record/run_record.h"

namespace roofwalk {
namespace {

// Returns the sum of counters times `scale`; unsupported if any of the counters is.
Quantity sum(const Counters& counters, std::initializer_list<Counter> parts, std::string_view unit, Obtained obtained,
             double scale = 1) {
  double total = 0;
  for (const Counter part : parts) {
    const auto value = counters[part];
    if (!value) return {.unit = unit};
    total += static_cast<double>(*value);
  }
  return {total * scale, unit, obtained};
}

// Returns a / b with origin `from`, if both are known and b > 0; otherwise unsupported.
Quantity ratio(const Quantity& a, const Quantity& b, std::string_view unit, Obtained from) {
  if (!a.known() || !b.known() || b.value <= 0) return {.unit = unit};
  return {a.value / b.value, unit, from};
}

LevelMeasurement level_of(std::string name, const Quantity& bytes, const Quantity& useful, const Roofs& roofs) {
  const UnitWords& unit = words_of(roofs.unit);
  LevelMeasurement level{
      std::move(name), bytes, ratio(useful, bytes, unit.per_byte, bytes.obtained), {.unit = unit.per_second}};
  const MemoryRoof* memory = roofs.memory_roof(level.level);
  if (const auto peak = roofs.peak(); level.ai.known() && memory != nullptr && peak) {
    level.roof = {attainable_flops_per_s(level.ai.value, memory->bytes_per_s, *peak), unit.per_second,
                  level.ai.obtained};
  }
  return level;
}

}  // namespace

const LevelMeasurement& Measurement::level(std::string_view name) const {
  const auto found = std::find_if(levels.begin(), levels.end(), [&](const auto& l) { return l.level == name; });
  ROOFWALK_CHECK(found != levels.end());
  return *found;
}

std::optional<Point> Measurement::point(std::string_view level_name) const {
  const Quantity& ai = level(level_name).ai;
  if (!ai.known() || !achieved_flops_per_s.known()) return std::nullopt;
  return Point{ai.value, achieved_flops_per_s.value};
}

namespace {

// Loads of one word for all lanes need every sector that they move. Any number of them would make up for uncoalesced
// loads and atomics, so these are judged on their own if they ask for more than this part of the compulsory bytes.
// Strided loads that transpose each operand of a product once ask for two thirds of them, and are no more than that:
// read again and again, they would be the kernel's way to its operands.
constexpr double kUncoalescedOverCompulsory = 0.75;

Quantity sector_use_of(const Counters& counters, const Work& work, Obtained obtained) {
  const auto ideal = counters[Counter::l1_ideal_sectors], read = counters[Counter::l1_read_sectors],
             written = counters[Counter::l1_write_sectors], local = counters[Counter::local_sectors],
             uncoalesced = counters[Counter::l1_uncoalesced_sectors],
             needed = counters[Counter::l1_uncoalesced_ideal_sectors];
  if (!ideal || !read || !written || !local || !uncoalesced || !needed) return {};
  const auto moved = static_cast<double>(*read + *written - std::min(*local, *read + *written)),
             asked = static_cast<double>(*needed),
             compulsory = static_cast<double>(work.compulsory_bytes) / kSectorBytes;
  double use = moved == 0 ? 1 : static_cast<double>(*ideal) / moved;
  if (asked > kUncoalescedOverCompulsory * compulsory) use = std::min(use, asked / static_cast<double>(*uncoalesced));
  return {use, "ratio", obtained};
}

Quantity executed_work(const Counters& counters, WorkUnit unit) {
  switch (unit) {
    case WorkUnit::flop: {
      Quantity flops =
          sum(counters, {Counter::flops_f16, Counter::flops_f32, Counter::flops_f64, Counter::flops_tensor}, "FLOP",
              Obtained::counted);
      flops.value += static_cast<double>(counters[Counter::atomic_flops].value_or(0));
      return flops;
    }
    case WorkUnit::operation:
      return sum(counters, {Counter::integer_operations, Counter::tensor_integer_operations}, "OP", Obtained::counted);
    case WorkUnit::key:
      break;  // nothing executes a key
  }
  return {};
}

Quantity active_lanes_of(const Counters& counters) {
  constexpr double kWarpLanes = 32;
  const bool of_ptx = counters[Counter::warp_instructions].has_value();
  const Counter threads = of_ptx ? Counter::thread_instructions : Counter::machine_thread_instructions;
  const Counter warps = of_ptx ? Counter::warp_instructions : Counter::machine_warp_instructions;
  return ratio(sum(counters, {threads}, "instructions", Obtained::counted),
               sum(counters, {warps}, "instructions", Obtained::counted, kWarpLanes), "ratio", Obtained::counted);
}

// Sets the counts that have no place in a roofline plot. `bytes`, `time`: the origin of counts of memory, and of
// cycles.
void add_counts(const Counters& c, WorkUnit unit, Obtained bytes, Obtained time, Measurement& m) {
  Quantity least = m.shared_wavefronts;
  const Quantity conflicts = sum(c, {Counter::shared_bank_conflicts}, "wavefronts", bytes);
  if (conflicts.known()) {
    least.value -= conflicts.value;
    m.shared_wavefronts_over_least = ratio(m.shared_wavefronts, least, "ratio", bytes);
  }
  m.active_lanes = active_lanes_of(c);
  m.executed_over_useful = ratio(executed_work(c, unit), m.useful_flops, "ratio", Obtained::counted);
  m.atomics_per_element = ratio(sum(c, {Counter::atomic_operations}, "atomics", bytes), m.useful_flops, "ratio", bytes);
  const auto cycles = [&](Counter counter) { return sum(c, {counter}, "cycles", time); };
  m.sm_active = ratio(cycles(Counter::sm_active_cycles), cycles(Counter::sm_cycles), "ratio", time);
  m.resident_warps_per_scheduler =
      ratio(cycles(Counter::resident_warp_cycles), cycles(Counter::scheduler_cycles), "ratio", time);
}

}  // namespace

Measurement measure(const RunRecord& record, const Work& work, const Roofs& roofs) {
  const Counters& c = record.counters;
  const Obtained bytes = record.bytes_are_modelled ? Obtained::modelled : Obtained::counted;
  const Obtained time = record.time_is_modelled ? Obtained::modelled : Obtained::counted;
  const UnitWords& unit = words_of(roofs.unit);
  Measurement m;
  m.useful_flops = {static_cast<double>(work.useful_flops), unit.one, Obtained::formula};
  m.compulsory_bytes = {static_cast<double>(work.compulsory_bytes), "B", Obtained::formula};
  m.least_flops = static_cast<double>(work.least_flops);
  m.executed_flops = sum(c, {Counter::flops_f16, Counter::flops_f32, Counter::flops_f64, Counter::flops_tensor}, "FLOP",
                         Obtained::counted);
  m.half_flops = sum(c, {Counter::flops_f16}, "FLOP", Obtained::counted);
  m.atomic_flops = sum(c, {Counter::atomic_flops}, "FLOP", Obtained::counted);
  m.tensor_integer_operations = sum(c, {Counter::tensor_integer_operations}, "operations", Obtained::counted);
  m.dram_read_bytes = sum(c, {Counter::dram_read_bytes}, "B", bytes);
  m.dram_write_bytes = sum(c, {Counter::dram_write_bytes}, "B", bytes);
  m.l2_bytes = sum(c, {Counter::l2_read_sectors, Counter::l2_write_sectors}, "B", bytes, kSectorBytes);
  m.l1_bytes = sum(c, {Counter::l1_read_sectors, Counter::l1_write_sectors}, "B", bytes, kSectorBytes);
  m.l1_read_sectors = sum(c, {Counter::l1_read_sectors}, "sectors", bytes);
  m.l1_write_sectors = sum(c, {Counter::l1_write_sectors}, "sectors", bytes);
  m.sector_use = sector_use_of(c, work, bytes);
  m.shared_bytes = sum(c, {Counter::shared_bytes}, "B", bytes);
  m.shared_wavefronts = sum(c, {Counter::shared_wavefronts}, "wavefronts", bytes);
  m.constant_requests = sum(c, {Counter::constant_requests}, "requests", bytes);
  m.constant_passes = sum(c, {Counter::constant_passes}, "passes", bytes);
  m.constant_bytes = sum(c, {Counter::constant_bytes}, "B", bytes);
  m.warp_instructions = sum(c, {Counter::warp_instructions}, "instructions", Obtained::counted);
  add_counts(c, roofs.unit, bytes, time == Obtained::modelled ? time : bytes, m);
  if (const auto peak = roofs.peak(); peak && std::isfinite(*peak)) m.peak_flops_per_s = {*peak, unit.per_second, time};
  if (record.elapsed_ns > 0) {
    m.elapsed_ns = {record.elapsed_ns, "ns", time};
    m.achieved_flops_per_s = {m.useful_flops.value / (record.elapsed_ns * 1e-9), unit.per_second, time};
  }
  const Quantity dram_bytes = sum(c, {Counter::dram_read_bytes, Counter::dram_write_bytes}, "B", bytes);
  // The bytes that the constant caches deliver are not requested from L1. They are added to L1's, because these caches
  // are as close to a warp as L1 is.
  Quantity nearest_bytes = m.l1_bytes;
  if (nearest_bytes.known() && m.constant_bytes.known()) nearest_bytes.value += m.constant_bytes.value;
  m.levels = {level_of("dram", dram_bytes, m.useful_flops, roofs), level_of("l2", m.l2_bytes, m.useful_flops, roofs),
              level_of("l1", nearest_bytes, m.useful_flops, roofs)};
  m.algorithmic_ai = ratio(m.useful_flops, m.compulsory_bytes, unit.per_byte, Obtained::formula);
  const LevelMeasurement& dram = m.levels.front();
  m.vertical_gap = ratio(dram.roof, m.achieved_flops_per_s, "x", time);
  m.horizontal_gap = ratio(m.algorithmic_ai, dram.ai, "x", bytes);
  return m;
}

std::vector<std::string> implausible(const Measurement& m, const Roofs& roofs, const Uncounted& uncounted) {
  const auto point = m.point("dram");
  const MemoryRoof* dram = roofs.memory_roof("dram");
  const auto peak = roofs.peak();
  if (!point || dram == nullptr || !peak) return {};
  SanityInput input;
  input.unit = roofs.unit;
  input.point = *point;
  input.bytes = m.level("dram").bytes.value + uncounted.dram_bytes;
  input.compulsory_bytes = m.compulsory_bytes.value;
  input.useful_flops = m.useful_flops.value;
  input.least_flops = m.least_flops;
  // If a device cannot count all FLOPs, exactly the useful FLOPs are assumed to be executed. Float additions by atomics
  // are executed work, too. Half precision is not, as its rate is twice that of FP32, unless the roof is that of tensor
  // cores, whose factors are halves.
  const bool has_all_flops = m.executed_flops.known() && !uncounted.has_atomic_flops;
  input.half_flops = roofs.is_of_tensor_cores() ? 0 : m.half_flops.get().value_or(0);
  input.executed_flops =
      has_all_flops ? m.executed_flops.value + m.atomic_flops.get().value_or(0) - input.half_flops : input.useful_flops;
  input.bytes_per_s = dram->bytes_per_s;
  input.peak_flops_per_s = *peak;
  return implausible(input);
}

}  // namespace roofwalk
