#include "common/measure/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/records.h"

namespace roofwalk {
namespace {

using testing::test_machine;
using testing::vector_add_measurement;
using testing::vector_add_record;
using testing::vector_add_work;

TEST(Roofs, ComeFromTheDataSheetSlowestFirst) {
  const Roofs roofs = roofs_of(test_machine());
  ASSERT_EQ(roofs.memory.size(), 4u);
  EXPECT_EQ(roofs.memory[0].level, "dram");
  EXPECT_EQ(roofs.memory[0].bytes_per_s, 128e9);
  EXPECT_EQ(roofs.memory[1].level, "l2");
  EXPECT_EQ(roofs.memory[1].bytes_per_s, 384e9);
  EXPECT_EQ(roofs.memory_roof("l1")->bytes_per_s, 1024e9);
  ASSERT_EQ(roofs.compute.size(), 1u);
  EXPECT_EQ(roofs.compute[0].flops_per_s, 2.048e12);
  EXPECT_EQ(roofs.compute[0].source, "data sheet");
}

TEST(Measurement, OfAVectorAddIsExact) {
  const Measurement m = vector_add_measurement();
  EXPECT_EQ(m.useful_flops.value, 1048576);
  EXPECT_EQ(m.executed_flops.value, 1048576);
  EXPECT_EQ(m.dram_read_bytes.value, 8388608);
  EXPECT_EQ(m.dram_write_bytes.value, 4194304);
  EXPECT_EQ(m.l1_bytes.value, 12582912);
  EXPECT_EQ(m.l2_bytes.value, 12582912);
  EXPECT_EQ(m.level("dram").ai.value, 1.0 / 12);
  EXPECT_EQ(m.algorithmic_ai.value, 1.0 / 12);
  EXPECT_EQ(m.horizontal_gap.value, 1);
  EXPECT_DOUBLE_EQ(m.achieved_flops_per_s.value, 1048576 / 120e-6);
  EXPECT_DOUBLE_EQ(m.level("dram").roof.value, 128e9 / 12);
  EXPECT_DOUBLE_EQ(m.vertical_gap.value, 120.0 / 98.304);
}

Roofs memory_roofs_for_keys() {
  Roofs roofs = roofs_of(test_machine());
  roofs.compute.clear();
  roofs.is_memory_only = true;
  roofs.unit = WorkUnit::key;
  return roofs;
}

TEST(Measurement, UnderMemoryRoofsAloneHasNoPeak) {
  const Roofs roofs = memory_roofs_for_keys();
  // A million times the work: right of any ridge, where FP32's roof would be the lower one.
  const Measurement m =
      measure(vector_add_record(), {.useful_flops = std::int64_t{1} << 40, .compulsory_bytes = 12 << 20}, roofs);
  EXPECT_FALSE(m.peak_flops_per_s.known());
  EXPECT_DOUBLE_EQ(m.level("dram").roof.value, m.level("dram").ai.value * 128e9);
  EXPECT_DOUBLE_EQ(m.vertical_gap.value, 120.0 / 98.304);
  EXPECT_EQ(m.useful_flops.unit, "key");
  EXPECT_EQ(m.achieved_flops_per_s.unit, "key/s");
  EXPECT_EQ(m.algorithmic_ai.unit, "key/B");
  EXPECT_EQ(m.level("l1").roof.unit, "key/s");
}

TEST(Measurement, WithoutAKnownRoofHasNoGap) {
  Roofs roofs = roofs_of(test_machine());
  roofs.compute.clear();
  EXPECT_FALSE(measure(vector_add_record(), vector_add_work(), roofs).vertical_gap.known());
}

TEST(Measurement, OfKeysIsPlausibleWithoutFlops) {
  RunRecord record = vector_add_record();
  record.counters.set(Counter::flops_f32, 0);
  const Roofs keys = memory_roofs_for_keys(), flops = roofs_of(test_machine());
  EXPECT_TRUE(implausible(measure(record, vector_add_work(), keys), keys).empty());
  EXPECT_EQ(implausible(measure(record, vector_add_work(), flops), flops).size(), 1u);
}

TEST(Measurement, UnderTheTensorRoofCountsHalves) {
  RunRecord record = vector_add_record();
  record.counters.set(Counter::flops_f32, 0);
  record.counters.set(Counter::flops_f16, 1 << 20);
  Roofs roofs = roofs_of(test_machine());
  EXPECT_EQ(implausible(measure(record, vector_add_work(), roofs), roofs).size(), 1u);
  roofs.compute = {{"tensor", 16e12, "data sheet"}};
  EXPECT_TRUE(implausible(measure(record, vector_add_work(), roofs), roofs).empty());
}

TEST(Measurement, SectorUseIsOfGlobalMemoryAlone) {
  RunRecord record = vector_add_record();
  const auto use = [&](std::uint64_t ideal, std::uint64_t read, std::uint64_t written, std::uint64_t local) {
    record.counters.set(Counter::l1_ideal_sectors, ideal);
    record.counters.set(Counter::l1_read_sectors, read);
    record.counters.set(Counter::l1_write_sectors, written);
    record.counters.set(Counter::local_sectors, local);
    record.counters.set(Counter::l1_uncoalesced_sectors, 0);
    record.counters.set(Counter::l1_uncoalesced_ideal_sectors, 0);
    return measure(record, vector_add_work(), roofs_of(test_machine())).sector_use.value;
  };
  EXPECT_EQ(use(5, 33, 0, 0), 5.0 / 33);
  EXPECT_EQ(use(8, 20, 4, 16), 1);
  EXPECT_EQ(use(0, 16, 0, 16), 1);  // no access to global memory
  RunRecord uncounted;
  EXPECT_FALSE(measure(uncounted, vector_add_work(), roofs_of(test_machine())).sector_use.known());
}

TEST(Measurement, CountsAreRatiosByHand) {
  RunRecord record = vector_add_record();
  record.counters.set(Counter::shared_wavefronts, 300);
  record.counters.set(Counter::shared_bank_conflicts, 100);
  record.counters.set(Counter::warp_instructions, 1000);
  record.counters.set(Counter::thread_instructions, 24'000);
  record.counters.set(Counter::atomic_operations, 1 << 18);
  record.counters.set(Counter::atomic_flops, 1 << 19);
  record.counters.set(Counter::sm_cycles, 800);
  record.counters.set(Counter::sm_active_cycles, 600);
  record.counters.set(Counter::scheduler_cycles, 2400);
  record.counters.set(Counter::resident_warp_cycles, 3600);
  const Measurement m = measure(record, vector_add_work(), roofs_of(test_machine()));
  EXPECT_EQ(m.shared_wavefronts_over_least.get(), 1.5);
  EXPECT_EQ(m.active_lanes.get(), 0.75);
  EXPECT_EQ(m.executed_over_useful.get(), 1.5);
  EXPECT_EQ(m.atomics_per_element.get(), 0.25);
  EXPECT_EQ(m.sm_active.get(), 0.75);
  EXPECT_EQ(m.resident_warps_per_scheduler.get(), 1.5);
  EXPECT_EQ(m.active_lanes.obtained, Obtained::counted);
  EXPECT_EQ(m.sm_active.obtained, Obtained::modelled);
}

TEST(Measurement, CountsThatADeviceLacksAreAbsent) {
  const Measurement none = measure(RunRecord{}, vector_add_work(), roofs_of(test_machine()));
  for (const Quantity* count : {&none.shared_wavefronts_over_least, &none.active_lanes, &none.executed_over_useful,
                                &none.atomics_per_element, &none.sm_active, &none.resident_warps_per_scheduler}) {
    EXPECT_FALSE(count->known());
  }
  // Without shared memory there is nothing to compare.
  EXPECT_FALSE(vector_add_measurement().shared_wavefronts_over_least.known());
  EXPECT_TRUE(vector_add_measurement().atomics_per_element.known());
  // Hardware counts machine code, and no conflicts.
  RunRecord of_card;
  of_card.counters.set(Counter::machine_warp_instructions, 100);
  of_card.counters.set(Counter::machine_thread_instructions, 1600);
  of_card.counters.set(Counter::shared_wavefronts, 300);
  of_card.counters.set(Counter::sm_cycles, 800);
  of_card.counters.set(Counter::sm_active_cycles, 600);
  const Measurement card = measure(of_card, vector_add_work(), roofs_of(test_machine()));
  EXPECT_EQ(card.active_lanes.get(), 0.5);
  EXPECT_FALSE(card.shared_wavefronts_over_least.known());
  EXPECT_EQ(card.sm_active.obtained, Obtained::counted);
}

// In a chapter of operations on integers, those count; nothing executes keys.
TEST(Measurement, ExecutedOverUsefulGoesByTheUnit) {
  RunRecord record = vector_add_record();
  record.counters.set(Counter::integer_operations, 3 << 20);
  record.counters.set(Counter::tensor_integer_operations, 1 << 20);
  Roofs roofs = memory_roofs_for_keys();
  EXPECT_FALSE(measure(record, vector_add_work(), roofs).executed_over_useful.known());
  roofs.unit = WorkUnit::operation;
  EXPECT_EQ(measure(record, vector_add_work(), roofs).executed_over_useful.get(), 4);
}

// 1,048,576 elements: 393,216 compulsory sectors.
TEST(Measurement, SectorUseJudgesUncoalescedLoadsAlone) {
  RunRecord record = vector_add_record();
  const auto use = [&](std::uint64_t moved, std::uint64_t uncoalesced, std::uint64_t needed) {
    record.counters.set(Counter::l1_ideal_sectors, moved - uncoalesced + needed);
    record.counters.set(Counter::l1_read_sectors, moved);
    record.counters.set(Counter::l1_write_sectors, 0);
    record.counters.set(Counter::local_sectors, 0);
    record.counters.set(Counter::l1_uncoalesced_sectors, uncoalesced);
    record.counters.set(Counter::l1_uncoalesced_ideal_sectors, needed);
    return measure(record, vector_add_work(), roofs_of(test_machine())).sector_use.value;
  };
  EXPECT_EQ(use(100'000'000, 2'400'000, 300'000), 0.125);
  EXPECT_DOUBLE_EQ(use(100'000'000, 2'359'296, 294'912), 1 - 0.02064384);  // all data, once: three quarters
  EXPECT_EQ(use(100'000'000, 589'826, 294'913), 0.5);
}

TEST(Measurement, SaysHowEachNumberWasObtained) {
  const Measurement m = vector_add_measurement();
  EXPECT_EQ(m.useful_flops.obtained, Obtained::formula);
  EXPECT_EQ(m.dram_read_bytes.obtained, Obtained::counted);
  EXPECT_EQ(m.elapsed_ns.obtained, Obtained::modelled);
  EXPECT_EQ(m.achieved_flops_per_s.obtained, Obtained::modelled);
  RunRecord record = vector_add_record();
  record.time_is_modelled = false;
  record.bytes_are_modelled = true;
  const Measurement other = measure(record, vector_add_work(), roofs_of(test_machine()));
  EXPECT_EQ(other.elapsed_ns.obtained, Obtained::counted);
  EXPECT_EQ(other.level("dram").ai.obtained, Obtained::modelled);
}

TEST(Measurement, OfAllFlopTypesIsTheirSum) {
  RunRecord record = vector_add_record();
  record.counters.set(Counter::flops_f16, 1);
  record.counters.set(Counter::flops_f64, 20);
  record.counters.set(Counter::flops_tensor, 300);
  EXPECT_EQ(measure(record, vector_add_work(), roofs_of(test_machine())).executed_flops.value, 1048576 + 321);
}

// Bytes from the constant caches count as moved at L1.
TEST(Measurement, AtL1ConstantMemoryCounts) {
  RunRecord record = vector_add_record();
  const Measurement without = measure(record, vector_add_work(), roofs_of(test_machine()));
  EXPECT_EQ(without.constant_bytes.value, 0);
  EXPECT_EQ(without.level("l1").bytes.value, 12582912);
  record.counters.set(Counter::constant_bytes, 12582912);
  const Measurement m = measure(record, vector_add_work(), roofs_of(test_machine()));
  EXPECT_EQ(m.l1_bytes.value, 12582912);
  EXPECT_EQ(m.level("l1").bytes.value, 2 * 12582912);
  EXPECT_EQ(m.level("l1").ai.value, 1.0 / 24);
  EXPECT_EQ(m.level("l2").ai.value, 1.0 / 12);
}

// Hardware does not count atomics as FLOPs, but a kernel that sums with atomics has not skipped its work.
TEST(Measurement, KnowsTheSumsOfAtomicsAsWorkThatWasDone) {
  RunRecord record = vector_add_record();
  record.counters.set(Counter::flops_f32, 0);
  record.counters.set(Counter::atomic_flops, 1048576);
  const Measurement m = measure(record, vector_add_work(), roofs_of(test_machine()));
  EXPECT_EQ(m.executed_flops.value, 0);
  EXPECT_THAT(implausible(m, roofs_of(test_machine())), ::testing::IsEmpty());
  record.counters.set(Counter::atomic_flops, 1048576 / 2);
  EXPECT_THAT(implausible(measure(record, vector_add_work(), roofs_of(test_machine())), roofs_of(test_machine())),
              ::testing::ElementsAre(::testing::HasSubstr("work was skipped")));
}

TEST(Measurement, MayHaveFewerFlopsWhereAlgebraSavesSome) {
  RunRecord record = vector_add_record();
  record.counters.set(Counter::flops_f32, 1048576 / 2);
  Work work = vector_add_work();
  const auto reasons = [&] {
    return implausible(measure(record, work, roofs_of(test_machine())), roofs_of(test_machine()));
  };
  EXPECT_THAT(reasons(), ::testing::ElementsAre(::testing::HasSubstr("work was skipped")));
  work.least_flops = 1048576 / 2;
  EXPECT_THAT(reasons(), ::testing::IsEmpty());
}

// If FLOPs of one type were not counted, their total is unknown: the kernel may have used only that type.
TEST(Measurement, HasNoSumOfFlopsWhereATypeIsNotCounted) {
  RunRecord record = vector_add_record();
  Counters counters;
  for (const Counter type : {Counter::flops_f16, Counter::flops_f32, Counter::flops_f64}) counters.set(type, 7);
  record.counters = counters;
  EXPECT_FALSE(measure(record, vector_add_work(), roofs_of(test_machine())).executed_flops.known());
}

TEST(Measurement, AccusesNobodyOfWhatIsNotCounted) {
  const Roofs roofs = roofs_of(test_machine());
  RunRecord record = vector_add_record();
  record.counters.set(Counter::dram_write_bytes, 2 << 20);  // the other half is still in L2
  record.elapsed_ns *= 2;
  EXPECT_EQ(implausible(measure(record, vector_add_work(), roofs), roofs).size(), 1u);
  EXPECT_THAT(implausible(measure(record, vector_add_work(), roofs), roofs, {.dram_bytes = 2 << 20}),
              ::testing::IsEmpty());
  record = vector_add_record();
  record.counters.set(Counter::flops_f32, 0);
  EXPECT_EQ(implausible(measure(record, vector_add_work(), roofs), roofs).size(), 1u);
  EXPECT_THAT(implausible(measure(record, vector_add_work(), roofs), roofs, {.has_atomic_flops = true}),
              ::testing::IsEmpty());
}

TEST(Measurement, WithoutACounterIsUnsupportedNotZero) {
  RunRecord record = vector_add_record();
  record.counters = {};
  record.counters.set(Counter::l1_read_sectors, 10);
  record.counters.set(Counter::l1_write_sectors, 2);
  const Measurement m = measure(record, vector_add_work(), roofs_of(test_machine()));
  EXPECT_FALSE(m.dram_read_bytes.known());
  EXPECT_FALSE(m.executed_flops.known());
  EXPECT_FALSE(m.vertical_gap.known());
  EXPECT_FALSE(m.point("dram").has_value());
  ASSERT_TRUE(m.point("l1").has_value());
  EXPECT_EQ(m.level("l1").bytes.value, 12 * 32);
}

TEST(Measurement, ThatIsSoundIsPlausible) {
  EXPECT_THAT(implausible(vector_add_measurement(), roofs_of(test_machine())), ::testing::IsEmpty());
}

TEST(Measurement, OfTooFewBytesOrFlopsOrTooLittleTimeIsImplausible) {
  const Roofs roofs = roofs_of(test_machine());
  RunRecord few_bytes = vector_add_record();
  few_bytes.counters.set(Counter::dram_read_bytes, 0);
  EXPECT_FALSE(implausible(measure(few_bytes, vector_add_work(), roofs), roofs).empty());
  RunRecord few_flops = vector_add_record();
  few_flops.counters.set(Counter::flops_f32, 1 << 19);
  EXPECT_EQ(implausible(measure(few_flops, vector_add_work(), roofs), roofs).size(), 1u);
  few_flops.counters.set(Counter::flops_f16, 1 << 19);  // half precision is not the algorithm's
  EXPECT_THAT(implausible(measure(few_flops, vector_add_work(), roofs), roofs),
              ::testing::ElementsAre(::testing::HasSubstr("(besides 524 kFLOP in half precision)")));
  RunRecord too_fast = vector_add_record();
  too_fast.elapsed_ns = 90'000;
  EXPECT_EQ(implausible(measure(too_fast, vector_add_work(), roofs), roofs).size(), 1u);
}

}  // namespace
}  // namespace roofwalk
