// Tests of the records of real GPUs, and of the virtual GPU's error against them.
#include "tests/gpu/gpu_record.h"
#include "common/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/base/subprocess.h"
#include "common/device/virtual/virtual_device.h"
#include "tests/gpu/ncu.h"
#include "tests/gpu/ruler.h"
#include "tests/support/golden.h"
#include "tests/support/part_of_today.h"

namespace roofwalk::test {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json attempt_of(double dram_bytes, double elapsed_ns) {
  return {{"chapter", "vector-add"},
          {"file", "solutions/01-vector-add/step1.cu"},
          {"device", {{"kind", "cuda"}}},
          {"bytes_are_modelled", false},
          {"dram_read_bytes", dram_bytes / 2},
          {"dram_write_bytes", dram_bytes / 2},
          {"elapsed_ns", elapsed_ns},
          {"pairs", {{"samples", {{"starter_ns", {2.0, 2.1}}, {"attempt_ns", {1.0, 1.1}}}}}}};
}

Json good_record() {
  return {{"schema", "roofwalk.gpu_record/1"},
          {"made_at", "2026-01-01T00:00:00Z"},
          {"version", "roofwalk 0.1.0"},
          {"driver_version", "13.0"},
          {"toolkit", "13.0.88"},
          {"gpu", {{"name", "A card"}, {"uuid_sha256", std::string(64, 'a')}, {"machine", "classroom"}}},
          {"doctor", {{"ready", true}}},
          {"checks", {{"Gpu.HasRoofs", "passed"}}},
          {"ruler", Json::array({Json::object()})},
          {"roofs", {{"l2_bytes_per_s", 1.0}}},
          {"attempts", Json::array({attempt_of(100, 10)})}};
}

TEST(GpuRecord, ThatIsWholeIsBelieved) { EXPECT_THAT(flaws_of(good_record()), IsEmpty()); }

TEST(GpuRecord, WithoutWhereItComesFromIsNot) {
  for (const char* key : {"driver_version", "toolkit", "version", "made_at", "doctor", "checks", "ruler", "roofs"}) {
    Json record = good_record();
    record.erase(key);
    EXPECT_THAT(flaws_of(record), ElementsAre(HasSubstr(key))) << key;
  }
  Json record = good_record();
  record["gpu"]["uuid_sha256"] = "GPU-12345678-1234-1234-1234-123456789abc";  // the UUID itself is private
  EXPECT_THAT(flaws_of(record), Contains(HasSubstr("hash of the GPU's UUID")));
  record = good_record();
  record["gpu"].erase("name");
  EXPECT_THAT(flaws_of(record), ElementsAre(HasSubstr("gpu.name")));
  EXPECT_THAT(flaws_of(Json::object()), ElementsAre(HasSubstr("no roofwalk.gpu_record/1")));
}

// The doctor and every attempt contain NVML's data: the GPU's UUID and other users' processes. Both must be removed
// everywhere in the record.
TEST(GpuRecord, TellsNobodysUuidAndNobodysProcesses) {
  const std::string uuid = "GPU-12345678-1234-1234-1234-123456789abc";
  Json record = good_record();
  record["attempts"][0]["gpu"]["before"] = {
      {"uuid", uuid}, {"processes", Json::array({Json{{"pid", 4711}, {"name", "python"}, {"user", "anna"}}})}};
  record["attempts"][0]["notes"] = {"another program uses this GPU: python of anna (pid 4711)"};
  EXPECT_THAT(flaws_of(record), ElementsAre(HasSubstr("it tells the GPU's UUID")));
  const Json shown = without_private(record);
  EXPECT_THAT(flaws_of(shown), IsEmpty());
  EXPECT_EQ(shown["attempts"][0]["gpu"]["before"]["processes"], 1);
  for (const char* word : {"12345678", "anna", "python", "4711"}) {
    EXPECT_EQ(json_line(shown).find(word), std::string::npos) << word;
  }
  EXPECT_EQ(without_private(good_record()), good_record());
}

TEST(GpuRecord, WithoutRawSamplesIsNot) {
  Json record = good_record();
  record["attempts"][0].erase("pairs");
  EXPECT_THAT(flaws_of(record), ElementsAre("vector-add step1.cu has no raw samples of its times"));
  record = good_record();
  record["attempts"][0]["pairs"]["samples"]["attempt_ns"] = {1.0};
  EXPECT_THAT(flaws_of(record), ElementsAre(HasSubstr("no raw samples")));
  record["attempts"] = Json::array();
  EXPECT_THAT(flaws_of(record), ElementsAre("it has no attempts"));
  record = good_record();
  record["attempts"][0]["device"]["kind"] = "virtual";
  EXPECT_THAT(flaws_of(record), ElementsAre("vector-add step1.cu did not run on a GPU"));
}

TEST(VirtualError, IsAShareOfTheCardsFigure) {
  Json modelled = attempt_of(110, 8);
  const auto rows = errors_of(attempt_of(100, 10), modelled);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].figure, "DRAM bytes");
  EXPECT_NEAR(rows[0].error(), 0.1, 1e-12);
  EXPECT_EQ(rows[1].figure, "time");
  EXPECT_NEAR(rows[1].error(), -0.2, 1e-12);
  EXPECT_EQ(table_of(rows),
            "| chapter | kernel | figure | card | virtual GPU | error |\n|---|---|---|---:|---:|---:|\n"
            "| vector-add | step1.cu | DRAM bytes | 100 | 110 | +10.0 % |\n"
            "| vector-add | step1.cu | time | 10 | 8 | -20.0 % |\n"
            "\nDRAM bytes: off by 10.0 % in the median and 10.0 % at most, of 1 kernels.\n"
            "\ntime: off by 20.0 % in the median and 20.0 % at most, of 1 kernels.\n");
}

TEST(VirtualError, IsNotTakenFromBytesThatTheVirtualGpuCountedItself) {
  Json attempt = attempt_of(100, 10);
  attempt["bytes_are_modelled"] = true;
  const auto rows = errors_of(attempt, attempt_of(100, 10));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].figure, "time");
}

TEST(Ncu, IsReadByItsColumns) {
  const auto metrics = metrics_of_ncu(
      "==PROF== Connected to process 12\n"
      "\"ID\",\"Process ID\",\"Kernel Name\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\"\n"
      "\"\",\"\",\"\",\"byte\",\"nsecond\"\n"
      "\"0\",\"12\",\"triad(const float4 *, float4 *)\",\"1,024\",\"77.5\"\n");
  ASSERT_TRUE(metrics.ok());
  EXPECT_EQ(metrics->size(), 2u);
  EXPECT_EQ(metrics->at("dram__bytes_read.sum"), 1024);
  EXPECT_EQ(metrics->at("gpu__time_duration.sum"), 77.5);
  EXPECT_FALSE(metrics_of_ncu("==ERROR== ERR_NVGPUCTRPERM\n").ok());
}

// On the virtual GPU, the ruler's counts must equal those derived by hand exactly.
TEST(Ruler, IsRightOnTheVirtualGpu) {
  Runner runner(make_virtual_device(*load_machine("classroom")));
  const auto rows = measure_ruler(runner);
  ASSERT_TRUE(rows.ok()) << rows.error().text();
  for (const RulerRow& row : *rows) {
    if (!row.by_hand) continue;
    EXPECT_EQ(row.value, row.by_hand) << row.name;
  }
  EXPECT_EQ(to_json(ruler_rows_of(to_json(*rows))), to_json(*rows));
  RulerRow off{"", "B", 103, 100, 0.02};
  EXPECT_FALSE(off.is_right());
  off.value = 102;
  EXPECT_TRUE(off.is_right());
}

std::vector<fs::path> recorded() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(GPU_RECORDS)) {
    if (entry.is_directory()) files.push_back(entry.path() / "record.json");
  }
  return files;
}

Json json_of(const fs::path& file) {
  std::ifstream in(file);
  return parse_json(std::string(std::istreambuf_iterator<char>(in), {}));
}

TEST(GpuRecords, AreAllWhole) {
  for (const fs::path& file : recorded()) EXPECT_THAT(flaws_of(json_of(file)), IsEmpty()) << file;
}

// Runs recorded kernels again, those of a part (part_of_today.h), on the virtual GPU with the machine file of the
// recorded card. The errors of the virtual GPU must be those in errors.md, beside the record.
TEST(Recorded, ErrorsAreThoseInThePage) {
  if (recorded().empty()) GTEST_SKIP() << "skipped: no GPU has been recorded yet";
  const auto part = part_of_today();
  SCOPED_TRACE(how_to_repeat(part));
  for (const fs::path& file : recorded()) {
    const Json record = json_of(file);
    std::vector<ErrorRow> rows;
    std::uint64_t number = 0;
    for (const Json& attempt : record["attempts"]) {
      if (number++ % kParts != part.value_or(0) && part) continue;
      const auto answer =
          run_command({.arguments = {E2E_PROGRAM, "run", attempt["chapter"].text(), "--kernel", attempt["file"].text(),
                                     "--device", "virtual:" + record["gpu"].value("machine", ""), "--format", "json"},
                       .working_directory = source_root(),
                       .timeout_s = 3600,
                       .max_output_bytes = 64 << 20});
      ASSERT_TRUE(answer.ok()) << answer.error().text();
      const Json modelled = parse_json(answer->output);
      ASSERT_TRUE(modelled.is_object()) << answer->output;
      for (const ErrorRow& row : errors_of(attempt, modelled)) rows.push_back(row);
    }
    const fs::path page = file.parent_path() / "errors.md";
    if (!part) {
      roofwalk::testing::expect_golden(page, table_of(rows));
      continue;
    }
    ASSERT_FALSE(rows.empty());
    std::ifstream in(page);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    for (const ErrorRow& row : rows) EXPECT_THAT(text, HasSubstr(line_of(row)));
  }
}

}  // namespace
}  // namespace roofwalk::test
