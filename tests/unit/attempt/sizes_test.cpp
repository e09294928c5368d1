// Tests every chapter with every machine file: the size to measure is chosen from the machine's figures, so a chapter
// names no machine but classroom.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "grader/attempt/goals.h"
#include "grader/attempt/measured_size.h"
#include "grader/attempt/trial.h"

namespace roofwalk {
namespace {

std::vector<Chapter> chapters() {
  auto loaded = load_chapters(ROOFWALK_ROOT);
  ROOFWALK_CHECK(loaded.ok() && !loaded->empty());
  return *loaded;
}

// Whether a goal of the chapter is a share of DRAM bandwidth, so that the data must not fit L2.
bool streams(const Chapter& chapter) {
  return std::any_of(chapter.goals.begin(), chapter.goals.end(),
                     [](const Goal& goal) { return goal.level == "dram" && goal.what == Goal::What::share_of_roof; });
}

Size halved(const Size& size) {
  auto values = size.values();
  const auto largest =
      std::max_element(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  largest->second /= 2;
  return Size(values);
}

std::int64_t bytes_of(const Chapter& chapter, const Size& size) {
  return find_exercise(chapter.name)->work(size).compulsory_bytes;
}

std::int64_t fewest_bytes_of(const Chapter& chapter) {
  std::int64_t fewest = bytes_of(chapter, chapter.measured_size("default"));
  for (const auto& [name, size] : chapter.measured_sizes) fewest = std::min(fewest, bytes_of(chapter, size));
  return fewest;
}

// These sizes are fixed: the claims of solution steps and the book's figures were measured at them.
TEST(Sizes, AreThoseOfThePublishedFigures) {
  const std::map<std::string, std::map<std::string, std::string>> published = {
      {"vector-add",
       {{"classroom", "n=1048576"}, {"a100-80", "n=33554432"}, {"h100-sxm", "n=67108864"}, {"rtx4090", "n=67108864"}}},
      {"pipelined-gemm",
       {{"classroom", "m=512 n=512 k=512"},
        {"a100-80", "m=2304 n=1536 k=2048"},  // a block an SM
        {"h100-sxm", "m=2048 n=2048 k=2048"},
        {"rtx4090", "m=2048 n=2048 k=2048"}}},
      {"fused-layernorm",
       {{"classroom", "rows=2048 cols=1024"},
        {"a100-80", "rows=65536 cols=1024"},
        {"h100-sxm", "rows=65536 cols=1024"},
        {"rtx4090", "rows=131072 cols=1024"}}},
      {"transpose",
       {{"classroom", "rows=1024 cols=2048"},
        {"a100-80", "rows=8192 cols=8192"},
        {"h100-sxm", "rows=8192 cols=8192"},
        {"rtx4090", "rows=16384 cols=8192"}}},
      {"scan",
       {{"classroom", "n=2097152"}, {"a100-80", "n=67108864"}, {"h100-sxm", "n=67108864"}, {"rtx4090", "n=134217728"}}},
      {"sparse-rows",
       {{"classroom", "n=32768"}, {"a100-80", "n=524288"}, {"h100-sxm", "n=524288"}, {"rtx4090", "n=524288"}}},
      {"reduction",
       {{"classroom", "n=4194304"},
        {"a100-80", "n=134217728"},
        {"h100-sxm", "n=134217728"},
        {"rtx4090", "n=268435456"}}},
      {"stencil",
       {{"classroom", "rows=256 cols=8192"},
        {"a100-80", "rows=256 cols=262144"},
        {"h100-sxm", "rows=256 cols=262144"},
        {"rtx4090", "rows=256 cols=524288"}}},
      {"histogram",
       {{"classroom", "n=4194304"},
        {"a100-80", "n=134217728"},
        {"h100-sxm", "n=134217728"},
        {"rtx4090", "n=268435456"}}},
      {"block-order",
       {{"classroom", "m=512 n=3072 k=512"},
        {"t4", "m=256 n=8192 k=2048"},
        {"a100-80", "m=256 n=49152 k=2048"},
        {"h100-sxm", "m=256 n=49152 k=2048"},
        {"rtx4090", "m=256 n=49152 k=2048"}}},
      {"struct-of-arrays",
       {{"classroom", "n=262144"}, {"a100-80", "n=8388608"}, {"h100-sxm", "n=8388608"}, {"rtx4090", "n=16777216"}}}};
  const std::map<std::string, std::string> of_a_gemm = {{"classroom", "m=512 n=512 k=512"},
                                                        {"a100-80", "m=2048 n=2048 k=2048"},
                                                        {"h100-sxm", "m=2048 n=2048 k=2048"},
                                                        {"rtx4090", "m=2048 n=2048 k=2048"}};
  for (const Chapter& chapter : chapters()) {
    const auto own = published.find(chapter.name);
    if (own == published.end() && !chapter.name.ends_with("-gemm")) continue;
    for (const auto& [machine, size] : own == published.end() ? of_a_gemm : own->second) {
      EXPECT_EQ(measured_size(chapter, *load_machine(machine)).text(), size) << chapter.name << " on " << machine;
    }
  }
}

TEST(Sizes, AndThresholdsNameOnlyKnownMachines) {
  const std::vector<std::string> names = machine_names();
  const auto is_known = [&](const std::string& name) {
    return name == "default" || std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const Chapter& chapter : chapters()) {
    for (const auto& [machine, size] : chapter.measured_sizes) EXPECT_TRUE(is_known(machine)) << machine;
    for (const Goal& goal : chapter.goals) {
      for (const auto& [machine, own] : goal.on) EXPECT_TRUE(is_known(machine)) << machine;
    }
  }
}

// Each SM of a slice has about as much to do as on the chip. Eight SMs are a sixteenth of these chips, and the length
// of a GEMM's sums stays.
TEST(Sizes, OfASliceAreItsShareOfTheChips) {
  const std::map<std::string, std::map<std::string, std::string>> expected = {
      {"vector-add", {{"a100-80/8", "n=2097152"}, {"h100-sxm/8", "n=4194304"}, {"rtx4090/8", "n=4194304"}}},
      {"naive-gemm",
       {{"a100-80/8", "m=512 n=512 k=2048"},
        {"h100-sxm/8", "m=512 n=512 k=2048"},
        {"rtx4090/64", "m=1536 n=1280 k=2048"},
        {"h100-sxm/131", "m=2048 n=2048 k=2048"},
        {"classroom/2", "m=256 n=256 k=512"}}},
      {"pipelined-gemm", {{"a100-80/8", "m=512 n=512 k=2048"}, {"h100-pcie/8", "m=512 n=512 k=2048"}}},
      {"fused-layernorm", {{"h100-sxm/8", "rows=4096 cols=1024"}, {"rtx4090/8", "rows=8192 cols=1024"}}},
      {"transpose", {{"h100-sxm/8", "rows=2048 cols=2048"}, {"rtx4090/8", "rows=2048 cols=4096"}}},
      {"scan", {{"a100-80/8", "n=4194304"}, {"h100-sxm/8", "n=4194304"}, {"rtx4090/8", "n=8388608"}}},
      {"reduction", {{"a100-80/8", "n=8388608"}, {"h100-sxm/8", "n=8388608"}, {"rtx4090/8", "n=16777216"}}},
      {"stencil", {{"h100-sxm/8", "rows=256 cols=16384"}, {"rtx4090/8", "rows=256 cols=32768"}}},
      {"histogram", {{"a100-80/8", "n=8388608"}, {"h100-sxm/8", "n=8388608"}, {"rtx4090/8", "n=16777216"}}},
      {"sparse-rows", {{"a100-80/8", "n=38912"}, {"h100-sxm/8", "n=31744"}, {"rtx4090/8", "n=32768"}}},
      {"block-order",
       {{"a100-80/8", "m=256 n=3584 k=2048"},
        {"h100-sxm/8", "m=256 n=3072 k=2048"},
        {"rtx4090/8", "m=256 n=3072 k=2048"}}},
      {"struct-of-arrays", {{"a100-80/8", "n=524288"}, {"h100-sxm/8", "n=524288"}, {"rtx4090/8", "n=1048576"}}}};
  for (const Chapter& chapter : chapters()) {
    const auto own = expected.find(chapter.name);
    if (own == expected.end()) continue;
    for (const auto& [machine, size] : own->second)
      EXPECT_EQ(measured_size(chapter, *load_machine(machine)).text(), size) << chapter.name << " on " << machine;
  }
}

// If L2 hides DRAM's traffic, a goal at DRAM is dropped. The remaining goals must still tell a starter from a solution.
TEST(Sizes, EveryMachineStillAsksForAPassAndAnAce) {
  for (const Chapter& chapter : chapters()) {
    const Exercise& exercise = *find_exercise(chapter.name);
    for (const std::string& name : machine_names()) {
      SCOPED_TRACE(chapter.name + " on " + name);
      const Machine machine = *load_machine(name);
      const auto asked = goals_on(machine, chapter, exercise.work(measured_size(chapter, machine))).asked;
      const auto any = [&](std::optional<double> Goal::*grade) {
        return std::any_of(asked.begin(), asked.end(), [&](const Goal& goal) { return (goal.*grade).has_value(); });
      };
      EXPECT_TRUE(any(&Goal::pass));
      EXPECT_TRUE(any(&Goal::ace));
    }
  }
}

// A kernel with ten instructions per multiply-add is slow but must not be taken for an endless loop.
TEST(Sizes, OfEveryMachineLeaveTimeForSlowKernels) {
  constexpr double kSlow = 10, kFlopsOfAWarp = 64;
  for (const Chapter& chapter : chapters()) {
    for (const std::string& name : machine_names()) {
      const Work work = find_exercise(chapter.name)->work(measured_size(chapter, *load_machine(name)));
      const RunOptions limits = measured_trial(work, 1);
      EXPECT_GE(static_cast<double>(limits.max_work), kSlow * static_cast<double>(work.useful_flops) / kFlopsOfAWarp)
          << chapter.name << " on " << name;
    }
  }
}

// A hidden size may be as large as the measured one, so its limit grows with its work. One as small as a chapter's own
// has a small trial's limit, and an endless loop there is run once.
TEST(Sizes, OfAnInstructorLeaveTimeForTheirWork) {
  const auto runs_of = [](const Work& work, const Work& measured) {
    std::vector<RunOptions> runs;
    const auto trial = run_hidden_size(work, measured, [&](const RunOptions& options) -> Result<Trial> {
      runs.push_back(options);
      Trial endless;
      endless.record.fault.emplace().kind = FaultKind::runaway;
      return endless;
    });
    EXPECT_TRUE(trial.ok() && trial->record.fault);
    return runs;
  };
  for (const Chapter& chapter : chapters()) {
    for (const std::string& name : machine_names()) {
      SCOPED_TRACE(chapter.name + " on " + name);
      const Exercise& exercise = *find_exercise(chapter.name);
      const Work measured = exercise.work(measured_size(chapter, *load_machine(name)));
      const RunOptions whole = measured_trial(measured, 1);
      const auto largest = runs_of(measured, measured);
      for (const RunOptions& run : largest) {
        EXPECT_TRUE(run.sanitize);
        EXPECT_EQ(run.max_work, kSmallTrial.max_work + whole.max_work);
      }
      EXPECT_GT(largest.back().sanitized_blocks, 0u);
      const auto smallest = runs_of(exercise.work(chapter.correctness_sizes.front()), measured);
      ASSERT_EQ(smallest.size(), 1u);
      EXPECT_EQ(smallest[0].sanitized_blocks, 0u);
      EXPECT_LT(smallest[0].max_work, kSmallTrial.max_work * 11 / 10);
    }
  }
  const Work half = {.useful_flops = 1 << 20, .compulsory_bytes = 1 << 19};
  EXPECT_EQ(runs_of(half, {.useful_flops = 1 << 22, .compulsory_bytes = 1 << 20})[0].max_work, 1'100'000'000u);
}

TEST(Sizes, AStreamIsTheSmallestPowerOfTwoThatFillsTheMachine) {
  int streaming = 0;
  for (const Chapter& chapter : chapters()) {
    if (!streams(chapter)) continue;
    ++streaming;
    const Exercise& exercise = *find_exercise(chapter.name);
    for (const std::string& name : machine_names()) {
      SCOPED_TRACE(chapter.name + " on " + name);
      const Machine machine = *load_machine(name);
      const Size size = measured_size(chapter, machine);
      for (const auto& [extent, value] : size.values()) {
        EXPECT_TRUE(std::has_single_bit(static_cast<std::uint64_t>(value))) << extent;
      }
      EXPECT_TRUE(fills(exercise.work(size), machine)) << size.text();
      EXPECT_TRUE(!fills(exercise.work(halved(size)), machine) || bytes_of(chapter, size) == fewest_bytes_of(chapter))
          << size.text();
    }
  }
  EXPECT_GT(streaming, 0);
}

TEST(Sizes, AStreamFillsAMachineOfOnesOwnIfItsMemoryAllows) {
  for (const Chapter& chapter : chapters()) {
    if (!streams(chapter)) continue;
    SCOPED_TRACE(chapter.name);
    Machine own = *load_machine("classroom");
    own.name = "own";
    EXPECT_EQ(measured_size(chapter, own), chapter.measured_size("classroom"));
    own.l2_bytes = load_machine("a100-80")->l2_bytes;
    EXPECT_EQ(measured_size(chapter, own), measured_size(chapter, *load_machine("a100-80")));
    own.l2_bytes = 1024;  // the size never goes below the manifest's
    own.launch_ns = 1;
    EXPECT_EQ(bytes_of(chapter, measured_size(chapter, own)), fewest_bytes_of(chapter));
    own.l2_bytes = std::int64_t{1} << 30;  // more than any size fills, so memory limits the size
    const std::int64_t most = bytes_of(chapter, measured_size(chapter, own));
    EXPECT_LE(most, own.memory_bytes);
    EXPECT_GT(3 * most, own.memory_bytes);
    own.memory_bytes *= 64;
    EXPECT_EQ(measured_size(chapter, own), chapter.measured_size("default"));
  }
}

// 126 MB is the L2 size of a B200.
TEST(Sizes, AStreamFillsAnL2Of126Megabytes) {
  for (const Chapter& chapter : chapters()) {
    if (!streams(chapter)) continue;
    Machine large = *load_machine("h100-sxm");
    large.name = "large";
    large.l2_bytes = 126 << 20;
    EXPECT_TRUE(fills(find_exercise(chapter.name)->work(measured_size(chapter, large)), large)) << chapter.name;
  }
}

const Chapter& chapter_named(const std::vector<Chapter>& all, const std::string& name) {
  return *std::find_if(all.begin(), all.end(), [&](const Chapter& one) { return one.name == name; });
}

TEST(UnevenSize, IsOddAndLessByAQuarterToAHalf) {
  const auto all = chapters();
  std::set<std::int64_t> sizes;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const std::int64_t n = uneven_size(chapter_named(all, "vector-add"), Size({{"n", 1 << 20}}), seed)["n"];
    EXPECT_EQ(n % 2, 1);
    EXPECT_GE(n, 1 << 19);
    EXPECT_LE(n, 3 << 18);
    sizes.insert(n);
  }
  EXPECT_GT(sizes.size(), 190u);
}

TEST(UnevenSize, OfSeveralExtentsIsAlignedForHalfOfTheSeeds) {
  const auto all = chapters();
  const Size measured({{"m", 512}, {"n", 3072}, {"k", 64}});
  int aligned = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Size size = uneven_size(chapter_named(all, "tiled-gemm"), measured, seed);
    const std::int64_t unit = size["m"] % 2 == 0 ? 4 : 1;
    for (const auto& [extent, value] : size.values()) {
      EXPECT_EQ(value % (2 * unit), unit) << size.text();
      EXPECT_GE(value, measured[extent] / 2);
      EXPECT_LT(value, measured[extent] * 7 / 8);
    }
    aligned += unit == 4 ? 1 : 0;
  }
  EXPECT_GT(aligned, 60);
  EXPECT_LT(aligned, 140);
}

// A manifest whose sizes for an extent are all multiples of something, one aside, says that they must be.
TEST(UnevenSize, KeepsExtentsThatAreSmallOrNotFree) {
  const auto all = chapters();
  Chapter chapter = chapter_named(all, "transpose");
  const auto of = [&](std::int64_t rows, std::int64_t cols) {
    return uneven_size(chapter, Size({{"rows", rows}, {"cols", cols}}), 1);
  };
  EXPECT_EQ(of(63, 1024)["rows"], 63);
  EXPECT_NE(of(64, 1024)["rows"], 64);
  chapter.correctness_sizes = {Size({{"rows", 1}, {"cols", 2}}), Size({{"rows", 4}, {"cols", 3}}),
                               Size({{"rows", 32}, {"cols", 4}})};
  EXPECT_EQ(of(1024, 1024)["rows"], 1024);
  EXPECT_NE(of(1024, 1024)["cols"], 1024);
}

TEST(UnevenSize, IsAnotherOneInEveryChapter) {
  for (const Chapter& chapter : chapters()) {
    const Size measured = measured_size(chapter, *load_machine("classroom"));
    const Size uneven = uneven_size(chapter, measured, 1);
    for (const auto& [extent, value] : measured.values()) EXPECT_LT(uneven[extent], value) << chapter.name;
  }
}

TEST(Sizes, AnUnknownLaunchLastsAsLongAsAUsualOne) {
  Machine unknown = *load_machine("classroom");
  unknown.launch_ns = 0;
  EXPECT_FALSE(fills({.useful_flops = 1, .compulsory_bytes = 8 * unknown.l2_bytes}, unknown));
  EXPECT_TRUE(fills({.useful_flops = 1, .compulsory_bytes = 64 * unknown.l2_bytes}, unknown));
}

}  // namespace
}  // namespace roofwalk
