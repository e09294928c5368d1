// roofwalk operations: measures everyday operations and compares them with the arithmetic intensities that textbooks
// give.
#include "grader/operations/operations.h"
#include "common/base/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "common/roofline/si.h"
#include "grader/cmd/verbs.h"
#include "grader/rig/roofs.h"

namespace roofwalk {
namespace {

struct OperationsCommand {
  std::vector<std::string> names;
  std::string plot;
  bool fresh = false;
};

constexpr int kLeastCapability = 80;  // for mma.sync and cp.async in grader/operations/kernels

std::vector<const Operation*> wanted_operations(const std::vector<std::string>& names) {
  std::vector<const Operation*> wanted;
  std::vector<std::string> known;
  for (const Operation& operation : operations()) {
    known.push_back(operation.name);
    if (names.empty() || std::find(names.begin(), names.end(), operation.name) != names.end()) {
      wanted.push_back(&operation);
    }
  }
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto near = near_names(name, known);
    throw Failure{{.message = fmt::format("there is no operation `{}`", printable(name)),
                   .advice = near.empty() ? fmt::format("the operations are: {}", fmt::join(known, ", "))
                                          : fmt::format("did you mean {}?", fmt::join(near, " or "))},
                  kUsage};
  }
  return wanted;
}

std::string table_row(const std::array<std::string, 8>& cells) {
  std::string row = fmt::format("{:<10} {:<4} {:<23} {:>8} {:>7} {:<7} {:>5} {:>7}", cells[0], cells[1], cells[2],
                                cells[3], cells[4], cells[5], cells[6], cells[7]);
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

std::string operations_table(const Rig& rig, const std::vector<OperationResult>& results) {
  std::string text = fmt::format("Everyday operations on {}{}\n\n", rig.device_name(),
                                 rig.device_kind == "virtual" ? " (times are modelled)" : "");
  text += table_row({"", "", "", "textbook", "at", "", "of", ""});
  text += table_row({"operation", "type", "size", "AI", "DRAM", "bound", "roof", "time"});
  for (const OperationResult& result : results) {
    const Operation& operation = *result.operation;
    text += table_row({operation.name, operation.type, operation.size.text(), number_text(operation.textbook_ai),
                       number_text(result.dram_ai), result.bound, fmt::format("{:.0f} %", 100 * result.share_of_roof),
                       time_text(result.run.elapsed_ns)});
  }
  for (const OperationResult& result : results) {
    std::string start = fmt::format("\n{}\n", result.operation->name);
    for (const std::string& remark : result.remarks) {
      text += start;
      start.clear();
      for (const std::string& line : wrapped(remark, 78)) text += "  " + line + "\n";
    }
  }
  return text +
         "\n"
         "AI in FLOP/B: useful FLOPs over the bytes that DRAM moved. The kernels are in\n"
         "grader/operations/kernels; each result was compared with a reference in double.\n";
}

int measure_operations(Session& session, const OperationsCommand& command) {
  // Textbooks are about big chips, so the default is a big chip; --device can name the small one of the chapters.
  if (session.options.device == "auto") session.options.device = "virtual:h100-sxm";
  const auto wanted = wanted_operations(command.names);
  const Rig& rig = session.rig();
  if (rig.machine.compute_capability < kLeastCapability) {
    throw Failure{{fmt::format("the operations need compute capability 8.0, and {} has less", rig.machine.name)},
                  kSkipped};
  }
  const auto results = value_or_fail(measured_operations(rig, wanted, command.fresh));
  if (!command.plot.empty()) {
    const RoofRates rates = value_or_fail(measured_roofs(rig));
    value_or_fail(write_plot(operations_chart(rig, results, rates), session.from_caller(command.plot)));
  }
  if (session.options.json) {
    Json rows = Json::array();
    for (const OperationResult& result : results) rows.push_back(to_json(result));
    print_json({{"schema", "roofwalk.operations/1"},
                {"device", rig.device_name()},
                {"time_is_modelled", rig.device_kind == "virtual"},
                {"operations", std::move(rows)}});
  } else {
    print(operations_table(rig, results));
    if (!command.plot.empty()) print(fmt::format("plot: {}\n", command.plot));
  }
  return kAccepted;
}

void add_operations_command(Verb& program, Session& session, int& exit_code) {
  auto options = std::make_shared<OperationsCommand>();
  Verb command =
      program.add_subcommand("operations", "Measure everyday operations, and compare them with textbook figures");
  command.add_option("names", options->names, "operations; without a name, all");
  command.add_option("--plot", options->plot, "draw all dots into FILE.svg or FILE.png");
  command.add_flag("--fresh", options->fresh, "measure again, even if figures are kept");
  command.callback([options, &session, &exit_code] { exit_code = measure_operations(session, *options); });
}

ROOFWALK_VERB(130, add_operations_command);

}  // namespace

}  // namespace roofwalk
