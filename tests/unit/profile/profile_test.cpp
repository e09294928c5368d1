// The profile of an attempt: figures by line, notes, and their output as text, JSON and a page.
#include "grader/profile/profile.h"
#include "common/base/json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "common/base/pattern.h"
#include "grader/profile/compare.h"
#include "grader/profile/profile_html.h"
#include "grader/profile/profile_text.h"
#include "tests/support/attempts.h"
#include "tests/support/golden.h"

namespace roofwalk {
namespace {

using testing::attempt_that_ended_with;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::measured_attempt;
using ::testing::Not;

constexpr const char* kSource = R"(// A comment at the head of the file,
// which goes on
// and on.
#include <roofwalk.cuh>

__global__ void scale(const float* a, float* c, int n) {
    __shared__ float tile[1024];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x * 2 % 1024] = a[i * 32 % n] + a[(i + 1) * 32 % n] + a[(i + 2) * 32 % n];
    __syncthreads();
    if (i % 2 == 0) {
        c[i] = 2 * tile[threadIdx.x];
    }
}

SOLVE(const float* a, float* c, int n) {
    scale<<<n / 256, 256>>>(a, c, n);
}
)";

LineCounters line_of(int line, std::uint64_t warp_instructions, Wait wait, double cycles) {
  LineCounters counters{line, {}};
  for (std::size_t i = 0; i < kCounterCount; ++i) counters.counters.set(static_cast<Counter>(i), 0);
  counters.counters.set(Counter::warp_instructions, warp_instructions);
  counters.counters.set(Counter::thread_instructions, 32 * warp_instructions);
  counters.waits[Wait::issued] = static_cast<double>(warp_instructions);
  counters.waits[wait] += cycles;
  return counters;
}

// Returns the record of a kernel of 1000 warps that takes 100 us plus the launch. One line has a strided load and a
// bank conflict, another line diverges.
KernelRecord scale_record() {
  KernelRecord kernel;
  kernel.name = "scale";
  kernel.grid = {125, 1, 1};
  kernel.block = {256, 1, 1};
  kernel.line = 17;
  kernel.elapsed_ns = 102'500;
  kernel.parts.launch_ns = 2'500;
  kernel.parts.l1_ns = 80'000;
  LineCounters load = line_of(9, 20'000, Wait::dram, 700'000);
  load.counters.set(Counter::global_load_requests, 3'000);
  load.counters.set(Counter::l1_read_sectors, 96'000);
  load.counters.set(Counter::l1_ideal_sectors, 12'000);
  load.counters.set(Counter::l2_read_sectors, 96'000);
  load.counters.set(Counter::dram_read_bytes, 3'072'000);
  load.counters.set(Counter::shared_store_requests, 1'000);
  load.counters.set(Counter::shared_wavefronts, 2'000);
  load.counters.set(Counter::shared_bank_conflicts, 1'000);
  load.counters.set(Counter::flops_f32, 64'000);
  LineCounters store = line_of(12, 3'000, Wait::dependency, 30'000);
  store.counters.set(Counter::thread_instructions, 16 * 3'000);
  store.counters.set(Counter::global_store_requests, 1'000);
  store.counters.set(Counter::constant_requests, 500);
  store.counters.set(Counter::constant_passes, 8'000);
  store.counters.set(Counter::l1_write_sectors, 4'000);
  store.counters.set(Counter::l1_ideal_sectors, 2'000);
  kernel.lines = {line_of(0, 500, Wait::issue, 0),
                  line_of(6, 4'000, Wait::issue, 0),
                  line_of(8, 5'000, Wait::issue, 0),
                  load,
                  line_of(10, 1'000, Wait::barrier, 200'000),
                  store};
  kernel.counters = {};
  for (const LineCounters& line : kernel.lines) {
    kernel.waits.add(line.waits);
    for (std::size_t i = 0; i < kCounterCount; ++i) {
      const auto counter = static_cast<Counter>(i);
      kernel.counters.add(counter, *line.counters[counter]);
    }
  }
  kernel.waits[Wait::tail] = 250'000;
  return kernel;
}

Attempt scale_attempt() {
  Attempt attempt = measured_attempt();
  attempt.kernels = {scale_record()};
  attempt.measurement->elapsed_ns.value = 102'500;
  attempt.finding->diagnoses = {{"over_fetch", "The dot is x8 too low: line 9 asks for 32 sectors a load.", 9, 0.6,
                                 "32 sectors a load where 4 would do"},
                                {"tail", "Some blocks run longer.", 17, 0.2, "some blocks run far longer"}};
  attempt.finding->diagnosis = attempt.finding->diagnoses.front();
  return attempt;
}

Profile scale_profile() { return profile_of(scale_attempt(), kSource); }

// Returns the improved kernel: no strided load, a separate line for the guard, six times as fast.
Profile mended_profile() {
  Attempt attempt = scale_attempt();
  attempt.file = "my/mended.cu";
  KernelRecord& kernel = attempt.kernels.front();
  kernel.elapsed_ns = 17'500;
  attempt.measurement->elapsed_ns.value = 17'500;
  kernel.line = 18;
  for (LineCounters& line : kernel.lines) {
    if (line.line == 9) line.counters.set(Counter::l1_read_sectors, 12'000);
    if (line.line >= 9) ++line.line;
  }
  attempt.finding->diagnoses.clear();
  attempt.finding->diagnosis = {"none", "The dot is well placed."};
  std::string source = kSource;
  source.insert(source.find("    tile["), "    if (i >= n) return;\n");
  source.replace(source.find("i * 32 % n"), 10, "i");
  return profile_of(attempt, source);
}

TEST(Profile, LinesAddUpToTheKernelsExactly) {
  const Profile profile = scale_profile();
  LineFigures sum = *profile.elsewhere;
  for (const ProfileLine& line : profile.lines) {
    if (line.figures) sum.add(*line.figures);
  }
  const Counters& of_kernel = profile.attempt.kernels.front().counters;
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    EXPECT_EQ(sum.counters[counter], of_kernel[counter]) << counter_name(counter);
    EXPECT_EQ(profile.total.counters[counter], of_kernel[counter]) << counter_name(counter);
  }
  EXPECT_NEAR(sum.elapsed_ns(), 102'500, 1e-6);
  EXPECT_NEAR(profile.total.elapsed_ns(), 102'500, 1e-6);
}

TEST(Profile, TimeIsSharedOutLikeTheCyclesOfWarpsAndTheLaunchStandsWhereItIs) {
  const Profile profile = scale_profile();
  const LineFigures& load = *profile.lines[8].figures;
  const double cycles = 500 + 4'000 + 5'000 + 720'000 + 201'000 + 33'000;  // without issue slots that have no warp
  EXPECT_NEAR(load.elapsed_ns(), 1e5 * 720'000 / cycles, 1e-6);
  EXPECT_EQ(load.main_wait(), Wait::dram);
  EXPECT_NEAR(load.share_of(Wait::dram), 700.0 / 720, 1e-9);
  EXPECT_EQ(profile.lines[16].figures->elapsed_ns(), 2'500);
  EXPECT_EQ(profile.lines[16].figures->main_wait(), std::nullopt);
}

TEST(Profile, FiguresOfALineAreAverages) {
  const Profile profile = scale_profile();
  const LineFigures& load = *profile.lines[8].figures;
  EXPECT_EQ(load.sectors_per_request(), 32);
  EXPECT_EQ(load.ideal_sectors_per_request(), 4);
  EXPECT_EQ(load.bank_conflict_ways(), 2);
  EXPECT_EQ(load.constant_words(), std::nullopt);
  EXPECT_EQ(profile.lines[11].figures->constant_words(), 16);
  EXPECT_EQ(load.active_lanes(), 32);
  EXPECT_EQ(load.l1_bytes(), 32 * 96'000);
  EXPECT_EQ(load.dram_bytes(), 3'072'000);
  EXPECT_EQ(profile.lines[11].figures->active_lanes(), 16);
  EXPECT_EQ(profile.lines[9].figures->sectors_per_request(), std::nullopt);
  EXPECT_EQ(profile.lines[9].figures->bank_conflict_ways(), std::nullopt);
  EXPECT_FALSE(profile.lines[4].figures);
}

TEST(Profile, MarksWhatTheDiagnosisNamesAndWhereTheTimeGoes) {
  const Profile profile = scale_profile();
  EXPECT_EQ(profile.lines[8].note, "32 sectors a load where 4 would do");
  EXPECT_TRUE(profile.lines[8].is_diagnosed);
  EXPECT_EQ(profile.lines[9].note, "waits for a barrier");
  EXPECT_FALSE(profile.lines[9].is_diagnosed);
  EXPECT_EQ(profile.lines[16].note, "some blocks run far longer");
  EXPECT_EQ(profile.lines[11].note, "");  // 3 % of the time
  EXPECT_THAT(profile.says,
              ElementsAre("Line 9 takes 73 % of the time, mostly waiting for DRAM; line 10 takes 20 %, mostly waiting "
                          "for a barrier.",
                          "The dot is x8 too low: line 9 asks for 32 sectors a load.",
                          "Then line 17: some blocks run far longer."));
}

TEST(Profile, ALineWithoutADiagnosisIsToldByItsOwnFigures) {
  Attempt attempt = scale_attempt();
  attempt.finding->diagnoses.clear();
  EXPECT_EQ(profile_of(attempt, kSource).lines[8].note, "32 sectors a request where 4 would do; 2-way bank conflicts");
}

TEST(Profile, WorkWithoutWaitingIsNotMarked) {
  Attempt attempt = scale_attempt();
  attempt.finding->diagnoses.clear();
  for (LineCounters& line : attempt.kernels.front().lines) {
    if (line.line == 10) std::swap(line.waits[Wait::issued], line.waits[Wait::barrier]);
  }
  const Profile profile = profile_of(attempt, kSource);
  EXPECT_GT(profile.share_of_time(*profile.lines[9].figures), 0.1);
  EXPECT_FALSE(profile.lines[9].is_hot());
}

TEST(Profile, AKernelsLineThatTheFileDoesNotHaveIsToldApart) {
  Attempt attempt = scale_attempt();
  attempt.kernels.front().lines.back().line = 500;
  const Profile profile = profile_of(attempt, kSource);
  EXPECT_EQ(profile.elsewhere->count(Counter::warp_instructions), 500 + 3'000);
}

TEST(Profile, OfAnAttemptWithoutFiguresHasNoLines) {
  Evidence evidence;
  evidence.compile_error = Error{"expected a `;`", "my/vector-add.cu", 3};
  const Profile profile = profile_of(attempt_that_ended_with(evidence), kSource);
  EXPECT_FALSE(profile.is_measured());
  const Json json = to_json(profile), whole = to_json(scale_profile());
  EXPECT_EQ(json["verdict"], "compile_error");
  EXPECT_TRUE(json["lines"].empty());
  for (const auto& [key, value] : whole.items()) EXPECT_TRUE(json.contains(key)) << key;
}

LineCounters& line_at(Attempt& attempt, int number) {
  for (LineCounters& line : attempt.kernels.front().lines) {
    if (line.line == number) return line;
  }
  ADD_FAILURE() << number;
  return attempt.kernels.front().lines.front();
}

TEST(Profile, ABarrierSaysWhatItsLastWarpWaitsFor) {
  Attempt attempt = scale_attempt();
  line_at(attempt, 10).held_up = {{12, Wait::shared, 150'000}, {9, Wait::dram, 50'000}};
  EXPECT_EQ(profile_of(attempt, kSource).lines[9].note,
            "waits until the last warp of the block is here, which waits for shared memory at line 12");
}

TEST(Profile, ALineOfSeveralLoadsSaysThatSomeAreBadAndWhoCallsIt) {
  Attempt attempt = scale_attempt();
  line_at(attempt, 9).loads = {{32'000, 1'000}, {1'000, 1'000}};
  line_at(attempt, 9).callers = {11, 12};
  EXPECT_EQ(profile_of(attempt, kSource).lines[8].note,
            "32 sectors a load where 4 would do; half of its loads take 32 sectors, the others 1; called at lines 11, "
            "12");
}

TEST(Profile, DramThatIsBusyIsSaidToBeTheRoof) {
  Attempt attempt = scale_attempt();
  attempt.finding->diagnoses.clear();
  line_at(attempt, 9).counters.set(Counter::l1_read_sectors, 12'000);
  line_at(attempt, 9).counters.set(Counter::shared_bank_conflicts, 0);
  EXPECT_EQ(profile_of(attempt, kSource).lines[8].note, "waits for DRAM");
  attempt.kernels.front().parts.dram_ns = 99'500;
  EXPECT_EQ(profile_of(attempt, kSource).lines[8].note, "DRAM is busy 97 % of the time: this is its roof");
}

TEST(Profile, SpilledRegistersAreWaitedFor) {
  Attempt attempt = scale_attempt();
  for (const Wait wait : {Wait::dependency, Wait::barrier}) line_at(attempt, 10).waits[wait] = 0;
  line_at(attempt, 10).waits[Wait::dependency] = 200'000;
  EXPECT_EQ(profile_of(attempt, kSource).lines[9].note, "waits for the result of the instruction before");
  attempt.kernels.front().spilled_bytes_per_thread = 64;
  EXPECT_THAT(profile_of(attempt, kSource).lines[9].note, HasSubstr("registers that were spilled"));
}

TEST(Profile, OnlyTheFirstDiagnosisLineIsTheOneToLookAt) {
  const Profile profile = scale_profile();
  EXPECT_FALSE(profile.lines[16].is_diagnosed);
  EXPECT_TRUE(profile.lines[16].is_hot());
}

TEST(ProfileText, HasTheFigureThatTheDiagnosisSpeaksOf) {
  Attempt attempt = scale_attempt();
  for (const char* figure : {"L1", "L2", "DRAM", "FLOPs", "runs", "lanes"}) {
    attempt.finding->diagnoses.front().figure = figure;
    for (const std::size_t columns : {std::size_t{80}, std::size_t{140}}) {
      const std::string text = profile_text(profile_of(attempt, kSource), columns, Colors(false));
      EXPECT_THAT(text, HasSubstr(fmt::format(" {}", figure))) << columns;
    }
  }
}

TEST(Changes, SayWhatGotBetterWhatIsGoneAndWhatIsInTheWay) {
  const auto says = changes(scale_profile(), mended_profile());
  ASSERT_FALSE(says.empty());
  EXPECT_THAT(says[0], HasSubstr("Better: "));
  EXPECT_THAT(says[0], HasSubstr("L1 moves "));
  EXPECT_THAT(says[1], HasSubstr("Gone: \"32 sectors a load where 4 would do\"."));
  EXPECT_EQ(says.back(), "Nothing is in the way any more.");
}

TEST(Changes, SayWhatGotWorseAndWhatNothingDid) {
  const auto says = changes(mended_profile(), scale_profile());
  EXPECT_THAT(says[0], HasSubstr("Worse: "));
  EXPECT_EQ(says.back(), "Now in the way: 32 sectors a load where 4 would do (line 9).");
  EXPECT_EQ(changes(scale_profile(), scale_profile())[0], "No figure changed by more than a tenth.");
  EXPECT_EQ(speed_up(scale_profile(), scale_profile()), "as fast");
}

TEST(ProfileJson, IsTheGoldenOne) {
  testing::expect_golden(TEST_SOURCE_DIR
                         "/tests/unit/profile/golden"
                         "/profile.json",
                         json_text(to_json(scale_profile())) + "\n");
}

TEST(ProfileJson, PairsTheLinesOfTwoAttempts) {
  const Json json = to_json(scale_profile(), mended_profile());
  EXPECT_EQ(json["against"]["schema"], "roofwalk.profile/1");
  EXPECT_EQ(json_line(json["pairs"][0]), R"({"line":1,"against_line":1})");
  EXPECT_EQ(json["pairs"].size(), 20u);
}

void expect_fits(const std::string& text, std::size_t columns) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    EXPECT_LE(shown_columns(line), columns) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

TEST(ProfileText, IsTheGoldenOne) {
  for (const std::size_t columns : {std::size_t{80}, std::size_t{200}}) {
    const std::string text = profile_text(scale_profile(), columns, Colors(false));
    testing::expect_golden(fmt::format("{}/profile_{}.txt", TEST_SOURCE_DIR "/tests/unit/profile/golden", columns),
                           text);
    expect_fits(text, columns);
  }
}

TEST(ProfileText, OfTwoAttemptsIsTheGoldenOne) {
  for (const std::size_t columns : {std::size_t{80}, std::size_t{200}}) {
    const std::string text = comparison_text(scale_profile(), mended_profile(), columns, Colors(false));
    testing::expect_golden(
        fmt::format("{}/profile_against_{}.txt", TEST_SOURCE_DIR "/tests/unit/profile/golden", columns), text);
    expect_fits(text, columns);
  }
}

TEST(ProfileText, ExplainsOnlyTheMarksThatAreThere) {
  Profile profile = scale_profile();
  for (ProfileLine& line : profile.lines) line.note.clear();
  EXPECT_THAT(profile_text(profile, 80, Colors(false)), Not(HasSubstr("to look at")));
  profile.lines[1].note = "waits for DRAM";
  profile.lines[1].is_diagnosed = false;
  EXPECT_THAT(profile_text(profile, 80, Colors(false)),
              ::testing::AllOf(HasSubstr("\n>: where the time goes"), Not(HasSubstr("!:"))));
}

// A line that the newer file no longer has is not marked, but its earlier problem is still reported.
TEST(ProfileText, MarksNoLineThatIsGone) {
  const std::string text = comparison_text(scale_profile(), mended_profile(), 80, Colors(false));
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.find("  - ") == std::string::npos) continue;
    EXPECT_TRUE(line.starts_with(' ')) << line;
  }
  EXPECT_THAT(text, HasSubstr("-: lines that are gone"));
}

TEST(ProfileText, FitsAnyWidthAndColoursTakeNoRoom) {
  for (std::size_t columns = 60; columns <= 240; columns += 7) {
    expect_fits(profile_text(scale_profile(), columns, Colors(true)), columns);
    expect_fits(comparison_text(scale_profile(), mended_profile(), columns, Colors(true)), columns);
  }
}

// A learner's text must not control the terminal or become markup of the page.
TEST(Profile, MakesSourceHarmless) {
  std::string source = kSource;
  source.insert(source.find("tile[threadIdx.x * 2"), "/* \x1b]0;owned\x07 <script>x</script> \xff */ ");
  const Profile profile = profile_of(scale_attempt(), source);
  EXPECT_THAT(profile_text(profile, 200, Colors(false)), Not(HasSubstr("\x1b")));
  EXPECT_THAT(profile_text(profile, 200, Colors(false)), HasSubstr("\\x1b]0;owned\\x07"));
  const std::string page = profile_page(profile);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_EQ(valid_utf8(page), page);
}

TEST(ProfilePage, NeedsNothingElse) {
  for (const std::string& page : {profile_page(scale_profile()), comparison_page(scale_profile(), mended_profile())}) {
    for (const char* request : {"http", "src=", "url(", "@import", "<script", "<link"}) {
      EXPECT_THAT(page, Not(HasSubstr(request)));
    }
    for (std::size_t at = page.find("href="); at != std::string::npos; at = page.find("href=", at + 1)) {
      EXPECT_EQ(page.substr(at, 12), "href=\"#line-");
    }
    EXPECT_THAT(page, HasSubstr("<html lang=\"en\">"));
    EXPECT_THAT(page, HasSubstr("name=\"viewport\""));
    EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
    EXPECT_THAT(page, HasSubstr("<caption>"));
    EXPECT_THAT(page, HasSubstr("scope=\"row\""));
  }
}

TEST(ProfilePage, ShowsEveryLineWithItsFigures) {
  const std::string page = profile_page(scale_profile());
  std::size_t rows = 0;
  for (std::size_t at = page.find("<tr "); at != std::string::npos; at = page.find("<tr ", at + 1)) ++rows;
  EXPECT_EQ(rows, 1 + 18 + 1);  // the header, the lines, and a row for figures without a line
  EXPECT_THAT(page, HasSubstr("look here first: 32 sectors a load where 4 would do"));
  EXPECT_THAT(page, HasSubstr("<tr role=\"row\" class=\"hot first\" id=\"line-9\">"));
  EXPECT_THAT(page, HasSubstr("<a href=\"#line-9\">line 9</a> asks for"));
  EXPECT_THAT(comparison_page(scale_profile(), mended_profile()), HasSubstr("class=\"bar\""));
  EXPECT_THAT(page, HasSubstr("32\u00a0of\u00a04"));
  EXPECT_THAT(comparison_page(scale_profile(), mended_profile()), HasSubstr("x5.86 faster"));
}

// The source has as many lines as are allowed. The page shows only those with information.
TEST(ProfilePage, OfManyLinesShowsThoseThatTell) {
  const auto holds = [](const std::string& page, const std::string& text) {
    return page.find(text) != std::string::npos;
  };
  Attempt attempt = scale_attempt();
  const std::string source = kSource + std::string(200'000, '\n');
  const std::string page = profile_page(profile_of(attempt, source));
  EXPECT_LT(page.size(), 100'000u);
  for (int line = 1; line <= 18; ++line) EXPECT_TRUE(holds(page, fmt::format("id=\"line-{}\"", line))) << line;
  EXPECT_TRUE(holds(page, "(199,996 lines are not shown)"));
  EXPECT_LT(comparison_page(scale_profile(), profile_of(attempt, source)).size(), 100'000u);
  // Now thousands of lines executed something.
  std::vector<LineCounters>& lines = attempt.kernels.front().lines;
  const LineCounters one = lines.front();
  for (int line = 100; line < 10'000; ++line) {
    lines.push_back(one);
    lines.back().line = line;
  }
  const std::string busy = profile_page(profile_of(attempt, source));
  EXPECT_LT(busy.size(), 4'000'000u);
  EXPECT_TRUE(holds(busy, "look here first: 32 sectors a load where 4 would do"));
}

double luminance(const std::string& hex) {
  double sum = 0;
  constexpr double kWeights[] = {0.2126, 0.7152, 0.0722};
  for (int i = 0; i < 3; ++i) {
    const double c = std::stoi(hex.substr(1 + 2 * static_cast<std::size_t>(i), 2), nullptr, 16) / 255.0;
    sum += kWeights[i] * (c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return sum;
}

// WCAG 2.1, 1.4.3: normal-size text needs a contrast of 4.5.
TEST(ProfilePage, HasTheContrastThatTextNeeds) {
  const std::string page = profile_page(scale_profile());
  const Pattern variables(R"(:root \{[^}]*\})"), variable(R"(--(\w+): (#[0-9a-f]{6}))");
  int schemes = 0;
  for (const Pattern::Groups& scheme : variables.search_all(page)) {
    ++schemes;
    std::map<std::string, std::string> colours;
    for (const Pattern::Groups& match : variable.search_all(scheme[0])) colours[match[1]] = match[2];
    for (const char* ground : {"ground", "hot", "new", "gone", "first"}) {
      for (const char* ink : {"ink", "quiet", "note", "bad", "foremost", "link"}) {
        const double a = luminance(colours.at(ink)), b = luminance(colours.at(ground));
        EXPECT_GE((std::max(a, b) + 0.05) / (std::min(a, b) + 0.05), 4.5) << ink << " on " << ground;
      }
    }
  }
  EXPECT_EQ(schemes, 2);
}

using Pairs = std::vector<LinePair>;
using Lines = std::vector<std::string>;

TEST(Matched, KeepsCommonLinesTogether) {
  EXPECT_EQ(matched(Lines{"a", "b", "c"}, Lines{"a", "x", "c"}), (Pairs{{1, 1}, {2, 0}, {0, 2}, {3, 3}}));
  EXPECT_EQ(matched(Lines{"a", "b"}, Lines{"a", "b"}), (Pairs{{1, 1}, {2, 2}}));
  EXPECT_EQ(matched(Lines{}, Lines{"a"}), (Pairs{{0, 1}}));
  EXPECT_EQ(matched(Lines{"a"}, Lines{}), (Pairs{{1, 0}}));
  EXPECT_EQ(matched(Lines{}, Lines{}), Pairs{});
  EXPECT_EQ(matched(Lines{"x", "a", "b", "y"}, Lines{"a", "b"}), (Pairs{{1, 0}, {2, 1}, {3, 2}, {4, 0}}));
}

TEST(Matched, ALineThatWasOnlyIndentedIsTheSame) {
  EXPECT_EQ(matched(Lines{"f();", "g();"}, Lines{"if (x) {", "\tf();", "  g();  ", "}"}),
            (Pairs{{0, 1}, {1, 2}, {2, 3}, {0, 4}}));
}

TEST(Matched, FilesThatAreTooLongShareTheirEnds) {
  std::vector<std::string> was(9'000, "x"), now(9'000, "y");
  was.front() = now.front() = "first";
  was.back() = now.back() = "last";
  const Pairs pairs = matched(was, now);
  ASSERT_EQ(pairs.size(), 2u + 2 * 8'998);
  EXPECT_EQ(pairs.front(), (LinePair{1, 1}));
  EXPECT_EQ(pairs.back(), (LinePair{9'000, 9'000}));
}

}  // namespace
}  // namespace roofwalk
