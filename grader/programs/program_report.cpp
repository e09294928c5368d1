#include "grader/programs/program_report.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/json.h"
#include "common/record/model_version.h"
#include "grader/programs/figures.h"
#include "grader/programs/kernel_figures.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

using cudart::KernelTotals;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

Json diagnosis_json(const std::optional<Finding>& finding) {
  if (!finding) return nullptr;
  const Diagnosis& first = finding->diagnosis;
  return {{"cause", first.cause},
          {"line", first.line > 0 ? Json(first.line) : Json()},
          {"brief", first.brief},
          {"text", first.text},
          {"time_share", first.share}};
}

Json kernel_json(const ProgramKernel& kernel, double whole_ns) {
  const KernelTotals& totals = kernel.totals;
  const double flops = flops_of(totals);
  const BindingRoof roof = binding_roof(totals);
  const auto ai = [&](double bytes) { return flops > 0 && bytes > 0 ? Json(flops / bytes) : Json(); };
  const auto shape = [](const Dim3& dim) { return Json::array({dim.x, dim.y, dim.z}); };
  return {{"name", totals.name},
          {"file", totals.file},
          {"launches", totals.launches},
          {"counted_launches", totals.counted_launches},
          {"elapsed_ns", totals.elapsed_ns},
          {"share", ratio(totals.elapsed_ns, whole_ns)},
          {"executed_flops", flops},
          {"dram_bytes", dram_bytes_of(totals)},
          {"l2_bytes", l2_bytes_of(totals)},
          {"l1_bytes", l1_bytes_of(totals)},
          {"shared_bytes", count_of(totals, Counter::shared_bytes)},
          {"ai_by_level",
           {{"dram", ai(dram_bytes_of(totals))}, {"l2", ai(l2_bytes_of(totals))}, {"l1", ai(l1_bytes_of(totals))}}},
          {"bound", roof.name},
          {"share_of_bound", roof.share},
          {"occupancy", totals.occupancy()},
          {"registers_per_thread", totals.registers_per_thread},
          {"most_shared_bytes_per_block", totals.most_shared_bytes},
          {"first_grid", shape(totals.grid)},
          {"first_block", shape(totals.block)},
          {"diagnosis", diagnosis_json(kernel.finding)},
          {"counters", to_json(totals.counters)}};
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_row(const std::vector<std::string>& cells) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells) quoted.push_back(csv_cell(cell));
  return fmt::format("{}\r\n", fmt::join(quoted, ","));
}

}  // namespace

double elapsed_ns_of(const ProgramRun& run) {
  return std::accumulate(run.kernels.begin(), run.kernels.end(), 0.0,
                         [](double sum, const ProgramKernel& each) { return sum + each.totals.elapsed_ns; });
}

std::vector<ProgramKernel> program_kernels(const std::vector<KernelTotals>& totals,
                                           const std::vector<MeasuredKernel>& measured, const Machine& machine,
                                           bool only_kernels) {
  std::vector<ProgramKernel> kernels;
  for (const KernelTotals& each : totals) {
    const auto found = std::find_if(measured.begin(), measured.end(), [&](const MeasuredKernel& one) {
      return one.sum.name == each.name && one.file == each.file;
    });
    if (only_kernels && found == measured.end()) continue;
    ProgramKernel kernel{.totals = each, .finding = {}};
    if (found != measured.end()) kernel.finding = finding_of(*found, machine);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

Json to_json(const ProgramRun& run) {
  const double whole_ns = elapsed_ns_of(run);
  Json kernels = Json::array(), faults = Json::array(), notes = Json::array();
  for (const ProgramKernel& each : run.kernels) kernels.push_back(kernel_json(each, whole_ns));
  for (const cudart::Told& each : run.told) (each.is_fault ? faults : notes).push_back(each.text);
  return {{"schema", "roofwalk.program/1"},
          {"command", run.command},
          {"exit_code", run.exit_code},
          {"device", {{"name", "virtual:" + run.machine.name}, {"kind", "virtual"}}},
          {"time_is_modelled", true},
          {"model_version", kModelVersion},
          {"elapsed_ns", whole_ns},
          {"launches", run.launches},
          {"measured_launches", run.measured_launches},
          {"kernels", std::move(kernels)},
          {"faults", std::move(faults)},
          {"notes", std::move(notes)}};
}

std::string to_csv(const Json& run) {
  std::vector<std::string> names;
  std::vector<std::vector<Figure>> rows;
  for (const Json& kernel : run.at("kernels")) {
    rows.push_back(figures_in(kernel));
    for (const Figure& figure : rows.back()) {
      if (std::find(names.begin(), names.end(), figure.name) == names.end()) names.push_back(figure.name);
    }
  }
  std::string text = csv_row(names);
  for (const auto& row : rows) {
    std::vector<std::string> cells;
    for (const std::string& name : names) {
      const auto found = std::find_if(row.begin(), row.end(), [&](const Figure& each) { return each.name == name; });
      cells.push_back(found == row.end() ? "" : found->text);
    }
    text += csv_row(cells);
  }
  return text;
}

Chart program_chart(const ProgramRun& run) {
  constexpr std::size_t kMostDots = 12, kLabelColumns = 24;
  const double whole_ns = elapsed_ns_of(run);
  Chart chart;
  chart.title = fmt::format("{} on virtual:{}", shortened(printable(run.command), 60), run.machine.name);
  chart.level = "dram";
  chart.is_walk = false;
  chart.is_of_useful_work = false;
  std::vector<KernelTotals> drawn;
  std::vector<std::string> names;
  for (const ProgramKernel& each : run.kernels) {
    const bool has_place = flops_of(each.totals) > 0 && dram_bytes_of(each.totals) > 0 && each.totals.elapsed_ns > 0;
    if (!has_place || drawn.size() == kMostDots) continue;
    drawn.push_back(each.totals);
    names.push_back(each.totals.name);
  }
  chart.roofs = roofs_for_chart(run.machine, drawn);
  const std::vector<std::string> labels = shown_kernel_names(names, kLabelColumns);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const double flops = flops_of(drawn[i]), time_ns = drawn[i].elapsed_ns;
    PlotPoint point{labels[i], {flops / dram_bytes_of(drawn[i]), flops / time_ns * 1e9}};
    point.time_share = ratio(time_ns, whole_ns);
    chart.walk.push_back(std::move(point));
  }
  return chart;
}

}  // namespace roofwalk
