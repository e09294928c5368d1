#include "grader/attempt/baseline.h"

#include <fmt/format.h>

#include "common/base/hash.h"
#include "common/base/json.h"
#include "common/store/store.h"
#include "grader/attempt/chapter_roofs.h"
#include "grader/attempt/pipeline.h"
#include "grader/rig/gpu_rig.h"

namespace roofwalk {

StarterDot starter_dot_of(const Measurement& starter, bool bytes_are_modelled) {
  return {points_of(starter), bytes_are_modelled, starter.sector_use.get(), counts_of(starter)};
}

std::string baseline_key(const Rig& rig, const Chapter& chapter, const Size& size, std::uint64_t seed) {
  return "starter " + sha256_hex(fmt::format("{}\n{}\n{}\n{}\n{}\n{}", chapter.name, folder_hash(chapter.folder),
                                             identity(rig), size.text(), seed, rig.counts_bytes));
}

Result<StarterDot> measure_starter(const Rig& rig, const Chapter& chapter, const Problem& problem, const Work& work) {
  const auto ours = [&](const std::string& what) {
    return Error{.message = fmt::format("the course's own {} of {} could not be measured on {}: {}",
                                        chapter.baseline_name(), chapter.name, rig.device_name(), what),
                 .advice = "your file is not to blame; ./roofwalk doctor looks at the set-up"};
  };
  const auto artifact = build_for(rig, chapter.baseline());
  if (!artifact) return artifact.error().file.empty() ? artifact.error() : ours(artifact.error().text());
  // Modelling the starter's bytes needs no GPU, so it is done before waiting for a turn on the GPU.
  std::optional<RunRecord> modelled;
  if (rig.is_real() && !rig.counts_bytes) {
    ROOFWALK_TRY(modelled, modelled_run(rig, *artifact, problem));
  }
  RunOptions limits = starter_trial(rig.threads);
  limits.sample_seed = kPublicSeed;
  const auto measured = [&]() -> Result<Trial> {
    ROOFWALK_TRY(const auto turn, wait_for_turn(rig, chapter.name));
    return run_trial(rig.own_devices(), *artifact, problem, "starter", limits, nullptr);
  };
  ROOFWALK_TRY(Trial trial, measured());
  if (trial.refusal) return ours(trial.refusal->text());
  if (trial.record.fault) return ours(trial.record.fault->message);
  if (modelled) take_bytes(*modelled, trial.record);
  ROOFWALK_TRY_STATUS(model_bytes(rig, *artifact, problem, trial.record));
  return starter_dot_of(measure(trial.record, work, roofs_for(rig, chapter)), trial.record.bytes_are_modelled);
}

std::optional<StarterDot> kept_starter(const Rig& rig, const std::string& key) {
  if (rig.store == nullptr) return std::nullopt;
  const auto kept = rig.store->cached(key);
  return kept ? starter_from_json(*kept) : std::nullopt;
}

Status keep_starter(const Rig& rig, const std::string& key, const StarterDot& starter) {
  const bool counting_failed = rig.counts_bytes && starter.bytes_are_modelled;
  if (rig.store == nullptr || counting_failed || kept_starter(rig, key)) return kOk;
  return rig.store->cache(key, json_line(to_json(starter)));
}

Result<StarterDot> baseline_of(const Rig& rig, const Chapter& chapter, const Measured& measured, std::uint64_t seed) {
  const std::string key = baseline_key(rig, chapter, measured.size, seed);
  if (auto kept = kept_starter(rig, key)) return *std::move(kept);
  ROOFWALK_TRY(StarterDot starter, measure_starter(rig, chapter, measured.problem, measured.work));
  ROOFWALK_TRY_STATUS(keep_starter(rig, key, starter));
  return starter;
}

Json to_json(const StarterDot& starter) {
  Json json = {{"levels", Json::object()}, {"bytes_are_modelled", starter.bytes_are_modelled}};
  for (const auto& [level, point] : starter.points) json["levels"][level] = {point.ai, point.flops_per_s};
  if (starter.sector_use) json["sector_use"] = *starter.sector_use;
  for (const auto& [name, value] : starter.counts) json["counts"][name] = value;
  return json;
}

std::optional<StarterDot> starter_from_json(const std::string& text) {
  const Json json = parse_json(text);
  if (!json.is_object() || !json.contains("levels") || !json["levels"].is_object() ||
      !json.contains("bytes_are_modelled") || !json["bytes_are_modelled"].is_boolean()) {
    return std::nullopt;
  }
  StarterDot starter{{}, json["bytes_are_modelled"].get<bool>(), json.number_of("sector_use")};
  if (const Json* counts = json.member("counts"); counts != nullptr && counts->is_object()) {
    for (const auto& [name, value] : counts->items()) {
      if (value.is_number()) starter.counts[name] = value.get<double>();
    }
  }
  for (const auto& [level, point] : json["levels"].items()) {
    if (!point.is_array() || point.size() != 2 || !point[0].is_number() || !point[1].is_number()) return std::nullopt;
    starter.points[level] = {point[0].get<double>(), point[1].get<double>()};
  }
  return starter;
}

}  // namespace roofwalk
