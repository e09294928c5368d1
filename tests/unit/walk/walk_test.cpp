// Dots of the walk, from attempts in the store.
#include "grader/walk/walk.h"

#include <gtest/gtest.h>

#include "common/base/json.h"
#include "common/record/model_version.h"
#include "common/store/stored_attempt.h"

namespace roofwalk {
namespace {

StoredAttempt stored(double flops_per_s, const char* grade, Json model_version, bool is_modelled = true) {
  StoredAttempt out;
  out.attempt = {{"verdict", "pass"},
                 {"grade", grade},
                 {"achieved_flops_per_s", flops_per_s},
                 {"ai_by_level", Json{{"dram", 0.1}}},
                 {"time_is_modelled", is_modelled},
                 {"bytes_are_modelled", is_modelled}};
  if (!model_version.is_null()) out.attempt["model_version"] = std::move(model_version);
  return out;
}

TEST(Dots, OfAnotherModelVersionAreOlder) {
  const std::vector<Dot> dots =
      dots_of({stored(1e9, "pass", nullptr), stored(2e9, "pass", kModelVersion - 1), stored(3e9, "pass", kModelVersion),
               stored(4e9, "pass", nullptr, /*is_modelled=*/false)});
  ASSERT_EQ(dots.size(), 4u);
  EXPECT_TRUE(dots[0].is_older);  // stored before there were versions
  EXPECT_TRUE(dots[1].is_older);
  EXPECT_FALSE(dots[2].is_older);
  EXPECT_FALSE(dots[3].is_older);  // measured on a GPU
}

TEST(Dots, TheBestIsOneOfThePresentModel) {
  const auto best_of = [](const std::vector<StoredAttempt>& attempts) { return best_dot(dots_of(attempts))->label; };
  EXPECT_EQ(best_of({stored(9e9, "ace", 1), stored(2e9, "pass", kModelVersion), stored(1e9, "none", kModelVersion)}),
            "2");
  EXPECT_EQ(best_of({stored(1e9, "pass", 1), stored(2e9, "ace", 1)}), "2");
}

}  // namespace
}  // namespace roofwalk
