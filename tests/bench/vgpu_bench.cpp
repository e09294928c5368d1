// Execution with counting, in warp instructions a second: on one thread without a clock, and whole runs with it.
#include <benchmark/benchmark.h>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

void run_on(benchmark::State& state, const std::filesystem::path& source, bool gemm, int n,
            const RunOptions& options = {.threads = 1}) {
  std::ifstream in(source_root() / source);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto artifact = compile(text);
  if (!artifact) return state.SkipWithError(artifact.error().text().c_str());
  const std::size_t count = gemm ? static_cast<std::size_t>(n) * n : n;
  Buffer a{"a", numbers(count)}, b{"b", numbers(count, 5)}, c{"c", std::vector<float>(count)};
  Runner runner;
  std::vector<Runner::Argument> arguments{&a, &b, &c, n};
  if (gemm) arguments.insert(arguments.end(), {n, n});
  const auto plan = runner.plan(*artifact, arguments);
  if (!plan) return state.SkipWithError(plan.error().text().c_str());
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    const auto record = runner.device().run(*plan, options);
    if (!record || record->fault) return state.SkipWithError("the kernel failed");
    instructions += *record->counters[Counter::warp_instructions];
  }
  state.counters["warp_instructions_per_s"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

void vector_add(benchmark::State& state) {
  run_on(state, "solutions/01-vector-add/step1_fill_the_machine.cu", false, 1 << 20);
}
void naive_gemm_starter(benchmark::State& state) { run_on(state, "chapters/02-naive-gemm/kernel.cu", true, 256); }
void naive_gemm_coalesced(benchmark::State& state) {
  run_on(state, "solutions/02-naive-gemm/step1_neighbours_share_a_row.cu", true, 256);
}

// Argument: threads, 0 as many as there are.
RunOptions timed(const benchmark::State& state) {
  return {.threads = static_cast<int>(state.range(0)), .time = RunOptions::Time::clock};
}
void timed_vector_add(benchmark::State& state) {
  run_on(state, "solutions/01-vector-add/step1_fill_the_machine.cu", false, 1 << 20, timed(state));
}
void timed_naive_gemm_1024(benchmark::State& state) {
  run_on(state, "chapters/02-naive-gemm/kernel.cu", true, 1024, timed(state));
}

// Argument: whether the run is sanitized. What a correctness run pays for it.
void tiled_gemm(benchmark::State& state) {
  run_on(state, "solutions/03-tiled-gemm/step3_a_square_in_registers.cu", true, 256,
         {.threads = 1, .sanitize = state.range(0) != 0});
}
void sanitized_vector_add(benchmark::State& state) {
  run_on(state, "solutions/01-vector-add/step1_fill_the_machine.cu", false, 1 << 20,
         {.threads = 1, .sanitize = state.range(0) != 0});
}

BENCHMARK(vector_add)->Unit(benchmark::kMillisecond);
BENCHMARK(naive_gemm_starter)->Unit(benchmark::kMillisecond);
BENCHMARK(naive_gemm_coalesced)->Unit(benchmark::kMillisecond);
BENCHMARK(tiled_gemm)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(sanitized_vector_add)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(timed_vector_add)->Arg(1)->Arg(0)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(timed_naive_gemm_1024)->Arg(1)->Arg(0)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace roofwalk::test

BENCHMARK_MAIN();
