// Compiles CUDA text and runs it on the virtual GPU, as for a learner's file. Used by tests of counts, faults and
// plans.
#pragma once

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include "common/build/build.h"
#include "common/device/device.h"
#include "common/record/run_record.h"
#include "tests/support/joint_kernels.h"

namespace roofwalk::test {

// Returns the source tree's path when the test was built, or $ROOFWALK_ROOT if the tree has moved.
inline const std::filesystem::path& source_root() {
  static const std::filesystem::path root = [] {
    const char* moved = std::getenv("ROOFWALK_ROOT");
    return std::filesystem::path(moved != nullptr ? moved : ROOFWALK_TEST_SOURCE_DIR);
  }();
  return root;
}

// Returns a folder for files that tests write and keep.
inline std::filesystem::path kernel_folder() {
  const std::filesystem::path build = ROOFWALK_TEST_BINARY_DIR;
  std::error_code error;
  const bool is_there = std::filesystem::exists(build, error);
  const std::filesystem::path parent = is_there ? build : std::filesystem::temp_directory_path();
  return parent / "test-kernels";
}

// Returns the text of a file in the source tree.
inline std::string text_of(const std::string& file) {
  std::ifstream in(source_root() / file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Returns the files of the starter and every solution step of a chapter.
inline std::vector<std::string> kernels_of(const std::string& chapter) {
  std::vector<std::string> files{"chapters/" + chapter + "/kernel.cu"};
  for (const auto& entry : std::filesystem::directory_iterator(source_root() / "solutions" / chapter))
    files.push_back(std::filesystem::relative(entry.path(), source_root()).string());
  return files;
}

// Compiles a CUDA text. Compiled code is cached by content in the build folder.
inline Result<Artifact> compile(const std::string& text) {
  static const auto toolkit = find_toolkit(source_root());
  if (!toolkit) return toolkit.error();
  const std::filesystem::path folder = kernel_folder();
  std::filesystem::create_directories(folder);
  const std::filesystem::path file = folder / ("kernel-" + std::to_string(getpid()) + ".cu");
  std::ofstream(file) << text;
  auto artifact = build(*toolkit, {.source = file,
                                   .arch = "compute_80",
                                   .include = source_root() / "common/include",
                                   .cache = folder / "cache/artifacts"});
  std::filesystem::remove(file);
  return artifact;
}

struct Buffer {
  std::string name;
  std::vector<float> values;  // in: initial contents; out: final contents
  bool undefined = false;     // true: a kernel must not read the initial contents
};

// Tests run kernels sanitized by default, because none of them may race.
inline const RunOptions kSanitized{.sanitize = true};

// Runs artifacts on a device. An argument is an int, a float, a host buffer, which is copied to the device and back, or
// a DeviceBuffer, which the caller allocates and fills through device().
class Runner {
 public:
  using Argument = std::variant<Buffer*, DeviceBuffer, int, float>;

  explicit Runner(std::string device_name = "virtual:classroom") {
    auto opened = open_device(device_name);
    EXPECT_TRUE(opened.ok()) << (opened ? "" : opened.error().text());
    device_ = std::move(*opened);
  }
  explicit Runner(std::unique_ptr<Device> device) : device_(std::move(device)) {}

  Device& device() { return *device_; }

  Result<Plan> plan(const Artifact& artifact, const std::vector<Argument>& arguments, const PlanLimits& limits = {}) {
    ROOFWALK_TRY_STATUS(device_->load(artifact));
    std::vector<ArgumentBytes> bytes;
    for (const Argument& argument : arguments) {
      if (auto* const* buffer = std::get_if<Buffer*>(&argument)) {
        ROOFWALK_TRY(DeviceBuffer on_device, device_->allocate((*buffer)->name, (*buffer)->values.size() * 4, 4));
        device_->write(on_device, 0, as_bytes((*buffer)->values));
        if ((*buffer)->undefined) device_->forget(on_device, 0, on_device.size_bytes);
        bytes.push_back(raw(on_device.address));
        buffers_.emplace_back(*buffer, on_device);
      } else if (const auto* own = std::get_if<DeviceBuffer>(&argument)) {
        bytes.push_back(raw(own->address));
      } else if (const int* number = std::get_if<int>(&argument)) {
        bytes.push_back(raw(*number));
      } else {
        bytes.push_back(raw(std::get<float>(argument)));
      }
    }
    return make_plan(
        artifact, bytes,
        [this](std::uint64_t size) -> Result<std::uint64_t> {
          ROOFWALK_TRY(DeviceBuffer scratch, device_->allocate("scratch " + std::to_string(++scratch_count_), size, 4));
          device_->forget(scratch, 0, size);
          buffers_.emplace_back(nullptr, scratch);
          return scratch.address;
        },
        limits);
  }

  // Makes the plan, runs it, reads the buffers back and frees them.
  Result<RunRecord> run(const Artifact& artifact, const std::vector<Argument>& arguments,
                        const RunOptions& options = kSanitized) {
    auto planned = plan(artifact, arguments);
    if (!planned) {
      release();
      return planned.error();
    }
    auto record = device_->run(*planned, options);
    for (auto& [host, on_device] : buffers_) {
      if (host == nullptr) continue;
      device_->read(on_device, 0,
                    std::span(reinterpret_cast<std::uint8_t*>(host->values.data()), host->values.size() * 4));
    }
    release();
    return record;
  }

  // Compiles the text, alone or as part of the joint file that it was given to, and runs it.
  Result<RunRecord> run(const std::string& text, std::vector<Argument> arguments,
                        const RunOptions& options = kSanitized) {
    const JointKernel* const joint = find_joint(text);
    if (joint == nullptr) {
      ROOFWALK_TRY(const Artifact artifact, compile(text));
      return run(artifact, arguments, options);
    }
    arguments.emplace_back(joint->number);
    ROOFWALK_TRY(const Artifact artifact, compile(*joint->text));
    auto record = run(artifact, arguments, options);
    const std::string prefix = joint->space() + "::";
    if (record) {
      drop(prefix, *record);
      return record;
    }
    Error error = record.error();
    drop(prefix, error.message);
    return error;
  }

  void release() {
    for (auto& [host, on_device] : buffers_) device_->release(on_device);
    buffers_.clear();
    scratch_count_ = 0;
  }

 private:
  // Turns the names of a joint file into those of its part.
  static void drop(const std::string& prefix, std::string& text) {
    for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;) text.erase(at, prefix.size());
  }
  static void drop(const std::string& prefix, RunRecord& record) {
    for (KernelRecord& kernel : record.kernels) drop(prefix, kernel.name);
    for (Fault& warning : record.warnings) drop(prefix, warning.kernel), drop(prefix, warning.message);
    if (record.fault) drop(prefix, record.fault->kernel), drop(prefix, record.fault->message);
  }

  static std::span<const std::uint8_t> as_bytes(const std::vector<float>& values) {
    return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * 4};
  }
  template <class T>
  static ArgumentBytes raw(T value) {
    ArgumentBytes out(sizeof value);
    std::memcpy(out.data(), &value, sizeof value);
    return out;
  }

  std::unique_ptr<Device> device_;
  std::vector<std::pair<Buffer*, DeviceBuffer>> buffers_;
  int scratch_count_ = 0;
};

inline std::vector<float> numbers(std::size_t count, int modulus = 7) {
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<float>(static_cast<int>(i * 31 % static_cast<std::size_t>(modulus)) - modulus / 2);
  return out;
}

}  // namespace roofwalk::test
