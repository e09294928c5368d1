// roofwalk roofs: shows the device's rates, measured by microkernels, next to those that its data sheet promises.
#include "grader/rig/roofs.h"
#include "common/base/json.h"

#include <fmt/format.h>

#include "common/roofline/si.h"
#include "grader/cmd/verbs.h"
#include "grader/terminal/measuring_spinner.h"

namespace roofwalk {
namespace {

Json json_of(const Rig& rig, const RoofRates& measured, const RoofRates& promised) {
  Json json = {{"schema", "roofwalk.roofs/1"},
               {"device", rig.device_name()},
               {"time_is_modelled", rig.device_kind == "virtual"}};
  json.update(to_json(measured));
  json["data_sheet"] = to_json(promised);
  return json;
}

std::string table_of(const Rig& rig, const RoofRates& measured, const RoofRates& promised) {
  std::string text =
      fmt::format("The roofs of {}{}\n\n{:<18} {:>14} {:>14} {:>8}\n", rig.device_name(),
                  rig.device_kind == "virtual" ? " (times are modelled)" : "", "", "measured", "data sheet", "share");
  for (const Roof roof : kRoofs) {
    const auto rate = measured[roof];
    const double promise = promised[roof].value_or(0);  // 0: a GPU without a machine file
    text += fmt::format("{:<18} {:>14} {:>14} {:>8}\n", roof_title(roof),
                        rate ? si_text(*rate, roof_unit(roof)) : "not measured",
                        promise > 0 ? si_text(promise, roof_unit(roof)) : "not known",
                        rate && promise > 0 ? fmt::format("{:.1f} %", 100 * *rate / promise) : "");
  }
  return text +
         "\n"
         "Measured by the kernels in common/roofs: what a program on this device can get.\n"
         "Goals and charts use the measured figures, the best of the four for DRAM. They\n"
         "are kept until the machine, the toolkit or this program changes; --fresh\n"
         "measures them again.\n";
}

int roofs(Session& session, bool fresh) {
  const Rig& rig = session.rig();
  const RoofRates measured = [&] {
    const MeasuringSpinner patience(session.while_waiting, "measuring the roofs of " + rig.machine.name);
    return value_or_fail(measured_roofs(rig, fresh));
  }();
  const RoofRates promised = data_sheet_rates(rig.machine);
  if (session.options.json) {
    print_json(json_of(rig, measured, promised));
  } else {
    print(table_of(rig, measured, promised));
  }
  return kAccepted;
}

void add_roofs_command(Verb& program, Session& session, int& exit_code) {
  auto fresh = std::make_shared<bool>(false);
  Verb command =
      program.add_subcommand("roofs", "Measure what the device delivers, and compare it with its data sheet");
  command.add_flag("--fresh", *fresh, "measure again, even if figures are kept");
  command.callback([fresh, &session, &exit_code] { exit_code = roofs(session, *fresh); });
}

ROOFWALK_VERB(120, add_roofs_command);

}  // namespace

}  // namespace roofwalk
