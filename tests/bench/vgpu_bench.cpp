// Execution with counting, in warp instructions a second: on one thread without a clock, as a ratio to native loops
// where there are some, and whole runs with the clock.
#include <benchmark/benchmark.h>

#include <chrono>

#include "tests/bench/native.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// Counted, without a clock, on one thread.
constexpr RunOptions kCounted{.threads = 1, .time = RunOptions::Time::least};

enum class Kind { vectors, products };  // kernels of (a, b, c, n) and of (a, b, c, m, n, k)

void run_on(benchmark::State& state, const std::filesystem::path& source, Kind kind, int n,
            const RunOptions& options = kCounted) {
  const auto artifact = compile(text_of(source.string()));
  if (!artifact) return state.SkipWithError(artifact.error().text().c_str());
  const std::size_t count = kind == Kind::products ? static_cast<std::size_t>(n) * n : n;
  Buffer a{"a", numbers(count)}, b{"b", numbers(count, 5)}, c{"c", std::vector<float>(count)};
  Runner runner;
  std::vector<Runner::Argument> arguments{&a, &b, &c, n};
  if (kind == Kind::products) arguments.insert(arguments.end(), {n, n});
  const auto plan = runner.plan(*artifact, arguments);
  if (!plan) return state.SkipWithError(plan.error().text().c_str());
  // The native loop has its turns between ours, so that both see the same machine.
  double own_s = 0, native_s = 0;
  const auto timed = [](auto&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    own_s += timed([&] {
      const auto record = runner.device().run(*plan, options);
      if (!record || record->fault) return state.SkipWithError("the kernel failed");
      instructions += *record->counters[Counter::warp_instructions];
    });
    state.PauseTiming();
    native_s += timed([&] {
      kind == Kind::products ? native_gemm(a.values.data(), b.values.data(), c.values.data(), n)
                             : native_vector_add(a.values.data(), b.values.data(), c.values.data(), n);
    });
    benchmark::DoNotOptimize(c.values.data());
    state.ResumeTiming();
  }
  state.counters["warp_instructions_per_s"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
  state.counters["of_native"] = own_s / native_s;
}

void vector_add(benchmark::State& state) {
  run_on(state, "solutions/01-vector-add/step1_fill_the_machine.cu", Kind::vectors, 1 << 20);
}
void naive_gemm_starter(benchmark::State& state) {
  run_on(state, "chapters/02-naive-gemm/kernel.cu", Kind::products, 512);
}
void naive_gemm_coalesced(benchmark::State& state) {
  run_on(state, "solutions/02-naive-gemm/step1_neighbours_share_a_row.cu", Kind::products, 512);
}
void tiled_gemm(benchmark::State& state) { run_on(state, "tests/bench/kernels/tiled_16.cu", Kind::products, 512); }
void pipelined_gemm(benchmark::State& state) {
  run_on(state, "solutions/04-pipelined-gemm/step3_registers_too.cu", Kind::products, 512);
}
// Beside a native vector add, which does far less: for themselves, not for the ratio.
void divergent(benchmark::State& state) { run_on(state, "tests/bench/kernels/divergent.cu", Kind::vectors, 1 << 18); }
void gather(benchmark::State& state) { run_on(state, "tests/bench/kernels/gather.cu", Kind::vectors, 1 << 18); }
void histogram(benchmark::State& state) { run_on(state, "tests/bench/kernels/histogram.cu", Kind::vectors, 1 << 18); }

// What single techniques gain: the same without them.
void without_lockstep(benchmark::State& state) {
  RunOptions options = kCounted;
  options.lockstep = false;
  run_on(state, "solutions/02-naive-gemm/step1_neighbours_share_a_row.cu", Kind::products, 512, options);
}
void sanitized(benchmark::State& state) {
  RunOptions options = kCounted;
  options.sanitize = true;
  run_on(state, "tests/bench/kernels/tiled_16.cu", Kind::products, 256, options);
}
void not_sanitized(benchmark::State& state) { run_on(state, "tests/bench/kernels/tiled_16.cu", Kind::products, 256); }

// Argument: threads, 0 as many as there are.
RunOptions timed(const benchmark::State& state) {
  return {.threads = static_cast<int>(state.range(0)), .time = RunOptions::Time::clock};
}
void timed_vector_add(benchmark::State& state) {
  run_on(state, "solutions/01-vector-add/step1_fill_the_machine.cu", Kind::vectors, 1 << 20, timed(state));
}
void timed_naive_gemm_1024(benchmark::State& state) {
  run_on(state, "chapters/02-naive-gemm/kernel.cu", Kind::products, 1024, timed(state));
}

BENCHMARK(vector_add)->Unit(benchmark::kMillisecond);
BENCHMARK(naive_gemm_starter)->Unit(benchmark::kMillisecond);
BENCHMARK(naive_gemm_coalesced)->Unit(benchmark::kMillisecond);
BENCHMARK(tiled_gemm)->Unit(benchmark::kMillisecond);
BENCHMARK(pipelined_gemm)->Unit(benchmark::kMillisecond);
BENCHMARK(divergent)->Unit(benchmark::kMillisecond);
BENCHMARK(gather)->Unit(benchmark::kMillisecond);
BENCHMARK(histogram)->Unit(benchmark::kMillisecond);
BENCHMARK(without_lockstep)->Unit(benchmark::kMillisecond);
BENCHMARK(not_sanitized)->Unit(benchmark::kMillisecond);
BENCHMARK(sanitized)->Unit(benchmark::kMillisecond);
BENCHMARK(timed_vector_add)->Arg(1)->Arg(0)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(timed_naive_gemm_1024)->Arg(1)->Arg(0)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace roofwalk::test

BENCHMARK_MAIN();
