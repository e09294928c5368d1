#include "grader/baseline.h"

#include <fmt/format.h>

#include "common/base/hash.h"

namespace roofwalk {

std::string baseline_key(const Bench& bench, const Chapter& chapter, const Size& size, std::uint64_t seed) {
  return "starter " + sha256_hex(fmt::format("{}\n{}\n{}\n{}\n{}", chapter.name, folder_hash(chapter.folder),
                                             identity(bench), size.text(), seed));
}

Result<LevelPoints> measure_starter(const Bench& bench, const Chapter& chapter, const Problem& problem,
                                    const Work& work) {
  ROOFWALK_TRY(const Artifact artifact, build_for(bench, chapter.starter()));
  ROOFWALK_TRY(const Trial trial,
               run_trial(bench.open, artifact, problem, "starter", measured_trial(bench.threads), nullptr));
  if (trial.refusal) return *trial.refusal;
  if (trial.record.fault) return Error{trial.record.fault->message, trial.record.fault->file, trial.record.fault->line};
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
