// What the checks on a real GPU share: where the program is, which GPU, and the record that they fill.
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
  Json record;                     // as gpu_record.h has it

  // In a process of its own, as learners' kernels run.
  Result<std::unique_ptr<Device>> open() const;

  // What a person would type, and the JSON that came back; null, and a failed test, where there is none.
  Json ask(std::vector<std::string> arguments, double timeout_s) const;
};

GpuSession& gpu_session();

// One test a kernel of every chapter; call it before the tests run.
void register_chapter_checks();

}  // namespace roofwalk::test
