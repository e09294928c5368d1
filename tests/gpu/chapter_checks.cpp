// Tests every chapter's kernels on the real GPU: all are correct, the starter misses the goals, and the last solution
// step meets them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/json.h"
#include "tests/gpu/gpu_checks.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

namespace fs = std::filesystem;

enum class Place { starter, between, last };

class ChapterCheck : public ::testing::Test {
 public:
  ChapterCheck(std::string chapter, fs::path file, Place place)
      : chapter_(std::move(chapter)), file_(std::move(file)), place_(place) {}

  void TestBody() override {
    const Json attempt = gpu_session().ask({"run", chapter_, "--kernel", file_.string()}, 400);
    ASSERT_TRUE(attempt.is_object());
    const std::string verdict = attempt.value("verdict", "");
    keep(attempt);
    EXPECT_EQ(attempt["correct"], true) << attempt["reasons"];
    if (place_ != Place::between) {
      EXPECT_EQ(verdict, place_ == Place::starter ? "fail" : "pass") << attempt["reasons"];
    }
    if (place_ != Place::starter || !attempt["pairs"].is_object()) return;
    // This attempt runs the starter, so `pairs` compares the starter with itself: the speedup is 1, within 2 %.
    EXPECT_LE(attempt["pairs"]["speedup_interval"][0].get<double>(), 1.02);
    EXPECT_GE(attempt["pairs"]["speedup_interval"][1].get<double>(), 0.98);
  }

 private:
  // Adds the attempt to the record, or replaces an earlier attempt of the same kernel.
  void keep(Json attempt) const {
    for (Json& kernel : attempt["kernels"]) kernel.erase("lines");
    Json& all = gpu_session().record["attempts"];
    if (!all.is_array()) all = Json::array();
    const auto known = std::find_if(all.begin(), all.end(), [&](const Json& other) {
      return other["chapter"] == attempt["chapter"] && other["file"] == attempt["file"];
    });
    if (known == all.end()) {
      all.push_back(std::move(attempt));
    } else {
      *known = std::move(attempt);
    }
  }

  std::string chapter_;
  fs::path file_;
  Place place_;
};

std::vector<fs::path> in_order(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void add(const std::string& chapter, const fs::path& file, Place place) {
  std::string name = chapter + "_" + (place == Place::starter ? "starter" : file.stem().string());
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  ::testing::RegisterTest("Chapter", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [=]() -> ::testing::Test* { return new ChapterCheck(chapter, file, place); });
}

}  // namespace

void register_chapter_checks() {
  for (const fs::path& folder : in_order(source_root() / "chapters")) {
    const std::string name = folder.filename().string();
    const std::string chapter = name.substr(name.find('-') + 1);
    const auto& wanted = gpu_session().chapters;
    if (!fs::exists(folder / "exercise.toml") || (!wanted.empty() && !wanted.contains(chapter))) continue;
    add(chapter, (folder / "kernel.cu").lexically_relative(source_root()), Place::starter);
    const fs::path solutions = source_root() / "solutions" / name;
    std::vector<fs::path> steps = fs::exists(solutions) ? in_order(solutions) : std::vector<fs::path>{};
    std::erase_if(steps, [](const fs::path& step) { return step.extension() != ".cu"; });
    for (const fs::path& step : steps) {
      add(chapter, step.lexically_relative(source_root()), &step == &steps.back() ? Place::last : Place::between);
    }
  }
}

}  // namespace roofwalk::test
