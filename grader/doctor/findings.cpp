#include "grader/doctor/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grader/doctor/area_findings.h"

namespace roofwalk {
namespace {

// With less than this the course works, but not well.
constexpr std::uint64_t kEnoughDisk = 1'000'000'000, kEnoughMemory = 1'500'000'000;
// With less than this nothing can be saved.
constexpr std::uint64_t kLeastDisk = 50'000'000;
constexpr int kColumns = 80;

std::string gigabytes(std::uint64_t bytes) { return fmt::format("{:.1f} GB", static_cast<double>(bytes) * 1e-9); }

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

// Adds whether my/ and .cache/ can be written. Without .cache/, everything works; without my/, nothing can be saved.
void add_folders(const std::vector<std::string>& unwritable, FindingList& list) {
  if (unwritable.empty()) return list.ok("folders", "folders", "my/ and .cache/ can be written");
  const FindingList::Advice advice = {"they may belong to somebody else (after a `sudo`?); to make them yours:",
                                      "$ sudo chown -R $USER " + joined(unwritable, " ")};
  const bool only_cache = std::all_of(unwritable.begin(), unwritable.end(),
                                      [](const std::string& folder) { return folder.ends_with(".cache"); });
  if (only_cache) {
    return list.could_be_better("folders", "folders", ".cache/ cannot be written, so every run takes longer", advice);
  }
  list.broken("folders", "folders", "cannot be written: " + joined(unwritable, ", "), advice);
}

void add_network(const std::string& network, FindingList& list) {
  if (network.empty()) return;
  if (network == "Windows") {
    return list.could_be_better("network", "place",
                                "the course is in a Windows folder: slow, and `watch` does not notice saves there",
                                {"copy it into Linux, and work there:", "$ cp -r . ~/roofwalk"});
  }
  list.could_be_better(
      "network", "place",
      fmt::format("my/ is on {}, whose locks may fail: two runs at once could harm your history", network),
      {"run on one computer at a time, or keep the course on a local disk"});
}

// Removes sudo from the commands in advice for root, who does not need it; a container often does not have it.
void without_sudo(std::vector<MachineFinding>& findings) {
  constexpr std::string_view kSudo = "$ sudo ";
  for (MachineFinding& finding : findings) {
    for (std::string& line : finding.advice) {
      if (line.starts_with(kSudo)) line = "$ " + line.substr(kSudo.size());
    }
  }
}

}  // namespace

void add_machine(const Surroundings& around, FindingList list) {
  const auto& system = around.system;
  std::string name = system.name.empty() ? "Linux" : system.name;
  if (system.wsl > 0) name += fmt::format(" in Windows (WSL {})", system.wsl);
  if (!system.container.empty()) name += fmt::format(", in a container ({})", system.container);
  if (system.wsl == 1) {
    list.could_be_better("system", "system", name, {"WSL 1 shows no GPU; in Windows: wsl --set-version NAME 2"});
  } else {
    list.ok("system", "system", name);
  }
  const bool is_one = system.cores < 1.5;
  list.ok("cores", "cores",
          is_one ? "1: everything works, only slower"
                 : fmt::format("{:.{}f}", system.cores, system.cores == std::floor(system.cores) ? 0 : 1));
  const std::string memory = gigabytes(system.memory_bytes);
  if (system.memory_bytes < kEnoughMemory) {
    list.could_be_better("memory", "memory", memory, {"compiling needs 1.5 GB: close other programs"});
  } else {
    list.ok("memory", "memory", memory);
  }
  const std::string disk = gigabytes(around.storage.free_bytes) + " free";
  if (around.storage.free_bytes < kLeastDisk) {
    list.broken("disk", "disk", "full", {"nothing can be saved: free 1 GB"});
  } else if (around.storage.free_bytes < kEnoughDisk) {
    list.could_be_better("disk", "disk", disk, {"builds and pictures need 1 GB"});
  } else {
    list.ok("disk", "disk", disk);
  }
  add_folders(around.storage.unwritable, list);
  add_network(around.storage.network, list);
}

void add_toolkit(const Surroundings& around, FindingList list) {
  const auto& tools = around.tools;
  if (tools.compiler.empty()) {
    list.broken("compiler", "C++ compiler", "none, and nvcc needs one",
                {"to install it:", "$ sudo apt-get install g++"});
  } else {
    list.ok("compiler", "C++ compiler", tools.compiler);
  }
  if (!tools.toolkit) {
    const Error& error = tools.toolkit.error();
    list.broken("toolkit", "CUDA toolkit", error.message, {error.advice});
  } else if (tools.ptxas_version != tools.toolkit->version) {
    list.broken(
        "toolkit", "CUDA toolkit",
        fmt::format("nvcc is {}, but its ptxas {} in {}", tools.toolkit->version,
                    tools.ptxas_version.empty() ? "does not run" : "is " + tools.ptxas_version,
                    tools.toolkit->root.string()),
        {"the toolkit is damaged: reinstall it, or unset ROOFWALK_CUDA and run ./roofwalk, which installs one"});
  } else {
    list.ok("toolkit", "CUDA toolkit",
            fmt::format("{} (nvcc, ptxas) in {}", tools.toolkit->version, tools.toolkit->root.string()));
  }
  if (!tools.runs) {
    list.not_here("virtual_gpu", "virtual GPU", "was not tried, because it needs the toolkit");
  } else if (*tools.runs) {
    list.ok("virtual_gpu", "virtual GPU", tools.run_text);
  } else {
    list.broken("virtual_gpu", "virtual GPU", tools.run_text, {"please report this: the course's own kernel must run"});
  }
}

void add_plots(const Surroundings& around, FindingList list) {
  const auto& screen = around.screen;
  const FindingList::Advice install = {"to install it:", "$ sudo apt-get install gnuplot-nox"};
  std::string formats;
  for (const char* format : {"svg", "pngcairo"}) {
    if (screen.gnuplot_formats.contains(format)) formats += (formats.empty() ? "" : " and ") + std::string(format);
  }
  if (screen.gnuplot.empty()) {
    list.broken("gnuplot", "gnuplot", "not found, so no picture can be drawn", install);
  } else if (!screen.gnuplot_formats.contains("svg")) {
    list.broken("gnuplot", "gnuplot", screen.gnuplot + " draws no SVG", install);
  } else if (!screen.gnuplot_formats.contains("pngcairo")) {
    list.could_be_better("gnuplot", "gnuplot", screen.gnuplot + " draws SVG, but no PNG (`plot --png`)", install);
  } else {
    list.ok("gnuplot", "gnuplot", fmt::format("{}, draws {}", screen.gnuplot, formats));
  }
  if (screen.font.empty()) {
    list.could_be_better("fonts", "fonts", "none: a PNG would be drawn without text (SVG is fine)",
                         {"to install some:", "$ sudo apt-get install fontconfig fonts-dejavu-core"});
  } else {
    list.ok("fonts", "fonts", screen.font);
  }
  if (!screen.is_terminal) {
    list.not_here("terminal", "terminal", "this goes to a file or another program");
  } else if (screen.columns < kColumns) {
    list.could_be_better("terminal", "terminal", fmt::format("{} columns", screen.columns),
                         {fmt::format("screens here are made for {}: make the window wider", kColumns)});
  } else {
    list.ok("terminal", "terminal",
            fmt::format("{} columns, {}, {}", screen.columns, screen.has_colors ? "colours" : "no colours",
                        screen.has_utf8 ? "UTF-8" : "ASCII (enough for everything here)"));
  }
}

// Adds what a person needs who grades a class. Learners do not need it, so if it is missing, that is only mentioned.
void add_grading(const Surroundings& around, FindingList list) {
  const auto& sandbox = around.sandbox;
  const BoxProbe probe = judge_boxes(sandbox.box);
  if (!probe.works) {
    list.not_here("sandbox", "sandbox", probe.what, probe.remedy);
  } else if (!sandbox.runs.value_or(true)) {
    list.not_here("sandbox", "sandbox",
                  fmt::format("a sandbox can be made, but nothing runs in it: {}", sandbox.run_text),
                  {"the course, the toolkit and this program must be readable for all users"});
  } else {
    list.ok("sandbox", "sandbox", probe.what);
  }
  if (around.system.is_root) {
    list.ok("account", "account", "you are root; other people's code runs as the user nobody");
  } else {
    list.ok("account", "account", "an ordinary one, as it should be");
  }
}

std::vector<MachineFinding> findings_of(const Surroundings& around) {
  std::vector<MachineFinding> findings;
  add_machine(around, {Area::machine, findings});
  add_toolkit(around, {Area::toolkit, findings});
  add_gpu(around, {Area::gpu, findings});
  add_counters(around, {Area::counters, findings});
  add_sharing(around, {Area::sharing, findings});
  add_plots(around, {Area::plots, findings});
  add_grading(around, {Area::grading, findings});
  add_slurm(around, {Area::grading, findings});
  if (around.system.is_root) without_sudo(findings);
  return findings;
}

bool is_broken(const std::vector<MachineFinding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const MachineFinding& finding) { return finding.condition == Condition::broken; });
}

}  // namespace roofwalk
