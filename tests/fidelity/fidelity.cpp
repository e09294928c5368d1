// fidelity: runs published points on a device and prints one line a point, with the ratio to the published value.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>

#include "common/device/cuda/cuda_device.h"
#include "common/device/cuda/open_cuda.h"
#include "tests/fidelity/measure.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

struct Options {
  std::string device;  // empty: the virtual GPU of each point's chip
  std::vector<std::string> files;
  std::string only, chip, cache = "build/fidelity";
  int threads = 0;
  bool compiles_only = false;
  bool sums_up = false;
};

// Opens a real GPU in this process, without counters. Points are our own kernels, so they need no process of their own.
Result<std::unique_ptr<Device>> open_real(int ordinal, const Toolkit& toolkit) {
  static const auto driver = load_driver_api();
  if (!driver) return driver.error();
  CudaOptions options;
  options.ordinal = ordinal;
  options.preheat_s = 0.5;
  options.assemble = [toolkit](const Artifact& artifact, std::string_view ptx, const std::string& chip) {
    return assemble_for(toolkit, artifact, ptx, chip);
  };
  ROOFWALK_TRY(auto device, CudaDevice::open(*driver, std::move(options)));
  return std::unique_ptr<Device>(std::move(device));
}

class Session {
 public:
  Session(Options options, Toolkit toolkit) : options_(std::move(options)), toolkit_(std::move(toolkit)) {}

  Status run() {
    std::vector<Point> points;
    for (const std::string& file : options_.files) {
      ROOFWALK_TRY(std::vector<Point> more, read_points(file));
      for (Point& point : more) {
        if (!options_.only.empty() && point.mechanism.find(options_.only) == std::string::npos) continue;
        if (!options_.chip.empty() && point.chip != options_.chip) continue;
        points.push_back(std::move(point));
      }
    }
    std::map<std::string, std::vector<Point>> by_device;
    for (Point& point : points) {
      by_device[options_.device.empty() ? "virtual:" + point.chip : options_.device].push_back(std::move(point));
    }
    if (!options_.sums_up) {
      std::cout << "source,chip,mechanism,what,published,unit,value,ratio,elapsed_ns,wall_s" << std::endl;
    }
    for (const auto& [device, its] : by_device) ROOFWALK_TRY_STATUS(run_on(device, its));
    if (options_.sums_up && !errors_.empty()) std::cout << table_of(errors_);
    return kOk;
  }

 private:
  Status run_on(const std::string& name, const std::vector<Point>& points) {
    const auto ordinal = cuda_ordinal(name);
    ROOFWALK_TRY(const auto device, ordinal ? open_real(*ordinal, toolkit_) : open_device(name));
    PointRunner runner(*device, toolkit_, options_.cache);
    runner.compile_all(points, options_.threads > 0 ? options_.threads : 2);
    if (options_.compiles_only) return kOk;
    RunOptions options;
    options.max_work = 400'000'000'000;
    options.max_seconds = 3600;
    options.threads = options_.threads;
    for (const Point& point : points) {
      const auto figure = runner.measure(point, options);
      if (!options_.sums_up) {
        print(point, figure);
      } else if (!figure) {
        return figure.error();
      } else if (point.published) {
        errors_.push_back({point, figure->value});
      }
    }
    return kOk;
  }

  static void print(const Point& point, const Result<PointFigure>& figure) {
    std::cout << fmt::format("{},{},{},{},{},{},", point.source, point.chip, point.mechanism, point.what,
                             point.published ? fmt::format("{:.6g}", *point.published) : "", point.unit);
    if (!figure) {
      std::cout << ",,," << std::endl;
      std::cerr << figure.error().text() << "\n";
      return;
    }
    std::cout << fmt::format("{:.5g},{},{:.6g},{:.3g}", figure->value,
                             point.published ? fmt::format("{:.4f}", figure->value / *point.published) : "",
                             figure->elapsed_ns, figure->wall_s)
              << std::endl;
  }

  Options options_;
  Toolkit toolkit_;
  std::vector<PointError> errors_;
};

}  // namespace
}  // namespace roofwalk::test

int main(int argc, char** argv) {
  using namespace roofwalk;
  using namespace roofwalk::test;
  Options options;
  CLI::App app("Runs published points on a device.", "fidelity");
  app.add_option("--device", options.device, "cuda:0, virtual:NAME; without it, the virtual GPU of each point's chip");
  app.add_option("--only", options.only, "points whose mechanism contains this");
  app.add_option("--chip", options.chip, "points of this chip");
  app.add_option("--cache", options.cache, "folder for compiled kernels")->capture_default_str();
  app.add_option("--threads", options.threads, "threads of the host");
  app.add_flag("--table", options.sums_up, "print a table of errors by mechanism in place of the points");
  app.add_flag("--compile-only", options.compiles_only, "compile the kernels and end");
  app.add_option("files", options.files, "points files")->required()->check(CLI::ExistingFile);
  CLI11_PARSE(app, argc, argv);
  const auto toolkit = find_toolkit(source_root());
  const Status status = toolkit ? Session(options, *toolkit).run() : Status(toolkit.error());
  if (status) return 0;
  std::cerr << status.error().text() << "\n";
  return 3;
}
