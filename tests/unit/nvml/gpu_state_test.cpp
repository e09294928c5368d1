#include "common/device/cuda/nvml/gpu_state.h"
#include "common/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/fake_nvml.h"

namespace roofwalk {
namespace {

using ::testing::ElementsAre;
using testing::FakeNvml;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Doubt::Kind;

GpuState state_of(FakeNvml& fake, const NvmlApi& api, const std::string& uuid = "GPU-1") {
  const auto nvml = Nvml::open(api);
  EXPECT_TRUE(nvml.ok());
  const auto state = (*nvml)->state(uuid);
  EXPECT_TRUE(state.ok()) << (state ? "" : state.error().text());
  EXPECT_EQ(fake.open, 1);
  return *state;
}

GpuState state_of(FakeNvml& fake) { return state_of(fake, fake.api()); }

TEST(GpuState, HoldsWhatTheLibraryReports) {
  FakeNvml fake;
  fake.reasons = 0x4 | 0x20;
  fake.processes = {{.pid = 77, .used_bytes = 5 << 20}, {.pid = 78, .used_bytes = ~0ull}};
  GpuState state = state_of(fake);
  EXPECT_EQ(fake.open, 0) << "shut down as often as started";
  ASSERT_TRUE(state.processes);
  for (GpuProcess& process : *state.processes)
    process.name = process.user = "";  // those of whatever processes have these ids here
  EXPECT_EQ(json_text(to_json(state)), R"({
  "uuid": "GPU-1",
  "name": "NVIDIA Test",
  "driver_version": "580.65.06",
  "sm_clock_mhz": 1980,
  "sm_clock_max_mhz": 1980,
  "memory_clock_mhz": 2619,
  "memory_clock_max_mhz": 2619,
  "clock_reason_bits": 36,
  "clock_reasons": [
    "power_cap",
    "thermal"
  ],
  "temperature_c": 41,
  "power_w": 123.45,
  "power_limit_w": 700.0,
  "busy_percent": 3,
  "memory_used_bytes": 1073741824,
  "memory_total_bytes": 85899345920,
  "processes": [
    {
      "pid": 77,
      "used_bytes": 5242880,
      "name": "",
      "user": ""
    },
    {
      "pid": 78,
      "used_bytes": null,
      "name": "",
      "user": ""
    }
  ],
  "mig": false,
  "persistence": true,
  "ecc": true,
  "compute_mode": "default",
  "virtualization": "none"
})");
}

TEST(GpuState, ComesBackFromItsJson) {
  FakeNvml fake;
  fake.reasons = 0x44;
  fake.processes = {{.pid = 77, .used_bytes = 5 << 20}, {.pid = 78, .used_bytes = ~0ull}};
  const Json json = to_json(state_of(fake));
  EXPECT_EQ(to_json(gpu_state_from_json(json)), json);
  const Json empty = to_json(GpuState{.uuid = "GPU-1"});
  EXPECT_EQ(to_json(gpu_state_from_json(empty)), empty);
  // Values with wrong types are ignored.
  Json wrong = json;
  for (const auto& [key, value] : json.items()) wrong[key] = key == "uuid" ? Json("GPU-1") : Json{{"not", "this"}};
  EXPECT_EQ(to_json(gpu_state_from_json(wrong)), empty);
}

// An old driver has only the functions that all drivers have. The other functions' figures are absent, not 0.
TEST(GpuState, OfAnOldDriverHasHoles) {
  FakeNvml fake;
  const NvmlApi all = fake.api();
  NvmlApi old;
  old.init = all.init;
  old.shutdown = all.shutdown;
  old.count = all.count;
  old.device_by_index = all.device_by_index;
  old.device_by_uuid = all.device_by_uuid;
  old.uuid = all.uuid;
  const Json json = to_json(state_of(fake, old));
  for (const auto& [key, value] : json.items()) {
    EXPECT_EQ(value.is_null(), key != "uuid") << key << " is " << value;
  }
}

TEST(GpuState, WhatTheCardRefusesIsAbsent) {
  FakeNvml fake;
  fake.api();
  for (const char* what :
       {"driver_version", "name", "clock", "max_clock", "clock_reasons", "temperature", "old_temperature", "power",
        "power_limit", "utilization", "memory", "old_memory", "processes", "old_processes", "mig_mode",
        "persistence_mode", "ecc_mode", "compute_mode", "virtualization_mode"}) {
    fake.answers[what] = nvml::kNotSupported;
  }
  const Json json = to_json(state_of(fake));
  for (const auto& [key, value] : json.items()) {
    EXPECT_EQ(value.is_null(), key != "uuid") << key << " is " << value;
  }
}

TEST(GpuState, OlderFunctionsServeWhereTheNewAreMissing) {
  FakeNvml fake;
  fake.old_processes = {{.pid = 5, .used_bytes = 1}};
  NvmlApi api = fake.api();
  api.temperature = nullptr;
  api.processes = nullptr;
  fake.answers["memory"] = 13;  // NVML_ERROR_FUNCTION_NOT_FOUND
  const GpuState state = state_of(fake, api);
  EXPECT_EQ(state.temperature_c, 41);
  EXPECT_EQ(state.memory_used_bytes, (1ull << 30) + (500ull << 20));
  ASSERT_EQ(state.processes.value().size(), 1u);
  EXPECT_EQ(state.processes->front().pid, 5u);
}

TEST(GpuState, DriversWithALongerStructAreAskedInTheOldWay) {
  FakeNvml fake;
  fake.processes = {{.pid = 1}, {.pid = 0}};  // an entry of 535.54's longer struct, misread as the shorter one
  fake.old_processes = {{.pid = 5}};
  fake.driver = "535.54.03";
  EXPECT_EQ(state_of(fake).processes.value().size(), 1u);
  fake.driver = "535.98";
  EXPECT_EQ(state_of(fake).processes.value().size(), 2u);
}

TEST(GpuState, HasEveryProcessOfAFullGpu) {
  FakeNvml fake;
  for (unsigned pid = 1; pid <= 100; ++pid) fake.processes.push_back({.pid = pid});
  EXPECT_EQ(state_of(fake).processes.value().size(), 100u);
}

TEST(GpuState, KnowsWhoseAProcessIs) {
  if (!sees_host_pids()) GTEST_SKIP() << "process numbers are the container's own";
  FakeNvml fake;
  fake.processes = {{.pid = static_cast<unsigned>(::getpid())}};
  EXPECT_EQ(state_of(fake).processes.value().front().name, "nvml_test");
}

TEST(GpuState, OfASliceHasItsOwnMemoryAndItsCardsClock) {
  FakeNvml fake;
  fake.slice = "MIG-9";
  fake.mig = 1;
  const GpuState state = state_of(fake, fake.api(), "MIG-9");
  EXPECT_EQ(state.uuid, "MIG-9");
  EXPECT_EQ(state.name, "NVIDIA Test 1g.10gb");
  EXPECT_EQ(state.sm_clock_mhz, 1980);
  EXPECT_EQ(state.mig, true);
}

TEST(GpuState, ErrorsSayWhatToDo) {
  FakeNvml fake;
  const NvmlApi api = fake.api();
  for (const auto& [code, advice] : std::map<nvml::Return, std::string>{{nvml::kDriverNotLoaded, "not running"},
                                                                        {nvml::kLibraryMismatch, "was updated"}}) {
    fake.answers = {{"init", code}};
    const auto nvml = Nvml::open(api);
    ASSERT_FALSE(nvml);
    EXPECT_THAT(nvml.error().text(), HasSubstr(advice));
  }
  EXPECT_EQ(fake.open, 0) << "what did not start is not shut down";

  fake.answers = {};
  const auto nvml = Nvml::open(api);
  ASSERT_TRUE(nvml);
  EXPECT_THAT((*nvml)->state("GPU-2").error().text(), HasSubstr("GPU-2"));
  for (const nvml::Return code : {nvml::kGpuIsLost, nvml::kResetRequired}) {
    fake.answers = {{"clock_reasons", code}};
    const auto state = (*nvml)->state("GPU-1");
    ASSERT_FALSE(state) << code;
    EXPECT_THAT(state.error().text(), HasSubstr("restart"));
  }
}

TEST(GpuState, GpusThatAreNotOursAreLeftOut) {
  FakeNvml fake;
  const NvmlApi api = fake.api();
  const auto nvml = Nvml::open(api);
  ASSERT_TRUE(nvml);
  EXPECT_THAT((*nvml)->uuids().value(), ElementsAre("GPU-1"));
  fake.answers = {{"device_by_index", nvml::kNoPermission}};
  EXPECT_THAT((*nvml)->uuids().value(), IsEmpty());
  fake.answers = {{"device_by_index", nvml::kGpuIsLost}};
  EXPECT_FALSE((*nvml)->uuids());
}

TEST(NvmlLibrary, ThatIsNotThereIsAnError) {
  const auto none = load_nvml_api("libnvidia-ml-nowhere.so.1");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("NVIDIA's driver"));
  const auto other = load_nvml_api("libc.so.6");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().text(), HasSubstr("lacks functions"));
}

TEST(ClockReasons, HaveNames) {
  EXPECT_THAT(clock_reason_names(0), IsEmpty());
  EXPECT_THAT(clock_reason_names(0x8c8), ElementsAre("hardware_slowdown", "hardware_thermal", "power_brake", "0x800"));
  std::uint64_t known = 0;
  for (const ClockReason& reason : clock_reasons()) known |= reason.bit;
  EXPECT_EQ(known, 0x7ffu);
}

// ---- Comparison of two states

GpuState quiet() {
  GpuState state{.uuid = "GPU-1"};
  state.sm_clock_mhz = 1980;
  state.memory_clock_mhz = 2619;
  state.clock_reason_bits = 0;
  state.memory_used_bytes = 1ull << 30;
  state.processes = {{.pid = 10, .used_bytes = 400ull << 20}};
  state.mig = false;
  return state;
}

const OwnProcesses kOwn{.pids = {10}};

TEST(CompareStates, AQuietWindowHasNoDoubts) { EXPECT_THAT(compare(quiet(), quiet(), kOwn), IsEmpty()); }

TEST(CompareStates, NothingIsMadeOfWhatIsAbsent) {
  EXPECT_THAT(compare({.uuid = "GPU-1"}, {.uuid = "GPU-1"}, kOwn), IsEmpty());
  EXPECT_THAT(compare({.uuid = "GPU-1"}, quiet(), kOwn), IsEmpty());
  EXPECT_THAT(compare(quiet(), {.uuid = "GPU-1"}, kOwn), IsEmpty());
}

// Each clock reason, set before or after a pair of runs, has one of three effects: the pair is discarded, the reason is
// noted, or it is ignored.
TEST(CompareStates, EveryReasonHasItsWeight) {
  for (std::uint64_t bit = 1; bit <= 0x800; bit *= 2) {
    const bool spoils = bit == 0x8 || bit == 0x40 || bit == 0x80;
    const bool noted = bit == 0x4 || bit == 0x20;
    for (const bool at_end : {false, true}) {
      GpuState before = quiet(), after = quiet();
      (at_end ? after : before).clock_reason_bits = bit;
      const auto doubts = compare(before, after, kOwn);
      ASSERT_EQ(doubts.size(), spoils || noted ? 1u : 0u) << bit;
      EXPECT_EQ(spoiled(doubts), spoils) << bit;
      for (const Doubt& doubt : doubts) EXPECT_EQ(doubt.kind, Kind::clock_reason);
    }
  }
  GpuState after = quiet();
  after.clock_reason_bits = 0x4 | 0x20;
  after.power_limit_w = 72.0;
  after.temperature_c = 83;
  const auto doubts = compare(quiet(), after, kOwn);
  ASSERT_EQ(doubts.size(), 2u);
  EXPECT_EQ(doubts[0].text, "the GPU's clock was held down to stay within the power limit (72 W)");
  EXPECT_EQ(doubts[1].text, "the GPU's clock was held down to keep the GPU cool (83 C)");
}

TEST(CompareStates, AnotherProgramSpoilsTheWindow) {
  const GpuProcess foreign{.pid = 4242, .used_bytes = 3'100'000'000, .name = "python", .user = "alice"};
  GpuState before = quiet(), after = quiet();
  before.processes->push_back(foreign);
  for (int turn = 0; turn < 2; ++turn) {
    const auto doubts = compare(before, after, kOwn);
    ASSERT_EQ(doubts.size(), 1u) << "told once, also where both states have it";
    EXPECT_EQ(doubts[0].kind, Kind::foreign_process);
    EXPECT_EQ(doubts[0].text, "another program uses this GPU: python of alice (pid 4242, 3.1 GB)");
    EXPECT_TRUE(spoiled(doubts));
    after.processes->push_back(foreign);
  }
}

TEST(CompareStates, InAContainerProcessesAreCounted) {
  OwnProcesses own{.pids = {1}, .pids_are_hosts = false};
  EXPECT_THAT(compare(quiet(), quiet(), own), IsEmpty()) << "pid 10 of the host may be our own";
  GpuState after = quiet();
  after.processes->push_back({.pid = 11});
  const auto doubts = compare(quiet(), after, own);
  ASSERT_EQ(doubts.size(), 1u);
  EXPECT_EQ(doubts[0].kind, Kind::foreign_process);
  EXPECT_THAT(doubts[0].text, HasSubstr("2 processes use this GPU, and only 1"));
  own.processes = 2;
  EXPECT_THAT(compare(quiet(), after, own), IsEmpty());
}

TEST(CompareStates, MemoryTellsOfProcessesThatNobodyShows) {
  GpuState before = quiet(), after = quiet();
  before.processes.reset();
  after.processes.reset();
  after.memory_used_bytes = *after.memory_used_bytes + (50ull << 20);
  EXPECT_THAT(compare(before, after, kOwn), IsEmpty()) << "the driver's own bookkeeping";
  after.memory_used_bytes = *after.memory_used_bytes + (300ull << 20);
  for (int turn = 0; turn < 2; ++turn) {
    const auto doubts = compare(before, after, kOwn);
    ASSERT_EQ(doubts.size(), 1u);
    EXPECT_EQ(doubts[0].kind, Kind::foreign_memory);
    EXPECT_TRUE(spoiled(doubts));
    std::swap(before, after);  // a process that ended in between
  }
}

TEST(CompareStates, AClockThatMovesMoreThanFivePercentSpoilsTheWindow) {
  GpuState after = quiet();
  after.sm_clock_mhz = 1890;  // 4.5 % lower
  EXPECT_THAT(compare(quiet(), after, kOwn), IsEmpty());
  after.sm_clock_mhz = 1860;  // 6.1 % lower
  const auto doubts = compare(quiet(), after, kOwn);
  ASSERT_EQ(doubts.size(), 1u);
  EXPECT_EQ(doubts[0].kind, Kind::clock_moved);
  EXPECT_EQ(doubts[0].text, "the SM clock moved from 1980 to 1860 MHz (6 %)");
  EXPECT_TRUE(spoiled(compare(after, quiet(), kOwn))) << "up as well as down";

  GpuState capped = after;
  capped.clock_reason_bits = 0x4;  // a power limit: normal under load, and slows both runs of a pair alike
  EXPECT_FALSE(spoiled(compare(quiet(), capped, kOwn)));
  EXPECT_EQ(compare(quiet(), capped, kOwn).size(), 2u) << "both are told";

  after = quiet();
  after.memory_clock_mhz = 1313;
  EXPECT_THAT(compare(quiet(), after, kOwn).at(0).text, HasSubstr("the memory clock moved from 2619 to 1313 MHz"));

  after.clock_reason_bits = 0x1;
  EXPECT_THAT(compare(quiet(), after, kOwn), IsEmpty()) << "an idle GPU's clock says nothing";
}

TEST(CompareStates, AnotherGpuIsNoComparison) {
  GpuState other = quiet();
  other.uuid = "GPU-2";
  EXPECT_EQ(compare(quiet(), other, kOwn).at(0).kind, Kind::another_gpu);
  other = quiet();
  other.mig = true;
  EXPECT_TRUE(spoiled(compare(quiet(), other, kOwn)));
}

}  // namespace
}  // namespace roofwalk
