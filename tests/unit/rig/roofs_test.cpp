// Measured roofs replace the data sheet's. They are stored under a key of everything that they depend on.
#include "grader/rig/roofs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "common/measure/roofs.h"
#include "tests/support/fake_device.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using testing::FakeMemory;

class KeptRoofs : public ::testing::Test {
 protected:
  KeptRoofs() {
    std::string name = (fs::temp_directory_path() / "roofwalk-roofs-XXXXXX").string();
    root_ = mkdtemp(name.data());
    fs::create_directories(root_ / "common");
    fs::copy(fs::path(TEST_SOURCE_DIR) / "common/roofs", root_ / "common/roofs");
    course_.root = root_;
    rig_.course = &course_;
    rig_.machine = *load_machine("classroom");
    rig_.device_kind = "virtual";
    rig_.roofs = roofs_of(rig_.machine);
    rig_.toolkit = find_toolkit(TEST_SOURCE_DIR);
    rig_.include = TEST_SOURCE_DIR "/common/include";
    rig_.cache = TEST_CACHE_DIR;
    rig_.open = [this]() -> Result<std::unique_ptr<Device>> {
      ++devices_;
      return std::unique_ptr<Device>(std::make_unique<testing::FakeDevice>(
          rig_.machine, [this](FakeMemory&, const Plan&) { return next_record(); }));
    };
  }
  ~KeptRoofs() override {
    std::error_code error;
    fs::remove_all(root_, error);
  }

  // Returns the record of a run. Each run takes a microsecond more than the one before and counts a million more of
  // everything, so every rate is 1e12 per second.
  Result<RunRecord> next_record() {
    const int run = ++runs_;
    RunRecord record;
    record.time_is_modelled = true;
    record.elapsed_ns = 1000.0 * run;
    for (std::size_t i = 0; i < kCounterCount; ++i) {
      record.counters.set(static_cast<Counter>(i), 1'000'000ull * static_cast<unsigned>(run));
    }
    record.fault = fault_;
    return record;
  }

  // Returns the number of roofs that a call measures, each on its own device.
  int measured_by(bool fresh = false) {
    const int before = devices_;
    const auto rates = measured_roofs(rig_, fresh);
    EXPECT_TRUE(rates) << rates.error().text();
    EXPECT_EQ((*rates)[Roof::fp32], 1e12);
    return devices_ - before;
  }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(root_ / ".cache/roofs")) found.push_back(entry.path());
    return found;
  }

  fs::path root_;
  Course course_;
  Rig rig_;
  std::optional<Fault> fault_;
  std::atomic<int> devices_{0}, runs_{0};
};

constexpr int kAll = static_cast<int>(kRoofs.size());

TEST_F(KeptRoofs, AreMeasuredOnce) {
  EXPECT_EQ(measured_by(), kAll);
  EXPECT_EQ(measured_by(), 0);
  EXPECT_EQ(files().size(), 1u);
  EXPECT_TRUE(files().front().filename().string().starts_with("classroom-"));
}

TEST_F(KeptRoofs, AreMeasuredAnewWhereOneAsksForFreshOnes) {
  measured_by();
  EXPECT_EQ(measured_by(true), kAll);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(KeptRoofs, AreMeasuredAnewForWhateverTheyDependOn) {
  measured_by();
  rig_.machine.dram_latency_cycles += 1;
  EXPECT_EQ(measured_by(), kAll) << "another machine file";
  rig_.toolkit->version += ".1";
  EXPECT_EQ(measured_by(), kAll) << "another toolkit";
  std::ofstream(root_ / "common/roofs/memory.cu", std::ios::app) << "// another line\n";
  EXPECT_EQ(measured_by(), kAll) << "another microkernel";
  EXPECT_EQ(measured_by(), 0);
}

TEST_F(KeptRoofs, DamagedAreMeasuredAnew) {
  measured_by();
  for (const char* text : {"", "{}", "{\"dram_bytes_per_s\": 1}", "no JSON"}) {
    std::ofstream(files().front()) << text;
    EXPECT_EQ(measured_by(), kAll) << text;
    EXPECT_EQ(measured_by(), 0);
  }
}

TEST_F(KeptRoofs, AreUsedInPlaceOfTheDataSheets) {
  ASSERT_TRUE(use_measured_roofs(rig_));
  EXPECT_EQ(rig_.roofs.memory_roof("dram")->bytes_per_s, 2e12);  // bytes read and written
  EXPECT_EQ(rig_.roofs.memory_roof("dram")->data_sheet_bytes_per_s, 128e9);
  EXPECT_EQ(rig_.roofs.compute.front().flops_per_s, 1e12);
}

TEST_F(KeptRoofs, NeedAToolkitThatTheDataSheetDoesNot) {
  rig_.toolkit = Error{"there is no nvcc"};
  ASSERT_TRUE(use_measured_roofs(rig_));
  EXPECT_EQ(rig_.roofs.memory_roof("dram")->source, "data sheet");
  const auto rates = measured_roofs(rig_);
  ASSERT_FALSE(rates);
  EXPECT_EQ(rates.error().message, "there is no nvcc");
}

TEST_F(KeptRoofs, AreNotKeptAfterTrouble) {
  fault_ = Fault{};
  fault_->message = "out of bounds";
  EXPECT_FALSE(use_measured_roofs(rig_));
  EXPECT_FALSE(fs::exists(root_ / ".cache/roofs"));
}

TEST_F(KeptRoofs, OfADisturbedGpuServeOnce) {
  ::setenv("ROOFWALK_LOCK_DIR", root_.c_str(), 1);
  rig_.device_kind = "cuda";
  rig_.gpu = {.uuid = "GPU-00000000-0000-0000-0000-000000000002", .driver_version = 13000};
  GpuState state{.uuid = rig_.gpu.uuid};
  rig_.gpu_state = [&]() -> Result<GpuState> { return state; };
  state.clock_reason_bits = 0x80;  // a power brake
  EXPECT_TRUE(measured_roofs(rig_));
  EXPECT_FALSE(fs::exists(root_ / ".cache/roofs"));
  state.clock_reason_bits = 0;
  EXPECT_TRUE(measured_roofs(rig_));
  EXPECT_EQ(files().size(), 1u);
  ::unsetenv("ROOFWALK_LOCK_DIR");
}

TEST_F(KeptRoofs, NeedNoFolderThatCanBeWritten) {
  std::ofstream(root_ / ".cache") << "a file where a folder should be";
  EXPECT_EQ(measured_by(), kAll);
  EXPECT_EQ(measured_by(), kAll);
}

}  // namespace
}  // namespace roofwalk
