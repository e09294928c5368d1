#include "common/specs/slice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "common/base/json.h"
#include "common/specs/machine_file.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(MachineNames, ASlashAndANumberMakeASlice) {
  const auto expect = [](const char* name, const char* chip, std::optional<int> sms) {
    const MachineName parts = parse_machine_name(name);
    EXPECT_EQ(parts.chip, chip) << name;
    EXPECT_EQ(parts.sms, sms) << name;
    EXPECT_EQ(parts.text(), name);
  };
  expect("h100-sxm/8", "h100-sxm", 8);
  expect("labs/mine.toml/12", "labs/mine.toml", 12);
  expect("h100-sxm", "h100-sxm", std::nullopt);
  for (const char* name : {"labs/mine.toml", "h100-sxm/", "h100-sxm/8x", "h100-sxm/-8", "/8", "", "a/99999"})
    expect(name, name, std::nullopt);
}

// Of an H100's 132 SMs, 33 are a quarter.
TEST(Slices, HaveTheirShareOfTheChip) {
  const Machine chip = *load_machine("h100-sxm"), slice = *load_machine("h100-sxm/33");
  EXPECT_EQ(slice.name, "h100-sxm/33");
  EXPECT_EQ(slice.chip_name(), "h100-sxm");
  EXPECT_EQ(slice.file_name(), "h100-sxm-33-sms");
  EXPECT_THAT(slice.title, HasSubstr("33 of its 132 SMs"));
  EXPECT_TRUE(slice.is_slice());
  EXPECT_EQ(slice.chip_sms, 132);
  EXPECT_EQ(slice.sms, 33);
  EXPECT_EQ(slice.dram_banks, 640);
  EXPECT_EQ(slice.l2_bytes_per_clock, chip.l2_bytes_per_clock / 4);
  EXPECT_EQ(slice.atomic_updates_per_clock, chip.atomic_updates_per_clock / 4);
  EXPECT_EQ(slice.dram_bytes_per_s, chip.dram_bytes_per_s / 4);
  EXPECT_EQ(slice.dram_page_opens_per_s, chip.dram_page_opens_per_s / 4);
  EXPECT_EQ(slice.memory_bytes, chip.memory_bytes / 4);
  EXPECT_EQ(slice.block_dispatch_cycles, chip.block_dispatch_cycles * 4);
  EXPECT_EQ(slice.l2_bytes, chip.l2_bytes / 4);  // 3,200 sets of 16 lines in each half
  EXPECT_EQ(slice.ridge_flops_per_byte(), chip.ridge_flops_per_byte());
}

// An L2 consists of whole sets, in each of its halves.
TEST(Slices, HaveWholeSetsOfL2) {
  for (const std::string& name : machine_names()) {
    const Machine chip = *load_machine(name);
    for (const int sms : {1, 3, 5, chip.sms - 1}) {
      const Machine slice = *load_machine(MachineName{name, sms}.text());
      const std::int64_t unit = (slice.l2_far_latency_cycles != 0 ? 2 : 1) * slice.l2_ways * 128;
      EXPECT_EQ(slice.l2_bytes % unit, 0) << slice.name;
      const double share = static_cast<double>(chip.l2_bytes) * sms / chip.sms;
      EXPECT_LE(std::abs(static_cast<double>(slice.l2_bytes) - share), static_cast<double>(unit)) << slice.name;
      EXPECT_GE(slice.dram_banks, 1) << slice.name;
    }
  }
}

TEST(Slices, KeepWhatAnSmAndALaunchHave) {
  const Json chip = to_json(*load_machine("rtx4090")), slice = to_json(*load_machine("rtx4090/8"));
  const Json of_all = {"name",
                       "title",
                       "chip_sms",
                       "sms",
                       "memory_bytes",
                       "l2_bytes",
                       "dram_banks",
                       "l2_bytes_per_clock",
                       "l2_bytes_per_s",
                       "atomic_updates_per_clock",
                       "dram_bytes_per_s",
                       "dram_page_opens_per_s",
                       "block_dispatch_cycles",
                       "peak_fp32_flops_per_s",
                       "peak_half_flops_per_s",
                       "peak_tensor_flops_per_s",
                       "peak_mma_sync_flops_per_s",
                       "l1_bytes_per_s",
                       "shared_bytes_per_s"};
  for (const auto& [key, value] : chip.items()) {
    if (std::find(of_all.begin(), of_all.end(), key) != of_all.end()) continue;
    EXPECT_EQ(slice.at(key), value) << key;
  }
}

TEST(Slices, SayWhatTheirFiguresAreAShareOf) {
  const MachineFile slice = *load_machine_file("h100-sxm/8");
  int shares = 0;
  for (const MachineFigure& figure : slice.figures) {
    EXPECT_EQ(figure.value, to_json(slice.machine).at(figure.key)) << figure.key;
    shares += figure.source.starts_with("8 of 132 SMs' share of the chip's: ") ? 1 : 0;
  }
  EXPECT_EQ(shares, 8 + 1);  // and the number of SMs itself
}

TEST(Slices, AreNeitherEmptyNorTheWholeChip) {
  for (const char* name : {"classroom/0", "classroom/8", "classroom/132"}) {
    const auto slice = load_machine(name);
    ASSERT_FALSE(slice.ok()) << name;
    EXPECT_THAT(slice.error().text(), HasSubstr("a slice of classroom has 1 to 7 SMs")) << name;
  }
  EXPECT_THAT(load_machine("clasroom/4").error().text(), HasSubstr("there is no machine 'clasroom'"));
}

TEST(Slices, OfAFileAreRead) {
  const fs::path folder = fs::temp_directory_path() / ("roofwalk-slice-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  fs::copy_file(fs::path(TEST_SOURCE_DIR) / "common/specs/classroom.toml", folder / "mine.toml");
  const auto slice = load_machine((folder / "mine.toml").string() + "/4");
  fs::remove_all(folder);
  ASSERT_TRUE(slice.ok()) << slice.error().text();
  EXPECT_EQ(slice->name, "mine/4");
  EXPECT_EQ(slice->dram_bytes_per_s, 64e9);
}

TEST(Slices, PassFromProcessToProcess) {
  const Machine slice = *load_machine("h100-sxm/8");
  const auto read = machine_from_json(to_json(slice));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->chip_sms, 132);
  EXPECT_EQ(to_json(*read), to_json(slice));
}

}  // namespace
}  // namespace roofwalk
