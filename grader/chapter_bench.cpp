// Runs every chapter's starter, solution steps and learner's file as Google Benchmarks. The device measures the times,
// not Google Benchmark. Counters: FLOP/s, DRAM bytes and arithmetic intensity. $ROOFWALK_DEVICE chooses the device.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>

#include "grader/attempt/chapter_roofs.h"
#include "grader/attempt/measured_size.h"
#include "grader/attempt/pipeline.h"
#include "grader/rig/gpu_rig.h"

namespace roofwalk {
namespace {

void run_benchmark(benchmark::State& state, const Rig& rig, const Chapter& chapter,
                   const std::filesystem::path& kernel) {
  const auto artifact = build_for(rig, kernel);
  if (!artifact) return state.SkipWithError(artifact.error().text().c_str());
  const Exercise* exercise = find_exercise(chapter.name);
  const Size size = measured_size(chapter, rig.machine);
  const Problem problem = exercise->problem(size, kPublicSeed);
  const Work work = exercise->work(size);
  const auto turn = wait_for_turn(rig, chapter.name);
  if (!turn) return state.SkipWithError(turn.error().text().c_str());
  Measurement measurement;
  RunOptions options = measured_trial(work, rig.threads);
  double total_ns = 0;
  for ([[maybe_unused]] auto iteration : state) {
    auto trial = run_trial(rig.open, *artifact, problem, case_name(size, kPublicSeed), options, nullptr);
    if (!trial) return state.SkipWithError(trial.error().text().c_str());
    if (trial->refusal) return state.SkipWithError(trial->refusal->text().c_str());
    if (trial->record.fault) return state.SkipWithError(trial->record.fault->message.c_str());
    total_ns += trial->record.elapsed_ns;
    state.SetIterationTime(trial->record.elapsed_ns * 1e-9);
    if (options.figures == RunOptions::Figures::time) continue;
    options.figures = RunOptions::Figures::time;  // counters are collected once
    if (const Status modelled = model_bytes(rig, *artifact, problem, trial->record); !modelled) {
      return state.SkipWithError(modelled.error().text().c_str());
    }
    measurement = measure(trial->record, work, roofs_for(rig, chapter));
  }
  const LevelMeasurement& dram = measurement.level("dram");
  state.counters[std::string(words_of(chapter.unit).per_second)] =
      static_cast<double>(work.useful_flops) * static_cast<double>(state.iterations()) / total_ns * 1e9;
  if (dram.bytes.known()) state.counters["bytes"] = dram.bytes.value;
  if (dram.ai.known()) state.counters["AI"] = dram.ai.value;
}

void register_chapter(const Rig& rig, const Chapter& chapter) {
  if (not_offered(chapter, rig.machine)) return;
  std::vector<std::filesystem::path> kernels = {chapter.baseline()};
  for (const auto& step : chapter.solution_steps()) kernels.push_back(step);
  if (const auto mine = rig.course->my_file(chapter); std::filesystem::exists(mine)) kernels.push_back(mine);
  for (const auto& kernel : kernels) {
    const std::string label = kernel == chapter.baseline()             ? chapter.baseline_name()
                              : kernel == rig.course->my_file(chapter) ? "mine"
                                                                       : kernel.stem().string();
    auto* registered = benchmark::RegisterBenchmark(
        (chapter.name + "/" + label).c_str(),
        [&rig, &chapter, kernel](benchmark::State& state) { run_benchmark(state, rig, chapter, kernel); });
    registered->UseManualTime()->Unit(benchmark::kMicrosecond);
    // The virtual GPU's time is the same in every iteration, so one is enough.
    if (rig.device_kind == "virtual") registered->Iterations(1);
  }
}

}  // namespace
}  // namespace roofwalk

int main(int argc, char** argv) {
  using namespace roofwalk;
  std::filesystem::current_path(find_root());
  const char* device = std::getenv("ROOFWALK_DEVICE");
  const auto course = open_course({});
  if (!course) {
    std::fprintf(stderr, "%s\n", course.error().text().c_str());
    return 3;
  }
  const auto rig = open_rig(*course, device != nullptr ? device : "auto", 1, nullptr);
  if (!rig) {
    std::fprintf(stderr, "%s\n", rig.error().text().c_str());
    return 3;
  }
  for (const Chapter& chapter : course->chapters) register_chapter(*rig, chapter);
  benchmark::AddCustomContext("device", rig->device_name());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
