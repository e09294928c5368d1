// Measures the seconds from a saved edit to the card: runs the whole program, including compilation, on each chapter's
// starter and last solution step at its default size. Each round uses a file that was never compiled before. Roofs and
// the starter's dot have been measured before, as in a learner's later runs.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <fstream>

#include "common/base/subprocess.h"
#include "common/exercise/chapter.h"
#include "tests/support/temporary_course.h"

namespace roofwalk::test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Runs the program. If it shows no card, reports the reason as the benchmark's error and returns false.
bool show_card(benchmark::State& state, const TemporaryCourse& course, const Chapter& chapter) {
  Command command;
  command.arguments = {BENCH_PROGRAM, "run", chapter.name};
  command.working_directory = course.root();
  command.timeout_s = 300;
  const auto result = run_command(command);
  if (!result) return state.SkipWithError(result.error().text().c_str()), false;
  if (result->exit_code > 1) return state.SkipWithError(result->output.c_str()), false;
  return true;
}

void edit_to_card(benchmark::State& state, const Chapter& chapter, const fs::path& kernel) {
  const TemporaryCourse course(BENCH_SOURCE_DIR, BENCH_CACHE);
  setenv("ROOFWALK_ROOT", course.root().c_str(), 1);
  const fs::path mine = course.root() / "my" / (chapter.name + ".cu");
  fs::create_directories(mine.parent_path());
  const std::string text = text_of(kernel);
  std::ofstream(mine) << text;
  if (!show_card(state, course, chapter)) return;
  const auto salt = static_cast<long long>(fs::last_write_time(mine).time_since_epoch().count());
  int round = 0;
  for ([[maybe_unused]] auto iteration : state) {
    state.PauseTiming();
    std::ofstream(mine) << text << fmt::format("__device__ long long edit = {}{};\n", salt, ++round);
    state.ResumeTiming();
    if (!show_card(state, course, chapter)) return;
  }
}

}  // namespace
}  // namespace roofwalk::test

int main(int argc, char** argv) {
  using namespace roofwalk;
  const auto chapters = load_chapters(BENCH_SOURCE_DIR);
  if (!chapters) {
    std::fprintf(stderr, "%s\n", chapters.error().text().c_str());
    return 3;
  }
  for (const Chapter& chapter : *chapters) {
    std::vector<std::filesystem::path> kernels = {chapter.starter()};
    if (const auto steps = chapter.solution_steps(); !steps.empty()) kernels.push_back(steps.back());
    for (const auto& kernel : kernels) {
      const auto name = chapter.name + "/" + (kernel == chapter.starter() ? "starter" : kernel.stem().string());
      benchmark::RegisterBenchmark(
          name.c_str(), [chapter, kernel](benchmark::State& state) { test::edit_to_card(state, chapter, kernel); })
          ->UseRealTime()
          ->Iterations(3)
          ->Unit(benchmark::kSecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
