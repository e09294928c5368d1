#include "grader/programs/program_table.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/roofline/si.h"
#include "grader/programs/kernel_figures.h"

namespace roofwalk {
namespace {

using cudart::KernelTotals;

constexpr std::size_t kMostRows = 20, kFewestName = 12, kMostName = 44;
constexpr std::size_t kReadableName = 20, kNarrow = 80;  // where there is room, names keep their first arguments
constexpr std::size_t kWidestNote = 100;                 // longer lines are hard to read
constexpr double kWorthALine = 0.02;                     // of the program's time: kernels below get no diagnosis

struct TableColumn {
  std::string title;
  std::vector<std::string> cells;  // by kernel; "": none
  bool is_left = false;            // aligned
  bool is_of_work = false;         // what was done, not how long it took
  bool is_of_flops = false;        // of one type

  bool is_empty() const {
    return std::all_of(cells.begin(), cells.end(), [](const std::string& cell) { return cell.empty(); });
  }
  std::size_t width() const {
    std::size_t most = shown_columns(title);
    for (const std::string& cell : cells) most = std::max(most, shown_columns(cell));
    return most + 2;  // with what separates it
  }
};

std::string amount_text(double value, std::string_view unit) { return value > 0 ? si_text(value, unit) : ""; }

// `cell` is called with each kernel.
template <class Cell>
TableColumn column(std::string title, const ProgramRun& run, Cell cell) {
  TableColumn made{.title = std::move(title), .cells = {}};
  for (const ProgramKernel& kernel : run.kernels) made.cells.push_back(cell(kernel.totals));
  made.cells.resize(std::min(made.cells.size(), kMostRows));
  return made;
}

std::vector<TableColumn> columns_of(const ProgramRun& run) {
  const double whole_ns = elapsed_ns_of(run);
  const auto percent = [](double share) { return fmt::format("{:.0f} %", 100 * share); };
  std::vector<TableColumn> columns;
  columns.push_back(
      column("launches", run, [](const KernelTotals& t) { return grouped(static_cast<double>(t.launches)); }));
  columns.push_back(column("time", run, [](const KernelTotals& t) { return time_text(t.elapsed_ns); }));
  columns.push_back(
      column("share", run, [&](const KernelTotals& t) { return percent(whole_ns > 0 ? t.elapsed_ns / whole_ns : 0); }));
  columns.push_back(column("bound", run, [&](const KernelTotals& t) {
    const BindingRoof roof = binding_roof(t);
    return roof.name + " " + percent(roof.share);
  }));
  columns.back().is_left = true;
  columns.push_back(column(
      "occ.", run, [&](const KernelTotals& t) { return t.is_kernel() ? percent(t.occupancy()) : std::string(); }));
  const std::size_t times = columns.size();
  for (const auto& [title, counter] :
       {std::pair{"FP16", Counter::flops_f16}, std::pair{"FP32", Counter::flops_f32},
        std::pair{"FP64", Counter::flops_f64}, std::pair{"tensor", Counter::flops_tensor}}) {
    columns.push_back(
        column(title, run, [c = counter](const KernelTotals& t) { return amount_text(count_of(t, c), ""); }));
    columns.back().is_of_flops = true;
  }
  columns.push_back(column("DRAM", run, [](const KernelTotals& t) { return amount_text(dram_bytes_of(t), "B"); }));
  columns.push_back(column("L2", run, [](const KernelTotals& t) { return amount_text(l2_bytes_of(t), "B"); }));
  columns.push_back(column("L1", run, [](const KernelTotals& t) { return amount_text(l1_bytes_of(t), "B"); }));
  columns.push_back(column("shared", run,
                           [](const KernelTotals& t) { return amount_text(count_of(t, Counter::shared_bytes), "B"); }));
  columns.push_back(column("AI", run, [](const KernelTotals& t) {
    return flops_of(t) > 0 && dram_bytes_of(t) > 0 ? number_text(flops_of(t) / dram_bytes_of(t)) : std::string();
  }));
  for (std::size_t i = times; i < columns.size(); ++i) columns[i].is_of_work = true;
  std::erase_if(columns, [](const TableColumn& each) { return each.is_empty(); });
  return columns;
}

using Tables = std::vector<std::vector<TableColumn>>;

// As few tables as these columns and a name of that width take.
Tables tables_of(const std::vector<TableColumn>& columns, std::size_t name, std::size_t width) {
  std::size_t whole = name;
  for (const TableColumn& each : columns) whole += each.width();
  Tables tables{{}};
  std::size_t used = name;
  for (const TableColumn& each : columns) {
    const bool begins_work =
        whole > width && each.is_of_work && !tables.back().empty() && !tables.back().back().is_of_work;
    if (!tables.back().empty() && (begins_work || used + each.width() > width)) {
      tables.emplace_back();
      used = name;
    }
    used += each.width();
    tables.back().push_back(each);
  }
  return tables;
}

// The widest name with which the tables are as few as with the narrowest one.
std::size_t name_width(const std::vector<TableColumn>& columns, std::size_t longest, std::size_t width) {
  const std::size_t most = std::min(longest, kMostName),
                    least = std::min(most, width < kNarrow ? kFewestName : kReadableName);
  const std::size_t fewest = tables_of(columns, least, width).size();
  for (std::size_t name = most; name > least; --name) {
    if (tables_of(columns, name, width).size() == fewest) return name;
  }
  return least;
}

std::string row_text(const std::string& name, std::size_t name_columns, const std::vector<TableColumn>& columns,
                     std::optional<std::size_t> kernel) {
  std::string row = padded(name, name_columns);
  for (const TableColumn& each : columns) {
    const std::string& cell = kernel ? each.cells[*kernel] : each.title;
    const std::string shown = cell.empty() ? "-" : cell;
    const std::string room(each.width() - 2 - std::min(each.width() - 2, shown_columns(shown)), ' ');
    row += each.is_left ? "  " + shown + room : "  " + room + shown;
  }
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

// "src/app.cu:31: 16 sectors a load where 4 would do (43 % of its time)", without the folders if there is no room for
// them; empty if there is nothing to cure.
std::string what_to_look_at(const ProgramKernel& kernel, double whole_ns, std::size_t columns) {
  if (!kernel.finding || kernel.totals.elapsed_ns < kWorthALine * whole_ns) return "";
  const Diagnosis& first = kernel.finding->diagnosis;
  if (first.cause == "none" || first.brief.empty()) return "";
  const std::string gain = first.share > 0 ? fmt::format(" ({:.0f} % of its time)", 100 * first.share) : "";
  std::string text = first.brief + gain;
  if (first.line > 0 && !kernel.totals.file.empty()) {
    const std::string file = printable(kernel.totals.file), place = fmt::format(":{}: ", first.line);
    const bool fits = file.size() + place.size() + text.size() <= columns;
    text = (fits ? file : std::filesystem::path(file).filename().string()) + place + text;
  }
  return shortened(text, columns);
}

std::string notes(const ProgramRun& run, std::size_t columns, const std::vector<TableColumn>& shown) {
  std::string types;
  bool has_ai = false;
  for (const TableColumn& each : shown) {
    if (each.is_of_flops) types += (types.empty() ? "" : ", ") + each.title;
    has_ai |= each.title == "AI";
  }
  std::vector<std::string> all{fmt::format(
      "{}Bytes{} are counted, times are modelled. Each launch begins with a cold L2; copies between host and device "
      "take no time. bound: what the machine needs most time for, and its share of the whole.{} occ.: occupancy.",
      types.empty() ? "" : types + ": executed FLOPs. ", types.empty() ? "" : " and FLOPs",
      has_ai ? " AI: FLOPs over the bytes of DRAM." : "")};
  std::uint64_t launches = 0, counted = 0;
  for (const ProgramKernel& each : run.kernels) {
    launches += each.totals.launches;
    counted += each.totals.counted_launches;
  }
  if (counted < launches) {
    all.push_back(fmt::format(
        "{} of {} launches were counted; the others have the figures of the last counted one with the same kernel, "
        "grid, block and shared memory (--count).",
        grouped(static_cast<double>(counted)), grouped(static_cast<double>(launches))));
  }
  if (run.measured_launches < run.launches) {
    all.push_back(
        fmt::format("{} of {} launches of kernels were chosen (--kernel, --launch-skip, --launch-count); the "
                    "others ran for their results alone.",
                    grouped(static_cast<double>(run.measured_launches)), grouped(static_cast<double>(run.launches))));
  }
  std::string text;
  for (const std::string& note : all) {
    for (const std::string& line : wrapped(note, std::min(columns, kWidestNote))) text += line + "\n";
  }
  return text;
}

// Of the kernels that have no row.
std::string rest_text(const ProgramRun& run) {
  if (run.kernels.size() <= kMostRows) return "";
  double rest_ns = 0;
  for (std::size_t i = kMostRows; i < run.kernels.size(); ++i) rest_ns += run.kernels[i].totals.elapsed_ns;
  const double whole_ns = elapsed_ns_of(run);
  return fmt::format("and {} more, {:.1f} % of the time (--format json has all)\n", run.kernels.size() - kMostRows,
                     whole_ns > 0 ? 100 * rest_ns / whole_ns : 0);
}

}  // namespace

std::string program_table(const ProgramRun& run, std::size_t columns, const Colors& colors) {
  const double whole_ns = elapsed_ns_of(run);
  const std::vector<TableColumn> shown = columns_of(run);
  std::vector<std::string> names;
  for (const ProgramKernel& each : run.kernels) names.push_back(each.totals.name);
  names.resize(std::min(names.size(), kMostRows));
  std::size_t longest = std::string_view("kernel").size();
  for (const std::string& name : shown_kernel_names(names, kMostName)) longest = std::max(longest, name.size());
  const std::size_t name_columns = name_width(shown, longest, columns);
  names = shown_kernel_names(names, name_columns);

  std::string text = "\n";
  for (const std::string& line : wrapped(fmt::format("{} on virtual:{}: {} on the device (modelled)",
                                                     printable(run.command), run.machine.name, time_text(whole_ns)),
                                         columns)) {
    text += colors.strong(line) + "\n";
  }
  bool is_first = true;
  for (const std::vector<TableColumn>& table : tables_of(shown, name_columns, columns)) {
    text += "\n" + colors.faint(row_text("kernel", name_columns, table, std::nullopt));
    for (std::size_t i = 0; i < names.size(); ++i) {
      text += row_text(names[i], name_columns, table, i);
      const std::string look = is_first ? what_to_look_at(run.kernels[i], whole_ns, columns - 2) : "";
      if (!look.empty()) text += "  " + colors.caution(look) + "\n";
    }
    if (is_first) text += rest_text(run);
    is_first = false;
  }
  return text + "\n" + notes(run, columns, shown);
}

}  // namespace roofwalk
