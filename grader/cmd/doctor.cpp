// roofwalk doctor: is everything here that the course needs? Each finding says what to do.
#include <fmt/format.h>
#include <unistd.h>

#include "common/base/subprocess.h"
#include "grader/baseline.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

struct Finding {
  std::string name;
  bool good = false;
  std::string text;
  std::string advice;  // what to do; empty where there is nothing to do
};

std::string output_of(std::vector<std::string> arguments) {
  const auto result = run_command({.arguments = std::move(arguments), .timeout_s = 20});
  if (!result || result->exit_code != 0) return {};
  return printable(result->output.substr(0, result->output.find('\n')));
}

Finding toolkit(const Bench& bench) {
  if (!bench.toolkit)
    return {"CUDA toolkit", false, bench.toolkit.error().text(), "run ./roofwalk once: it installs it"};
  return {"CUDA toolkit", true, fmt::format("{} in {}", bench.toolkit->version, bench.toolkit->root.string()), {}};
}

Finding program(const std::string& name, std::vector<std::string> arguments, const std::string& package) {
  const std::string version = output_of(std::move(arguments));
  if (version.empty()) return {name, false, "not found", fmt::format("apt-get install {}", package)};
  return {name, true, version, {}};
}

Finding fonts() {
  const std::string font = output_of({"fc-match", "sans"});
  if (font.empty()) return {"fonts", false, "none found", "apt-get install fontconfig fonts-dejavu-core"};
  return {"fonts", true, font, {}};
}

Finding disk(const Course& course) {
  constexpr std::uintmax_t kEnough = 1ull << 30;
  std::error_code error;
  const auto space = fs::space(course.root / ".", error);
  const std::string text = fmt::format("{:.1f} GB free", static_cast<double>(space.available) * 1e-9);
  return {"disk", !error && space.available >= kEnough, text, "builds and pictures want 1 GB"};
}

Finding memory() {
  constexpr double kEnough = 1.5e9;
  const double bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  return {"memory", bytes >= kEnough, fmt::format("{:.1f} GB", bytes * 1e-9), "compiling wants 1.5 GB"};
}

// The first chapter's starter, built and run at its smallest size.
Finding self_test(const Bench& bench) {
  Finding finding{"virtual GPU", false, "", "report this: the course's own kernel must run"};
  const Chapter& chapter = bench.course->chapters.front();
  const Exercise* exercise = find_exercise(chapter.name);
  const auto artifact = build_for(bench, chapter.starter());
  if (!artifact || exercise == nullptr) {
    finding.text = artifact ? "the first chapter has no exercise" : artifact.error().text();
    return finding;
  }
  const Size& size = chapter.correctness_sizes.back();
  const Problem problem = exercise->problem(size, kPublicSeed);
  const auto expected = exercise->reference(size, problem);
  const auto trial = run_trial(bench.open, *artifact, problem, case_name(size, kPublicSeed), kSmallTrial,
                               [&]() -> const std::vector<Expected>& { return expected; });
  finding.good = trial && !trial->went_wrong();
  finding.text = !trial         ? trial.error().text()
                 : finding.good ? fmt::format("{} computes {} right", bench.device_name(), chapter.name)
                                : fmt::format("{} computes {} wrong", bench.device_name(), chapter.name);
  return finding;
}

Finding gpu() {
  const std::string name = output_of({"nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"});
  if (name.empty()) return {"GPU", true, "none: the virtual GPU is used", {}};
  return {"GPU", true, name + "; this version measures on the virtual GPU", {}};
}

std::vector<Finding> examine(Session& session) {
  std::vector<Finding> findings = {program("C++ compiler", {"c++", "--version"}, "g++"),
                                   program("gnuplot", {"gnuplot", "--version"}, "gnuplot-nox"),
                                   fonts(),
                                   disk(session.course()),
                                   memory(),
                                   gpu()};
  const auto bench = open_bench(session.course(), session.options.device, 1, nullptr);
  if (bench) {
    findings.push_back(toolkit(*bench));
    findings.push_back(self_test(*bench));
  } else {
    findings.push_back({"virtual GPU", false, bench.error().text(), "choose a device that `roofwalk machines` lists"});
  }
  return findings;
}

int doctor(Session& session) {
  const std::vector<Finding> findings = examine(session);
  const Colors colors = colors_for(session.options);
  Json json = Json::array();
  bool all_good = true;
  for (const Finding& finding : findings) {
    all_good = all_good && finding.good;
    const std::string advice = finding.good ? std::string() : finding.advice;
    json.push_back({{"name", finding.name},
                    {"good", finding.good},
                    {"text", finding.text},
                    {"advice", advice.empty() ? Json(nullptr) : Json(advice)}});
    if (session.options.json) continue;
    print(fmt::format("{} {:<13} {}\n", finding.good ? colors.good("ok  ") : colors.bad("FAIL"), finding.name,
                      printable(finding.text)));
    if (!advice.empty()) print(fmt::format("     {:<13} -> {}\n", "", advice));
  }
  if (session.options.json) print_json(Json{{"schema", "roofwalk.doctor/1"}, {"findings", json}});
  return all_good ? kAccepted : kNotAccepted;
}

}  // namespace

void add_doctor_command(CLI::App& app, Session& session, int& exit_code) {
  auto* command = app.add_subcommand("doctor", "Look whether everything is here that the course needs");
  command->callback([&] { exit_code = doctor(session); });
}

}  // namespace roofwalk
