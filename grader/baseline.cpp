#include "grader/baseline.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/hash.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

std::string folder_hash(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string all;
  for (const fs::path& file : files) {
    all += fmt::format("{} {}\n", file.lexically_relative(folder).string(), sha256_hex(file_text(file)));
  }
  return sha256_hex(all);
}

// Tells one build of this program from another without reading all of it.
std::string program_identity() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const auto written = fs::last_write_time(self, error).time_since_epoch().count();
  return fmt::format("{} {} {}", ROOFWALK_VERSION, fs::file_size(self, error), written);
}

}  // namespace

std::string baseline_key(const Bench& bench, const Chapter& chapter, const Size& size, std::uint64_t seed) {
  return "starter " +
         sha256_hex(fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", chapter.name, folder_hash(chapter.folder),
                                folder_hash(bench.include), to_json(bench.machine).dump(), bench.device_name(),
                                program_identity() + (bench.toolkit ? bench.toolkit->version : ""), size.text(), seed));
}

Result<LevelPoints> measure_starter(const Bench& bench, const Chapter& chapter, const Problem& problem,
                                    const Work& work) {
  ROOFWALK_TRY(const Artifact artifact, build_for(bench, chapter.starter()));
  ROOFWALK_TRY(const Trial trial, run_trial(bench.open, artifact, problem, "starter", kMeasuredTrial, nullptr));
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
