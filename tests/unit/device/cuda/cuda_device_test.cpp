// CudaDevice on the fake driver: the contract of every device, and behaviour specific to a GPU.
#include "common/device/cuda/cuda_device.h"

#include <numeric>

#include "tests/support/device_contract.h"
#include "tests/support/fake_driver.h"

namespace roofwalk::test {
namespace {

const DeviceLimits kHardware{.knows_faulty_line = false, .finds_every_overrun = false, .survives_faults = false};

// A device with its own driver, which outlives the device.
struct Rig {
  explicit Rig(Machine machine = *load_machine("classroom")) : driver(std::move(machine)) {}

  FakeDriver driver;
  std::optional<Runner> runner;
  CudaDevice* device = nullptr;

  void open(CudaOptions options = {}) {
    if (options.preheat_s == CudaOptions().preheat_s) options.preheat_s = 0;
    options.host_ns = [this] { return driver.host_ns(); };
    auto opened = CudaDevice::open(driver.api(), std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    device = opened->get();
    runner.emplace(std::move(*opened));
    driver.log.clear();
  }
  void open_with_counters(std::function<void(FakeRangeCounters&)> made = {}) {
    CudaOptions options;
    options.counters = fake_counters(driver, std::move(made));
    open(std::move(options));
  }
  // Returns the logged calls with these names, in order.
  std::vector<std::string> log_of(const std::set<std::string>& words) const {
    std::vector<std::string> out;
    for (const std::string& entry : driver.log) {
      if (words.contains(entry.substr(0, entry.find(' ')))) out.push_back(entry);
    }
    return out;
  }
  int count(const std::string& entry) const {
    return static_cast<int>(std::count(driver.log.begin(), driver.log.end(), entry));
  }
};

const std::string kSweep = std::string("launch ") + ColdCache::kKernel;

// Uses scratch, a memset, a copy and two kernels. The second kernel reads the first one's output.
constexpr const char* kSteps = R"(#include <roofwalk.cuh>
__global__ void twice(const float* x, float* t, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) t[i] = 2 * x[i];
}
__global__ void add(float* x, const float* t, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += t[i];
}
SOLVE(float* x, float* y, int n) {
  float* t = scratch<float>(n);
  cudaMemsetAsync(y, 0, n * sizeof(float), 0);
  twice<<<ceil_div(n, 64), 64>>>(x, t, n);
  add<<<ceil_div(n, 64), 64>>>(x, t, n);
  cudaMemcpyAsync(y, x, n / 2 * sizeof(float), cudaMemcpyDeviceToDevice, 0);
}
)";

// The kernel counts its runs in a global variable.
constexpr const char* kCounter = R"(#include <roofwalk.cuh>
__device__ int runs;
__global__ void count(float* x) { x[0] = ++runs; }
SOLVE(float* x) { count<<<1, 1>>>(x); }
)";

void run_contract(const std::function<CudaOptions(FakeDriver&)>& options_for) {
  std::unique_ptr<FakeDriver> driver;
  run_device_contract(
      [&] {
        driver.reset();
        driver = std::make_unique<FakeDriver>(*load_machine("classroom"));
        CudaOptions options = options_for(*driver);
        options.preheat_s = 0;
        options.host_ns = [&driver] { return driver->host_ns(); };
        auto opened = CudaDevice::open(driver->api(), std::move(options));
        EXPECT_TRUE(opened.ok()) << opened.error().text();
        return std::unique_ptr<Device>(std::move(*opened));
      },
      kHardware);
}

CudaOptions with_assembler() {
  CudaOptions options;
  options.assemble = [](const Artifact&, std::string_view ptx, const std::string& chip) -> Result<ChipCode> {
    return ChipCode{"cubin for " + chip + "\n" + std::string(ptx), true};
  };
  return options;
}

TEST(DeviceContract, CudaWithoutCounters) {
  run_contract([](FakeDriver&) { return CudaOptions(); });
}

TEST(DeviceContract, CudaWithCounters) {
  run_contract([](FakeDriver& driver) {
    CudaOptions options = with_assembler();
    options.counters = fake_counters(driver);
    return options;
  });
}

TEST(CudaDevice, APlanOfManyStepsCountsWhatTheVirtualGpuCounts) {
  const auto artifact = compile(kSteps);
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  constexpr int n = 1000;
  Buffer x{"x", numbers(n)}, y{"y", std::vector<float>(n, 5)};
  const auto expected = Runner().run(*artifact, {&x, &y, n}, {});
  ASSERT_TRUE(expected.ok() && !expected->fault);

  Rig rig;
  rig.open_with_counters();
  const std::size_t allocations = rig.driver.live_allocations(), modules = rig.driver.live_modules();
  x.values = numbers(n);
  y.values.assign(n, 5);
  const auto record = rig.runner->run(*artifact, {&x, &y, n}, {});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  EXPECT_TRUE(record->notes.empty()) << record->notes[0];
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(x.values[i], 3 * numbers(n)[i]);  // the result of one run, although every pass runs the plan
    ASSERT_EQ(y.values[i], i < n / 2 ? x.values[i] : 0);
  }
  ASSERT_EQ(record->kernels.size(), 4u);
  for (const Counter counter : fake_known_counters()) {
    SCOPED_TRACE(counter_name(counter));
    ASSERT_TRUE(record->counters[counter].has_value());
    if (is_of_lines(counter)) {
      EXPECT_EQ(record->counters[counter], expected->counters[counter]);
    } else {
      EXPECT_GT(*record->counters[counter], 0u);  // cycles
    }
    ASSERT_TRUE(record->kernels[1].counters[counter].has_value());
  }
  EXPECT_EQ(record->kernels[1].counters[Counter::flops_f32], n);
  EXPECT_FALSE(record->counters[Counter::branches].has_value());
  EXPECT_FALSE(record->bytes_are_modelled || record->time_is_modelled);
  double sum_ns = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(record->kernels[i].name, expected->kernels[i].name);
    EXPECT_EQ(record->kernels[i].line, expected->kernels[i].line);
    EXPECT_GT(record->kernels[i].elapsed_ns, 0);
    sum_ns += record->kernels[i].elapsed_ns;
  }
  EXPECT_NEAR(sum_ns, record->elapsed_ns, 1e-3 * sum_ns);
  EXPECT_EQ(record->kernels[1].registers_per_thread, 32);
  EXPECT_EQ(record->kernels[1].resident_blocks_per_sm, 16);
  EXPECT_EQ(record->kernels[1].occupancy, 1);
  EXPECT_EQ(rig.driver.live_allocations(), allocations) << "what was taken is given back";
  EXPECT_EQ(rig.driver.live_modules(), modules + 1);
}

// Before each measured pass, the device restores the data and then reads a buffer larger than L2. Nothing is written
// between that and the pass, so L2 holds neither the data nor dirty lines.
TEST(CudaDevice, EveryMeasuredPassBeginsWithAColdCleanCache) {
  Rig rig;
  rig.driver.persisting_l2_bytes = 1 << 16;
  rig.open_with_counters();
  const auto artifact = compile(kSteps);
  Buffer x{"x", numbers(64)}, y{"y", std::vector<float>(64)};
  const auto record = rig.runner->run(*artifact, {&x, &y, 64}, {});
  ASSERT_TRUE(record.ok() && !record->fault);
  const auto log = rig.log_of({"launch", "memset", "copy", "write", "load", "begin", "reset", "limit"});
  int measured = 0;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const bool counted = log[i] == "begin plan" || log[i] == "begin 0";
    const bool timed = log[i] == "memset" && !log[i - 1].starts_with("begin") && log[i - 1] != "launch add";
    if (!counted && !(timed && i > 8)) continue;  // the first memset is the plan's, in the checking pass
    ++measured;
    ASSERT_GE(i, 3u);
    EXPECT_EQ(log[i - 1], kSweep) << i;
    EXPECT_EQ(log[i - 2], "reset L2");
    EXPECT_EQ(log[i - 3], "limit 6 0");  // CU_LIMIT_PERSISTING_L2_CACHE_SIZE
  }
  EXPECT_EQ(measured, 2 * 2 + 2) << "two passes for the plan, two for its steps, one for their times, one for its time";
  EXPECT_EQ(rig.count("begin plan"), 2);
  EXPECT_EQ(rig.count("begin 3"), 2);
}

// With MIG or MPS, the driver says that a part of L2 can be set aside, but setting it fails.
TEST(CudaDevice, WhereNoPartOfL2MayBeSetAsideNoneIsGivenBack) {
  for (const CUresult code : {CUDA_ERROR_UNSUPPORTED_LIMIT, CUDA_ERROR_NOT_SUPPORTED}) {
    Rig rig;
    rig.driver.persisting_l2_bytes = 1 << 16;
    rig.driver.fail("cuCtxSetLimit", 1, code);
    rig.open();
    Buffer x{"x", numbers(64)}, y{"y", std::vector<float>(64)};
    const auto record = rig.runner->run(*compile(kSteps), {&x, &y, 64}, {});
    EXPECT_TRUE(record.ok() && !record->fault);
    EXPECT_EQ(rig.driver.calls("cuCtxSetLimit"), 1);
  }
}

TEST(CudaDevice, TheCacheIsReadOver) {
  Rig rig;
  rig.open();
  FakeDriver& driver = rig.driver;
  EXPECT_EQ(rig.device->machine().l2_bytes, 256 << 10);
  EXPECT_EQ(driver.live_allocations(), 1u);
  ColdCache cold;
  ASSERT_TRUE(cold.open(driver.api(), rig.device->gpu()).ok());
  driver.begin_range();
  ASSERT_EQ(cold.sweep(nullptr), CUDA_SUCCESS);
  const RunRecord record = driver.end_range();
  EXPECT_GE(cold.bytes(), 8u * (256 << 10));
  EXPECT_EQ(record.counters[Counter::dram_read_bytes], cold.bytes());
  EXPECT_EQ(record.counters[Counter::dram_write_bytes], 0u) << "it leaves no dirty line";
}

TEST(CudaDevice, GlobalVariablesStartAnewForEachPassAndLastBetweenRuns) {
  Rig rig;
  rig.open_with_counters();
  const auto artifact = compile(kCounter);
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  Buffer x{"x", {0}};
  auto plan = rig.runner->plan(*artifact, {&x});
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  Device& device = rig.runner->device();
  // `value` reads the result from the only buffer, whose address is in the plan.
  const auto run = [&](RunOptions::Figures figures) {
    const auto record = device.run(*plan, {.figures = figures});
    EXPECT_TRUE(record.ok() && !record->fault);
    return *record;
  };
  const auto value = [&] {
    CUdeviceptr address = 0;
    std::memcpy(&address, std::get<KernelLaunch>(plan->steps[0]).arguments.data(), 8);
    float got = 0;
    EXPECT_EQ(rig.driver.api().cuMemcpyDtoH(&got, address, 4), CUDA_SUCCESS);
    return got;
  };
  const RunRecord first = run(RunOptions::Figures::all);
  EXPECT_EQ(value(), 1);
  EXPECT_TRUE(first.counters[Counter::dram_read_bytes].has_value());
  run(RunOptions::Figures::time);
  EXPECT_EQ(value(), 2);
  run(RunOptions::Figures::none);
  EXPECT_EQ(value(), 3);
  const RunRecord late = run(RunOptions::Figures::all);  // no second pass could start at 3 again
  EXPECT_EQ(value(), 4);
  EXPECT_FALSE(late.counters[Counter::dram_read_bytes].has_value());
  ASSERT_EQ(late.notes.size(), 1u);
  EXPECT_NE(late.notes[0].find("global variables"), std::string::npos);
  ASSERT_TRUE(device.load(*artifact).ok());
  run(RunOptions::Figures::time);
  EXPECT_EQ(value(), 1);
  rig.runner->release();
}

TEST(CudaDevice, FiguresSayHowManyPassesThereAre) {
  const auto artifact = compile(kSteps);
  struct Case {
    RunOptions::Figures figures;
    int runs;  // runs of each kernel
    bool has_time, has_counters, has_step_times;
  };
  for (const Case& c :
       {Case{RunOptions::Figures::none, 1, false, false, false}, Case{RunOptions::Figures::time, 1, true, false, false},
        Case{RunOptions::Figures::all, 7, true, true, true}}) {
    Rig rig;
    rig.open_with_counters();
    Buffer x{"x", numbers(64)}, y{"y", std::vector<float>(64)};
    const auto record = rig.runner->run(*artifact, {&x, &y, 64}, {.figures = c.figures});
    ASSERT_TRUE(record.ok() && !record->fault);
    EXPECT_EQ(x.values[1], 3 * numbers(64)[1]);
    EXPECT_EQ(rig.count("launch _Z5twicePKfPfi"), c.runs);
    EXPECT_EQ(record->elapsed_ns > 0, c.has_time);
    EXPECT_EQ(record->counters[Counter::dram_read_bytes].has_value(), c.has_counters);
    EXPECT_EQ(record->kernels[1].elapsed_ns > 0, c.has_step_times);
  }
}

TEST(CudaDevice, CountersThatAreLostOrNotAvailableAreAbsent) {
  const auto artifact = compile(kContractKernel);
  Buffer x{"x", numbers(8)}, y{"y", std::vector<float>(8)};
  {  // one metric has no value on this chip
    Rig rig;
    rig.open_with_counters([](FakeRangeCounters& c) { c.not_available = {Counter::dram_write_bytes}; });
    EXPECT_TRUE(rig.device->supports(Counter::dram_write_bytes));  // supported, as far as known
    const auto record = rig.runner->run(*artifact, {&x, &y, 8, 2.0f}, {});
    ASSERT_TRUE(record.ok() && !record->fault);
    EXPECT_FALSE(record->counters[Counter::dram_write_bytes].has_value());
    EXPECT_TRUE(record->counters[Counter::dram_read_bytes].has_value());
    EXPECT_FALSE(rig.device->supports(Counter::dram_write_bytes));
    EXPECT_TRUE(rig.device->supports(Counter::dram_read_bytes));
  }
  {  // the permission is lost between two runs
    Rig rig;
    rig.open_with_counters([](FakeRangeCounters& c) { c.lost_at_count = 2; });
    ASSERT_TRUE(rig.runner->run(*artifact, {&x, &y, 8, 2.0f}, {})->counters[Counter::flops_f32].has_value());
    const auto record = rig.runner->run(*artifact, {&x, &y, 8, 2.0f}, {});
    ASSERT_TRUE(record.ok() && !record->fault);
    EXPECT_EQ(record->counters, Counters());
    EXPECT_EQ(y.values[3], 2 * x.values[3]);
    EXPECT_GT(record->elapsed_ns, 0);
    ASSERT_EQ(record->notes.size(), 1u);
    EXPECT_NE(record->notes[0].find("ERR_NVGPUCTRPERM"), std::string::npos);
    EXPECT_FALSE(rig.device->supports(Counter::flops_f32));
    EXPECT_TRUE(rig.device->alive().ok());
    const auto later = rig.runner->run(*artifact, {&x, &y, 8, 2.0f}, {});  // the permission is granted again
    ASSERT_TRUE(later.ok() && later->notes.empty());
    EXPECT_TRUE(later->counters[Counter::flops_f32].has_value());
    EXPECT_TRUE(rig.device->supports(Counter::flops_f32));
  }
  {  // the permission was never granted
    Rig rig;
    CudaOptions options;
    options.counters = fake_counters(rig.driver);
    options.counters->open = [](CUcontext, CUdevice, int) -> Result<std::unique_ptr<RangeCounters>> {
      return Error{.message = "another profiler is at work"};
    };
    rig.open(std::move(options));
    EXPECT_FALSE(rig.device->supports(Counter::dram_read_bytes));
    const auto record = rig.runner->run(*artifact, {&x, &y, 8, 2.0f}, {});
    ASSERT_TRUE(record.ok() && record->notes.size() == 1);
    EXPECT_EQ(record->notes[0], "no counters: another profiler is at work");
    EXPECT_EQ(record->counters, Counters());
  }
}

TEST(CudaDevice, AFaultAmongManyStepsHasItsKernel) {
  const auto artifact = compile(R"(#include <roofwalk.cuh>
__global__ void fine(float* x) { x[threadIdx.x] += 1; }
__global__ void far(float* x, int n) { x[n] = 1; }
SOLVE(float* x, int n) {
  fine<<<1, 32>>>(x);
  far<<<1, 1>>>(x, n);
  fine<<<1, 32>>>(x);
}
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  for (const auto figures : {RunOptions::Figures::all, RunOptions::Figures::none, RunOptions::Figures::time}) {
    Rig rig;
    rig.open_with_counters();
    Buffer x{"x", numbers(32)};
    const auto record = rig.runner->run(*artifact, {&x, 1 << 30}, {.figures = figures});
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_TRUE(record->fault.has_value());
    EXPECT_EQ(record->fault->kind, FaultKind::out_of_bounds);
    const bool is_known = figures != RunOptions::Figures::time;
    EXPECT_EQ(record->fault->kernel, is_known ? "far" : "");
    EXPECT_EQ(record->fault->line, is_known ? 6 : 0);
    if (!is_known) {
      EXPECT_NE(record->fault->message.find("one of the plan's 3 steps"), std::string::npos);
    }
    EXPECT_FALSE(rig.device->alive().ok());
    EXPECT_EQ(x.values, std::vector<float>(32)) << "what cannot be read is zeros";
  }
}

TEST(CudaDevice, MuchSharedMemoryIsAskedForAndTooMuchIsAFault) {
  const auto artifact = compile(R"(#include <roofwalk.cuh>
__global__ void turn(float* x, int n) {
  extern __shared__ float s[];
  s[n - 1 - threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[n - 32 + threadIdx.x];
}
SOLVE(float* x, int n) { turn<<<1, 32, n * sizeof(float)>>>(x, n); }
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  Rig rig;
  rig.open_with_counters();
  Buffer x{"x", numbers(32)};
  const auto record = rig.runner->run(*artifact, {&x, 15000}, {});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  EXPECT_EQ(record->kernels[0].shared_bytes, 60000u);
  EXPECT_EQ(record->kernels[0].resident_blocks_per_sm, 1);
  EXPECT_EQ(x.values[0], numbers(32)[31]);
  const auto too_much = rig.runner->run(*artifact, {&x, 17000}, {});
  ASSERT_TRUE(too_much.ok()) << too_much.error().text();
  ASSERT_TRUE(too_much->fault.has_value());
  EXPECT_EQ(too_much->fault->kind, FaultKind::resource);
  EXPECT_EQ(too_much->fault->line, 8);
  EXPECT_NE(too_much->fault->message.find("68000 bytes of shared memory"), std::string::npos)
      << too_much->fault->message;
  EXPECT_TRUE(rig.device->alive().ok());
}

TEST(CudaDevice, ABlockOfTooManyRegistersIsAFault) {
  const auto artifact = compile(kContractKernel);
  Rig rig;
  rig.driver.registers = 255;
  rig.open();
  Buffer x{"x", numbers(8)}, y{"y", std::vector<float>(8)};
  auto plan = rig.runner->plan(*artifact, {&x, &y, 8, 2.0f});
  ASSERT_TRUE(plan.ok());
  std::get<KernelLaunch>(plan->steps[0]).block.x = 1024;
  const auto record = rig.device->run(*plan);
  ASSERT_TRUE(record.ok() && record->fault);
  EXPECT_EQ(record->fault->kind, FaultKind::resource);
  std::get<KernelLaunch>(plan->steps[0]).block = {1, 1, 64};
  std::get<KernelLaunch>(plan->steps[0]).grid = {1, 1 << 17, 1};  // beyond 65535, which only the launch itself detects
  const auto refused = rig.device->run(*plan);
  ASSERT_TRUE(refused.ok() && refused->fault);
  EXPECT_EQ(refused->fault->kind, FaultKind::resource);
  EXPECT_NE(refused->fault->message.find("refuses scale<<<1 x 131072 x 1"), std::string::npos)
      << refused->fault->message;
  rig.runner->release();
}

TEST(CudaDevice, AMemsetOutOfBoundsHasItsLineAndBreaksNothing) {
  const auto artifact = compile(R"(#include <roofwalk.cuh>
SOLVE(float* x, float* y, int n) {
  cudaMemsetAsync(x, 0, 4 * n, 0);
  cudaMemcpyAsync(y, x, 4 * n + 4, cudaMemcpyDeviceToDevice, 0);
}
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  Rig rig;
  rig.open();
  Buffer x{"x", numbers(8)}, y{"y", numbers(16)};
  const auto set = rig.runner->run(*artifact, {&x, &y, 9}, {});
  ASSERT_TRUE(set.ok() && set->fault);
  EXPECT_EQ(set->fault->message, "out of bounds: memset of 36 bytes from byte 0 of x, which has 32 bytes");
  EXPECT_EQ(set->fault->line, 3);
  const auto copy = rig.runner->run(*artifact, {&x, &y, 8}, {});
  ASSERT_TRUE(copy.ok() && copy->fault);
  EXPECT_EQ(copy->fault->message, "out of bounds: memcpy of 36 bytes from byte 0 of x, which has 32 bytes");
  EXPECT_TRUE(rig.device->alive().ok());
  const auto fine = rig.runner->run(*artifact, {&x, &y, 7}, {});
  ASSERT_TRUE(fine.ok() && !fine->fault);
  EXPECT_EQ(x.values[6], 0);
  EXPECT_EQ(y.values[6], 0);
  EXPECT_EQ(y.values[7], x.values[7]);
}

// Launches cost host time. If the GPU had to wait for the host, the record must say so.
TEST(CudaDevice, TheHostIsAheadOfTheGpuOrTheRecordSaysSo) {
  const auto artifact = compile(R"(#include <roofwalk.cuh>
__global__ void step(float* x) { x[threadIdx.x] += 1; }
SOLVE(float* x, int n) { for (int i = 0; i < n; ++i) step<<<1, 32>>>(x); }
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  const auto run = [&](double host_cost_ns, double later_cost_ns) {
    Rig rig;
    rig.driver.host_cost_ns = host_cost_ns;
    rig.open();
    rig.driver.host_cost_ns = later_cost_ns;
    Buffer x{"x", numbers(32)};
    const auto record = rig.runner->run(*artifact, {&x, 40}, {.figures = RunOptions::Figures::time});
    EXPECT_TRUE(record.ok() && !record->fault);
    return *record;
  };
  const RunRecord quick = run(0, 0), slow = run(5000, 5000), surprised = run(0, 50000);
  EXPECT_TRUE(quick.notes.empty());
  EXPECT_TRUE(slow.notes.empty()) << "the reading of L2 was made as long as the queueing takes";
  EXPECT_NEAR(slow.elapsed_ns, quick.elapsed_ns, 1e-3 * quick.elapsed_ns);
  ASSERT_EQ(surprised.notes.size(), 1u);
  EXPECT_NE(surprised.notes[0].find("waits for the host"), std::string::npos);
  EXPECT_GT(surprised.elapsed_ns, 1.5 * quick.elapsed_ns);
}

// The plan has more steps than a stream takes at once. Without a graph, the host would wait for the stream, and then
// the GPU for the host.
TEST(CudaDevice, ManyStepsGoAsOneGraph) {
  const auto artifact = compile(R"(#include <roofwalk.cuh>
__global__ void step(float* x, int bad) { x[threadIdx.x - 500 * bad] += 1; }
SOLVE(float* x, int n, int bad) { for (int i = 0; i < n; ++i) step<<<1, 32>>>(x, i == bad); }
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  Rig rig;
  rig.driver.host_cost_ns = 5000;
  rig.open();
  const auto run = [&](int steps, int bad) {
    Buffer x{"x", std::vector<float>(32)};
    const auto record = rig.runner->run(*artifact, {&x, steps, bad}, {.figures = RunOptions::Figures::time});
    EXPECT_TRUE(record.ok()) << record.error().text();
    EXPECT_EQ(x.values[31], record->fault ? x.values[31] : static_cast<float>(steps));
    return *record;
  };
  const RunRecord few = run(500, -1);
  EXPECT_EQ(rig.count("graph"), 0);
  const RunRecord many = run(600, -1);
  EXPECT_EQ(rig.count("graph"), 1);
  EXPECT_EQ(rig.driver.live_graphs(), 0u);
  EXPECT_TRUE(many.notes.empty()) << many.notes[0];
  EXPECT_NEAR(many.elapsed_ns / few.elapsed_ns, 1.2, 0.01);
  const RunRecord broken = run(600, 300);
  ASSERT_TRUE(broken.fault.has_value());
  EXPECT_NE(broken.fault->message.find("one of the plan's 600 steps"), std::string::npos) << broken.fault->message;
}

// Before each pass, the module is loaded anew, and its kernels must be loaded before the time is taken.
TEST(CudaDevice, AGraphOfKernelsThatWereLoadedAnew) {
  const auto artifact = compile(R"(#include <roofwalk.cuh>
__device__ float many;
__global__ void step(float* x) { x[threadIdx.x] += ++many; }
SOLVE(float* x, int n) { for (int i = 0; i < n; ++i) step<<<1, 1>>>(x); }
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  Rig rig;
  rig.open_with_counters();
  Buffer x{"x", {0}};
  const auto record = rig.runner->run(*artifact, {&x, 501}, {});
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_FALSE(record->fault) << record->fault->message;
  EXPECT_EQ(rig.count("graph"), 1);
  EXPECT_EQ(x.values[0], 501 * 502 / 2);
}

TEST(CudaDevice, AKernelWithoutEndIsAFaultAndCostsTheDevice) {
  const auto artifact = compile(kContractKernel);
  Rig rig;
  rig.open();
  rig.driver.never_end(2);  // the first launch is the sweep that empties L2
  Buffer x{"x", numbers(8)}, y{"y", std::vector<float>(8)};
  const auto record = rig.runner->run(*artifact, {&x, &y, 8, 2.0f}, {.max_seconds = 0.05});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault.has_value());
  EXPECT_EQ(record->fault->kind, FaultKind::runaway);
  EXPECT_EQ(record->fault->kernel, "scale");
  EXPECT_EQ(record->fault->line, 6);
  EXPECT_FALSE(rig.device->alive().ok());
  const auto next = rig.runner->run(*artifact, {&x, &y, 8, 2.0f}, {});
  ASSERT_FALSE(next.ok());
  EXPECT_NE(next.error().message.find("this process must end"), std::string::npos);
  const int calls = rig.driver.calls("cuMemFree");
  rig.runner.reset();
  EXPECT_EQ(rig.driver.calls("cuMemFree"), calls) << "a call to a busy GPU would wait for ever";
}

TEST(CudaDevice, WhatKernelsPrintIsKeptOnceAndNotShown) {
  const auto artifact = compile(R"(#include <roofwalk.cuh>
__global__ void say(float* x) { printf("%d is %g\n", threadIdx.x, x[threadIdx.x]); }
SOLVE(float* x) {
  say<<<1, 2>>>(x);
  say<<<1, 1>>>(x);
}
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  Rig rig;
  rig.open_with_counters();
  Buffer x{"x", {5, 7}};
  testing::internal::CaptureStdout();
  const auto record = rig.runner->run(*artifact, {&x}, {});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  ASSERT_TRUE(record.ok() && !record->fault);
  EXPECT_EQ(record->printed.text, "0 is 5\n1 is 7\n0 is 5\n");
}

TEST(CudaDevice, AFailedAssertHasItsLineAndThread) {
  const auto artifact = compile(R"(#include <roofwalk.cuh>
#include <cassert>
__global__ void check(float* x) {
  assert(x[threadIdx.x] < 7);
}
SOLVE(float* x) { check<<<1, 2>>>(x); }
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  Rig rig;
  rig.open_with_counters();
  Buffer x{"x", {5, 7}};
  const auto record = rig.runner->run(*artifact, {&x}, {});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault.has_value());
  EXPECT_EQ(record->fault->kind, FaultKind::assertion);
  EXPECT_EQ(record->fault->line, 4);
  EXPECT_EQ(record->fault->thread, (Dim3{1, 0, 0}));
  EXPECT_EQ(record->fault->message, "assertion failed: x[threadIdx.x] < 7: your own assert, false for this thread");
  EXPECT_FALSE(rig.device->alive().ok());
}

TEST(OutputCapture, KeepsWholeLinesOfPlainText) {
  EXPECT_EQ(printed_of("a\x1b[31mb\xc3\n\tc"), (Printed{"a?[31mb?\n\tc", 0}));
  std::string many;
  for (int i = 0; i < 10000; ++i) many += "ten bytes\n";
  const Printed kept = printed_of(many);
  EXPECT_EQ(kept.text.size(), 65530u);
  EXPECT_EQ(kept.more_lines, 10000u - 6553u);
  EXPECT_FALSE(assertion_in("kernel.cu:99999999: block: [0,0,0], thread: [0,0,0] Assertion `a` failed."));
  EXPECT_FALSE(assertion_in(std::string(1 << 20, ':')));
}

TEST(CudaDevice, AnIdleGpuIsPreheated) {
  const auto artifact = compile(kContractKernel);
  Rig rig;
  CudaOptions options;
  options.preheat_s = 0.02;
  rig.open(std::move(options));
  Buffer x{"x", numbers(8)}, y{"y", std::vector<float>(8)};
  const RunOptions time{.figures = RunOptions::Figures::time};
  ASSERT_TRUE(rig.runner->run(*artifact, {&x, &y, 8, 2.0f}, time).ok());
  const int first = rig.count(kSweep);
  EXPECT_GT(first, 1);
  ASSERT_TRUE(rig.runner->run(*artifact, {&x, &y, 8, 2.0f}, time).ok());
  EXPECT_EQ(rig.count(kSweep), first + 1) << "it is warm now";
}

TEST(CudaDevice, ThePtxIsAssembledOnceForTheChip) {
  const auto artifact = compile(kContractKernel);
  Rig rig;
  int assembled = 0;
  CudaOptions options;
  options.assemble = [&](const Artifact&, std::string_view ptx, const std::string& chip) -> Result<ChipCode> {
    ++assembled;
    return ChipCode{"cubin for " + chip + "\n" + std::string(ptx), true};
  };
  rig.driver.compiles_ptx = true;
  rig.open(std::move(options));
  ASSERT_TRUE(rig.device->load(*artifact).ok());
  ASSERT_TRUE(rig.device->load(*artifact).ok());
  EXPECT_EQ(assembled, 1);
  EXPECT_TRUE(rig.driver.last_image.starts_with("cubin for sm_80\n"));
  EXPECT_EQ(rig.driver.last_image.find("__cudaCDP2"), std::string::npos);

  Artifact newer = *artifact;
  newer.arch = "compute_80a";
  ASSERT_TRUE(rig.device->load(newer).ok());
  EXPECT_TRUE(rig.driver.last_image.starts_with("cubin for sm_80a\n"));
}

TEST(CudaDevice, TheDriversCompilerTakesOverWhereTheToolkitIsTooOld) {
  const auto artifact = compile(kContractKernel);
  Rig rig;
  CudaOptions options;
  options.assemble = [](const Artifact&, std::string_view, const std::string&) -> Result<ChipCode> {
    return ChipCode{{}, false};
  };
  rig.open(std::move(options));
  ASSERT_TRUE(rig.device->load(*artifact).ok());
  EXPECT_NE(rig.driver.last_image.find(".entry _Z5scale"), std::string::npos);
  EXPECT_EQ(rig.driver.last_image.find("solve_param"), std::string::npos);
  rig.driver.compiles_ptx = false;  // the driver's compiler is older than the PTX
  const auto refused = rig.device->load(*artifact);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("the CUDA toolkit is newer than the driver's compiler"), std::string::npos);
  EXPECT_TRUE(rig.device->alive().ok());

  Artifact broken = *artifact;
  broken.ptx.insert(broken.ptx.find("\tret;"), "\tbogus.f32 %f1;\n");
  rig.driver.compiles_ptx = true;
  EXPECT_FALSE(rig.device->load(broken).ok());
}

TEST(CudaDevice, OutOfMemorySaysHowMuchThereIs) {
  Rig rig;
  rig.open();
  const auto much = rig.device->allocate("c", 1ull << 40, 4);
  ASSERT_FALSE(much.ok());
  EXPECT_EQ(
      much.error().message,
      "out of memory: c asks for 1099511627776 bytes, and 1071644672 of the 1073741824 bytes of Fake GPU are free");
  EXPECT_TRUE(rig.device->alive().ok());
  EXPECT_TRUE(rig.device->allocate("c", 1 << 20, 4).ok());
}

TEST(CudaDevice, BuffersThatDoNotFitTwiceAreKeptOnTheHost) {
  Machine small = *load_machine("classroom");
  small.memory_bytes = 16 << 20;
  Rig rig(small);
  rig.open_with_counters();
  const auto artifact = compile(R"(#include <roofwalk.cuh>
__global__ void twice(float* x) { x[threadIdx.x] *= 2; }
SOLVE(float* x, float* big) { twice<<<1, 32>>>(x); }
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  const auto big = rig.device->allocate("big", 10 << 20, 4);
  ASSERT_TRUE(big.ok());
  Buffer x{"x", numbers(32)};
  const auto record = rig.runner->run(*artifact, {&x, *big}, {});
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_TRUE(record->counters[Counter::dram_read_bytes].has_value());
  EXPECT_EQ(x.values[1], 2 * numbers(32)[1]);
  EXPECT_GE(rig.count("read"), 2) << "the big one, and x at the end";
}

TEST(GpuProperties, IsAMachineOfTheProjectWhereTheDriverCallsItSo) {
  FakeDriver driver(*load_machine("h100-sxm"));
  driver.name = "NVIDIA H100 80GB HBM3";
  auto gpu = query_gpu(driver.api(), 0);
  ASSERT_TRUE(gpu.ok()) << gpu.error().text();
  EXPECT_EQ(gpu->uuid, "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f");
  Machine machine = machine_of(*gpu);
  EXPECT_EQ(machine.name, "h100-sxm");
  EXPECT_EQ(machine.arch, "compute_90a");
  EXPECT_GT(machine.l2_ways, 0);
  gpu->sms = 114;  // another kind of H100, which must not take this name
  EXPECT_NE(machine_of(*gpu).name, "h100-sxm");
}

TEST(GpuProperties, ElseItIsWhatTheDriverSaysAndNothingMore) {
  FakeDriver driver(*load_machine("classroom"));
  driver.name = "NVIDIA L99 (test)";
  const auto gpu = query_gpu(driver.api(), 0);
  ASSERT_TRUE(gpu.ok()) << gpu.error().text();
  const Machine machine = machine_of(*gpu), classroom = *load_machine("classroom");
  EXPECT_EQ(machine.name, "nvidia-l99-test");
  EXPECT_EQ(machine.arch, "compute_80");
  EXPECT_EQ(machine.sms, classroom.sms);
  EXPECT_EQ(machine.l2_bytes, classroom.l2_bytes);
  EXPECT_NEAR(machine.dram_bytes_per_s, classroom.dram_bytes_per_s, 1e6);
  EXPECT_EQ(machine.l2_latency_cycles, 0) << "nobody told";
  EXPECT_EQ(machine.l1_bytes, 192 << 10) << "with shared memory: no one knows the split";
  EXPECT_EQ(machine.fp32_lanes_per_sm, 64);

  const auto other = query_gpu(driver.api(), 1);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().message, "there is no GPU 1: the driver sees 1");
}

TEST(GpuProperties, GpusBeforeTuringAreRefused) {
  Machine old = *load_machine("classroom");
  old.compute_capability = 70;
  FakeDriver driver(old);
  const auto gpu = query_gpu(driver.api(), 0);
  ASSERT_FALSE(gpu.ok());
  EXPECT_NE(gpu.error().message.find("compute capability 7.0"), std::string::npos);
}

}  // namespace
}  // namespace roofwalk::test
