#include "grader/programs/program_report.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "common/base/json.h"
#include "common/cudart/kernel_name.h"
#include "common/measure/roofs.h"
#include "common/roofline/si.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

using cudart::KernelTotals;

constexpr double kSectorBytes = 32;

double count_of(const KernelTotals& totals, Counter counter) {
  return static_cast<double>(totals.counters[counter].value_or(0));
}

double flops_of(const KernelTotals& totals) {
  return count_of(totals, Counter::flops_f16) + count_of(totals, Counter::flops_f32) +
         count_of(totals, Counter::flops_f64) + count_of(totals, Counter::flops_tensor);
}

double dram_bytes(const KernelTotals& totals) {
  return count_of(totals, Counter::dram_read_bytes) + count_of(totals, Counter::dram_write_bytes);
}

double l2_bytes(const KernelTotals& totals) {
  return kSectorBytes * (count_of(totals, Counter::l2_read_sectors) + count_of(totals, Counter::l2_write_sectors));
}

double l1_bytes(const KernelTotals& totals) {
  return kSectorBytes * (count_of(totals, Counter::l1_read_sectors) + count_of(totals, Counter::l1_write_sectors));
}

std::string shown_name(const KernelTotals& totals) { return printable(cudart::short_kernel_name(totals.name)); }

double elapsed_ns_of(const ProgramRun& run) {
  return std::accumulate(run.kernels.begin(), run.kernels.end(), 0.0,
                         [](double sum, const KernelTotals& each) { return sum + each.elapsed_ns; });
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

using Cells = std::array<std::string, 12>;

std::string row_text(const Cells& cells, std::size_t name_columns) {
  std::string row = padded(cells[0], name_columns);
  row += fmt::format(" {:>8} {:>8} {:>6} {:>10} {:>8} {:>8} {:>8} {:>8} {:>7}  {:<11} {:>4}", cells[1], cells[2],
                     cells[3], cells[4], cells[5], cells[6], cells[7], cells[8], cells[9], cells[10], cells[11]);
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

std::string bytes_text(double bytes) { return bytes > 0 ? si_text(bytes, "B") : "-"; }

Cells cells_of(const KernelTotals& totals, double whole_ns, std::size_t name_columns) {
  const double flops = flops_of(totals), dram = dram_bytes(totals);
  const Bound bound = bound_of(totals);
  return {shortened(shown_name(totals), name_columns),
          grouped(static_cast<double>(totals.launches)),
          time_text(totals.elapsed_ns),
          fmt::format("{:.0f} %", 100 * ratio(totals.elapsed_ns, whole_ns)),
          flops > 0 ? si_text(flops, "FLOP") : "-",
          bytes_text(dram),
          bytes_text(l2_bytes(totals)),
          bytes_text(l1_bytes(totals)),
          bytes_text(count_of(totals, Counter::shared_bytes)),
          flops > 0 && dram > 0 ? number_text(flops / dram) : "-",
          fmt::format("{} {:.0f} %", bound.name, 100 * bound.share),
          totals.is_kernel() ? fmt::format("{:.0f} %", 100 * totals.occupancy()) : "-"};
}

Json kernel_json(const KernelTotals& totals, double whole_ns) {
  const double flops = flops_of(totals);
  const Bound bound = bound_of(totals);
  const auto ai = [&](double bytes) { return flops > 0 && bytes > 0 ? Json(flops / bytes) : Json(); };
  const auto shape = [](const Dim3& dim) { return Json::array({dim.x, dim.y, dim.z}); };
  return {
      {"name", totals.name},
      {"file", totals.file},
      {"launches", totals.launches},
      {"counted_launches", totals.counted_launches},
      {"elapsed_ns", totals.elapsed_ns},
      {"share", ratio(totals.elapsed_ns, whole_ns)},
      {"executed_flops", flops},
      {"dram_bytes", dram_bytes(totals)},
      {"l2_bytes", l2_bytes(totals)},
      {"l1_bytes", l1_bytes(totals)},
      {"shared_bytes", count_of(totals, Counter::shared_bytes)},
      {"ai_by_level", {{"dram", ai(dram_bytes(totals))}, {"l2", ai(l2_bytes(totals))}, {"l1", ai(l1_bytes(totals))}}},
      {"bound", bound.name},
      {"share_of_bound", bound.share},
      {"occupancy", totals.occupancy()},
      {"registers_per_thread", totals.registers_per_thread},
      {"most_shared_bytes_per_block", totals.most_shared_bytes},
      {"first_grid", shape(totals.grid)},
      {"first_block", shape(totals.block)},
      {"counters", to_json(totals.counters)}};
}

}  // namespace

Bound bound_of(const cudart::KernelTotals& totals) {
  const TimeParts& parts = totals.parts;
  const std::array<std::pair<const char*, double>, 9> named = {{{"DRAM", parts.dram_ns},
                                                                {"L2", parts.l2_ns},
                                                                {"L1", parts.l1_ns},
                                                                {"shared", parts.shared_ns},
                                                                {"issue", parts.issue_ns},
                                                                {"FLOPs", parts.flops_ns},
                                                                {"constant", parts.constant_ns},
                                                                {"atomics", parts.contention_ns},
                                                                {"launch", parts.launch_ns}}};
  const auto* const most =
      std::max_element(named.begin(), named.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return {most->first, ratio(most->second, totals.elapsed_ns)};
}

std::string program_table(const ProgramRun& run) {
  constexpr std::size_t kLeastColumns = 6, kMostColumns = 32;
  std::size_t name_columns = kLeastColumns;
  for (const KernelTotals& each : run.kernels)
    name_columns = std::clamp(shown_columns(shown_name(each)), name_columns, kMostColumns);
  const double whole_ns = elapsed_ns_of(run);
  std::string text = fmt::format("\n{} on virtual:{}: {} in kernels, memsets and copies on the device (modelled)\n\n",
                                 printable(run.command), run.machine.name, time_text(whole_ns));
  text +=
      row_text({"kernel", "launches", "time", "share", "executed", "DRAM", "L2", "L1", "shared", "AI", "bound", "occ."},
               name_columns);
  for (const KernelTotals& each : run.kernels) text += row_text(cells_of(each, whole_ns, name_columns), name_columns);
  text +=
      "\nFLOPs and bytes are counted, times are modelled. Each launch begins with a cold L2; copies between host and\n"
      "device take no time. AI: FLOPs over the bytes of DRAM. bound: what the machine needs most time for, and its\n"
      "share of the whole.\n";
  std::uint64_t launches = 0, counted = 0;
  for (const KernelTotals& each : run.kernels) {
    launches += each.launches;
    counted += each.counted_launches;
  }
  if (counted < launches) {
    text += fmt::format(
        "{} of {} launches were counted; the others have the figures of the last counted one with the same kernel,\n"
        "grid, block and shared memory (--count).\n",
        grouped(static_cast<double>(counted)), grouped(static_cast<double>(launches)));
  }
  return text;
}

Json to_json(const ProgramRun& run) {
  const double whole_ns = elapsed_ns_of(run);
  Json kernels = Json::array(), faults = Json::array(), notes = Json::array();
  for (const KernelTotals& each : run.kernels) kernels.push_back(kernel_json(each, whole_ns));
  for (const cudart::Told& each : run.told) (each.is_fault ? faults : notes).push_back(each.text);
  return {{"schema", "roofwalk.program/1"}, {"command", run.command},
          {"exit_code", run.exit_code},     {"device", {{"name", "virtual:" + run.machine.name}, {"kind", "virtual"}}},
          {"time_is_modelled", true},       {"elapsed_ns", whole_ns},
          {"kernels", std::move(kernels)},  {"faults", std::move(faults)},
          {"notes", std::move(notes)}};
}

Chart program_chart(const ProgramRun& run) {
  constexpr std::size_t kMostDots = 12;
  Chart chart;
  chart.title = fmt::format("{} on virtual:{}", shortened(printable(run.command), 60), run.machine.name);
  chart.level = "dram";
  chart.roofs = roofs_of(run.machine);
  chart.is_walk = false;
  chart.is_of_useful_work = false;
  for (const KernelTotals& each : run.kernels) {
    const double flops = flops_of(each), bytes = dram_bytes(each);
    if (flops <= 0 || bytes <= 0 || chart.walk.size() == kMostDots) continue;
    chart.walk.push_back({shortened(shown_name(each), 24), {flops / bytes, flops / each.elapsed_ns * 1e9}});
  }
  return chart;
}

}  // namespace roofwalk
