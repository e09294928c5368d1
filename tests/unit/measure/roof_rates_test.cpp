#include "common/measure/roof_rates.h"
#include "common/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/measure/roofs.h"
#include "tests/support/records.h"

namespace roofwalk {
namespace {

using testing::test_machine;

// Returns rates of 1e9, 2e9, ... in the order of kRoofs.
RoofRates counted_up() {
  RoofRates rates;
  for (std::size_t i = 0; i < kRoofs.size(); ++i) rates.set(kRoofs[i], 1e9 * static_cast<double>(i + 1));
  return rates;
}

TEST(RoofRates, OfDramIsTheBestOfFourStreams) {
  RoofRates rates;
  EXPECT_EQ(rates.dram_bytes_per_s(), std::nullopt);
  rates.set(Roof::dram_copy, 110e9);
  rates.set(Roof::dram_write, 120e9);
  EXPECT_EQ(rates.dram_bytes_per_s(), 120e9);
  rates.set(Roof::dram_write, std::nullopt);
  EXPECT_EQ(rates.dram_bytes_per_s(), 110e9);
}

TEST(RoofRates, JsonIsReadBack) {
  RoofRates rates = counted_up();
  rates.set(Roof::mma, std::nullopt);
  const Json json = to_json(rates);
  EXPECT_EQ(
      json_line(json),
      R"({"dram_bytes_per_s":{"read":1000000000.0,"write":2000000000.0,"copy":3000000000.0,"triad":4000000000.0},)"
      R"("l2_bytes_per_s":5000000000.0,"l1_bytes_per_s":6000000000.0,"shared_bytes_per_s":7000000000.0,)"
      R"("fp32_flops_per_s":8000000000.0,"half2_flops_per_s":9000000000.0,"mma_flops_per_s":null})");
  EXPECT_EQ(roof_rates_from_json(json), rates);
}

TEST(RoofRates, AreNotReadFromOtherJson) {
  EXPECT_EQ(roof_rates_from_json(Json::array()), std::nullopt);
  EXPECT_EQ(roof_rates_from_json(Json::object()), std::nullopt);
  for (const Json& wrong : {Json(0), Json(-1.5), Json("fast"), Json::array({1})}) {
    Json json = to_json(counted_up());
    json["l2_bytes_per_s"] = wrong;
    EXPECT_EQ(roof_rates_from_json(json), std::nullopt) << wrong;
  }
  Json json = to_json(counted_up());
  json["dram_bytes_per_s"] = 1e9;
  EXPECT_EQ(roof_rates_from_json(json), std::nullopt);
}

TEST(RoofRates, OfTheDataSheetAreThoseOfItsRoofs) {
  const RoofRates rates = data_sheet_rates(test_machine());
  const Roofs roofs = roofs_of(test_machine());
  EXPECT_EQ(rates.dram_bytes_per_s(), roofs.memory_roof("dram")->bytes_per_s);
  EXPECT_EQ(rates[Roof::l2], roofs.memory_roof("l2")->bytes_per_s);
  EXPECT_EQ(rates[Roof::l1], roofs.memory_roof("l1")->bytes_per_s);
  EXPECT_EQ(rates[Roof::shared], roofs.memory_roof("shared")->bytes_per_s);
  EXPECT_EQ(rates[Roof::fp32], roofs.compute.front().flops_per_s);
}

TEST(RoofsOf, HoldTheMeasuredRateAndTheDataSheetsBesideIt) {
  RoofRates measured;
  measured.set(Roof::dram_read, 117e9);
  measured.set(Roof::dram_triad, 119e9);
  measured.set(Roof::fp32, 2e12);
  const Roofs roofs = roofs_of(test_machine(), measured);
  const MemoryRoof& dram = *roofs.memory_roof("dram");
  EXPECT_EQ(dram.bytes_per_s, 119e9);
  EXPECT_EQ(dram.source, "measured");
  EXPECT_EQ(dram.data_sheet_bytes_per_s, 128e9);
  EXPECT_EQ(roofs.compute.front().flops_per_s, 2e12);
  EXPECT_EQ(roofs.compute.front().data_sheet_flops_per_s, 2.048e12);
  const MemoryRoof& l2 = *roofs.memory_roof("l2");  // it was not measured
  EXPECT_EQ(l2.bytes_per_s, 384e9);
  EXPECT_EQ(l2.source, "data sheet");
  EXPECT_EQ(l2.data_sheet_bytes_per_s, std::nullopt);
}

TEST(RoofsOf, KnowEachKindOfArithmetic) {
  RoofRates measured;
  measured.set(Roof::mma, 12e12);
  Machine machine = test_machine();
  EXPECT_EQ(compute_roof_of(machine, measured, Roof::mma).data_sheet_flops_per_s, std::nullopt) << "none has no figure";
  machine.tensor_fmas_per_clock = 1024;
  const ComputeRoof tensor = compute_roof_of(machine, measured, Roof::mma);
  EXPECT_EQ(tensor.name, "tensor");
  EXPECT_EQ(tensor.source, "measured");
  EXPECT_EQ(tensor.flops_per_s, 12e12);
  EXPECT_EQ(tensor.data_sheet_flops_per_s, machine.peak_tensor_flops_per_s());
  const ComputeRoof half = compute_roof_of(test_machine(), measured, Roof::half2);
  EXPECT_EQ(half.source, "data sheet");
  EXPECT_EQ(half.flops_per_s, test_machine().peak_half_flops_per_s());
  EXPECT_EQ(compute_roof_of(test_machine(), measured, Roof::fp32).flops_per_s,
            roofs_of(test_machine()).compute[0].flops_per_s);
}

TEST(RoofsOf, KeepTheirOrderWhicheverIsALittleFaster) {
  RoofRates measured;
  measured.set(Roof::l1, 1010e9);
  measured.set(Roof::shared, 1000e9);
  const Roofs roofs = roofs_of(test_machine(), measured);
  ASSERT_EQ(roofs.memory.size(), 4u);
  EXPECT_EQ(roofs.memory[2].level, "l1");
  EXPECT_EQ(roofs.memory[3].level, "shared");
}

}  // namespace
}  // namespace roofwalk
