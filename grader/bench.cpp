#include "grader/bench.h"

#include "common/measure/roofs.h"

namespace roofwalk {

Result<Bench> open_bench(const Course& course, const std::string& device, int threads, Store* store) {
  Bench bench;
  bench.course = &course;
  bench.include = course.include();
  bench.cache = course.cache();
  bench.open = [device] { return open_device(device); };
  ROOFWALK_TRY(const auto opened, bench.open());
  bench.machine = opened->machine();
  bench.device_kind = device.starts_with("cuda") ? "cuda" : "virtual";
  bench.roofs = roofs_of(bench.machine);
  bench.threads = threads;
  bench.store = store;
  std::error_code error;
  bench.toolkit = find_toolkit(std::filesystem::absolute(course.root / ".", error).lexically_normal());
  return bench;
}

Result<Artifact> build_for(const Bench& bench, const std::filesystem::path& source) {
  if (!bench.toolkit) return bench.toolkit.error();
  return build(*bench.toolkit,
               {.source = source, .arch = bench.machine.arch, .include = bench.include, .cache = bench.cache});
}

}  // namespace roofwalk
