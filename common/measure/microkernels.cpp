#include "common/measure/microkernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

#include "common/measure/measurement.h"
#include "common/record/run_record.h"

namespace roofwalk {
namespace {

constexpr std::int64_t kVectorBytes = 16;
constexpr int kRepeats = 5;               // of a run with measured time
constexpr double kLongEnough_ns = 150e3;  // least difference of measured times; events resolve half a microsecond
constexpr int kGrowth = 4;                // factor from one length to the next
constexpr int kMostLengths = 7;           // tried until the difference is long enough
constexpr int kStreamGrain = 1024;        // vectors per block: kThreads * kInFlight of memory.cu
constexpr int kMostThreads = 1024;        // per block, as in both files
constexpr int kTensorCapability = 80;     // required by m16n8k16 in arithmetic.cu

// The parameters of SOLVE in common/roofs, with buffers given by size.
struct Call {
  std::int64_t a_vectors = 0, b_vectors = 0, c_vectors = 0;
  int kernel = 0;  // number in the file
  int vectors = 0, windows = 1, blocks = 0, threads = 0, turns = 0;
};

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

// Returns a call with one block per SM and `warps` warps per scheduler, limited by the block size; each thread writes a
// float.
Call one_wave(const Machine& m, int kernel, int warps, int turns) {
  const int unit = 32 * std::max(m.schedulers_per_sm, 1);
  const int most = std::min({m.max_threads_per_block, m.max_threads_per_sm, kMostThreads, warps * unit});
  Call call{.kernel = kernel, .blocks = m.sms, .threads = std::max(most / unit * unit, 32), .turns = turns};
  call.c_vectors = rounded_up(std::int64_t{call.blocks} * call.threads, 4) / 4;
  return call;
}

// Returns a stream through DRAM. With `length` 1, all its arrays together have L2's size, fifty times the bytes that
// DRAM has in flight, or 16 MiB, whichever is largest. The next length is several times L2's size.
Call stream(const Machine& m, int kernel, int reads, int writes, int length) {
  constexpr double kFewestBytes = 16 << 20;
  const double under_way_bytes = m.dram_bytes_per_s / m.clock_hz * m.dram_latency_cycles;
  const double bytes = std::max({static_cast<double>(m.l2_bytes), 50 * under_way_bytes, kFewestBytes}) * length;
  const auto vectors = rounded_up(static_cast<std::int64_t>(bytes / (reads + writes)) / kVectorBytes, kStreamGrain);
  return {.a_vectors = reads > 0 ? vectors : 0,
          .b_vectors = reads > 1 ? vectors : 0,
          .c_vectors = writes > 0 ? vectors : 0,
          .kernel = kernel,
          .blocks = static_cast<int>(vectors / kStreamGrain)};
}

// Reads windows of 1.5 times L1's size; together they have at most half of L2's size, so that they stay in L2. nullopt
// if L1's size is unknown or no window fits.
std::optional<Call> l2_reads(const Machine& m, int length) {
  Call call = one_wave(m, 4, 4, 2 * length);
  if (m.l1_bytes == 0) return std::nullopt;  // unknown
  const std::int64_t window = rounded_up(std::int64_t{m.l1_bytes} * 3 / 2 / kVectorBytes, 4 * call.threads);
  const std::int64_t windows = std::min<std::int64_t>(m.l2_bytes / 2 / kVectorBytes / window, m.sms);
  if (windows == 0) return std::nullopt;
  call.a_vectors = window * windows;
  call.vectors = static_cast<int>(window);
  call.windows = static_cast<int>(windows);
  return call;
}

std::optional<Call> l1_reads(const Machine& m, int length) {
  constexpr int kVectors = 1024;  // as in memory.cu
  if (m.l1_bytes < 2 * kVectors * kVectorBytes) return std::nullopt;
  Call call = one_wave(m, 5, 8, 8 * length);
  call.a_vectors = kVectors;
  return call;
}

// Returns the call for a roof; `length` 1 is the shortest run. nullopt if the machine has no such part.
std::optional<Call> call_of(const Machine& m, Roof roof, int length) {
  switch (roof) {
    case Roof::dram_read:
      return stream(m, 0, 1, 0, length);
    case Roof::dram_write:
      return stream(m, 1, 0, 1, length);
    case Roof::dram_copy:
      return stream(m, 2, 1, 1, length);
    case Roof::dram_triad:
      return stream(m, 3, 2, 1, length);
    case Roof::l2:
      return l2_reads(m, length);
    case Roof::l1:
      return l1_reads(m, length);
    case Roof::shared:
      return one_wave(m, 6, 8, 8 * length);
    case Roof::fp32:
      return one_wave(m, 0, 4, 2 * length);
    case Roof::half2:
      return one_wave(m, 1, 4, 4 * length);
    case Roof::mma:
      if (m.compute_capability < kTensorCapability) return std::nullopt;
      return one_wave(m, 2, 4, 2 * length);
  }
  return std::nullopt;
}

bool is_arithmetic(Roof roof) { return roof == Roof::fp32 || roof == Roof::half2 || roof == Roof::mma; }

// Returns the roof's bytes or FLOPs as counted by the device; nullopt if it does not count them.
std::optional<double> counted_amount(const Counters& counters, Roof roof) {
  const auto sum = [&](std::initializer_list<Counter> parts, double scale) -> std::optional<double> {
    double total = 0;
    for (const Counter part : parts) {
      if (!counters[part]) return std::nullopt;
      total += static_cast<double>(*counters[part]);
    }
    return total * scale;
  };
  switch (roof) {
    case Roof::dram_read:
    case Roof::dram_write:
    case Roof::dram_copy:
    case Roof::dram_triad:
      return sum({Counter::dram_read_bytes, Counter::dram_write_bytes}, 1);
    case Roof::l2:
      return sum({Counter::l2_read_sectors}, kSectorBytes);
    case Roof::l1:
      return sum({Counter::l1_read_sectors}, kSectorBytes);
    case Roof::shared:
      return sum({Counter::shared_bytes}, 1);
    case Roof::fp32:
      return sum({Counter::flops_f32}, 1);
    case Roof::half2:
      return sum({Counter::flops_f16}, 1);
    case Roof::mma:
      return sum({Counter::flops_tensor}, 1);
  }
  return std::nullopt;
}

// Returns the bytes or FLOPs that the kernels' source implies, for devices that do not count them. Omits what is the
// same in runs of any length, because only the difference of two runs is used. nullopt for L2: the source does not tell
// how much of a window L1 keeps.
std::optional<double> asked_amount(const Call& call, Roof roof) {
  constexpr double kLoads = 8, kChains = 8, kWarp = 32;                  // as in the two files
  constexpr double kFp32Steps = 64, kHalfSteps = 32, kTensorSteps = 16;  // per turn, of each chain
  constexpr double kFma = 2, kHalves = 2, kTensorFlops = 2 * 16 * 8 * 16;
  const double turns = static_cast<double>(call.blocks) * call.threads * call.turns;  // total of all threads
  switch (roof) {
    case Roof::dram_read:
    case Roof::dram_write:
    case Roof::dram_copy:
    case Roof::dram_triad: {
      const bool writes = roof != Roof::dram_read;
      return static_cast<double>((call.a_vectors + call.b_vectors + (writes ? call.c_vectors : 0)) * kVectorBytes);
    }
    case Roof::l2:
      return std::nullopt;
    case Roof::l1:
    case Roof::shared:
      return turns * kLoads * kVectorBytes;
    case Roof::fp32:
      return turns * kChains * kFp32Steps * kFma;
    case Roof::half2:
      return turns * kChains * kHalfSteps * kFma * kHalves;
    case Roof::mma:
      return turns / kWarp * kChains * kTensorSteps * kTensorFlops;
  }
  return std::nullopt;
}

template <class T>
ArgumentBytes bytes_of(const T& value) {
  ArgumentBytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// The buffers of one call; released by the destructor.
class Buffers {
 public:
  explicit Buffers(Device& device) : device_(device) {}
  ~Buffers() {
    for (const DeviceBuffer& buffer : buffers_) device_.release(buffer);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  // Makes a buffer of ones; a small one if the call does not use it.
  Result<ArgumentBytes> make(std::string_view name, std::int64_t vectors) {
    constexpr std::int64_t kFewest = 16;
    constexpr std::uint64_t kPiece = 1 << 20;
    const auto bytes = static_cast<std::uint64_t>(std::max(vectors, kFewest) * kVectorBytes);
    ROOFWALK_TRY(const DeviceBuffer buffer, device_.allocate(name, bytes, sizeof(float)));
    buffers_.push_back(buffer);
    const std::vector<float> ones(std::min(bytes, kPiece) / sizeof(float), 1.0f);
    const std::span data(reinterpret_cast<const std::uint8_t*>(ones.data()), ones.size() * sizeof(float));
    for (std::uint64_t at = 0; at < bytes; at += data.size()) {
      device_.write(buffer, at, data.first(std::min<std::uint64_t>(data.size(), bytes - at)));
    }
    return bytes_of(buffer.address);
  }

 private:
  Device& device_;
  std::vector<DeviceBuffer> buffers_;
};

// Runs once if time is modelled, otherwise takes the time of the fastest of several runs. The first one also counts,
// which takes longer than the kernel. The record may hold a fault.
Result<RunRecord> run(Device& device, const Artifact& artifact, const Call& call) {
  Buffers buffers(device);
  std::vector<ArgumentBytes> arguments(3);
  ROOFWALK_TRY(arguments[0], buffers.make("a", call.a_vectors));
  ROOFWALK_TRY(arguments[1], buffers.make("b", call.b_vectors));
  ROOFWALK_TRY(arguments[2], buffers.make("c", call.c_vectors));
  for (const int number : {call.kernel, call.vectors, call.windows, call.blocks, call.threads, call.turns}) {
    arguments.push_back(bytes_of(number));
  }
  const auto no_scratch = [](std::uint64_t) -> Result<std::uint64_t> { return Error{"microkernels use no scratch"}; };
  ROOFWALK_TRY(const Plan plan, make_plan(artifact, arguments, no_scratch));
  RunOptions options;
  options.time = RunOptions::Time::clock;
  options.threads = 1;  // roofs may be measured in parallel
  ROOFWALK_TRY(RunRecord best, device.run(plan, options));
  options.figures = RunOptions::Figures::time;
  for (int i = 1; i < kRepeats && !best.time_is_modelled && !best.fault; ++i) {
    ROOFWALK_TRY(RunRecord again, device.run(plan, options));
    if (again.fault) return again;
    best.elapsed_ns = std::min(best.elapsed_ns, again.elapsed_ns);
  }
  return best;
}

bool fits(const Call& call, const Machine& m) {
  return (call.a_vectors + call.b_vectors + call.c_vectors) * kVectorBytes <= m.memory_bytes / 2;
}

Error trouble(const Machine& machine, const Fault& fault) {
  return {.message = fmt::format("a roof of {} cannot be measured: {}", machine.name, fault.message),
          .file = fault.file,
          .line = fault.line};
}

}  // namespace

Result<std::optional<double>> measure_roof(Device& device, const Microkernels& kernels, Roof roof) {
  const Machine& machine = device.machine();
  const Artifact& artifact = is_arithmetic(roof) ? kernels.arithmetic : kernels.memory;
  std::optional<double> rate;
  struct Run {
    double amount = 0, elapsed_ns = 0;
  };
  std::optional<Run> shorter;
  ROOFWALK_TRY_STATUS(device.load(artifact));
  for (int i = 0, length = 1; i < kMostLengths; ++i, length *= kGrowth) {
    const auto call = call_of(machine, roof, length);
    if (!call || !fits(*call, machine)) break;
    ROOFWALK_TRY(RunRecord longer, run(device, artifact, *call));
    if (longer.fault && longer.fault->kind == FaultKind::resource) break;  // does not fit on this machine
    if (longer.fault) return trouble(machine, *longer.fault);
    const auto counted = counted_amount(longer.counters, roof);
    const auto amount = counted ? counted : asked_amount(*call, roof);
    if (!amount) break;
    if (shorter) {
      const double more = *amount - shorter->amount, more_ns = longer.elapsed_ns - shorter->elapsed_ns;
      if (more > 0 && more_ns > 0) rate = more / more_ns * 1e9;
      if (longer.time_is_modelled || more_ns >= kLongEnough_ns) break;
    }
    shorter = {*amount, longer.elapsed_ns};
  }
  return rate;
}

}  // namespace roofwalk
