#include "grader/attempt/attempt.h"
#include "common/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/attempts.h"
#include "tests/support/golden.h"

namespace roofwalk {
namespace {

using testing::attempt_that_ended_with;
using testing::measured_attempt;

std::vector<std::string> keys(const Json& json) {
  std::vector<std::string> names;
  for (const auto& [name, value] : json.items()) names.push_back(name);
  return names;
}

Evidence compile_error() {
  Evidence evidence;
  evidence.compile_error = Error{"expected a `;`", "my/vector-add.cu", 3};
  return evidence;
}

TEST(AttemptJson, OfAMeasuredAttemptIsTheGoldenOne) {
  testing::expect_golden(TEST_GOLDEN_DIR "/measured.json", json_text(to_json(measured_attempt())) + "\n");
}

TEST(AttemptJson, TellsEveryDiagnosisInItsOrder) {
  Attempt attempt = measured_attempt();
  attempt.finding->diagnoses = {{"over_fetch", "Far apart.", 17, 0.75}, {"spills", "Too many.", 0, 0}};
  const Json json = to_json(attempt);
  ASSERT_EQ(json["diagnoses"].size(), 2u);
  EXPECT_EQ(json_line(json["diagnoses"][0]), R"({"cause":"over_fetch","text":"Far apart.","line":17,"share":0.75})");
  EXPECT_EQ(json_line(json["diagnoses"][1]), R"({"cause":"spills","text":"Too many.","line":null,"share":null})");
}

TEST(AttemptJson, OfACompileErrorIsTheGoldenOne) {
  testing::expect_golden(TEST_GOLDEN_DIR "/compile_error.json",
                         json_text(to_json(attempt_that_ended_with(compile_error()))) + "\n");
}

TEST(AttemptJson, NamesTheUnitAndTheRoof) {
  Attempt attempt = measured_attempt();
  EXPECT_EQ(to_json(attempt)["useful_unit"], "FLOP");
  EXPECT_EQ(to_json(attempt)["roof"], "fp32");
  attempt.roofs.unit = WorkUnit::key;
  attempt.roof = ChapterRoof::memory;
  EXPECT_EQ(to_json(attempt)["useful_unit"], "key");
  EXPECT_EQ(to_json(attempt)["roof"], "memory");
}

TEST(AttemptJson, HasTheStableKeysInOrder) {
  std::vector<std::string> names = keys(to_json(measured_attempt()));
  names.resize(36);
  EXPECT_THAT(
      names, ::testing::ElementsAre(
                 "schema", "chapter", "device", "size", "seed", "verdict", "grade", "reasons", "correct", "worst_error",
                 "useful_flops", "executed_flops", "atomic_flops", "tensor_integer_operations", "compulsory_bytes",
                 "dram_read_bytes", "dram_write_bytes", "l2_bytes", "l1_bytes", "l1_read_sectors", "l1_write_sectors",
                 "sector_use", "shared_bytes", "shared_wavefronts", "ai_by_level", "warp_instructions", "elapsed_ns",
                 "time_is_modelled", "bytes_are_modelled", "achieved_flops_per_s", "observed_ai", "algorithmic_ai",
                 "roof_flops_per_s", "vertical_gap", "horizontal_gap", "moved"));
}

TEST(AttemptJson, HasTheSameKeysWhateverTheVerdict) {
  const Json measured = to_json(measured_attempt()), other = to_json(attempt_that_ended_with(compile_error()));
  EXPECT_EQ(keys(measured), keys(other));
  EXPECT_EQ(keys(measured["moved"]), keys(other["moved"]));
  EXPECT_EQ(keys(measured["ai_by_level"]), keys(other["ai_by_level"]));
  EXPECT_TRUE(other["elapsed_ns"].is_null());
  EXPECT_TRUE(other["correct"].is_null());
}

TEST(AttemptJson, KeepsWholeNumbersWhole) {
  const Json json = to_json(measured_attempt());
  EXPECT_EQ(json_line(json["dram_read_bytes"]), "8388608");
  EXPECT_EQ(json_line(json["useful_flops"]), "1048576");
  EXPECT_EQ(json_line(json["observed_ai"]), "0.08333333333333333");
}

TEST(AttemptJson, SurvivesBytesThatAreNotUtf8) {
  Attempt attempt = measured_attempt();
  attempt.finding->traffic_source = "\xff\x1b[31m";
  EXPECT_FALSE(parse_json(json_text(to_json(attempt))).is_discarded());
}

TEST(StoredPoint, ComesBackFromTheJsonOfAGradedAttemptOnly) {
  Json json = parse_json(json_text(to_json(measured_attempt())));
  const auto point = stored_point(json, "dram");
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(point->ai, 1.0 / 12);
  EXPECT_EQ(point->flops_per_s, measured_attempt().measurement->achieved_flops_per_s.value);
  json["verdict"] = "not_graded";
  EXPECT_FALSE(stored_point(json, "dram").has_value());
  EXPECT_FALSE(stored_point(Json::object(), "dram").has_value());
}

}  // namespace
}  // namespace roofwalk
