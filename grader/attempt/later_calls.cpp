#include "grader/attempt/later_calls.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <utility>

namespace roofwalk {
namespace {

constexpr std::array<std::string_view, 4> kOrdinals = {"first", "second", "third", "fourth"};

// Makes the reason of a call that went wrong tell that one before it was right.
void tell_call(std::size_t call, Trial& trial) {
  if (call == 0) return;
  const auto told = [&](const std::string& reason) {
    return fmt::format(
        "right on the first call of SOLVE, wrong on the {}: a __device__ variable keeps its value; set it back: {}",
        kOrdinals[call], reason);
  };
  if (trial.record.fault) trial.record.fault->message = told(trial.record.fault->message);
  if (trial.correctness) trial.correctness->reason = told(trial.correctness->reason);
}

}  // namespace

bool has_device_variables(std::string_view ptx) {
  constexpr std::string_view kGlobal = ".global";
  for (std::size_t at = ptx.find(kGlobal); at != std::string_view::npos; at = ptx.find(kGlobal, at + 1)) {
    // In an instruction such as ld.global.f32, a letter or a digit is before it.
    if (at == 0 || std::isalnum(static_cast<unsigned char>(ptx[at - 1])) == 0) return true;
  }
  return false;
}

Result<std::optional<WrongCall>> later_calls(const DeviceFactory& open, const Exercise& exercise,
                                             const std::vector<Size>& sizes, std::uint64_t seed,
                                             const Artifact& artifact, const RunOptions& limits) {
  if (!has_device_variables(artifact.ptx)) return std::optional<WrongCall>();
  const std::array<std::pair<const Size*, std::uint64_t>, kOrdinals.size()> calls = {
      {{&sizes.back(), seed}, {&sizes.back(), seed + 1}, {&sizes.front(), seed}, {&sizes.back(), seed + 2}}};
  RunOptions options = limits;
  options.sanitized_blocks = 16;
  ROOFWALK_TRY(const auto device, open());
  for (std::size_t call = 0; call < calls.size(); ++call) {
    const auto& [size, seed_of_call] = calls[call];
    // In a run that is not sanitized, a block that takes itself for the last one may be late enough to be right.
    options.sanitize = limits.sanitize && call + 1 == calls.size();
    const Problem problem = exercise.problem(*size, seed_of_call);
    const std::vector<Expected> expected = exercise.reference(*size, problem);
    ROOFWALK_TRY(Trial trial, run_trial_on(*device, call == 0 ? Loading::anew : Loading::kept, artifact, problem,
                                           case_name(*size, seed_of_call), options,
                                           [&]() -> const std::vector<Expected>& { return expected; }));
    if (!trial.went_wrong()) continue;
    tell_call(call, trial);
    return std::optional(WrongCall{std::move(trial), *size});
  }
  return std::optional<WrongCall>();
}

}  // namespace roofwalk
