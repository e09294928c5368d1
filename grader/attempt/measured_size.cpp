#include "grader/attempt/measured_size.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "common/base/rng.h"
#include "grader/rig/workers.h"

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

// The number of elements of all outputs.
std::int64_t results_of(const Exercise& exercise, const Size& size) {
  std::int64_t count = 0;
  for (const Parameter& parameter : exercise.problem(size, 0).parameters) {
    if (const auto* output = std::get_if<OutputBuffer>(&parameter)) count += output->count;
  }
  return count;
}

// Extents cut to a share of their product, in the same order. Each is a multiple of 256, which tiles of blocks divide
// (or uncut), and cut about as much as the others. `error`: the logarithm by which the product misses the share.
struct Cut {
  std::vector<std::int64_t> extents;
  double error = 0;
};

Cut cut_to(double share, std::span<const std::int64_t> extents) {
  if (extents.empty()) return {{}, std::abs(std::log(share))};
  constexpr std::int64_t kTile = 256;
  constexpr double kSame = 1e-9;  // errors that differ by less are the same: the nearest multiple is preferred
  const std::int64_t whole = extents.front(), unit = std::min(kTile, whole);
  const double units = static_cast<double>(whole) / static_cast<double>(unit) *
                       std::pow(share, 1.0 / static_cast<double>(extents.size()));
  std::optional<Cut> best;
  const double nearest = std::round(units);
  for (const double rounded : {nearest, nearest < units ? nearest + 1 : nearest - 1}) {
    const std::int64_t extent = std::min(std::max<std::int64_t>(std::llround(rounded), 1) * unit, whole);
    Cut cut = cut_to(share * static_cast<double>(whole) / static_cast<double>(extent), extents.subspan(1));
    cut.extents.insert(cut.extents.begin(), extent);
    if (!best || cut.error < best->error - kSame) best = std::move(cut);
  }
  return *best;
}

// The size for a slice: the chip's, with the extents on which the number of results depends cut so that the slice's
// share of the results is left. Each SM then computes about as many results as on the chip, each from as many values:
// of a product of matrices, the rows and columns shrink, and the length of the sums stays.
Size slice_size(const Chapter& chapter, const Exercise& exercise, const Size& of_chip, const Machine& slice) {
  const Size& small = chapter.correctness_sizes.front();
  auto values = of_chip.values();
  std::vector<std::int64_t*> extents;
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto doubled = small.values();
    doubled[i].second *= 2;
    if (results_of(exercise, Size(doubled)) != results_of(exercise, small)) extents.push_back(&values[i].second);
  }
  std::vector<std::int64_t> whole;
  for (const std::int64_t* extent : extents) whole.push_back(*extent);
  const Cut cut = cut_to(static_cast<double>(slice.sms) / slice.chip_sms, whole);
  for (std::size_t i = 0; i < extents.size(); ++i) *extents[i] = cut.extents[i];
  return Size(std::move(values));
}

// The manifest's smallest size that fills the machine, or its whole chip if it is a slice; the default if none does. A
// slice has the same share of L2 and of DRAM's rate, so what fills the chip is that share of it that fills the slice.
Size filling_size(const Chapter& chapter, const Exercise& exercise, const Machine& machine) {
  const std::int64_t sms = machine.sms, chip_sms = machine.is_slice() ? machine.chip_sms : machine.sms;
  for (const Size& size : sizes_of(chapter, exercise)) {
    Work work = exercise.work(size);
    if (machine.is_slice()) work.compulsory_bytes = work.compulsory_bytes * sms / chip_sms;
    if (fills(work, machine)) return size;
  }
  return chapter.measured_size("default");
}

// Whether an extent may be any number (uneven_size).
bool is_free(const Chapter& chapter, const std::string& extent) {
  std::int64_t divisor = 0;
  for (const Size& size : chapter.correctness_sizes) {
    if (size[extent] > 1) divisor = std::gcd(divisor, size[extent]);
  }
  return divisor == 1;
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
  const std::string chip = machine.chip_name();
  const bool is_named = chapter.measured_sizes.contains(chip);
  if (is_named && !machine.is_slice()) return chapter.measured_size(chip);
  if (asks_for_share_of_dram(chapter)) return stream_size(chapter, *exercise, machine);
  const Size whole = is_named ? chapter.measured_size(chip) : filling_size(chapter, *exercise, machine);
  return machine.is_slice() ? slice_size(chapter, *exercise, whole, machine) : whole;
}

Size uneven_size(const Chapter& chapter, const Size& measured, std::uint64_t seed) {
  constexpr std::int64_t kLeastExtent = 64;
  auto values = measured.values();
  Rng rng(seed, "uneven size");
  const bool is_aligned = rng.next() % 2 == 0 && values.size() > 1;
  const std::int64_t unit = is_aligned ? 4 : 1;
  for (auto& [extent, value] : values) {
    const std::uint64_t random = rng.next();
    if (value < kLeastExtent || !is_free(chapter, extent)) continue;
    const std::int64_t quarter = value / 4;
    const std::int64_t units =
        (2 * quarter + static_cast<std::int64_t>(random % static_cast<std::uint64_t>(quarter))) / unit;
    value = unit * (units | 1);
  }
  return Size(std::move(values));
}

std::shared_ptr<const Measured> prepare(const Chapter& chapter, const Size& size, std::uint64_t seed, int threads,
                                        Phases* phases) {
  const Exercise* exercise = find_exercise(chapter.name);
  ROOFWALK_CHECK(exercise != nullptr);
  auto measured = std::make_shared<Measured>();
  measured->size = size;
  measured->work = exercise->work(size);
  measured->problem = exercise->problem(size, seed);
  measured->expected = start(threads, [exercise, phases, m = measured.get()] {
                         const PhaseTimer timer(phases, "expected values");
                         return exercise->reference(m->size, m->problem);
                       }).share();
  return measured;
}

std::shared_ptr<const Measured> prepare(const Chapter& chapter, const Machine& machine, std::uint64_t seed, int threads,
                                        Phases* phases) {
  return prepare(chapter, measured_size(chapter, machine), seed, threads, phases);
}

}  // namespace roofwalk
