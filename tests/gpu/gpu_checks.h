// Shared by the checks on a real GPU: the path of the program, the GPU, and the record that the checks fill.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "common/base/json.h"
#include "common/device/device.h"

namespace roofwalk::test {

struct GpuSession {
  std::filesystem::path program;  // roofwalk
  std::filesystem::path checks;   // gpu_checks itself
  std::string device = "cuda:0";
  std::set<std::string> chapters;  // empty: all
  Json record;                     // in the format of gpu_record.h

  // Opens the GPU in a process of its own, as for learners' kernels.
  Result<std::unique_ptr<Device>> open() const;

  // Runs `roofwalk` with these arguments and returns the JSON that it prints. Without JSON, fails the test and returns
  // null.
  Json ask(std::vector<std::string> arguments, double timeout_s) const;
};

GpuSession& gpu_session();

// Registers one test for each kernel of every chapter; must be called before the tests run.
void register_chapter_checks();

}  // namespace roofwalk::test
