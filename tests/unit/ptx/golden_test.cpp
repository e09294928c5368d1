// Tests every file of tests/ptx. The parser must accept the files in parse/, and their first lines must be the summary
// of what it read. It must reject the files in bad/ with the message in their first line. ROOFWALK_UPDATE_GOLDEN=1
// rewrites these lines. If ptxas is on the PATH, it must agree.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "common/base/subprocess.h"
#include "common/ptx/module.h"
#include "tests/unit/ptx/support.h"

namespace roofwalk::ptx {
namespace {

using testing::golden_files;
using testing::notes;
using testing::parse_whole;
using testing::read_file;

std::string case_name(const ::testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string source_of(const std::string& text) {
  const std::vector<std::string> source = notes(text, "SOURCE");
  return source.empty() ? "kernel.cu" : source[0];
}

std::string summary_of(const Module& module, const Function& function, const std::string& source) {
  std::set<int> lines;
  for (const Instruction& instruction : function.instructions) lines.insert(module.line_in(instruction, source));
  const std::string all_lines = lines.empty() ? "none" : fmt::format("{}", fmt::join(lines, " "));
  return fmt::format("{} {}: {} results, {} parameters, {} registers, {} variables, {} instructions, source lines {}",
                     function.is_extern  ? "extern"
                     : function.is_entry ? "entry"
                                         : "func",
                     function.name, function.results.size(), function.parameters.size(), function.registers.size(),
                     function.variables.size(), function.instructions.size(), all_lines);
}

std::vector<std::string> summary_of(const Module& module, const std::string& source) {
  std::vector<std::string> summary;
  for (const Variable& variable : module.variables) {
    summary.push_back(fmt::format("variable {}: {} bytes, aligned to {}, {} initial, {} addresses", variable.name,
                                  variable.size_bytes, variable.align_bytes, variable.initial.size(),
                                  variable.fixups.size()));
  }
  for (const Function& function : module.functions) summary.push_back(summary_of(module, function, source));
  return summary;
}

bool updating() { return std::getenv("ROOFWALK_UPDATE_GOLDEN") != nullptr; }

// Replaces the notes that begin with `key` by `found`.
void rewrite(const std::filesystem::path& path, std::string_view key, const std::vector<std::string>& found) {
  std::istringstream lines{read_file(path)};
  std::string text;
  for (const std::string& line : found) text += fmt::format("// {}: {}\n", key, line);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(fmt::format("// {}: ", key))) text += line + "\n";
  }
  std::ofstream(path, std::ios::binary) << text;
}

// Returns ptxas' message about a file; empty if ptxas accepts the file, nullopt if there is no ptxas.
std::optional<std::string> ptxas_complaint(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  const auto names = [&text](std::string_view target) {
    return text.find(fmt::format("\n.target {}\n", target)) != std::string::npos;
  };
  const std::string target = names("sm_100") ? "sm_100" : names("sm_90") ? "sm_90" : "sm_80";
  const auto result =
      run_command({.arguments = {"ptxas", "-c", "-arch=" + target, path.string(), "-o", "/dev/null"}, .timeout_s = 30});
  if (!result) return std::nullopt;
  return result->exit_code == 0 ? "" : "refused: " + result->output;
}

class Accepted : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Accepted, IsSummedUp) {
  const std::string text = read_file(GetParam());
  const Result<Module> module = parse_whole(text, source_of(text));
  ASSERT_TRUE(module.ok()) << module.error().text();
  const std::vector<std::string> summary = summary_of(*module, source_of(text));
  if (updating()) return rewrite(GetParam(), "EXPECT", summary);
  EXPECT_EQ(notes(text, "EXPECT"), summary);
}

TEST_P(Accepted, ByPtxasToo) {
  const auto complaint = ptxas_complaint(GetParam());
  if (!complaint) GTEST_SKIP() << "no ptxas on PATH";
  EXPECT_EQ(*complaint, "");
}

INSTANTIATE_TEST_SUITE_P(Golden, Accepted, ::testing::ValuesIn(golden_files("parse")), case_name);

class Refused : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Refused, WithItsMessage) {
  const std::string text = read_file(GetParam());
  const Result<Module> module = parse_whole(text, source_of(text));
  ASSERT_FALSE(module.ok());
  if (updating()) return rewrite(GetParam(), "ERROR", {module.error().text()});
  EXPECT_THAT(notes(text, "ERROR"), ::testing::ElementsAre(module.error().text()));
}

// If ptxas accepts a file that our parser rejects, the file must say so in a note (PTXAS): the PTX is valid but not
// supported.
TEST_P(Refused, ByPtxasTooOrMarked) {
  const auto complaint = ptxas_complaint(GetParam());
  if (!complaint) GTEST_SKIP() << "no ptxas on PATH";
  const bool marked = !notes(read_file(GetParam()), "PTXAS").empty();
  EXPECT_EQ(*complaint == "", marked) << *complaint;
}

INSTANTIATE_TEST_SUITE_P(Golden, Refused, ::testing::ValuesIn(golden_files("bad")), case_name);

TEST(GoldenFiles, NameEveryOpcode) {
  std::set<Opcode> named;
  for (const std::filesystem::path& path : golden_files("parse")) {
    const std::string text = read_file(path);
    const Result<Module> module = parse_whole(text, source_of(text));
    if (!module) continue;  // the test Accepted reports that
    for (const Function& function : module->functions) {
      for (const Instruction& instruction : function.instructions) named.insert(instruction.opcode);
    }
  }
  for (const Opcode opcode : all_opcodes()) {
    EXPECT_TRUE(named.contains(opcode)) << "no file of tests/ptx/parse holds `" << info(opcode).mnemonic << "`";
  }
}

}  // namespace
}  // namespace roofwalk::ptx
