// roofwalk machines [NAME]: lists the GPUs that can be modelled, with their roofs; or shows one of them, with every
// number and its source.
#include <fmt/format.h>

#include "common/base/json.h"
#include "common/roofline/si.h"
#include "common/specs/machine_file.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

constexpr std::size_t kColumns = 80;

int list_machines(Session& session) {
  Json rows = Json::array();
  std::string text = fmt::format("{:<12} {:>4} {:>12} {:>12} {:>10} {:>10}  {}\n", "machine", "SMs", "FP32 peak",
                                 "tensor peak", "DRAM", "L2", "ridges");
  for (const std::string& name : machine_names()) {
    const Machine machine = value_or_fail(load_machine(name));
    rows.push_back(to_json(machine));
    text += fmt::format("{:<12} {:>4} {:>12} {:>12} {:>10} {:>10}  {} / {}\n", machine.name, machine.sms,
                        si_text(machine.peak_fp32_flops_per_s(), "FLOP/s"),
                        si_text(machine.peak_tensor_flops_per_s(), "FLOP/s"), si_text(machine.dram_bytes_per_s, "B/s"),
                        si_text(machine.l2_bytes_per_s(), "B/s"), number_text(machine.ridge_flops_per_byte()),
                        number_text(machine.tensor_ridge_flops_per_byte()));
  }
  if (session.options.json) {
    print_json(Json{{"schema", "roofwalk.machines/1"}, {"machines", rows}});
  } else {
    print(text +
          "ridges: FP32 / tensor, FLOP per DRAM byte\n"
          "every number with its source: ./roofwalk machines NAME\n"
          "use one with --device virtual:NAME; a file of your own is virtual:FILE.toml\n"
          "virtual:NAME/8 is a slice, 8 of its SMs: chapters take seconds, not minutes\n");
  }
  return kAccepted;
}

// 1.98e9 -> "1.98 GHz", 52428800 -> "52,428,800 bytes", 0.91 -> "0.91 of the data sheet".
std::string value_text(const MachineFigure& figure) {
  if (figure.value.is_string()) return figure.value.get<std::string>();
  const auto value = figure.value.get<double>();
  if (figure.value.is_number_float() && value >= 1e6)
    return si_text(value, figure.unit == "bytes/s" ? "B/s" : figure.unit);
  return (figure.value.is_number_float() ? fmt::format("{}", value) : grouped(value)) + " " + figure.unit;
}

std::string roofs_text(const Machine& m) {
  const auto row = [](std::string_view name, const std::string& value, const std::string& note) {
    return fmt::format("  {:<14} {:>12}{}\n", name, value, note.empty() ? "" : "   " + note);
  };
  const auto flops = [](double v) { return si_text(v, "FLOP/s"); };
  const auto bytes = [](double v) { return si_text(v, "B/s"); };
  const auto ridge = [](double v) { return "ridge at DRAM " + si_text(v, "FLOP/B"); };
  return row("FP32", flops(m.peak_fp32_flops_per_s()), ridge(m.ridge_flops_per_byte())) +
         row("half", flops(m.peak_half_flops_per_s()), "packed in pairs (half2)") +
         row("tensor, f16", flops(m.peak_tensor_flops_per_s()), ridge(m.tensor_ridge_flops_per_byte())) +
         row("  by mma.sync", flops(m.peak_mma_sync_flops_per_s()), "") +
         row("DRAM", bytes(m.dram_bytes_per_s),
             fmt::format("{} are sustained", bytes(m.dram_bytes_per_s * m.dram_sustained_share))) +
         row("L2", bytes(m.l2_bytes_per_s()), "") + row("L1", bytes(m.l1_bytes_per_s()), "") +
         row("shared memory", bytes(m.shared_bytes_per_s()), "");
}

std::string figures_text(const std::vector<MachineFigure>& figures) {
  std::string text;
  for (const MachineFigure& figure : figures) {
    text += fmt::format("{:<34} {}\n", figure.key, value_text(figure));
    for (const std::string& line : wrapped(figure.source, kColumns - 4)) text += "    " + line + "\n";
  }
  return text;
}

Json figures_json(const std::vector<MachineFigure>& figures) {
  Json json = Json::object();
  for (const MachineFigure& figure : figures) {
    json[figure.key] = {{"value", figure.value}, {"unit", figure.unit}, {"source", figure.source}};
  }
  return json;
}

int show_machine(Session& session, const std::string& name) {
  constexpr std::string_view kVirtual = "virtual:";
  const std::string plain = name.starts_with(kVirtual) ? name.substr(kVirtual.size()) : name;
  const MachineFile file = value_or_fail(load_machine_file(session.machine_name(plain)), kUsage);
  if (session.options.json) {
    Json json = to_json(file.machine);
    json["schema"] = "roofwalk.machine/1";
    json["figures"] = figures_json(file.figures);
    json["data_sheet"] = figures_json(file.data_sheet);
    json["sources"] = Json::object();
    for (const auto& [key, meaning] : file.sources) json["sources"][key] = meaning;
    print_json(json);
    return kAccepted;
  }
  std::string text =
      fmt::format("{} (virtual:{})\n\n{}\n", file.machine.title, file.machine.name, roofs_text(file.machine));
  text += figures_text(file.figures);
  if (!file.data_sheet.empty()) text += "\ndata sheet, dense:\n" + figures_text(file.data_sheet);
  if (!file.sources.empty()) text += "\nsources:\n";
  for (const auto& [key, meaning] : file.sources) {
    text += key + "\n";
    for (const std::string& line : wrapped(meaning, kColumns - 4)) text += "    " + line + "\n";
  }
  print(text);
  return kAccepted;
}

void add_machines_command(Verb& program, Session& session, int& exit_code) {
  Verb command = program.add_subcommand("machines", "Show the GPUs that can be modelled, with peaks and ridges");
  auto name = std::make_shared<std::string>();
  command.add_option("name", *name, "one machine, or a FILE.toml: every number with its source");
  command.callback([name, &session, &exit_code] {
    exit_code = name->empty() ? list_machines(session) : show_machine(session, *name);
  });
}

ROOFWALK_VERB(110, add_machines_command);

}  // namespace

}  // namespace roofwalk
