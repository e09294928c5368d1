#include "tests/fidelity/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>
#include <thread>

#include "common/base/hash.h"
#include "common/base/rng.h"
#include "common/plan/plan.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

namespace fs = std::filesystem;

constexpr int kRepeats = 5;  // on a real GPU
constexpr std::uint64_t kPieceBytes = 64 << 20;

template <class T>
ArgumentBytes bytes_of(const T& value) {
  ArgumentBytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// Links the nodes to one cycle in pseudo-random order (Sattolo's algorithm).
std::vector<std::uint64_t> chain_words(std::uint64_t address, std::int64_t nodes, std::int64_t pitch_bytes) {
  std::vector<std::int64_t> next(static_cast<std::size_t>(nodes));
  std::iota(next.begin(), next.end(), 0);
  Rng rng(1);
  for (std::size_t i = next.size() - 1; i > 0; --i) std::swap(next[i], next[rng.next() % i]);
  std::vector<std::uint64_t> words(static_cast<std::size_t>(nodes * pitch_bytes) / 8);
  for (std::size_t i = 0; i < next.size(); ++i) {
    words[i * static_cast<std::size_t>(pitch_bytes) / 8] = address + static_cast<std::uint64_t>(next[i] * pitch_bytes);
  }
  return words;
}

bool runs_the_same(const Point& a, const Point& b) {
  return a.kernel == b.kernel && a.defines == b.defines && a.arguments == b.arguments;
}

// The time that counts for the point.
Result<double> elapsed_ns_of(const Point& point, const RunRecord& record) {
  const auto launches = static_cast<int>(record.kernels.size());
  if (point.launch >= launches || point.less >= launches) {
    return Error{.message = fmt::format("{}: the plan has {} launches", point.where, launches)};
  }
  const auto time_of = [&](int launch) { return record.kernels[static_cast<std::size_t>(launch)].elapsed_ns; };
  const double whole_ns = point.launch < 0 ? record.elapsed_ns : time_of(point.launch);
  return point.less < 0 ? whole_ns : whole_ns - time_of(point.less);
}

}  // namespace

PointRunner::PointRunner(Device& device, Toolkit toolkit, fs::path cache)
    : device_(device), toolkit_(std::move(toolkit)), cache_(std::move(cache)) {}

Result<Artifact> PointRunner::compile(const Point& point) const {
  std::string text;
  for (const std::string& define : point.defines) {
    std::string words = define;
    if (const auto equals = words.find('='); equals != std::string::npos) words[equals] = ' ';
    text += fmt::format("#define {}\n", words);
  }
  text += text_of("tests/fidelity/kernels/" + point.kernel + ".cu");
  fs::create_directories(cache_);
  const fs::path file = cache_ / (sha256_hex(text) + ".cu");
  std::ofstream(file) << text;
  return build(toolkit_, {.source = file,
                          .arch = device_.machine().arch,
                          .include = source_root() / "common/include",
                          .cache = cache_ / "cache"});
}

void PointRunner::compile_all(const std::vector<Point>& points, int threads) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i) {
    pool.emplace_back([&] {
      for (std::size_t at = next++; at < points.size(); at = next++) static_cast<void>(compile(points[at]));
    });
  }
  for (std::thread& thread : pool) thread.join();
}

Result<ArgumentBytes> PointRunner::make(const PointArgument& argument, std::vector<DeviceBuffer>& buffers) {
  using Kind = PointArgument::Kind;
  if (argument.kind == Kind::number) return bytes_of(static_cast<int>(argument.value));
  const bool is_chain = argument.kind == Kind::chain;
  const auto bytes = static_cast<std::uint64_t>(is_chain ? argument.value * argument.pitch : argument.value);
  ROOFWALK_TRY(const DeviceBuffer buffer, device_.allocate("points", bytes, 4));
  buffers.push_back(buffer);
  if (is_chain) {
    const std::vector<std::uint64_t> words = chain_words(buffer.address, argument.value, argument.pitch);
    device_.write(buffer, 0, {reinterpret_cast<const std::uint8_t*>(words.data()), bytes});
  } else {
    const std::vector<float> piece(std::min(bytes, kPieceBytes) / 4 + 1, argument.kind == Kind::ones ? 1.0f : 0.0f);
    for (std::uint64_t at = 0; at < bytes; at += kPieceBytes) {
      device_.write(buffer, at,
                    {reinterpret_cast<const std::uint8_t*>(piece.data()), std::min(kPieceBytes, bytes - at)});
    }
  }
  return bytes_of(buffer.address);
}

Result<std::vector<RunRecord>> PointRunner::run(const Point& point, const RunOptions& options) {
  ROOFWALK_TRY(const Artifact artifact, compile(point));
  ROOFWALK_TRY_STATUS(device_.load(artifact));
  std::vector<DeviceBuffer> buffers;
  auto runs = [&]() -> Result<std::vector<RunRecord>> {
    std::vector<ArgumentBytes> arguments;
    for (const PointArgument& argument : point.arguments) {
      ROOFWALK_TRY(ArgumentBytes bytes, make(argument, buffers));
      arguments.push_back(std::move(bytes));
    }
    const auto no_scratch = [](std::uint64_t) -> Result<std::uint64_t> { return Error{"points use no scratch"}; };
    ROOFWALK_TRY(const Plan plan, make_plan(artifact, arguments, no_scratch));
    std::vector<RunRecord> records;
    for (int i = 0; i < kRepeats; ++i) {
      ROOFWALK_TRY(RunRecord record, device_.run(plan, options));
      if (record.fault) return Error{.message = fmt::format("{}: {}", point.where, record.fault->message)};
      records.push_back(std::move(record));
      if (records.back().time_is_modelled) break;
    }
    return records;
  }();
  for (const DeviceBuffer& buffer : buffers) device_.release(buffer);
  return runs;
}

Result<PointFigure> PointRunner::measure(const Point& point, const RunOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  if (runs_.empty() || !runs_the_same(point, last_)) {
    runs_.clear();
    ROOFWALK_TRY(runs_, run(point, options));
    last_ = point;
  }
  PointFigure out;
  out.elapsed_ns = std::numeric_limits<double>::infinity();
  for (const RunRecord& record : runs_) {
    ROOFWALK_TRY(const double elapsed_ns, elapsed_ns_of(point, record));
    out.elapsed_ns = std::min(out.elapsed_ns, elapsed_ns);
  }
  out.value = value_of(point, out.elapsed_ns, device_.machine().clock_hz);
  out.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return out;
}

}  // namespace roofwalk::test
