// Rules for the files themselves: no paths on a developer's machine, no large files, one format, every test built.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "common/base/pattern.h"
#include "common/base/subprocess.h"
#include "tests/tidy/repository.h"

namespace roofwalk::tidy {
namespace {

namespace fs = std::filesystem;

bool is_text(const std::string& text) { return text.find('\0') == std::string::npos; }

// Matches home folders of a developer's machine. The pattern is split in two, so that this file passes its own test.
const Pattern& machine_folder() {
  static const Pattern pattern(R"((^|[^\w./$}~-])/)"
                               "(work|root|home)"
                               R"(/[\w.-]+)");
  return pattern;
}

// Whether the file is for a container or a fresh test machine, whose folders it may name.
bool may_name_folders(const fs::path& file) {
  return file == "Dockerfile" || file.string().starts_with(".devcontainer/") || file == "tests/setup/fresh_machine.sh";
}

TEST(Files, NameNoFolderOfOneMachine) {
  ASSERT_TRUE(machine_folder().search(std::string("see /ho") + "me/ada/notes"));
  ASSERT_FALSE(machine_folder().search("${root}/root/x and https://a.b/root/c"));
  for (const fs::path& file : files_below()) {
    const std::string text = text_of(file);
    if (!is_text(text) || may_name_folders(file)) continue;
    const auto match = machine_folder().search(text);
    EXPECT_FALSE(match) << file << " names " << (*match)[0];
    EXPECT_EQ(text.find(std::string("shared/") + "design"), std::string::npos) << file;
  }
}

TEST(Files, AreSmall) {
  constexpr std::uintmax_t kMost = 1 << 20;
  for (const fs::path& file : files_below()) {
    EXPECT_LE(fs::file_size(source_root() / file), kMost) << file;
  }
}

// A reader should be able to take in a folder at a glance.
TEST(Files, AreFewInAFolder) {
  constexpr int kMost = 30;
  std::map<fs::path, int> counts;
  for (const char* folder : {"common", "grader"}) {
    for (const fs::path& file : files_below(folder)) ++counts[file.parent_path()];
  }
  for (const auto& [folder, count] : counts) {
    EXPECT_LE(count, kMost) << folder;
  }
}

TEST(Files, EveryTestFolderIsBuilt) {
  for (const fs::path& file : files_below("tests")) {
    if (!file.string().ends_with("_test.cpp")) continue;
    bool built = false;
    for (fs::path folder = file.parent_path(); folder != "tests" && !built; folder = folder.parent_path()) {
      const fs::path cmake = folder / "CMakeLists.txt";
      if (!fs::exists(source_root() / cmake)) continue;
      const std::string text = text_of(cmake);
      const bool is_found = folder == file.parent_path() && text.find("*_test.cpp") != std::string::npos;
      built = is_found || text.find(file.lexically_relative(folder).string()) != std::string::npos;
    }
    EXPECT_TRUE(built) << file << " is named in no CMakeLists.txt above it";
  }
}

TEST(Files, ScriptsCanBeRun) {
  for (const fs::path& file : files_below()) {
    const std::string text = text_of(file);
    if (!text.starts_with("#!")) continue;
    const auto mode = fs::status(source_root() / file).permissions();
    EXPECT_NE(mode & fs::perms::owner_exec, fs::perms::none) << file << " starts with #! but is not executable";
  }
}

// Versions of clang-format disagree on details, so the check runs only with the version that the configuration was
// written for.
TEST(Files, AreFormatted) {
  std::string tool;
  for (const char* name : {"clang-format-14", "clang-format"}) {
    const auto version = run_command({.arguments = {name, "--version"}});
    if (version && version->exit_code == 0 && version->output.find("version 14.") != std::string::npos) tool = name;
  }
  if (tool.empty()) GTEST_SKIP() << "clang-format 14 is not installed";
  std::vector<std::string> arguments = {tool, "--dry-run", "--Werror", "--ferror-limit=3"};
  for (const fs::path& file : files_below()) {
    if (is_cpp(file)) arguments.push_back((source_root() / file).string());
  }
  const auto result = run_command({.arguments = arguments, .timeout_s = 60});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 0) << result->output.substr(0, 4000);
}

}  // namespace
}  // namespace roofwalk::tidy
