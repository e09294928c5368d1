// A rig on a virtual machine for tests of operations: it uses this course's kernels, caches artifacts in the build
// folder, and keeps results in a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "grader/operations/operations.h"

namespace roofwalk::testing {

namespace fs = std::filesystem;

class OperationsBench {
 public:
  explicit OperationsBench(const std::string& machine) {
    std::string name = (fs::temp_directory_path() / "roofwalk-operations-XXXXXX").string();
    root_ = mkdtemp(name.data());
    for (const char* folder : {"common/roofs", "grader/operations/kernels"}) {
      fs::create_directories(root_ / folder);
      fs::copy(fs::path(TEST_SOURCE_DIR) / folder, root_ / folder);
    }
    course_.root = root_;
    auto opened = open_rig(course_, "virtual:" + machine, 2, nullptr);
    EXPECT_TRUE(opened) << opened.error().text();
    rig_ = std::move(*opened);
    rig_.toolkit = find_toolkit(TEST_SOURCE_DIR);
    rig_.include = TEST_SOURCE_DIR "/common/include";
    rig_.cache = TEST_CACHE_DIR;
  }
  ~OperationsBench() {
    std::error_code error;
    fs::remove_all(root_, error);
  }
  OperationsBench(const OperationsBench&) = delete;
  OperationsBench& operator=(const OperationsBench&) = delete;

  const Rig& rig() const { return rig_; }
  const fs::path& root() const { return root_; }

  // Replaces `from`, which the kernel must contain, by `to`.
  void change(const std::string& kernel, const std::string& from, const std::string& to) const {
    const fs::path file = root_ / "grader/operations/kernels" / kernel;
    std::string text = file_text(file);
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << kernel << " has no `" << from << "`";
    text.replace(at, from.size(), to);
    std::ofstream(file) << text;
  }

 private:
  fs::path root_;
  Course course_;
  Rig rig_;
};

inline const Operation& operation(const std::string& name) {
  for (const Operation& each : operations()) {
    if (each.name == name) return each;
  }
  throw std::runtime_error("no operation " + name);
}

}  // namespace roofwalk::testing
