// roofwalk machines: the GPUs that can be modelled, with their roofs.
#include <fmt/format.h>

#include "common/roofline/si.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

int machines(Session& session) {
  Json rows = Json::array();
  std::string text = fmt::format("{:<14} {:>14} {:>11} {:>11} {:>12}\n", "machine", "FP32 peak", "DRAM", "L2", "ridge");
  for (const std::string& name : machine_names()) {
    const Machine machine = value_or_fail(load_machine(name));
    rows.push_back({{"name", machine.name},
                    {"title", machine.title},
                    {"peak_fp32_flops_per_s", machine.peak_fp32_flops_per_s()},
                    {"dram_bytes_per_s", machine.dram_bytes_per_s},
                    {"l2_bytes_per_s", machine.l2_bytes_per_s()},
                    {"l1_bytes_per_s", machine.l1_bytes_per_s()},
                    {"ridge_flops_per_byte", machine.ridge_flops_per_byte()}});
    text += fmt::format("{:<14} {:>14} {:>11} {:>11} {:>12}  {}\n", machine.name,
                        si_text(machine.peak_fp32_flops_per_s(), "FLOP/s"), si_text(machine.dram_bytes_per_s, "B/s"),
                        si_text(machine.l2_bytes_per_s(), "B/s"), si_text(machine.ridge_flops_per_byte(), "FLOP/B"),
                        machine.title);
  }
  if (session.options.json) {
    print_json(Json{{"schema", "roofwalk.machines/1"}, {"machines", rows}});
  } else {
    print(text + "use one with --device virtual:NAME\n");
  }
  return kAccepted;
}

}  // namespace

void add_machines_command(CLI::App& app, Session& session, int& exit_code) {
  auto* command = app.add_subcommand("machines", "Show the GPUs that can be modelled, with peaks and ridges");
  command->callback([&] { exit_code = machines(session); });
}

}  // namespace roofwalk
