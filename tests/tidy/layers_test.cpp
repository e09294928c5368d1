// The one direction of the design, held: who may include whom.
#include <gtest/gtest.h>

#include "common/base/pattern.h"
#include "tests/tidy/repository.h"

namespace roofwalk::tidy {
namespace {

// "common/roofline/roofline.cpp:12 includes common/device/device.h": where a rule is broken.
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

TEST(Layers, EveryLayerIsDeclared) {
  const auto reachable = reachable_layers();
  ASSERT_GT(reachable.size(), 5u);
  for (const auto& file : files_below("common")) {
    if (!is_cpp(file)) continue;
    EXPECT_TRUE(reachable.contains(layer_of(file))) << file << " belongs to no roofwalk_layer";
  }
}

TEST(Layers, IncludesStayWithinWhatTheLayerUses) {
  const auto reachable = reachable_layers();
  int checked = 0;
  for (const auto& file : files_below("common")) {
    if (!is_cpp(file)) continue;
    const auto allowed = reachable.find(layer_of(file));
    for (const Include& include : includes_in(text_of(file))) {
      EXPECT_FALSE(include.name.starts_with("grader/") || include.name.starts_with("chapters/") ||
                   include.name.starts_with("tests/"))
          << place(file, include) << ", which lies above it";
      if (!include.name.starts_with("common/") || allowed == reachable.end()) continue;
      EXPECT_TRUE(allowed->second.contains(layer_of(include.name)))
          << place(file, include) << ", but roofwalk_layer(" << allowed->first << ") does not use that layer";
      ++checked;
    }
  }
  EXPECT_GT(checked, 50);
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

TEST(Layers, OnlyTheCudaDeviceIncludesCudaHeaders) {
  ASSERT_TRUE(is_cuda_header("cuda_runtime.h") && is_cuda_header("cupti_target.h"));
  ASSERT_FALSE(is_cuda_header("common/device/cuda/cuda_device.h"));
  for (const auto& file : files_below()) {
    if (!is_cpp(file) || below(file, "common/device/cuda")) continue;
    for (const Include& include : includes_in(text_of(file))) {
      EXPECT_FALSE(is_cuda_header(include.name)) << place(file, include);
    }
  }
}

TEST(Layers, OnlyPatternIncludesRegex) {  // which takes a compiler seconds in each file
  for (const auto& file : files_below()) {
    if (!is_cpp(file) || file == "common/base/pattern.cpp") continue;
    for (const Include& include : includes_in(text_of(file))) EXPECT_NE(include.name, "regex") << place(file, include);
  }
}

TEST(Layers, OnlyTheVirtualDeviceAndThePlanIncludeTheVirtualGpu) {
  for (const auto& file : files_below()) {
    if (!is_cpp(file) || below(file, "common/vgpu") || below(file, "common/device/virtual") ||
        below(file, "common/plan") || below(file, "tests")) {
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
