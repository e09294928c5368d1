// Functional execution with counting on one core, in warp instructions a second.
#include <benchmark/benchmark.h>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

void run_on(benchmark::State& state, const std::filesystem::path& source, bool gemm, int n) {
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
    const auto record = runner.device().run(*plan);
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

BENCHMARK(vector_add)->Unit(benchmark::kMillisecond);
BENCHMARK(naive_gemm_starter)->Unit(benchmark::kMillisecond);
BENCHMARK(naive_gemm_coalesced)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace roofwalk::test

BENCHMARK_MAIN();
