// Runs points on a device, virtual or real.
#pragma once

#include <map>
#include <memory>

#include "common/build/build.h"
#include "common/device/device.h"
#include "common/record/run_record.h"
#include "tests/fidelity/point.h"

namespace roofwalk::test {

// What a point's figure is on a device.
struct PointFigure {
  double value = 0;  // in the point's unit
  double elapsed_ns = 0;
  double wall_s = 0;  // of the host, to run it
};

class PointRunner {
 public:
  // `cache`: a folder for compiled kernels.
  PointRunner(Device& device, Toolkit toolkit, std::filesystem::path cache);

  // Compiles the kernels of all points, on `threads` threads, so that measure() finds them in the cache.
  void compile_all(const std::vector<Point>& points, int threads);

  // Runs the point; on a real GPU several times, and takes the fastest. `options` are for the virtual GPU. A point that
  // differs from the one before only in the launch that counts takes its figure from the same runs.
  Result<PointFigure> measure(const Point& point, const RunOptions& options);

 private:
  Result<Artifact> compile(const Point& point) const;
  Result<ArgumentBytes> make(const PointArgument& argument, std::vector<DeviceBuffer>& buffers);
  Result<std::vector<RunRecord>> run(const Point& point, const RunOptions& options);

  Device& device_;
  Toolkit toolkit_;
  std::filesystem::path cache_;
  Point last_;
  std::vector<RunRecord> runs_;  // of last_; empty if it could not run
};

}  // namespace roofwalk::test
