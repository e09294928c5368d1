// The exercise of all chapters of the mini course: y = 2 x.
#pragma once

#include "common/base/rng.h"
#include "common/exercise/exercise.h"

namespace roofwalk::testing {

class Double final : public Exercise {
 public:
  Work work(const Size& size) const override { return {.useful_flops = size["n"], .compulsory_bytes = 8 * size["n"]}; }

  Problem problem(const Size& size, std::uint64_t seed) const override {
    Rng rng(seed, "x");
    InputBuffer x{"x", std::vector<float>(static_cast<std::size_t>(size["n"]))};
    for (float& value : x.values) value = rng.symmetric();
    return {{std::move(x), OutputBuffer{"y", size["n"]}, Scalar{"n", static_cast<std::int32_t>(size["n"])}}};
  }

  std::vector<Expected> reference(const Size&, const Problem& problem) const override {
    Expected y{"y", {}, {}, 0};
    for (const float value : std::get<InputBuffer>(problem.parameters[0]).values) {
      y.values.push_back(2.0 * value);
      y.tolerances.push_back(1e-7);
    }
    return {y};
  }
};

inline void register_mini_exercises() {
  for (const char* name : {"mini-double", "mini-sum", "mini-broken"}) {
    if (find_exercise(name) != nullptr) continue;  // already registered by another test
    register_exercise(name, [] { return std::unique_ptr<Exercise>(std::make_unique<Double>()); });
  }
}

}  // namespace roofwalk::testing
