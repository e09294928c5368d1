#include "common/exercise/inputs.h"

#include "common/base/rng.h"

namespace roofwalk {

std::vector<float> random_values(std::int64_t count, std::uint64_t seed, std::string_view stream) {
  Rng rng(seed, stream);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = rng.symmetric();
  return values;
}

}  // namespace roofwalk
