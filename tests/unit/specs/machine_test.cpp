#include "common/specs/machine.h"
#include "common/base/json.h"
#include "common/specs/machine_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string read_text(const fs::path& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

std::string classroom_text() { return read_text(fs::path(TEST_SOURCE_DIR) / "common/specs/classroom.toml"); }

// Writes a machine file and loads it.
class MachineFileTest : public testing::Test {
 protected:
  MachineFileTest() { fs::create_directories(folder_); }
  ~MachineFileTest() override { fs::remove_all(folder_); }

  Result<Machine> load(const std::string& text) {
    std::ofstream(file_) << text;
    return load_machine(file_.string());
  }

  // Returns classroom.toml with the first line that starts with `key` replaced.
  std::string with_line(const std::string& key, const std::string& line) {
    std::istringstream in(classroom_text());
    std::string out, old;
    bool found = false;
    while (std::getline(in, old)) {
      const bool hit = !found && old.starts_with(key + " ");
      found |= hit;
      out += (hit ? line : old) + "\n";
    }
    EXPECT_TRUE(found) << key;
    return out;
  }

  void expect_error(const std::string& text, const std::string& message, bool has_line = true) {
    const auto machine = load(text);
    ASSERT_FALSE(machine.ok()) << message;
    EXPECT_THAT(machine.error().message, HasSubstr(message));
    EXPECT_EQ(machine.error().file, file_.string());
    EXPECT_EQ(machine.error().line > 0, has_line) << machine.error().text();
  }

  fs::path folder_ = fs::temp_directory_path() / ("roofwalk-specs-" + std::to_string(::getpid()));
  fs::path file_ = folder_ / "odd.toml";
};

TEST(Classroom, IsTheMachineOfTheDesign) {
  const auto machine = load_machine("classroom");
  ASSERT_TRUE(machine.ok()) << machine.error().text();
  EXPECT_EQ(machine->name, "classroom");
  EXPECT_EQ(machine->compute_capability, 80);
  EXPECT_EQ(machine->arch, "compute_80");
  EXPECT_EQ(machine->sms, 8);
  EXPECT_EQ(machine->clock_hz, 1e9);
  EXPECT_EQ(machine->max_threads_per_sm, 1024);
  EXPECT_EQ(machine->registers_per_sm, 65536);
  EXPECT_EQ(machine->l1_bytes, 64 << 10);
  EXPECT_EQ(machine->shared_bytes_per_sm, 64 << 10);
  EXPECT_EQ(machine->l2_bytes, 256 << 10);
  EXPECT_EQ(machine->dram_bytes_per_s, 128e9);
  EXPECT_EQ(machine->dram_latency_cycles, 750);
  EXPECT_EQ(machine->launch_ns, 2500);
  // 8 SMs x 128 lanes x 2 FLOP x 1 GHz over 128 GB/s.
  EXPECT_EQ(machine->peak_fp32_flops_per_s(), 2.048e12);
  EXPECT_EQ(machine->ridge_flops_per_byte(), 16.0);
}

TEST(Machines, EveryFileOfTheProjectLoads) {
  const auto names = machine_names();
  ASSERT_THAT(names, testing::Contains("classroom"));
  for (const std::string& name : names) {
    const auto machine = load_machine(name);
    EXPECT_TRUE(machine.ok()) << machine.error().text();
  }
}

// Whether the machine is invented: the source of its first figure, `arch`, says so.
bool is_invented(const MachineFile& file) { return file.figures.front().source.starts_with("invented"); }

TEST(Machines, ARealOneSaysWhatItsDataSheetPromisesAndWhatItsDriverCallsIt) {
  int real = 0;
  for (const std::string& name : machine_names()) {
    SCOPED_TRACE(name);
    const MachineFile file = *load_machine_file(name);
    if (is_invented(file)) continue;
    ++real;
    EXPECT_FALSE(file.machine.driver_name.empty());
    std::vector<std::string> promises;
    for (const MachineFigure& promise : file.data_sheet) promises.push_back(promise.key);
    // Some data sheets give no figure for fp16 outside of tensor cores.
    EXPECT_THAT(promises, testing::IsSupersetOf({"fp32_flops_per_s", "tensor_flops_per_s", "dram_bytes_per_s"}));
  }
  EXPECT_GE(real, 3);
}

TEST(Machines, PeaksAreThoseOfTheirDataSheets) {
  for (const std::string& name : machine_names()) {
    const MachineFile file = *load_machine_file(name);
    const std::map<std::string, double> peaks = {{"fp32_flops_per_s", file.machine.peak_fp32_flops_per_s()},
                                                 {"half_flops_per_s", file.machine.peak_half_flops_per_s()},
                                                 {"tensor_flops_per_s", file.machine.peak_tensor_flops_per_s()},
                                                 {"dram_bytes_per_s", file.machine.dram_bytes_per_s}};
    for (const MachineFigure& promise : file.data_sheet) {
      EXPECT_NEAR(peaks.at(promise.key) / promise.value.get<double>(), 1, 0.02) << name << ": " << promise.key;
    }
  }
}

// These relations hold on any chip on which kernels can reach the roofs.
TEST(Machines, FiguresOfAFileFitEachOther) {
  for (const std::string& name : machine_names()) {
    SCOPED_TRACE(name);
    const Machine m = *load_machine(name);
    EXPECT_LT(m.dram_bytes_per_s, m.l2_bytes_per_s());
    EXPECT_LT(m.l2_bytes_per_s(), m.l1_bytes_per_s());
    EXPECT_LE(m.l1_bytes_per_s(), m.shared_bytes_per_s());
    EXPECT_GE(m.l2_port_bytes_per_clock * m.sms, m.l2_bytes_per_clock);
    EXPECT_LT(m.peak_fp32_flops_per_s(), m.peak_tensor_flops_per_s());
    EXPECT_LE(m.max_threads_per_sm * 32, m.registers_per_sm);  // at full occupancy a thread has at least 32 registers
    EXPECT_LT(m.launch_ns, 10000);
    // Little's law: an SM's sectors in flight must suffice for its share of L2 and DRAM bandwidth.
    constexpr double kSectorBytes = 32;
    EXPECT_GE(m.sectors_in_flight_per_sm * kSectorBytes, m.l2_bytes_per_clock / m.sms * m.l2_latency_cycles);
    EXPECT_GE(m.sectors_in_flight_per_sm * kSectorBytes,
              m.dram_bytes_per_s / m.clock_hz / m.sms * m.dram_latency_cycles);
  }
}

TEST(Machines, AFileTellsWhereItsFiguresComeFrom) {
  for (const std::string& name : machine_names()) {
    SCOPED_TRACE(name);
    const MachineFile file = *load_machine_file(name);
    ASSERT_FALSE(file.figures.empty());
    EXPECT_EQ(file.figures.front().key, "arch");
    EXPECT_EQ(file.figures.back().key, "launch_ns");
    EXPECT_EQ(file.figures.back().unit, "ns");
    EXPECT_EQ(file.figures.back().value, to_json(file.machine)["launch_ns"]);
    std::vector<MachineFigure> figures = file.figures;
    figures.insert(figures.end(), file.data_sheet.begin(), file.data_sheet.end());
    for (const MachineFigure& figure : figures) EXPECT_THAT(figure.source, testing::Not(testing::IsEmpty()));
    // If a file explains an abbreviation for a source, some figure uses it.
    for (const auto& [source, meaning] : file.sources) {
      const bool used = std::any_of(figures.begin(), figures.end(), [&, name = source](const auto& figure) {
        return figure.source.find(name) != std::string::npos;
      });
      EXPECT_TRUE(used) << source;
    }
  }
}

TEST(Machines, AnUnknownNameSaysWhichThereAre) {
  for (const char* name : {"clasroom", "", "../specs/classroom"}) {
    const auto machine = load_machine(name);
    ASSERT_FALSE(machine.ok());
    EXPECT_THAT(machine.error().text(), HasSubstr("classroom"));
  }
}

TEST(Machines, JsonHoldsEveryFigure) {
  const Json json = to_json(*load_machine("classroom"));
  EXPECT_EQ(json["sms"], 8);
  EXPECT_EQ(json["memory_bytes"], 1073741824);
  EXPECT_EQ(json["ridge_flops_per_byte"], 16.0);
}

TEST_F(MachineFileTest, TheUnchangedFileLoads) { EXPECT_TRUE(load(classroom_text()).ok()); }

// For each figure in turn, removes its source, and then the whole line.
TEST_F(MachineFileTest, EveryFigureNeedsItsKeyAndItsSource) {
  std::istringstream in(classroom_text());
  std::string line;
  int figures = 0;
  while (std::getline(in, line)) {
    const std::size_t source = line.find(" source = ");
    if (source == std::string::npos) continue;
    ++figures;
    const std::string key = line.substr(0, line.find(' '));
    const std::string before = line.substr(0, line.rfind(',', source));
    expect_error(with_line(key, before + " }"), "'" + key + "' has no source");
    expect_error(with_line(key, before + ", source = \"  \" }"), "'" + key + "' has no source");
    expect_error(with_line(key, ""), "the key '" + key + "' is missing", /*has_line=*/false);
  }
  EXPECT_EQ(figures, 76);
}

TEST_F(MachineFileTest, UnitsMustBeThoseOfTheCode) {
  expect_error(with_line("dram_bytes_per_s", R"(dram_bytes_per_s = { value = 128, unit = "GB/s", source = "x" })"),
               "'dram_bytes_per_s' must have the unit \"bytes/s\"");
  expect_error(with_line("sms", R"(sms = { value = 8, source = "x" })"), "must have the unit");
}

TEST_F(MachineFileTest, FiguresMustBeSane) {
  for (const char* value : {"0", "-8", "100000"}) {
    expect_error(with_line("sms", std::string("sms = { value = ") + value + R"(, unit = "SMs", source = "x" })"),
                 "'sms' is " + std::string(value));
  }
  for (const char* value : {"8.5", "8.0", "\"8\"", "true", "[8]"}) {
    expect_error(with_line("sms", std::string("sms = { value = ") + value + R"(, unit = "SMs", source = "x" })"),
                 "'sms' must be a whole number");
  }
  for (const char* value : {"nan", "inf", "-inf", "0"}) {
    expect_error(
        with_line("clock_hz", std::string("clock_hz = { value = ") + value + R"(, unit = "Hz", source = "x" })"),
        "'clock_hz' is");
  }
}

TEST_F(MachineFileTest, FiguresMustAgreeWithEachOther) {
  const auto number = [](const std::string& key, const std::string& value, const std::string& unit) {
    return key + " = { value = " + value + ", unit = \"" + unit + "\", source = \"x\" }";
  };
  expect_error(with_line("max_threads_per_sm", number("max_threads_per_sm", "1000", "threads")), "whole warps");
  expect_error(with_line("max_threads_per_sm", number("max_threads_per_sm", "512", "threads")),
               "more than an SM holds");
  expect_error(with_line("max_shared_bytes_per_block", number("max_shared_bytes_per_block", "65536", "bytes")),
               "more than 'shared_bytes_per_sm'");
  expect_error(with_line("fp32_lanes_per_sm", number("fp32_lanes_per_sm", "256", "lanes")), "can feed");
  expect_error(with_line("special_lanes_per_sm", number("special_lanes_per_sm", "129", "lanes")), "can feed");
  expect_error(with_line("l1_bytes", number("l1_bytes", "65000", "bytes")), "'l1_bytes' must be whole sets");
  expect_error(with_line("l2_bytes", number("l2_bytes", "262143", "bytes")), "'l2_bytes' must be whole sets");
  expect_error(with_line("constant_l1_bytes", number("constant_l1_bytes", "2000", "bytes")),
               "'constant_l1_bytes' must be whole sets");
  expect_error(with_line("constant_l15_bytes", number("constant_l15_bytes", "65000", "bytes")),
               "'constant_l15_bytes' must be whole sets");
  expect_error(with_line("constant_l15_line_bytes", number("constant_l15_line_bytes", "192", "bytes")),
               "'constant_l15_bytes' must be whole sets");
  expect_error(with_line("constant_l1_line_bytes", number("constant_l1_line_bytes", "512", "bytes")),
               "must be whole lines of L2 (128 bytes) and of 'constant_l1_line_bytes'");
  expect_error(with_line("constant_l15_latency_cycles", number("constant_l15_latency_cycles", "28", "cycles")),
               "latencies must grow");
  expect_error(with_line("l1_latency_cycles", number("l1_latency_cycles", "206", "cycles")), "latencies must grow");
}

TEST_F(MachineFileTest, UnknownKeysAreRefusedWithTheirLine) {
  const auto machine = load("smss = 8\n" + classroom_text());
  ASSERT_FALSE(machine.ok());
  EXPECT_EQ(machine.error().text(), file_.string() + ":1: unknown key 'smss'");
  expect_error(with_line("sms", R"(sms = { value = 8, unit = "SMs", source = "x", note = "y" })"),
               "unknown key 'note'");
}

TEST_F(MachineFileTest, OtherShapesAreRefused) {
  expect_error(with_line("sms", "sms = 8"), "'sms' must be { value = ...");
  expect_error(with_line("sms", R"(sms = { unit = "SMs", source = "x" })"), "'sms' must be { value = ...");
  expect_error(with_line("title", "title = 3"), "'title'");
  for (const char* arch : {"sm_80", "compute_", "compute_8", "compute_80x", "compute_8000", "80"}) {
    expect_error(with_line("arch", std::string("arch = { value = \"") + arch + R"(", source = "x" })"),
                 "'arch' must be");
  }
  EXPECT_TRUE(load(with_line("arch", R"(arch = { value = "compute_90a", source = "x" })")).ok());
}

TEST_F(MachineFileTest, SourcesAreATableOfTexts) {
  expect_error(with_line("\"gpu-benches\"", "\"gpu-benches\" = 3"), "'gpu-benches' in [sources] must be a text");
  expect_error("sources = 3\n" + classroom_text().substr(0, classroom_text().find("[sources]")),
               "'sources' must be a table");
}

TEST_F(MachineFileTest, ADataSheetPromisesPeaksAndBandwidth) {
  EXPECT_THAT(load_machine_file("classroom")->data_sheet, testing::IsEmpty());
  const std::string promise = R"(fp32_flops_per_s = { value = 19.5e12, unit = "FLOP/s", source = "x" })";
  const auto sheet = [&](const std::string& lines) { return classroom_text() + "\n[data_sheet]\n" + lines + "\n"; };
  // In a machine file outside the project, figures need not meet the data sheet's promises.
  ASSERT_TRUE(load(sheet(promise)).ok());
  const auto file = load_machine_file(file_.string());
  ASSERT_EQ(file->data_sheet.size(), 1u);
  EXPECT_EQ(file->data_sheet.front().key, "fp32_flops_per_s");
  EXPECT_EQ(file->data_sheet.front().unit, "FLOP/s");
  EXPECT_EQ(file->data_sheet.front().source, "x");
  EXPECT_EQ(file->data_sheet.front().value, 19.5e12);
  expect_error(sheet("fp32_flops_per_s = 19.5e12"), "'fp32_flops_per_s' must be { value = ...");
  expect_error(sheet(R"(fp32_flops_per_s = { value = 19.5, unit = "TFLOP/s", source = "x" })"), "must have the unit");
  expect_error(sheet(R"(fp32_flops_per_s = { value = 19.5, unit = "FLOP/s", source = "x" })"), "not between");
  expect_error(sheet(R"(fp32_flops_per_s = { value = 19.5e12, unit = "FLOP/s" })"), "has no source");
  expect_error(sheet(R"(fp8_flops_per_s = { value = 2e15, unit = "FLOP/s", source = "x" })"),
               "unknown key 'fp8_flops_per_s' in [data_sheet]");
  expect_error("data_sheet = 3\n" + classroom_text(), "'data_sheet' must be a table");
}

TEST_F(MachineFileTest, ItsNameIsItsOwn) {
  for (const char* name : {"classroom.toml", "a b.toml", "\033[2J.toml", ".toml"}) {
    std::ofstream(folder_ / name) << classroom_text();
    EXPECT_FALSE(load_machine((folder_ / name).string()).ok()) << name;
  }
  EXPECT_TRUE(load_machine((fs::path(TEST_SOURCE_DIR) / "common/specs/classroom.toml").string()).ok());
}

TEST_F(MachineFileTest, WhatIsNotTomlIsAnErrorWithItsLine) {
  expect_error("\n\nsms = = 8\n", "");
  expect_error(std::string("\0\1\2", 3), "");
  expect_error(classroom_text() + "\nsms = 8\n", "");
  expect_error("", "missing", /*has_line=*/false);
}

TEST_F(MachineFileTest, AMissingFileOrAFolderIsAnError) {
  EXPECT_FALSE(load_machine((folder_ / "none.toml").string()).ok());
  fs::create_directory(folder_ / "folder.toml");
  EXPECT_FALSE(load_machine((folder_ / "folder.toml").string()).ok());
}

}  // namespace
}  // namespace roofwalk
