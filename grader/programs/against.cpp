#include "grader/programs/against.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "common/base/json.h"
#include "common/record/model_version.h"
#include "common/roofline/si.h"
#include "grader/programs/conditions.h"
#include "grader/programs/figures.h"

namespace roofwalk {
namespace {

enum class Shown { count, time, flops, bytes, share };

struct ComparedFigure {
  const char* name;
  const char* title;
  Shown as;
};

constexpr std::array kCompared = {ComparedFigure{"launches", "launches", Shown::count},
                                  ComparedFigure{"elapsed_ns", "time", Shown::time},
                                  ComparedFigure{"counters.flops_f16", "FP16", Shown::flops},
                                  ComparedFigure{"counters.flops_f32", "FP32", Shown::flops},
                                  ComparedFigure{"counters.flops_f64", "FP64", Shown::flops},
                                  ComparedFigure{"counters.flops_tensor", "tensor", Shown::flops},
                                  ComparedFigure{"dram_bytes", "DRAM", Shown::bytes},
                                  ComparedFigure{"l2_bytes", "L2", Shown::bytes},
                                  ComparedFigure{"l1_bytes", "L1", Shown::bytes},
                                  ComparedFigure{"shared_bytes", "shared", Shown::bytes},
                                  ComparedFigure{"occupancy", "occ.", Shown::share},
                                  ComparedFigure{"registers_per_thread", "registers", Shown::count}};

std::string shown_figure(double value, Shown as) {
  switch (as) {
    case Shown::count:
      break;
    case Shown::time:
      return time_text(value);
    case Shown::flops:
      return si_text(value, "");
    case Shown::bytes:
      return si_text(value, "B");
    case Shown::share:
      return fmt::format("{:.0f} %", 100 * value);
  }
  return grouped(value);
}

struct ChangeRow {
  std::string kernel, figure, was, now, change;
  bool is_worse = false, is_better = false;  // of times alone: less is always better
};

std::vector<ChangeRow> rows_of_kernel(const Json& earlier, const Json& now) {
  std::vector<ChangeRow> rows;
  for (const ComparedFigure& each : kCompared) {
    const auto was = figure_of(earlier, each.name), is = figure_of(now, each.name);
    if (!was || !is || *was == *is) continue;
    const bool is_time = each.as == Shown::time;
    rows.push_back({"", each.title, shown_figure(*was, each.as), shown_figure(*is, each.as), change_text(*was, *is),
                    is_time && *is > *was, is_time && *is < *was});
  }
  if (const std::string was = earlier.text_of("bound"), is = now.text_of("bound"); was != is)
    rows.push_back({"", "bound", was, is, ""});
  return rows;
}

std::string row_of_changes(const ChangeRow& row, std::size_t name_columns, const Colors& colors) {
  const std::string change = fmt::format("{:>13}", row.change);
  std::string text =
      fmt::format("{}  {:<9}  {:>10}  {:>10}", padded(row.kernel, name_columns), row.figure, row.was, row.now);
  text += row.is_worse ? colors.bad(change) : row.is_better ? colors.good(change) : change;
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

// `alike`: gets the number of kernels without a row.
std::vector<ChangeRow> all_rows(const Json& earlier, const Json& now, std::size_t& alike) {
  const auto time_of = [](const Json& kernel) { return time_text(figure_of(kernel, "elapsed_ns").value_or(0)); };
  std::vector<ChangeRow> rows;
  for (const Json& kernel : now.at("kernels")) {
    const Json* const was = same_kernel(kernel, earlier);
    std::vector<ChangeRow> own;
    if (was == nullptr) {
      own.push_back({"", "time", "", time_of(kernel), "new"});
    } else {
      own = rows_of_kernel(*was, kernel);
    }
    alike += own.empty() ? 1 : 0;
    if (!own.empty()) own.front().kernel = kernel.text_of("name");
    rows.insert(rows.end(), own.begin(), own.end());
  }
  for (const Json& kernel : earlier.at("kernels")) {
    if (same_kernel(kernel, now) == nullptr)
      rows.push_back({kernel.text_of("name"), "time", time_of(kernel), "", "gone"});
  }
  return rows;
}

Error refused(const std::filesystem::path& file, const std::string& why, const std::string& advice = {}) {
  return {.message = fmt::format("--against {}: {}", file.string(), why), .advice = advice};
}

}  // namespace

Result<Json> read_run(const std::filesystem::path& file, const Machine& machine) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return refused(file, "there is no such file");
  Json run = parse_json(std::string(std::istreambuf_iterator<char>(in), {}));
  const bool is_run = run.is_object() && run.text_of("schema") == "roofwalk.program/1" && run.contains("kernels") &&
                      run.at("kernels").is_array();
  if (!is_run) return refused(file, "it is no run that --json has written");
  const Json* const device = run.member("device");
  const std::string was = device != nullptr && device->is_object() ? device->text_of("name") : "",
                    is = "virtual:" + machine.name;
  if (was != is) return refused(file, fmt::format("it ran on {}, and this is {}", printable(was), is));
  const auto version = run.number_of("model_version");
  if (!version || *version != kModelVersion) {
    return refused(file, "it was made by another version of the model, and figures of two versions are not compared",
                   "write it anew with this version of Roofwalk");
  }
  return run;
}

std::string changes_table(const Json& earlier, const Json& now, const std::string& name, std::size_t columns,
                          const Colors& colors) {
  constexpr std::size_t kFigures = 2 + 9 + 2 + 10 + 2 + 10 + 13, kFewest = 12, kMost = 44;
  const double was_ns = earlier.number_of("elapsed_ns").value_or(0), is_ns = now.number_of("elapsed_ns").value_or(0);
  std::size_t alike = 0;
  std::vector<ChangeRow> rows = all_rows(earlier, now, alike);
  const std::size_t room = std::clamp(columns - std::min(columns, kFigures), kFewest, kMost);
  std::size_t name_columns = std::string_view("kernel").size();
  for (ChangeRow& row : rows) {
    row.kernel = row.kernel.empty() ? "" : shown_kernel_name(row.kernel, room);
    name_columns = std::max(name_columns, shown_columns(row.kernel));
  }
  std::string text = "\n";
  for (const std::string& line : wrapped(fmt::format("against {}: {}, was {} ({})", printable(name), time_text(is_ns),
                                                     time_text(was_ns), change_text(was_ns, is_ns)),
                                         columns)) {
    text += colors.strong(line) + "\n";
  }
  text += "\n";
  if (!rows.empty())
    text += colors.faint(row_of_changes({"kernel", "figure", "was", "now", "change"}, name_columns, Colors(false)));
  for (const ChangeRow& row : rows) text += row_of_changes(row, name_columns, colors);
  if (alike > 0) text += fmt::format("{} kernel{} as before\n", alike, alike == 1 ? "" : "s");
  return text;
}

}  // namespace roofwalk
