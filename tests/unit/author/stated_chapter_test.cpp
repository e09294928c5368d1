// Chapters that state their unit, their roof and how their starter ends: small ones, made here, on the virtual GPU.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/json.h"
#include "common/base/rng.h"
#include "common/measure/roofs.h"
#include "grader/attempt/pipeline.h"
#include "grader/author/chapter_check.h"
#include "grader/terminal/report.h"
#include "grader/walk/walk.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Turns n keys round: no arithmetic at all, and each key is a small whole number.
class TurnRound final : public Exercise {
 public:
  Work work(const Size& size) const override { return {.useful_flops = size["n"], .compulsory_bytes = 8 * size["n"]}; }

  Problem problem(const Size& size, std::uint64_t seed) const override {
    Rng rng(seed, "keys");
    InputBuffer keys{"keys", std::vector<float>(static_cast<std::size_t>(size["n"]))};
    for (float& key : keys.values) key = static_cast<float>(rng.next() % 1024);
    return {{std::move(keys), OutputBuffer{"turned", size["n"]}, Scalar{"n", static_cast<std::int32_t>(size["n"])}}};
  }

  std::vector<Expected> reference(const Size&, const Problem& problem) const override {
    const std::vector<float>& keys = problem.input("keys");
    Expected turned{.name = "turned", .values = {}, .tolerances = std::vector<double>(keys.size(), 0.0)};
    turned.values.assign(keys.rbegin(), keys.rend());
    return {turned};
  }
};

constexpr const char* kStatedManifest = R"(name = "mini-keys"
title = "Keys, turned round"
{}
[correctness]
n = [1, 33, 300]
[measured]
default = {{ n = 1048576 }}
[[goal]]
axis = "up"
level = "dram"
what = "share_of_roof"
pass = 0.6
[[goal]]
axis = "up"
level = "dram"
what = "flops_over_starter"
pass = {}
[[hint]]
text = "Where is the rest of the machine?"
)";

constexpr const char* kStatedLesson =
    "A key is read and written once: 0.125 key/byte<!-- starter algorithmic_ai -->, "
    "for 1,048,576<!-- starter useful_flops --> of them.\n";

// A kernel file with a grid of so many blocks.
std::string grid_of(const std::string& first_lines, const std::string& blocks) {
  return first_lines +
         "#include <roofwalk.cuh>\n__global__ void turn(const float* keys, float* turned, int n) {\n"
         "  const int step = gridDim.x * blockDim.x;\n"
         "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) turned[n - 1 - i] = keys[i];\n}\n"
         "SOLVE(const float* keys, float* turned, int n) { turn<<<" +
         blocks + ", 256>>>(keys, turned, n); }\n";
}

constexpr const char* kWholeMachine = R"(// step 1: right x1: four keys a thread, a thread for each four
#include <roofwalk.cuh>
__global__ void turn(const float* keys, float* turned, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (n % 4 != 0) {
    for (int j = i; j < min(i + 4, n); ++j) turned[n - 1 - j] = keys[j];
  } else if (i < n) {
    const float4 four = *reinterpret_cast<const float4*>(keys + i);
    *reinterpret_cast<float4*>(turned + n - 4 - i) = make_float4(four.w, four.z, four.y, four.x);
  }
}
SOLVE(const float* keys, float* turned, int n) { turn<<<ceil_div(n, 1024), 256>>>(keys, turned, n); }
)";

class StatedChapter : public ::testing::Test {
 protected:
  StatedChapter() {
    if (find_exercise("mini-keys") == nullptr) {
      register_exercise("mini-keys", [] { return std::unique_ptr<Exercise>(std::make_unique<TurnRound>()); });
    }
    const std::string chapter = "chapters/01-mini-keys/";
    folder_.write(chapter + "exercise.cpp", "");
    folder_.write(chapter + "lesson.md", kStatedLesson);
    folder_.write(chapter + "kernel.cu", grid_of("", "1"));
    step_ = folder_.write("solutions/01-mini-keys/step1_grid.cu", kWholeMachine);
    folder_.write("tests/grader/wrong/01-mini-keys/two_blocks.cu", grid_of("// verdict: fail, up\n// quick\n", "2"));
    rig_.machine = *load_machine("classroom");
    rig_.device_kind = "virtual";
    rig_.roofs = roofs_of(rig_.machine);
    rig_.toolkit = find_toolkit(TEST_SOURCE_DIR);
    rig_.include = TEST_SOURCE_DIR "/common/include";
    rig_.cache = TEST_CACHE_DIR;
    rig_.threads = 2;
    rig_.open = [] { return open_device("virtual:classroom"); };
  }

  // Opens the course with a manifest that states this.
  void state(const std::string& words, double least_speedup = 4) {
    folder_.write("chapters/01-mini-keys/exercise.toml",
                  fmt::format(fmt::runtime(kStatedManifest), words, least_speedup));
    auto course = open_course(folder_.path());
    ASSERT_TRUE(course) << course.error().text();
    course_ = *std::move(course);
    rig_.course = &course_;
  }

  const Chapter& chapter() const { return course_.chapters.front(); }

  Attempt run(const std::filesystem::path& file) const {
    auto attempt = run_attempt(rig_, {&chapter(), file, kPublicSeed, nullptr, std::nullopt});
    EXPECT_TRUE(attempt) << attempt.error().text();
    return attempt ? *std::move(attempt) : Attempt{};
  }

  // The checks that do not hold, a line each.
  std::string check() const {
    const auto lines = check_chapter(rig_, chapter(), CheckScope::everything);
    EXPECT_TRUE(lines) << lines.error().text();
    std::string failed;
    for (const CheckLine& line : lines ? *lines : std::vector<CheckLine>()) {
      if (!line.holds) failed += fmt::format("{}  [{}]\n", line.what, line.found);
    }
    return failed;
  }

  Chart chart_of(const Attempt& attempt) const {
    const Work work = find_exercise("mini-keys")->work(attempt.size);
    return walk_chart(rig_, chapter(), "dram", attempt.size, work, attempt.starter,
                      {{"1", points_of(*attempt.measurement), attempt.judgement.grade}}, Grade::pass);
  }

  test::ScratchFolder folder_;
  std::filesystem::path step_;
  Course course_;
  Rig rig_;
};

constexpr const char* kKeysUnderMemory = "unit = \"key\"\nroof = \"memory\"";

TEST_F(StatedChapter, OfKeysUnderMemoryRoofsIsProved) {
  state(kKeysUnderMemory);
  EXPECT_EQ(check(), "");
}

TEST_F(StatedChapter, SpeaksOfKeysOnCardInJsonAndOnTheChart) {
  state(kKeysUnderMemory);
  const Attempt attempt = run(step_);
  EXPECT_EQ(attempt.judgement.verdict, Verdict::pass);
  const std::string card = report(attempt, {}, Colors(false));
  EXPECT_THAT(card, AllOf(HasSubstr("  keys       1,048,576 useful\n"), HasSubstr("Gkey/s of the roof's 16 Gkey/s"),
                          HasSubstr("the starter's key/s"), Not(HasSubstr("FLOP"))));
  EXPECT_EQ(to_json(attempt)["useful_unit"], "key");
  EXPECT_EQ(to_json(attempt)["roof"], "memory");
  const std::string chart = text_plot(chart_of(attempt), 80, 22, false);
  EXPECT_THAT(chart, AllOf(HasSubstr("key/s over key/DRAM byte"), Not(HasSubstr("FP32")), Not(HasSubstr("ridge"))));
}

// The same kernel adds nothing, so as FLOPs its work was never done.
TEST_F(StatedChapter, OfFlopsAsksForThem) {
  state("");
  const Attempt attempt = run(step_);
  EXPECT_EQ(attempt.judgement.verdict, Verdict::not_graded);
  EXPECT_THAT(attempt.judgement.reasons.front(), HasSubstr("0 FLOP executed, but the algorithm needs 1.05 MFLOP"));
  EXPECT_THAT(check(), HasSubstr("half precision is refused at n=1 "));
}

TEST_F(StatedChapter, IsHeldToItsOwnStartersGap) {
  state(std::string(kKeysUnderMemory) + "\nstarter_gap = 1000");
  EXPECT_THAT(check(), AllOf(HasSubstr("the starter is at least x1000 below what its algorithm allows  [x"),
                             Not(HasSubstr("goal"))));
  state(std::string(kKeysUnderMemory) + "\nstarter_gap = 1");
  EXPECT_EQ(check(), "");
}

TEST_F(StatedChapter, UnderTheTensorRoofIsMeasuredAgainstIt) {
  state("roof = \"tensor_f16\"");
  const Roofs roofs = run(step_).roofs;
  EXPECT_EQ(roofs.compute.front().name, "tensor");
  EXPECT_EQ(roofs.peak(), rig_.machine.peak_tensor_flops_per_s());
  EXPECT_THAT(check(), Not(HasSubstr("half precision")));
}

// Each block turns its keys round in shared memory, but no thread waits for the one whose key it takes.
constexpr const char* kRacingTurn = R"(#include <roofwalk.cuh>
__global__ void turn(const float* keys, float* turned, int n) {
  __shared__ float tile[256];
  const int first = blockIdx.x * 256, mine = threadIdx.x, theirs = 255 - mine;
  if (first + mine < n) tile[mine] = keys[first + mine];
  if (first + theirs < n) turned[n - 1 - first - theirs] = tile[theirs];
}
SOLVE(const float* keys, float* turned, int n) { turn<<<ceil_div(n, 256), 256>>>(keys, turned, n); }
)";

class FaultyStarterChapter : public StatedChapter {
 protected:
  void begin_with(const std::string& starter, const std::string& kind) {
    folder_.write("chapters/01-mini-keys/kernel.cu", starter);
    folder_.write("chapters/01-mini-keys/slow.cu", grid_of("", "1"));
    folder_.write("chapters/01-mini-keys/lesson.md",
                  "The reference moves 0.125 key/byte<!-- reference algorithmic_ai -->.\n");
    state(fmt::format("{}\nstarter = \"fault\"\nfault = \"{}\"\nbaseline = \"slow.cu\"", kKeysUnderMemory, kind));
  }
};

TEST_F(FaultyStarterChapter, IsProved) {
  begin_with(kRacingTurn, "race");
  EXPECT_EQ(check(), "");
}

TEST_F(FaultyStarterChapter, MustFaultInTheNamedWay) {
  begin_with(kRacingTurn, "out of bounds");
  EXPECT_THAT(check(),
              AllOf(HasSubstr("the starter faults: out of bounds  [race: fault"), Not(HasSubstr("reference"))));
  begin_with(grid_of("", "1"), "race");
  EXPECT_THAT(check(), HasSubstr("the starter faults: race  [no fault: fail"));
}

TEST_F(FaultyStarterChapter, NeedsAReferenceThatDoesNot) {
  begin_with(kRacingTurn, "race");
  folder_.write("chapters/01-mini-keys/slow.cu", kRacingTurn);
  EXPECT_THAT(check(), HasSubstr("the reference is correct and misses a goal  [fault"));
  std::filesystem::remove(folder_.path() / "chapters/01-mini-keys/slow.cu");
  EXPECT_THAT(open_course(folder_.path()).error().text(), HasSubstr("the chapter has no slow.cu, its `baseline`"));
}

TEST_F(FaultyStarterChapter, MeasuresAttemptsAgainstTheReference) {
  begin_with(kRacingTurn, "race");
  const Attempt attempt = run(step_), reference = run(chapter().baseline());
  EXPECT_EQ(attempt.starter.at("dram").flops_per_s, reference.measurement->point("dram")->flops_per_s);
  EXPECT_EQ(to_json(attempt)["baseline"], "reference");
  EXPECT_THAT(report(attempt, {}, Colors(false)),
              AllOf(HasSubstr("since the reference"), HasSubstr("the reference's key/s"), Not(HasSubstr("starter"))));
  EXPECT_THAT(text_plot(chart_of(attempt), 80, 22, false), HasSubstr("R reference"));
}

TEST_F(FaultyStarterChapter, SaysSoOnTheStartersCard) {
  begin_with(kRacingTurn, "race");
  const Attempt attempt = run(chapter().starter());
  EXPECT_TRUE(attempt.is_starter);
  EXPECT_THAT(report(attempt, {}, Colors(false)),
              AllOf(HasSubstr("FAULT: the kernel was stopped"), HasSubstr("This is the starter: to mend its fault")));
}

}  // namespace
}  // namespace roofwalk
