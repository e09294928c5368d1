#include "grader/attempt/library_dot.h"

#include <fmt/format.h>

#include "common/base/hash.h"
#include "common/base/json.h"
#include "common/base/pattern.h"
#include "common/store/store.h"
#include "grader/attempt/chapter_roofs.h"
#include "grader/attempt/measured_size.h"
#include "grader/attempt/pipeline.h"

namespace roofwalk {
namespace {

// The first line of the file: "// library CUB (DeviceReduce::Sum): right x1 (dram), up x90".
Result<LibraryDot> named(const Chapter& chapter) {
  static const Pattern kLine(R"(// library ([A-Za-z0-9]+) \(([A-Za-z0-9_:]+)\): .+)");
  if (!chapter.has_library()) {
    return Error{.message =
                     fmt::format("chapter {} has no library.cu: no library is measured for its task", chapter.name)};
  }
  const std::string text = file_text(chapter.library());
  const auto groups = kLine.match(text.substr(0, text.find('\n')));
  if (!groups) {
    return Error{.message = "the first line must read `// library NAME (CALL): right xR (LEVEL), up xU`",
                 .file = chapter.library().string(),
                 .line = 1};
  }
  return LibraryDot{.name = (*groups)[1], .call = (*groups)[2], .dot = {}};
}

std::string key_of(const Rig& rig, const Chapter& chapter) {
  return "library " + baseline_key(rig, chapter, measured_size(chapter, rig.machine), kPublicSeed);
}

LibraryDot with_dot(const Rig& rig, const Chapter& chapter, LibraryDot library, StarterDot dot) {
  const Roofs roofs = roofs_for(rig, chapter);
  const MemoryRoof* dram = roofs.memory_roof("dram");
  const auto point = dot.points.find("dram");
  const auto peak = roofs.peak();
  if (dram != nullptr && peak && point != dot.points.end()) {
    library.achieved_flops_per_s = point->second.flops_per_s;
    library.share_of_roof =
        point->second.flops_per_s / attainable_flops_per_s(point->second.ai, dram->bytes_per_s, *peak);
  }
  library.dot = std::move(dot);
  return library;
}

}  // namespace

bool is_library_of(const Chapter& chapter, const std::filesystem::path& file) {
  std::error_code unknown;
  return chapter.has_library() && std::filesystem::equivalent(file, chapter.library(), unknown);
}

std::optional<LibraryDot> kept_library_dot(const Rig& rig, const Chapter& chapter) {
  if (rig.store == nullptr || !chapter.has_library()) return std::nullopt;
  auto kept = kept_starter(rig, key_of(rig, chapter));
  auto library = named(chapter);
  if (!kept || !library) return std::nullopt;
  return with_dot(rig, chapter, *std::move(library), *std::move(kept));
}

Result<LibraryDot> library_dot(const Rig& rig, const Chapter& chapter) {
  if (auto kept = kept_library_dot(rig, chapter)) return *std::move(kept);
  ROOFWALK_TRY(LibraryDot library, named(chapter));
  ROOFWALK_TRY(const Attempt attempt,
               run_attempt(rig, {.chapter = &chapter, .file = chapter.library(), .may_call_libraries = true}));
  if (!attempt.measurement) {
    const auto& reasons = attempt.judgement.reasons;
    return Error{.message = fmt::format("{}'s {} could not be measured on {}: {}", library.name, library.call,
                                        rig.device_name(), reasons.empty() ? "no reason given" : reasons.front()),
                 .advice = "its headers come with the CUDA toolkit (the package nvidia-cuda-cccl)"};
  }
  const StarterDot dot = starter_dot_of(*attempt.measurement, attempt.bytes_are_modelled);
  ROOFWALK_TRY_STATUS(keep_starter(rig, key_of(rig, chapter), dot));
  return with_dot(rig, chapter, std::move(library), dot);
}

Json to_json(const LibraryDot& library) {
  Json ai = Json::object();
  for (const auto& [level, point] : library.dot.points) ai[level] = point.ai;
  return {{"name", library.name},
          {"call", library.call},
          {"achieved_flops_per_s", library.achieved_flops_per_s},
          {"ai_by_level", std::move(ai)},
          {"share_of_roof", library.share_of_roof}};
}

std::string library_phrase(const LibraryDot& library) {
  return fmt::format("{}'s {}: {:.0f} % of the roof", library.name, library.call, 100 * library.share_of_roof);
}

}  // namespace roofwalk
