// Formats findings: as a page for people, as JSON for programs.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/json.h"
#include "grader/doctor/area_findings.h"

namespace roofwalk {
namespace {

constexpr std::size_t kMark = 8, kTitle = 14;  // columns, including the space after them

struct AreaWords {
  Area area;
  std::string_view name, title;
};

constexpr std::array kAreaWords = {
    AreaWords{Area::machine, "machine", "This machine"},
    AreaWords{Area::toolkit, "toolkit", "What builds your kernel"},
    AreaWords{Area::gpu, "gpu", "The GPU"},
    AreaWords{Area::counters, "counters", "Counters: the bytes and instructions that the GPU counts itself"},
    AreaWords{Area::sharing, "sharing", "Sharing: who else is on the GPU"},
    AreaWords{Area::plots, "plots", "Plots and screens"},
    AreaWords{Area::grading, "grading", "For instructors who grade a class"},
};

const AreaWords& words_of(Area area) {
  return *std::find_if(kAreaWords.begin(), kAreaWords.end(),
                       [area](const AreaWords& words) { return words.area == area; });
}

std::string_view condition_name(Condition condition) {
  switch (condition) {
    case Condition::ok:
      return "ok";
    case Condition::could_be_better:
      return "could_be_better";
    case Condition::broken:
      return "broken";
    case Condition::not_here:
      return "not_here";
  }
  ROOFWALK_CHECK(false);
}

std::string mark(Condition condition, const Colors& colors) {
  switch (condition) {
    case Condition::ok:
      return colors.good("ok");
    case Condition::could_be_better:
      return colors.caution("tip");
    case Condition::broken:
      return colors.bad("FAIL");
    case Condition::not_here:
      return colors.faint("-");
  }
  ROOFWALK_CHECK(false);
}

std::string finding_text(const MachineFinding& finding, const Colors& colors, std::size_t columns) {
  const std::size_t indent = kMark + kTitle;
  const std::size_t width = columns > indent + 20 ? columns - indent : 20;
  const std::string gap(indent, ' ');
  // A feature that this machine does not have matters to few users, so it is shown faint.
  const bool is_here = finding.condition != Condition::not_here;
  const auto shade = [&](const std::string& line) { return is_here ? line : colors.faint(line); };
  std::string text = "  " + padded(mark(finding.condition, colors), kMark - 2) + padded(finding.title, kTitle);
  bool is_first = true;
  for (const std::string& line : wrapped(printable(finding.what), width)) {
    text += (is_first ? "" : gap) + shade(line) + "\n";
    is_first = false;
  }
  for (const std::string& advice : finding.advice) {
    if (advice.starts_with("$ ")) {
      const std::string command = printable(advice.substr(2));
      text += gap + "     " + (is_here ? colors.strong(command) : colors.faint(command)) + "\n";
      continue;
    }
    std::string_view lead = "-> ";
    for (const std::string& line : wrapped(printable(advice), width - lead.size())) {
      text += gap + shade(std::string(lead) + line) + "\n";
      lead = "   ";
    }
  }
  return text;
}

std::size_t count(const std::vector<MachineFinding>& findings, Condition condition) {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [condition](const MachineFinding& finding) { return finding.condition == condition; }));
}

std::string things(std::size_t count) { return count == 1 ? "1 thing" : fmt::format("{} things", count); }

Json gpu_json(const Surroundings& around, const ProbedGpu& gpu) {
  return {{"name", gpu.name},
          {"compute_capability", fmt::format("{}.{}", gpu.major, gpu.minor)},
          {"can_measure", can_measure(around, gpu)},
          {"reaches_host_memory", gpu.reaches_host_memory ? Json(*gpu.reaches_host_memory) : Json(nullptr)},
          {"state", to_json(gpu.state)}};
}

}  // namespace

std::string_view area_name(Area area) { return words_of(area).name; }
std::string_view area_title(Area area) { return words_of(area).title; }

std::string headline(const Surroundings& around, const std::vector<MachineFinding>& findings) {
  if (const std::size_t broken = count(findings, Condition::broken); broken > 0) {
    return fmt::format("{} {} in the way. Look for FAIL below: each says what to do.", things(broken),
                       broken == 1 ? "stands" : "stand");
  }
  if (can_measure(around)) {
    const auto& gpus = around.gpu.driver.gpus;
    const auto usable = [&](const ProbedGpu& gpu) { return can_measure(around, gpu); };
    const auto real = std::count_if(gpus.begin(), gpus.end(), usable);
    const std::string ready = "You are ready. The virtual GPU works, and there ";
    if (real > 1) return ready + fmt::format("are {} real ones to compare it with.", real);
    return ready +
           fmt::format("is a real one to compare it with: {}.", std::find_if(gpus.begin(), gpus.end(), usable)->name);
  }
  if (around.gpu.driver.has_library || around.gpu.on_the_bus > 0) {
    return "You are ready: everything works on the virtual GPU. The NVIDIA GPU in this machine cannot be used yet; the "
           "reason is below, and there is no hurry.";
  }
  return "You are ready. There is no NVIDIA GPU here, and you need none: the virtual GPU runs every chapter, and "
         "counts "
         "every byte.";
}

std::string doctor_text(const Surroundings& around, const std::vector<MachineFinding>& findings, const Colors& colors,
                        std::size_t columns) {
  std::string text;
  for (const std::string& line : wrapped(printable(headline(around, findings)), columns)) {
    text += (is_broken(findings) ? colors.bad(line) : colors.strong(line)) + "\n";
  }
  for (const Area area : kAreas) {
    const auto in_area = [area](const MachineFinding& finding) { return finding.area == area; };
    if (std::none_of(findings.begin(), findings.end(), in_area)) continue;
    text += fmt::format("\n{}\n", colors.strong(area_title(area)));
    for (const MachineFinding& finding : findings) {
      if (in_area(finding)) text += finding_text(finding, colors, columns);
    }
  }
  if (is_broken(findings)) return text;
  const std::size_t tips = count(findings, Condition::could_be_better);
  const std::string end = tips == 0 ? "Nothing to do here. ./roofwalk next says where to begin."
                                    : fmt::format(
                                          "{} could be better (tip), and nothing stops you. ./roofwalk next says where "
                                          "to begin.",
                                          things(tips));
  text += "\n";
  for (const std::string& line : wrapped(end, columns)) text += line + "\n";
  return text;
}

Json doctor_json(const Surroundings& around, const std::vector<MachineFinding>& findings) {
  Json list = Json::array(), gpus = Json::array();
  for (const MachineFinding& finding : findings) {
    std::string advice;
    for (const std::string& line : finding.advice) {
      advice += (advice.empty() ? "" : "\n") + (line.starts_with("$ ") ? line.substr(2) : line);
    }
    list.push_back({{"id", finding.id},
                    {"area", area_name(finding.area)},
                    {"condition", condition_name(finding.condition)},
                    {"good", finding.condition != Condition::broken},
                    {"name", finding.title},
                    {"text", finding.what},
                    {"advice", advice.empty() ? Json(nullptr) : Json(advice)}});
  }
  for (const ProbedGpu& gpu : around.gpu.driver.gpus) gpus.push_back(gpu_json(around, gpu));
  return {{"schema", "roofwalk.doctor/1"},
          {"ready", !is_broken(findings)},
          {"headline", headline(around, findings)},
          {"findings", std::move(list)},
          {"cuda_version", around.gpu.driver.cuda_version > 0 ? Json(around.gpu.driver.cuda_version) : Json(nullptr)},
          {"gpus", std::move(gpus)}};
}

}  // namespace roofwalk
