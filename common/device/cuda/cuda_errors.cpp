#include "common/device/cuda/cuda_errors.h"

#include <fmt/format.h>

#include <algorithm>

namespace roofwalk {
namespace {

constexpr bool sticky = true, goes_on = false;

constexpr CudaError kErrors[] = {
#define LEARNER(number, name, after, kind, cause, advice) \
  {static_cast<CUresult>(number), "CUDA_ERROR_" #name, after, FaultKind::kind, cause, advice},
#define MACHINE(number, name, after, cause, advice) \
  {static_cast<CUresult>(number), "CUDA_ERROR_" #name, after, std::nullopt, cause, advice},
#include "common/device/cuda/cuda_errors.def"
#undef LEARNER
#undef MACHINE
};

#define LEARNER(number, name, ...) static_assert(number == CUDA_ERROR_##name);
#define MACHINE(number, name, ...) static_assert(number == CUDA_ERROR_##name);
#include "common/device/cuda/cuda_errors.def"
#undef LEARNER
#undef MACHINE

static_assert(std::is_sorted(std::begin(kErrors), std::end(kErrors),
                             [](const CudaError& a, const CudaError& b) { return a.number < b.number; }));

}  // namespace

std::span<const CudaError> cuda_errors() { return kErrors; }

const CudaError* find_cuda_error(CUresult code) {
  const auto at = std::find_if(std::begin(kErrors), std::end(kErrors), [&](const auto& e) { return e.number == code; });
  return at == std::end(kErrors) ? nullptr : at;
}

bool is_sticky(CUresult code) {
  const CudaError* known = find_cuda_error(code);
  return known == nullptr || known->is_sticky;
}

Error cuda_error(const DriverApi& api, CUresult code, std::string_view what) {
  if (const CudaError* known = find_cuda_error(code)) {
    return {.message = fmt::format("cannot {}: {} ({}, {})", what, known->cause, known->name, static_cast<int>(code)),
            .advice = std::string(known->advice)};
  }
  const char* name = nullptr;
  const char* text = nullptr;
  if (api.cuGetErrorName(code, &name) != CUDA_SUCCESS || name == nullptr) name = "an error without a name";
  if (api.cuGetErrorString(code, &text) != CUDA_SUCCESS || text == nullptr) text = "the driver does not say why";
  return {.message = fmt::format("cannot {}: {} ({}, {})", what, text, name, static_cast<int>(code)),
          .advice = "run it again; if it stays, `./roofwalk doctor` looks at the machine"};
}

}  // namespace roofwalk
