#include "grader/programs/conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/json.h"
#include "grader/programs/against.h"
#include "grader/programs/junit.h"
#include "tests/support/golden.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/programs/some_run.h"

namespace roofwalk {
namespace {

using ::testing::HasSubstr;
using Outcome = Judged::Outcome;

const std::filesystem::path kGoldenOfConditions = std::filesystem::path(TEST_SOURCE_DIR) / "tests/unit/programs/golden";

std::string why_misread(const std::string& typed) {
  const auto read = read_condition(typed);
  return read ? "" : read.error().text();
}

// The run with this much more of a counter in its first kernel.
ProgramRun run_with_more(Counter counter, std::uint64_t more) {
  ProgramRun run = test::some_run();
  run.kernels[0].totals.counters.add(counter, more);
  return run;
}

std::vector<Judged> judged(const std::string& typed, const ProgramRun& run, const std::optional<ProgramRun>& was = {}) {
  const auto condition = read_condition(typed);
  EXPECT_TRUE(condition) << why_misread(typed);
  if (!condition) return {};
  const Json now = to_json(run);
  const std::optional<Json> earlier = was ? std::optional(to_json(*was)) : std::nullopt;
  return judge({*condition}, now, earlier ? &*earlier : nullptr);
}

std::string failed(const std::vector<Judged>& all) {
  std::string text;
  for (const Judged& each : all) {
    if (each.outcome == Outcome::failed) text += each.kernel.substr(0, 13) + ": " + each.what + "\n";
  }
  return text;
}

TEST(Conditions, AreReadWithTheirKernelAndValue) {
  const auto read = read_condition(" my::f<a::b, 2>: dram_bytes >= -2.5% ");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kernels->typed(), "my::f<a::b, 2>");
  EXPECT_EQ(read->figure, "dram_bytes");
  EXPECT_EQ(read->order, Condition::Order::at_least);
  EXPECT_EQ(read->than, Condition::Than::earlier_and_percent);
  EXPECT_EQ(read->value, -2.5);
  EXPECT_EQ(read_condition("time_ns>1e6")->value, 1e6);
  EXPECT_EQ(read_condition("launches < +1")->than, Condition::Than::earlier_and_value);
  EXPECT_TRUE(read_condition("counters.flops_f32 <= 3") && read_condition("flops_f32 > 3"));
}

TEST(Conditions, ThatAreWrongHaveOneLine) {
  EXPECT_THAT(why_misread("dram_byte > +2%"), HasSubstr("there is no figure `dram_byte`, but dram_bytes"));
  EXPECT_THAT(why_misread("dram_bytes > 2%"), HasSubstr("write +2% for 2 % more than before, -2% for less"));
  EXPECT_THAT(why_misread("dram_bytes > two"), HasSubstr("`two` is no number"));
  EXPECT_THAT(why_misread("dram_bytes > +-2"), HasSubstr("`+-2` is no number"));
  EXPECT_THAT(why_misread("dram_bytes > "), HasSubstr("`` is no number"));
  EXPECT_THAT(why_misread("dram_bytes = 3"), HasSubstr("none of > >= < <="));
  EXPECT_THAT(why_misread("dram_bytes"), HasSubstr("none of > >= < <="));
  EXPECT_THAT(why_misread("regex:(: dram_bytes > 1"), HasSubstr("( is no regular expression"));
  EXPECT_THAT(why_misread("bound > 1"), HasSubstr("there is no figure `bound`"));
  for (const char* typed : {"> 1", "", "=", "dram_byte > 1\n", "a:b:c > %"}) {
    EXPECT_NE(why_misread(typed), "") << typed;
    EXPECT_EQ(why_misread(typed).find('\n'), std::string::npos) << typed;
  }
}

TEST(Conditions, FailFromTheirThresholdOn) {
  const ProgramRun was = test::some_run();
  const ProgramRun two_percent_more = run_with_more(Counter::dram_read_bytes, 251'658);  // of 12,582,912: 1.99999 %
  const ProgramRun a_byte_too_many = run_with_more(Counter::dram_read_bytes, 251'659);
  EXPECT_EQ(failed(judged("dram_bytes > +2%", was, was)), "");
  EXPECT_EQ(failed(judged("dram_bytes > +2%", two_percent_more, was)), "");
  EXPECT_EQ(failed(judged("dram_bytes > +2%", a_byte_too_many, was)),
            "cutlass::gemm: dram_bytes 12,834,571, was 12,582,912 (+2.0 %)\n");
  EXPECT_EQ(failed(judged("dram_bytes > +0", a_byte_too_many, was)).find("cutlass"), 0u);
  EXPECT_EQ(failed(judged("dram_bytes > +0", was, a_byte_too_many)), "") << "less is no more";
  EXPECT_EQ(failed(judged("add: time_ns > 2e5", was)), "");
  EXPECT_EQ(failed(judged("add: time_ns >= 2e5", was)), "add: time_ns 200,000\n");
  EXPECT_EQ(failed(judged("regex:gemm|add: occupancy < 0.6", was)), "cutlass::gemm: occupancy 0.5\n");
}

TEST(Conditions, ThatNothingCanBeJudgedByHaveFailed) {
  const ProgramRun was = test::some_run();
  EXPECT_EQ(failed(judged("gem: time_ns > 1e9", was)), ": no kernel that was measured matches gem\n");
  EXPECT_EQ(failed(judged("memset: ai_by_level.dram < 1", was)), ": no kernel has that figure\n");
  ProgramRun renamed = was;
  renamed.kernels[0].totals.name = "matmul";
  EXPECT_EQ(failed(judged("matmul: time_ns > +1%", renamed, was)), ": no kernel has that figure in both runs\n");
  const auto all = judged("time_ns > +1%", renamed, was);  // the other kernels are judged
  EXPECT_EQ(failed(all), "");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].outcome, Outcome::not_judged);
  EXPECT_THAT(all[0].what, HasSubstr("the earlier run has no such kernel"));
}

TEST(Conditions, KernelsOfSeveralFilesAreToldApart) {
  ProgramRun was;
  was.kernels = {{test::some_totals("f", "a.cu", 1, 10), {}}, {test::some_totals("f", "b.cu", 1, 20), {}}};
  EXPECT_EQ(failed(judged("f: time_ns > +0", was, was)), "");
  ProgramRun moved = was;
  moved.kernels.erase(moved.kernels.begin());
  moved.kernels[0].totals.file = "c.cu";
  EXPECT_EQ(failed(judged("f: time_ns > +0", moved, was)), "f: time_ns 20, was 10 (+100 %)\n") << "by its name alone";
}

TEST(Conditions, AreCasesOfJUnit) {
  const ProgramRun was = test::some_run(), now = run_with_more(Counter::dram_read_bytes, 1'000'000);
  auto all = judged("dram_bytes > +2%", now, was);
  const auto others = judged("add: ai_by_level.dram < 1e-3", now);
  all.insert(all.end(), others.begin(), others.end());
  roofwalk::testing::expect_golden(
      kGoldenOfConditions / "junit.xml",
      junit_text("./app \"<1>\"", all, {"gemm.cu:3: race: \x01", "gemm.cu:4: out of bounds"}));
}

TEST(Against, OnlyRunsThatCanBeComparedAreRead) {
  const test::ScratchFolder folder;
  Machine machine;
  machine.name = "classroom";
  const auto why_not = [&](const std::string& text) {
    const auto run = read_run(folder.write("run.json", text), machine);
    return run ? "" : run.error().message.substr(run.error().message.find(": ") + 2);
  };
  Json run = to_json(test::some_run());
  EXPECT_EQ(why_not(json_text(run)), "");
  run["model_version"] = 1;
  EXPECT_THAT(why_not(json_text(run)), HasSubstr("another version of the model"));
  machine.name = "h100-sxm/8";
  EXPECT_EQ(why_not(json_text(to_json(test::some_run()))),
            "it ran on virtual:classroom, and this is virtual:h100-sxm/8");
  for (const char* text : {"", "[]", "{}", R"({"schema": "roofwalk.program/1", "kernels": 3})", "\xff"})
    EXPECT_EQ(why_not(text), "it is no run that --json has written") << text;
  EXPECT_FALSE(read_run(folder.path() / "nothing.json", machine));
}

TEST(Against, ChangesAreShownAndWhatIsAlikeIsCounted) {
  const ProgramRun was = test::some_run();
  ProgramRun now = run_with_more(Counter::dram_read_bytes, 1'000'000);
  now.kernels[0].totals.elapsed_ns *= 1.102;
  now.kernels[0].totals.parts.dram_ns = 1.2e6;
  now.kernels[2].totals.elapsed_ns = 1e3;
  now.kernels[3].totals.name = "small";
  const Json earlier = to_json(was), later = to_json(now);
  const std::string text = changes_table(earlier, later, "main.json", 80, Colors(false)),
                    none = changes_table(earlier, earlier, "main.json", 80, Colors(false));
  roofwalk::testing::expect_golden(kGoldenOfConditions / "changes_80.txt", text);
  roofwalk::testing::expect_golden(kGoldenOfConditions / "changes_none.txt", none);
}

TEST(Against, ChangesHaveSensibleDigits) {
  EXPECT_EQ(change_text(100, 100), "as before");
  EXPECT_EQ(change_text(100, 102.5), "+2.5 %");
  EXPECT_EQ(change_text(100, 99.75), "-0.25 %");
  EXPECT_EQ(change_text(1e9, 1e9 + 1), "a little more");
  EXPECT_EQ(change_text(100, 350), "+250 %");
  EXPECT_EQ(change_text(100, 1200), "x12");
  EXPECT_EQ(change_text(0, 5), "from nothing");
}

}  // namespace
}  // namespace roofwalk
