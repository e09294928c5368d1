// Measures the virtual GPU's speed: warp instructions per second, and the time relative to plain loops that do the same
// work on one host thread. There are benchmarks of one host thread without the clock (the timing model), with and
// without counting; of all threads; and of whole runs with the clock.
#include <benchmark/benchmark.h>

#include <bit>
#include <chrono>
#include <functional>

#include "tests/bench/native.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// Counting, without the clock, on one thread.
constexpr RunOptions kCounted{.threads = 1, .time = RunOptions::Time::least};

struct Work {
  std::string source;
  std::vector<Buffer> buffers;                       // the kernel's first arguments
  std::vector<Runner::Argument> numbers;             // its remaining arguments
  std::function<void(std::vector<Buffer>&)> native;  // the same work on the host; empty: not compared
  double mmas = 0;                                   // per run
};

void run_on(benchmark::State& state, Work work, const RunOptions& options = kCounted) {
  const auto artifact = compile(text_of(work.source));
  if (!artifact) return state.SkipWithError(artifact.error().text().c_str());
  std::vector<Runner::Argument> arguments;
  for (Buffer& buffer : work.buffers) arguments.emplace_back(&buffer);
  arguments.insert(arguments.end(), work.numbers.begin(), work.numbers.end());
  Runner runner;
  const auto plan = runner.plan(*artifact, arguments);
  if (!plan) return state.SkipWithError(plan.error().text().c_str());
  // Native and virtual runs alternate, so that both see the same load of the host.
  double own_s = 0, native_s = 0;
  const auto timed = [](auto&& run) {
    const auto start = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    own_s += timed([&] {
      const auto record = runner.device().run(*plan, options);
      if (!record || record->fault) return state.SkipWithError("the kernel failed");
      instructions += *record->counters[Counter::warp_instructions];
    });
    if (!work.native) continue;
    state.PauseTiming();
    native_s += timed([&] { work.native(work.buffers); });
    for (Buffer& buffer : work.buffers) benchmark::DoNotOptimize(buffer.values.data());
    state.ResumeTiming();
  }
  state.counters["warp_instructions_per_s"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
  if (work.mmas != 0) {
    state.counters["mmas_per_s"] = benchmark::Counter(work.mmas, benchmark::Counter::kIsIterationInvariantRate);
  }
  if (work.native) state.counters["of_native"] = own_s / native_s;
}

float* values(std::vector<Buffer>& buffers, std::size_t i) { return buffers[i].values.data(); }

// Returns the work of kernels with parameters (a, b, c, n).
Work vectors(const std::string& source, int n, void (*native)(const float*, const float*, float*, int)) {
  const auto count = static_cast<std::size_t>(n);
  return {.source = source,
          .buffers = {{"a", numbers(count)}, {"b", numbers(count, 5)}, {"c", std::vector<float>(count)}},
          .numbers = {n},
          .native = [=](auto& b) { native(values(b, 0), values(b, 1), values(b, 2), n); }};
}

// Returns the work of kernels with parameters (a, b, c, m, n, k), with n x n matrices.
Work products(const std::string& source, int n) {
  Work work = vectors(source, n * n, native_vector_add);
  work.numbers = {n, n, n};
  work.native = [=](auto& b) { native_gemm(values(b, 0), values(b, 1), values(b, 2), n); };
  return work;
}

// The benchmark's argument is 0 to request no figures, so that memory traffic is not counted; otherwise it is counted.
RunOptions counted_or_not(const benchmark::State& state) {
  RunOptions options = kCounted;
  if (state.range(0) == 0) options.figures = RunOptions::Figures::none;
  return options;
}

void vector_add(benchmark::State& state) {
  run_on(state, vectors("solutions/01-vector-add/step1_fill_the_machine.cu", 1 << 20, native_vector_add),
         counted_or_not(state));
}
void naive_gemm_starter(benchmark::State& state) {
  run_on(state, products("chapters/02-naive-gemm/kernel.cu", 512), counted_or_not(state));
}
void naive_gemm_coalesced(benchmark::State& state) {
  run_on(state, products("solutions/02-naive-gemm/step1_neighbours_share_a_row.cu", 512), counted_or_not(state));
}
void tiled_gemm(benchmark::State& state) {
  run_on(state, products("tests/bench/kernels/tiled_16.cu", 512), counted_or_not(state));
}
void pipelined_gemm(benchmark::State& state) {
  run_on(state, products("solutions/04-pipelined-gemm/step3_registers_too.cu", 512), counted_or_not(state));
}
void mma_gemm(benchmark::State& state) {
  constexpr int kSize = 1024;
  Work work = products("tests/bench/kernels/mma.cu", kSize);
  const float two_ones = std::bit_cast<float>(0x3c003c00u);  // a pair of halves
  for (std::size_t i : {0, 1}) work.buffers[i].values.assign(std::size_t{kSize} * kSize / 2, two_ones);
  work.native = nullptr;
  work.mmas = static_cast<double>(kSize) * kSize * kSize / (16 * 8 * 16);
  run_on(state, std::move(work), counted_or_not(state));
}
void layernorm(benchmark::State& state) {
  constexpr int kRows = 512, kCols = 1024;
  constexpr float kEpsilon = 1e-5f;
  run_on(state,
         {.source = "solutions/05-fused-layernorm/step1_one_kernel.cu",
          .buffers = {{"x", numbers(std::size_t{kRows} * kCols)},
                      {"gamma", numbers(kCols)},
                      {"beta", numbers(kCols, 5)},
                      {"y", std::vector<float>(std::size_t{kRows} * kCols)}},
          .numbers = {kRows, kCols, kEpsilon},
          .native =
              [=](auto& b) {
                native_layernorm(values(b, 0), values(b, 1), values(b, 2), values(b, 3), kRows, kCols, kEpsilon);
              }},
         counted_or_not(state));
}
void divergent(benchmark::State& state) {
  run_on(state, vectors("tests/bench/kernels/divergent.cu", 1 << 18, native_divergent), counted_or_not(state));
}
void gather(benchmark::State& state) {
  run_on(state, vectors("tests/bench/kernels/gather.cu", 1 << 18, native_gather), counted_or_not(state));
}
void histogram(benchmark::State& state) {
  run_on(state,
         vectors("tests/bench/kernels/histogram.cu", 1 << 18,
                 [](const float* a, const float*, float* c, int n) { native_histogram(a, c, n); }),
         counted_or_not(state));
}

// Runs without one technique, to show its gain.
void without_lockstep(benchmark::State& state) {
  RunOptions options = kCounted;
  options.lockstep = false;
  run_on(state, products("solutions/02-naive-gemm/step1_neighbours_share_a_row.cu", 512), options);
}
void sanitized(benchmark::State& state) {
  RunOptions options = kCounted;
  options.sanitize = true;
  run_on(state, products("tests/bench/kernels/tiled_16.cu", 256), options);
}
void not_sanitized(benchmark::State& state) { run_on(state, products("tests/bench/kernels/tiled_16.cu", 256)); }

// The argument of this and the next two benchmarks is the number of threads, 0 for all. This one counts without the
// clock; the next two run with it.
void threads_naive_gemm_1024(benchmark::State& state) {
  RunOptions options = kCounted;
  options.threads = static_cast<int>(state.range(0));
  run_on(state, products("chapters/02-naive-gemm/kernel.cu", 1024), options);
}
RunOptions timed(const benchmark::State& state) {
  return {.threads = static_cast<int>(state.range(0)), .time = RunOptions::Time::clock};
}
void timed_vector_add(benchmark::State& state) {
  run_on(state, vectors("solutions/01-vector-add/step1_fill_the_machine.cu", 1 << 20, native_vector_add), timed(state));
}
void timed_naive_gemm_1024(benchmark::State& state) {
  run_on(state, products("chapters/02-naive-gemm/kernel.cu", 1024), timed(state));
}

BENCHMARK(vector_add)->ArgName("counted")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(naive_gemm_starter)->ArgName("counted")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(naive_gemm_coalesced)->ArgName("counted")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(tiled_gemm)->ArgName("counted")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(pipelined_gemm)->ArgName("counted")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(mma_gemm)->ArgName("counted")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(layernorm)->ArgName("counted")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(divergent)->ArgName("counted")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(gather)->ArgName("counted")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(histogram)->ArgName("counted")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(without_lockstep)->Unit(benchmark::kMillisecond);
BENCHMARK(not_sanitized)->Unit(benchmark::kMillisecond);
BENCHMARK(sanitized)->Unit(benchmark::kMillisecond);
BENCHMARK(threads_naive_gemm_1024)->Arg(1)->Arg(0)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(timed_vector_add)->Arg(1)->Arg(0)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(timed_naive_gemm_1024)->Arg(1)->Arg(0)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace roofwalk::test

BENCHMARK_MAIN();
