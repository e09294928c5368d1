#include "grader/rig/roofs.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/hash.h"
#include "common/base/json.h"
#include "common/device/cuda/own_processes.h"
#include "common/measure/microkernels.h"
#include "common/measure/roofs.h"
#include "grader/rig/gpu_rig.h"
#include "grader/rig/json_file.h"
#include "grader/rig/workers.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

fs::path kept_file(const Rig& rig) {
  const std::string key = sha256_hex(identity(rig) + folder_hash(rig.course->roof_kernels()));
  return rig.course->kept_roofs() / fmt::format("{}-{}.json", rig.machine.file_name(), key.substr(0, 32));
}

std::optional<RoofRates> kept_roofs(const fs::path& file) {
  const Json json = read_json_file(file);
  return json.is_object() ? roof_rates_from_json(json) : std::nullopt;
}

Result<Microkernels> build_microkernels(const Rig& rig) {
  const fs::path folder = rig.course->roof_kernels();
  auto arithmetic = start(rig.threads, [&] { return build_for(rig, folder / "arithmetic.cu"); });
  auto memory = build_for(rig, folder / "memory.cu");
  Microkernels kernels;
  ROOFWALK_TRY(kernels.arithmetic, arithmetic.get());
  ROOFWALK_TRY(kernels.memory, std::move(memory));
  return kernels;
}

struct MeasuredRoofs {
  RoofRates rates;
  bool is_disturbed = false;  // another program used the GPU meanwhile, so the rates are too low
};

// Whether something disturbed the GPU while its roofs were measured. During such a measurement, clocks rise from idle
// and memory use varies, so neither counts as a disturbance.
bool is_disturbed(const GpuState& before, const GpuState& after) {
  constexpr std::size_t kWorkers = 2;  // one of them is the learner's, which is waiting
  const auto doubts = compare(before, after, own_processes(kWorkers));
  return std::any_of(doubts.begin(), doubts.end(), [](const Doubt& doubt) {
    const bool tells = doubt.kind == Doubt::Kind::foreign_process || doubt.kind == Doubt::Kind::clock_reason;
    return tells && doubt.spoils;
  });
}

Result<MeasuredRoofs> measure_all(const Rig& rig) {
  ROOFWALK_TRY(const Microkernels kernels, build_microkernels(rig));
  ROOFWALK_TRY(const auto turn, wait_for_turn(rig, "roofs"));
  const auto before = state_of(rig);
  // A real device runs one kernel at a time, because concurrent kernels would share its bandwidth.
  const int threads = rig.device_kind == "virtual" ? rig.threads : 1;
  std::vector<std::optional<Result<std::optional<double>>>> found(kRoofs.size());
  parallel_for(kRoofs.size(), threads, [&](std::size_t i) {
    found[i] = [&]() -> Result<std::optional<double>> {
      ROOFWALK_TRY(const auto device, rig.own_devices()());
      return measure_roof(*device, kernels, kRoofs[i]);
    }();
  });
  MeasuredRoofs roofs;
  for (std::size_t i = 0; i < kRoofs.size(); ++i) {
    ROOFWALK_TRY(const auto rate, *std::move(found[i]));
    roofs.rates.set(kRoofs[i], rate);
  }
  roofs.is_disturbed = before && is_disturbed(*before, state_of(rig).value_or(*before));
  return roofs;
}

}  // namespace

Result<RoofRates> measured_roofs(const Rig& rig, bool fresh) {
  if (!rig.toolkit) return rig.toolkit.error();
  const fs::path file = kept_file(rig);
  if (!fresh) {
    if (const auto rates = kept_roofs(file)) return *rates;
  }
  ROOFWALK_TRY(const MeasuredRoofs roofs, measure_all(rig));
  // Disturbed roofs are not stored, because all attempts would be compared with them until tomorrow.
  if (!roofs.is_disturbed) write_json_file(to_json(roofs.rates), file);
  return roofs.rates;
}

Status use_measured_roofs(Rig& rig) {
  if (!rig.toolkit) return kOk;
  ROOFWALK_TRY(rig.rates, measured_roofs(rig));
  rig.roofs = roofs_of(rig.machine, rig.rates);
  return kOk;
}

}  // namespace roofwalk
