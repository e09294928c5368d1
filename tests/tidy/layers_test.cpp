// Checks which layer may include which.
#include <gtest/gtest.h>

#include <sstream>

#include "common/base/pattern.h"
#include "tests/tidy/repository.h"

namespace roofwalk::tidy {
namespace {

// Returns the location of a violation: "common/roofline/roofline.cpp:12 includes common/device/device.h".
std::string place(const std::filesystem::path& file, const Include& include) {
  return file.string() + ":" + std::to_string(include.line) + " includes " + include.name;
}

bool is_cuda_header(const std::string& name) {
  static const Pattern kCuda(R"((.*/)?(cuda\w*|cupti\w*|nvperf\w*|nvml|nvrtc|driver_types|vector_types)\.(h|hpp))");
  return !name.starts_with("common/") && kCuda.match(name).has_value();
}

bool below(const std::filesystem::path& file, const std::string& folder) {
  return file.string().starts_with(folder + "/");
}

bool is_in_layers(const std::filesystem::path& file) { return below(file, "common") || below(file, "grader"); }

// Returns all files of common/ and grader/, except those directly in grader/: main() and the build of chapters.
std::vector<std::filesystem::path> files_of_layers() {
  std::vector<std::filesystem::path> files;
  for (const auto& file : files_below()) {
    if (is_cpp(file) && is_in_layers(file) && file.parent_path() != "grader") files.push_back(file);
  }
  return files;
}

TEST(Layers, EveryLayerIsDeclared) {
  const auto reachable = reachable_layers();
  ASSERT_GT(reachable.size(), 5u);
  for (const auto& file : files_of_layers()) EXPECT_NE(layer_of(file), "") << file << " belongs to no roofwalk_layer";
}

// The list of layers is the build order: no layer may use a later one.
TEST(Layers, StandInTheOrderOfTheirList) {
  static const Pattern kList(R"(set\(ROOFWALK_(GRADER_)?LAYERS\s([^)]*)\))");
  const auto reachable = reachable_layers();
  std::set<std::string> seen;
  for (const Pattern::Groups& list : kList.search_all(text_of("common/layers.cmake"))) {
    const std::string above = list[1].empty() ? "common/" : "grader/";
    std::istringstream folders(list[2]);
    for (std::string folder; folders >> folder;) {
      const std::string name = layer_of(above + folder + "/CMakeLists.txt");
      ASSERT_TRUE(reachable.contains(name)) << above << folder << " declares no roofwalk_layer";
      EXPECT_TRUE(seen.insert(name).second) << name << " is declared twice";
      for (const std::string& used : reachable.at(name)) {
        EXPECT_TRUE(seen.contains(used)) << name << " uses " << used << ", which stands above it in the list";
      }
    }
  }
  EXPECT_EQ(seen.size(), reachable.size());
}

TEST(Layers, IncludesStayWithinWhatTheLayerUses) {
  const auto reachable = reachable_layers();
  int checked = 0;
  for (const auto& file : files_of_layers()) {
    const auto allowed = reachable.find(layer_of(file));
    for (const Include& include : includes_in(text_of(file))) {
      EXPECT_FALSE(include.name.starts_with("book/") || include.name.starts_with("chapters/") ||
                   include.name.starts_with("tests/"))
          << place(file, include) << ", which lies above it";
      if (!is_in_layers(include.name) || allowed == reachable.end()) continue;
      EXPECT_TRUE(allowed->second.contains(layer_of(include.name)))
          << place(file, include) << ", but roofwalk_layer(" << allowed->first << ") does not use that layer";
      ++checked;
    }
  }
  EXPECT_GT(checked, 500);
}

TEST(Layers, UsesHaveNoCycle) {
  const auto reachable = reachable_layers();
  for (const auto& [name, layers] : reachable) {
    for (const std::string& used : layers) {
      if (used == name) continue;
      ASSERT_TRUE(reachable.contains(used)) << name << " uses " << used << ", which is no layer";
      EXPECT_FALSE(reachable.at(used).contains(name)) << name << " and " << used << " use each other";
    }
  }
}

TEST(Layers, OnlyTheCudaDeviceAndTheRuntimeIncludeCudaHeaders) {
  ASSERT_TRUE(is_cuda_header("cuda_runtime.h") && is_cuda_header("cupti_target.h"));
  ASSERT_FALSE(is_cuda_header("common/device/cuda/cuda_device.h"));
  for (const auto& file : files_below()) {
    if (!is_cpp(file) || below(file, "common/device/cuda") || below(file, "common/cudart/library")) continue;
    for (const Include& include : includes_in(text_of(file))) {
      EXPECT_FALSE(is_cuda_header(include.name)) << place(file, include);
    }
  }
}

TEST(Layers, OnlyPatternIncludesRegex) {  // <regex> costs seconds of compile time per file
  for (const auto& file : files_below()) {
    if (!is_cpp(file) || file == "common/base/pattern.cpp") continue;
    for (const Include& include : includes_in(text_of(file))) EXPECT_NE(include.name, "regex") << place(file, include);
  }
}

TEST(Layers, OnlyTheVirtualDeviceThePlanAndTheRuntimeIncludeTheVirtualGpu) {
  for (const auto& file : files_below()) {
    if (!is_cpp(file) || below(file, "common/vgpu") || below(file, "common/device/virtual") ||
        below(file, "common/plan") || below(file, "common/cudart") || below(file, "tests")) {
      continue;
    }
    for (const Include& include : includes_in(text_of(file))) {
      EXPECT_FALSE(include.name.starts_with("common/vgpu/")) << place(file, include);
    }
  }
}

TEST(Layers, TheRooflineIsPureArithmetic) {
  const auto reachable = reachable_layers();
  ASSERT_TRUE(reachable.contains("roofline"));
  EXPECT_EQ(reachable.at("roofline"), (std::set<std::string>{"base", "roofline"}));
}

TEST(Layers, TheVirtualGpuKnowsNoExercise) {
  const auto reachable = reachable_layers();
  ASSERT_TRUE(reachable.contains("vgpu"));
  for (const char* layer : {"exercise", "verify", "measure", "roofline", "store", "plot", "device"}) {
    EXPECT_FALSE(reachable.at("vgpu").contains(layer)) << layer;
  }
}

}  // namespace
}  // namespace roofwalk::tidy
