// The whole table of `roofwalk operations`: every operation at its own size on a virtual H100.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/unit/operations/bench.h"

namespace roofwalk {
namespace {

using testing::OperationsBench;

TEST(OperationsTable, StandsBesideTheTextbooks) {
  const OperationsBench rig("h100-sxm");
  std::vector<const Operation*> all;
  for (const Operation& operation : operations()) all.push_back(&operation);
  const auto results = measured_operations(rig.rig(), all);
  ASSERT_TRUE(results) << results.error().text();

  // The chip's ridge is at hundreds of FLOP/B, so all operations are memory-bound except matrix products with many
  // rows.
  const std::map<std::string, std::pair<std::string, double>> expected = {
      {"vector-add", {"memory", 0.9}}, {"layernorm", {"memory", 0.9}}, {"softmax", {"memory", 0.8}},
      {"gemv", {"memory", 0.85}},      {"gemm-1", {"memory", 0.85}},   {"gemm-32", {"memory", 0.7}},
      {"gemm-256", {"latency", 0.4}},  {"decode", {"memory", 0.85}},   {"prefill", {"latency", 0.33}}};
  ASSERT_EQ(results->size(), expected.size());
  for (const OperationResult& result : *results) {
    SCOPED_TRACE(result.operation->name);
    const auto& [bound, least_share] = expected.at(result.operation->name);
    // Softmax reads its rows twice. The rows of all resident blocks, and what they write, are more than L2 holds, so a
    // part of them comes from DRAM again.
    const bool reads_again = result.operation->name == "softmax";
    EXPECT_NEAR(result.dram_ai / result.work.ai(), reads_again ? 0.83 : 1, reads_again ? 0.1 : 0.01);
    EXPECT_EQ(result.bound, bound);
    EXPECT_GT(result.share_of_roof, least_share);
    EXPECT_LT(result.share_of_roof, 1);
    const bool differs = std::fabs(result.dram_ai / result.operation->textbook_ai - 1) > 0.05;
    EXPECT_EQ(differs, result.operation->name == "gemm-256" || reads_again);
    if (result.operation->name == "gemm-256") {
      EXPECT_THAT(result.remarks, ::testing::Contains(::testing::HasSubstr("leaves out the activations")));
    }
  }
}

}  // namespace
}  // namespace roofwalk
