#include "common/exercise/inputs.h"

#include <cmath>

#include "common/base/rng.h"

namespace roofwalk {

std::vector<float> random_values(std::int64_t count, std::uint64_t seed, std::string_view stream) {
  Rng rng(seed, stream);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = rng.symmetric();
  return values;
}

std::vector<float> random_halves(std::int64_t count, std::uint64_t seed, std::string_view stream) {
  std::vector<float> values = random_values(count, seed, stream);
  for (float& value : values) value = std::floor(value * 0x1p10f) * 0x1p-10f;
  return values;
}

}  // namespace roofwalk
