#include "grader/attempt/measured_size.h"

#include <algorithm>

namespace roofwalk {
namespace {

bool asks_for_share_of_dram(const Chapter& chapter) {
  return std::any_of(chapter.goals.begin(), chapter.goals.end(),
                     [](const Goal& goal) { return goal.level == "dram" && goal.what == Goal::What::share_of_roof; });
}

Size halved(const Size& size) {
  auto values = size.values();
  std::max_element(values.begin(), values.end(), [](const auto& a, const auto& b) {
    return a.second < b.second;
  })->second /= 2;
  return Size(std::move(values));
}

// The sizes of the manifest, from the least work to the most.
std::vector<Size> sizes_of(const Chapter& chapter, const Exercise& exercise) {
  std::vector<Size> sizes;
  for (const auto& [machine, size] : chapter.measured_sizes) sizes.push_back(size);
  std::stable_sort(sizes.begin(), sizes.end(), [&](const Size& a, const Size& b) {
    return exercise.work(a).compulsory_bytes < exercise.work(b).compulsory_bytes;
  });
  return sizes;
}

// Returns the default size, halved until half of it would no longer fill the machine, and further if it does not fit
// into the machine's memory. Never below the manifest's smallest size.
Size stream_size(const Chapter& chapter, const Exercise& exercise, const Machine& machine) {
  const auto bytes = [&](const Size& size) { return exercise.work(size).compulsory_bytes; };
  const std::int64_t fewest = bytes(sizes_of(chapter, exercise).front());
  Size size = chapter.measured_size("default");
  for (Size half = halved(size); bytes(half) >= fewest; half = halved(size)) {
    const bool fits = machine.memory_bytes == 0 || bytes(size) <= machine.memory_bytes;
    if (fits && !fills(exercise.work(half), machine)) break;
    size = half;
  }
  return size;
}

}  // namespace

bool fills(const Work& work, const Machine& machine) {
  constexpr double kLeastL2s = 8, kMostLaunch = 0.025, kUsualLaunchNs = 3000;
  const auto bytes = static_cast<double>(work.compulsory_bytes);
  const double launch_ns = machine.launch_ns > 0 ? machine.launch_ns : kUsualLaunchNs;
  return bytes >= kLeastL2s * static_cast<double>(machine.l2_bytes) &&
         launch_ns <= kMostLaunch * (launch_ns + bytes / machine.dram_bytes_per_s * 1e9);
}

Size measured_size(const Chapter& chapter, const Machine& machine) {
  const Exercise* exercise = find_exercise(chapter.name);
  ROOFWALK_CHECK(exercise != nullptr);
  if (chapter.measured_sizes.contains(machine.name)) return chapter.measured_size(machine.name);
  if (asks_for_share_of_dram(chapter)) return stream_size(chapter, *exercise, machine);
  for (const Size& size : sizes_of(chapter, *exercise)) {
    if (fills(exercise->work(size), machine)) return size;
  }
  return chapter.measured_size("default");
}

}  // namespace roofwalk
