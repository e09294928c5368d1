#include "grader/baseline.h"

#include <fmt/format.h>

#include "common/base/hash.h"
#include "grader/gpu_bench.h"

namespace roofwalk {

std::string baseline_key(const Bench& bench, const Chapter& chapter, const Size& size, std::uint64_t seed) {
  return "starter " + sha256_hex(fmt::format("{}\n{}\n{}\n{}\n{}", chapter.name, folder_hash(chapter.folder),
                                             identity(bench), size.text(), seed));
}

Result<LevelPoints> measure_starter(const Bench& bench, const Chapter& chapter, const Problem& problem,
                                    const Work& work) {
  const auto ours = [&](const std::string& what) {
    return Error{.message = fmt::format("the course's own starter of {} could not be measured on {}: {}", chapter.name,
                                        bench.device_name(), what),
                 .advice = "your file is not to blame; ./roofwalk doctor looks at the set-up"};
  };
  const auto artifact = build_for(bench, chapter.starter());
  if (!artifact) return artifact.error().file.empty() ? artifact.error() : ours(artifact.error().text());
  ROOFWALK_TRY(Trial trial,
               run_trial(bench.own_devices(), *artifact, problem, "starter", starter_trial(bench.threads), nullptr));
  if (trial.refusal) return ours(trial.refusal->text());
  if (trial.record.fault) return ours(trial.record.fault->message);
  ROOFWALK_TRY_STATUS(model_bytes(bench, *artifact, problem, trial.record));
  return points_of(measure(trial.record, work, bench.roofs));
}

Json to_json(const LevelPoints& points) {
  Json json = Json::object();
  for (const auto& [level, point] : points) json[level] = {point.ai, point.flops_per_s};
  return json;
}

std::optional<LevelPoints> level_points_from_json(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  LevelPoints points;
  for (const auto& [level, point] : json.items()) {
    if (!point.is_array() || point.size() != 2 || !point[0].is_number() || !point[1].is_number()) return std::nullopt;
    points[level] = {point[0].get<double>(), point[1].get<double>()};
  }
  return points;
}

}  // namespace roofwalk
