// gpu_checks: all checks that need a real GPU, in one program, which tests/gpu/run starts. Writes one JSON file.
#include "tests/gpu/gpu_checks.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <fstream>
#include <iostream>

#include "common/base/hash.h"
#include "common/base/json.h"
#include "common/base/subprocess.h"
#include "common/build/build.h"
#include "common/device/cuda/cuda_device.h"
#include "common/device/cuda/open_cuda.h"
#include "common/device/remote/remote_device.h"
#include "tests/gpu/gpu_record.h"
#include "tests/gpu/ruler.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

namespace fs = std::filesystem;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Writes a new file and then renames it over the old one, so that a complete record exists at all times.
bool write_record(const fs::path& file) {
  const fs::path part = file.string() + ".part";
  std::ofstream out(part);
  out << json_text(without_private(gpu_session().record)) << "\n";
  out.close();
  std::error_code error;
  if (out) fs::rename(part, file, error);
  return out && !error;
}

// Writes the record after every test, because a borrowed machine may be taken away at any time.
class Recorder : public ::testing::EmptyTestEventListener {
 public:
  explicit Recorder(fs::path file) : file_(std::move(file)) {}

 private:
  void OnTestEnd(const ::testing::TestInfo& test) override {
    const ::testing::TestResult& result = *test.result();
    std::string end = "passed";
    for (int i = 0; i < result.total_part_count(); ++i) {
      const ::testing::TestPartResult& part = result.GetTestPartResult(i);
      if (part.skipped()) end = fmt::format("skipped: {}", part.message());
      if (!part.failed()) continue;
      end = fmt::format("failed: {}", part.message());
      break;
    }
    gpu_session().record["checks"][fmt::format("{}.{}", test.test_suite_name(), test.name())] = end;
    write_record(file_);
  }

  fs::path file_;
};

// Begins the record. If `file` already holds a record of the same GPU, continues that one, so that the checks can be
// spread over several calls.
void begin_record(const Device& device, const fs::path& file) {
  Json& record = gpu_session().record;
  const std::string hash = sha256_hex(device.identity().uuid);
  std::ifstream in(file);
  if (in) record = parse_json(std::string(std::istreambuf_iterator<char>(in), {}));
  const bool goes_on = record.is_object() && record.contains("gpu") && record["gpu"].value("uuid_sha256", "") == hash;
  if (!goes_on) record = Json::object();
  const auto toolkit = find_toolkit(source_root());
  const auto version = run_command({.arguments = {gpu_session().program.string(), "--version"}});
  const int driver = device.identity().driver_version;
  record["schema"] = "roofwalk.gpu_record/1";
  record["made_at"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  record["version"] = version ? first_line(version->output) : "";
  record["driver_version"] = fmt::format("{}.{}", driver / 1000, driver % 1000 / 10);
  record["toolkit"] = toolkit ? toolkit->version : "";
  record["gpu"] = {{"name", device.identity().name},
                   {"uuid_sha256", hash},
                   {"compute_capability", device.machine().compute_capability},
                   {"machine", device.machine().name}};
}

// Runs the copy stream for ncu, which watches this process: opens the GPU here instead of in a worker process, and
// without our own counters.
int run_for_profiler() {
  ::setenv("ROOFWALK_ROOT", source_root().c_str(), 0);
  const auto driver = load_driver_api();
  if (!driver) {
    std::cerr << driver.error().text() << "\n";
    return 4;
  }
  CudaOptions options;
  options.ordinal = cuda_ordinal(gpu_session().device).value_or(0);
  auto device = CudaDevice::open(*driver, std::move(options));
  if (!device) {
    std::cerr << device.error().text() << "\n";
    return 4;
  }
  Runner runner(std::move(*device));
  const auto record = run_copy_stream(runner);
  if (!record) std::cerr << record.error().text() << "\n";
  return record ? 0 : 3;
}

int run_checks(const fs::path& file) {
  {
    const auto device = gpu_session().open();
    if (!device) {
      std::cout << "skipped: " << device.error().text() << "\n";
      return 4;
    }
    begin_record(**device, file);
  }  // ends the device's process: `run` refuses to time beside another program on the GPU
  register_chapter_checks();
  ::testing::UnitTest::GetInstance()->listeners().Append(new Recorder(file));  // gtest owns the listener
  const int failed = RUN_ALL_TESTS();
  if (!write_record(file)) {
    std::cerr << "the record could not be written to " << file << "\n";
    return 3;
  }
  for (const std::string& flaw : flaws_of(without_private(gpu_session().record)))
    std::cout << "the record is not whole: " << flaw << "\n";
  std::cout << "recorded in " << file.string() << "\n";
  return failed;
}

}  // namespace

GpuSession& gpu_session() {
  static GpuSession session;
  return session;
}

Result<std::unique_ptr<Device>> GpuSession::open() const {
  WorkerCommand command{.arguments = {program.string(), "--device", device, "device-worker"},
                        .environment = worker_environment()};
  command.environment["ROOFWALK_ROOT"] = source_root().string();
  return make_remote_device(std::move(command), device);
}

Json GpuSession::ask(std::vector<std::string> arguments, double timeout_s) const {
  arguments.insert(arguments.begin(), program.string());
  for (const char* more : {"--format", "json", "--device", device.c_str()}) arguments.emplace_back(more);
  const auto answer = run_command({.arguments = arguments,
                                   .working_directory = source_root(),
                                   .timeout_s = timeout_s,
                                   .max_output_bytes = 64 << 20});
  if (!answer) {
    ADD_FAILURE() << answer.error().text();
    return nullptr;
  }
  const auto begin = answer->output.find('{');
  Json json = begin == std::string::npos ? Json() : parse_json(answer->output.substr(begin));
  if (json.is_object()) return json;
  ADD_FAILURE() << fmt::format("`{}` exited {}: {}", fmt::join(arguments, " "), answer->exit_code, answer->output);
  return nullptr;
}

}  // namespace roofwalk::test

int main(int argc, char** argv) {
  using namespace roofwalk::test;
  ::testing::InitGoogleTest(&argc, argv);  // removes gtest's own arguments
  std::string file = "gpu-record.json", program;
  std::vector<std::string> chapters;
  CLI::App app("Checks that need a GPU: the device, its counters, its roofs, every chapter.", "gpu_checks");
  app.add_option("--program", program, "the program, roofwalk")->required()->check(CLI::ExistingFile);
  app.add_option("--device", gpu_session().device, "which GPU")->capture_default_str();
  app.add_option("--record", file, "what is written; a record of the same GPU is added to")->capture_default_str();
  app.add_option("--chapters", chapters, "some chapters only")->delimiter(',');
  bool is_for_profiler = false;
  app.add_flag("--copy-stream", is_for_profiler, "run one kernel, for ncu to look at, and nothing else");
  CLI11_PARSE(app, argc, argv);
  gpu_session().checks = std::filesystem::absolute(argv[0]);
  if (is_for_profiler) return run_for_profiler();
  gpu_session().program = std::filesystem::absolute(program);
  gpu_session().chapters = {chapters.begin(), chapters.end()};
  return run_checks(file);
}
