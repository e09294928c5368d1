// The collector with a Slurm of three scripts, which a test tells what to say: tasks that are preempted, requeued,
// held, lost or silent, and answers that are torn, late, double or about something else.
#include "grader/class/slurm/collector.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "common/base/hash.h"
#include "common/base/json.h"
#include "grader/class/batch/batch.h"
#include "grader/class/batch/grading.h"
#include "grader/class/batch/stored_grade.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Each script writes its arguments to its log. sbatch and squeue print what stands in a file for this call, such as
// `squeue.2`, or else in the file for all others, and then do what `.do` says; without a file, nothing.
constexpr const char* kScript = R"(#!/bin/sh
echo "$@" >>"$0.log"
calls=0
if [ -e "$0.calls" ]; then read -r calls <"$0.calls"; fi
calls=$((calls + 1))
echo $calls >"$0.calls"
for file in "$0.$calls" "$0.others"; do
  if [ -e "$file" ]; then
    while IFS= read -r line; do echo "$line"; done <"$file"
    break
  fi
done
if [ -e "$0.$calls.do" ]; then . "$0.$calls.do"; fi
)";

class CollectorTest : public ::testing::Test {
 protected:
  CollectorTest() {
    for (const char* const command : {"sbatch", "squeue", "scancel"}) {
      fs::permissions(slurm_.write(command, kScript), fs::perms::owner_all);
    }
    ::setenv("PATH", fmt::format("{}:{}", slurm_.path().string(), path_).c_str(), 1);
    options_.folder = folder_.path() / "shared";
    options_.program = "/opt/roofwalk";
    options_.poll_s = 0;
    options_.look_s = 0.0005;
    options_.grace_s = 0;
    options_.retry_s = 0.0005;
    options_.told = [this](const std::string& line) { take_line(line); };
    Chapter chapter;
    chapter.name = "vector-add";
    course_.chapters = {chapter};
    terms_["vector-add"].chapter = chapter;
    auto batch = Batch::open(course_, {.course_file = {}, .folder = folder_.path() / "grades"});
    EXPECT_TRUE(batch) << batch.error().text();
    batch_.emplace(*std::move(batch));
  }
  ~CollectorTest() override { ::setenv("PATH", path_.c_str(), 1); }

  // When a job is submitted, calls `then` with its name, once.
  void when_submitted(std::function<void(const std::string&)> then) { steps_.push_back(std::move(then)); }

  // Grades units 1 to `count`, whose names are key1.1 and so on.
  Status collect(int count) {
    Backlog backlog;
    for (int i = 1; i <= count; ++i) {
      const std::string text = fmt::format("// {}\n", i);
      EXPECT_TRUE(batch_->keep_source(sha256_hex(text), text));
      backlog.tasks.push_back({fmt::format("key{}", i), "vector-add", sha256_hex(text)});
    }
    Grading grading(*batch_, terms_, std::move(backlog), shown_);
    const Status collected = Collector(grading, options_).run();
    summary_ = grading.summary();
    return collected;
  }
  // The same, for tests in which nothing but the grades matters.
  void expect_graded(int count) {
    const Status collected = collect(count);
    ASSERT_TRUE(collected) << collected.error().text();
    EXPECT_EQ(summary_.graded, static_cast<std::size_t>(count));
    EXPECT_EQ(summary_.faults, 0u) << summary_.last_trouble;
    EXPECT_THAT(verdicts(), SizeIs(count));
    EXPECT_FALSE(fs::exists(options_.folder));
  }

  static Json pass(int unit) {
    return {{"attempt", {{"verdict", "pass"}}}, {"file_sha256", sha256_hex(fmt::format("// {}\n", unit))}};
  }
  static std::string name_of(int unit) { return fmt::format("key{}.1", unit); }
  void answer(int unit, const Result<Json>& said) const { EXPECT_TRUE(shared().write_answer(name_of(unit), said)); }
  void answer(int unit) const { answer(unit, pass(unit)); }
  UnitFolder shared() const { return UnitFolder(options_.folder); }

  // At its call with this number, squeue ends with this answer being there.
  void answer_at(int call, int unit) const {
    const UnitFolder later(folder_.path() / "later");
    EXPECT_TRUE(later.write_answer(name_of(unit), pass(unit)));
    at_call(
        "squeue", call,
        fmt::format("mv '{}' '{}'\n", later.result(name_of(unit)).string(), shared().result(name_of(unit)).string()));
  }
  void at_call(const std::string& command, int call, const std::string& script) const {
    std::ofstream(slurm_.path() / fmt::format("{}.{}.do", command, call), std::ios::app) << script;
  }
  // What squeue prints: at one call, or (0) at all calls that have nothing of their own.
  void queue(const std::string& text, int call = 0) const {
    slurm_.write(call == 0 ? "squeue.others" : fmt::format("squeue.{}", call), text);
  }
  static std::string waits(const std::string& job, int task, const std::string& reason) {
    return fmt::format("{}|17|{}|PENDING|{}\n", job, task, reason);
  }
  static std::string runs(const std::string& job, int task) {
    return fmt::format("{}|17|{}|RUNNING|None\n", job, task);
  }

  std::vector<std::string> calls(const std::string& command) const {
    std::vector<std::string> all;
    std::ifstream log(slurm_.path() / (command + ".log"));
    for (std::string line; std::getline(log, line);) all.push_back(line);
    return all;
  }
  std::vector<std::string> verdicts() {
    std::vector<std::string> all;
    const auto grades = *batch_->store().grades();
    for (const StoredGrade& grade : grades)
      all.push_back(grade.key + " " + grade.result.at("attempt").text_of("verdict"));
    return all;
  }

  const ScratchFolder folder_, slurm_;
  SlurmOptions options_;
  std::vector<std::string> lines_, jobs_;
  GradeSummary summary_;
  std::optional<Batch> batch_;

 private:
  void take_line(const std::string& line) {
    constexpr std::string_view kJob = ": job ";
    const std::size_t at = line.find(kJob);
    if (at == std::string::npos) return lines_.push_back(line);
    jobs_.push_back(line.substr(at + kJob.size()));
    if (steps_.empty()) return;
    const auto step = std::move(steps_.front());
    steps_.erase(steps_.begin());
    step(jobs_.back());
  }

  const std::string path_ = std::getenv("PATH");
  Course course_;
  std::map<std::string, JobTerms> terms_;
  std::function<void(const GradeProgress&)> shown_ = [](const GradeProgress&) {};
  std::vector<std::function<void(const std::string&)>> steps_;
};

TEST_F(CollectorTest, TakesTheAnswersOfATask) {
  when_submitted([&](const std::string&) {
    for (const int unit : {1, 2, 3}) answer(unit);
  });
  options_.per_task = 2;
  expect_graded(3);
  EXPECT_THAT(calls("sbatch"), SizeIs(1));
  EXPECT_THAT(calls("scancel"), ElementsAre("--quiet --name=" + jobs_.front()));
}

// A preempted task has answered one of its two units.
TEST_F(CollectorTest, SubmitsWhatAPreemptedTaskDidNotAnswer) {
  std::vector<std::string> again;
  when_submitted([&](const std::string&) { answer(1); });
  when_submitted([&](const std::string& job) {
    const auto units = shared().read(job, 0);
    for (const Unit& unit : *units) again.push_back(unit.name);
    answer(2);
  });
  expect_graded(2);
  EXPECT_THAT(again, ElementsAre("key2.1"));
}

// Each unit of a lost task gets a task of its own, so that one which ends its task takes no others with it.
TEST_F(CollectorTest, SubmitsLostUnitsApart) {
  std::vector<std::size_t> tasks;
  when_submitted([](const std::string&) {});
  when_submitted([&](const std::string& job) {
    tasks = shared().tasks(job);
    for (const int unit : {1, 2, 3}) answer(unit);
  });
  expect_graded(3);
  EXPECT_THAT(tasks, ElementsAre(0u, 1u, 2u));
}

TEST_F(CollectorTest, WaitsForATaskThatWasRequeued) {
  when_submitted([&](const std::string& job) {
    queue(runs(job, 0), 1);
    queue(fmt::format("{}|17|0|COMPLETING|None\n", job), 2);
    queue(waits(job, 0, "BeginTime"), 3);
    queue(runs(job, 0));
    answer_at(6, 1);
  });
  expect_graded(1);
  EXPECT_THAT(calls("sbatch"), SizeIs(1));
  EXPECT_THAT(lines_, IsEmpty());
}

// On a network file system, an answer becomes visible after its task has ended.
TEST_F(CollectorTest, GivesAnAnswerTimeToAppear) {
  when_submitted([&](const std::string&) { answer_at(4, 1); });
  options_.grace_s = 600;
  expect_graded(1);
  EXPECT_THAT(calls("sbatch"), SizeIs(1));
}

TEST_F(CollectorTest, LeavesToAPersonWhatIsLostFiveTimes) {
  for (int i = 0; i < 5; ++i) {
    when_submitted([&](const std::string& job) {
      std::ofstream(shared().array(job) / "0.log") << "slurmstepd: error: *** \x1b[31mCANCELLED ***\n\n";
    });
  }
  ASSERT_TRUE(collect(1));
  EXPECT_THAT(calls("sbatch"), SizeIs(5));
  EXPECT_EQ(summary_.faults, 1u);
  EXPECT_THAT(
      summary_.last_trouble,
      AllOf(HasSubstr("Slurm's task ended 5 times without an answer: slurmstepd: error: *** \\x1b[31mCANCELLED"),
            HasSubstr("do all nodes see ")));
  EXPECT_THAT(verdicts(), IsEmpty());
}

// What always ends its task costs nobody else a grade.
TEST_F(CollectorTest, GradesTheOthersOfALostTask) {
  when_submitted([&](const std::string&) { answer(3); });
  for (int i = 0; i < 4; ++i) {
    when_submitted([&](const std::string&) { answer(2); });
  }
  ASSERT_TRUE(collect(3));
  EXPECT_EQ(summary_.faults, 1u);
  EXPECT_THAT(verdicts(), ElementsAre("key3 pass", "key2 pass"));
}

TEST_F(CollectorTest, CancelsAndSubmitsAgainWhatSlurmHolds) {
  when_submitted([&](const std::string& job) { queue(waits(job, 0, "launch failed requeued held"), 1); });
  when_submitted([&](const std::string&) { answer(1); });
  expect_graded(1);
  EXPECT_THAT(calls("scancel"), Contains("--quiet 17_0"));
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(CollectorTest, TellsOnceWhyAllWait) {
  when_submitted([&](const std::string& job) {
    const std::string down = "ReqNodeNotAvail, UnavailableNodes:node[1-2]";
    queue(waits(job, 0, "Resources") + waits(job, 1, "Priority"), 1);
    queue(waits(job, 0, down) + runs(job, 1), 2);
    queue(waits(job, 0, "Priority") + waits(job, 1, down), 3);
    queue(waits(job, 0, down) + waits(job, 1, down), 4);
    queue(waits(job, 0, "JobHeldAdmin") + waits(job, 1, "JobHeldAdmin"), 5);
    queue(waits(job, 0, "\x1b[2J"));
    answer_at(7, 1);
    answer_at(7, 2);
  });
  options_.per_task = 1;
  expect_graded(2);
  EXPECT_THAT(lines_, ElementsAre("all tasks wait: Slurm says ReqNodeNotAvail, UnavailableNodes:node[1-2]",
                                  "all tasks wait: Slurm says JobHeldAdmin", "all tasks wait: Slurm says \\x1b[2J"));
}

TEST_F(CollectorTest, ANodesFaultIsTriedAgainAndIsNoVerdict) {
  const Error fault{.message = "the worker died by signal 9 (Killed)"};
  when_submitted([&](const std::string&) {
    answer(1, fault);
    answer(2, fault);
  });
  when_submitted([&](const std::string&) {
    answer(1);
    answer(2, fault);
  });
  ASSERT_TRUE(collect(2));
  EXPECT_THAT(verdicts(), ElementsAre("key1 pass"));
  EXPECT_EQ(summary_.faults, 1u);
  EXPECT_THAT(summary_.last_trouble, AllOf(HasSubstr("the worker died by signal 9"), HasSubstr(" (node ")));
}

// Without an answer to it, a torn file is neither a verdict nor a fault.
TEST_F(CollectorTest, ATornAnswerIsLost) {
  when_submitted([&](const std::string&) {
    answer(1);
    const fs::path file = shared().result(name_of(1));
    fs::resize_file(file, fs::file_size(file) - 3);
  });
  when_submitted([&](const std::string&) {
    EXPECT_FALSE(fs::exists(shared().result(name_of(1))));
    answer(1);
  });
  expect_graded(1);
}

TEST_F(CollectorTest, AnAnswerInAnothersFileIsNone) {
  when_submitted([&](const std::string&) {
    answer(1);
    fs::copy_file(shared().result(name_of(1)), shared().result(name_of(2)));
  });
  when_submitted([&](const std::string&) { answer(2); });
  expect_graded(2);
  EXPECT_THAT(calls("sbatch"), SizeIs(2));
}

TEST_F(CollectorTest, AnAnswerAboutAnothersFileIsAFault) {
  when_submitted([&](const std::string&) { answer(1, pass(2)); });
  when_submitted([&](const std::string&) { answer(1, Json{{"attempt", {{"verdict", "pass"}}}}); });
  ASSERT_TRUE(collect(1));
  EXPECT_THAT(verdicts(), IsEmpty());
  EXPECT_EQ(summary_.last_trouble, "the worker's answer is about another submission");
}

// A task that runs twice answers twice; and an answer to what nobody asked is none.
TEST_F(CollectorTest, ASecondAnswerChangesNothing) {
  when_submitted([&](const std::string& job) {
    queue(runs(job, 0));
    answer(1);
    answer(7);
    Json other = pass(1);
    other["attempt"]["verdict"] = "fail";
    const UnitFolder later(folder_.path() / "later");
    EXPECT_TRUE(later.write_answer(name_of(1), other));
    at_call("squeue", 2,
            fmt::format("mv '{}' '{}'\n", later.result(name_of(1)).string(), shared().result(name_of(1)).string()));
    answer_at(4, 2);
  });
  expect_graded(2);
  EXPECT_THAT(verdicts(), ElementsAre("key1 pass", "key2 pass"));
}

TEST_F(CollectorTest, GoesOnWhereAnEarlierCallEnded) {
  options_.waits = false;
  ASSERT_TRUE(collect(2));
  ASSERT_THAT(calls("sbatch"), ElementsAre(HasSubstr("/arrays/"), HasSubstr("/follow-up.sh")));
  queue(runs(jobs_.front(), 0));
  answer(1);
  answer_at(2, 2);
  options_.waits = true;
  expect_graded(2);
  EXPECT_THAT(calls("sbatch"), SizeIs(2)) << "the array, and the job that follows it";
}

// A call that was killed had submitted a lost unit again. The jobs' names tell nothing of their order.
TEST_F(CollectorTest, WaitsForAnyJobOfAnEarlierCall) {
  options_.waits = false;
  ASSERT_TRUE(collect(1));
  const std::string known = jobs_.front();
  for (const char* const other : {"roofwalk-", "roofwalk-~"}) {
    ASSERT_TRUE(shared().write(other, 0, *shared().read(known, 0)));
  }
  queue(runs(known, 0));
  answer_at(4, 1);
  options_.waits = true;
  expect_graded(1);
  EXPECT_THAT(calls("sbatch"), SizeIs(2)) << "the array, and the job that follows it";
}

TEST_F(CollectorTest, ShowsWhereAllStand) {
  EXPECT_EQ(status_text(options_.folder), "no job: nothing is in Slurm's queue for these grades\n");
  options_.waits = false;
  options_.per_task = 1;
  ASSERT_TRUE(collect(3));
  const std::string job = jobs_.front();
  answer(1);
  const std::string none_follows =
      "no job follows the tasks: the same command without --status takes the answers, and submits again what is lost\n";
  EXPECT_EQ(status_text(options_.folder),
            job + ": 1 of 3 submissions answered; no task is in the queue\n" + none_follows);
  queue(runs(job, 1) + waits(job, 2, "Resources\x1b[2J") + waits("roofwalk-another", 0, "None"));
  EXPECT_THAT(status_text(options_.folder),
              StartsWith(job + ": 1 of 3 submissions answered; 1 task PENDING (Resources\\x1b[2J); 1 task RUNNING\n"));
  const int next_look = static_cast<int>(calls("squeue").size()) + 1;
  at_call("squeue", next_look, "echo 'slurm_load_jobs error: timed out'; exit 1\n");
  queue("", next_look);
  EXPECT_THAT(status_text(options_.folder),
              AllOf(StartsWith(job + ": 1 of 3 submissions answered\n"),
                    HasSubstr("\nSlurm does not answer: squeue: slurm_load_jobs error: timed out\n")));
}

// A controller that does not answer says nothing about the tasks.
TEST_F(CollectorTest, LosesNothingWhileSlurmIsSilent) {
  when_submitted([&](const std::string& job) {
    for (const int call : {1, 2, 3}) at_call("squeue", call, "echo 'slurm_load_jobs error: timed out'; exit 1\n");
    queue(runs(job, 0));
    answer_at(5, 1);
  });
  expect_graded(1);
  EXPECT_THAT(calls("sbatch"), SizeIs(1));
}

TEST_F(CollectorTest, AJobThatSlurmTookInSilenceIsNotSubmittedTwice) {
  at_call("sbatch", 1,
          fmt::format("for script; do :; done\nname=$(sed -n 's/^#SBATCH --job-name=//p' \"$script\")\n"
                      "echo \"$name|17|0|RUNNING|None\" >'{}'\nexit 1\n",
                      (slurm_.path() / "squeue.others").string()));
  when_submitted([&](const std::string&) { answer(1); });
  expect_graded(1);
  EXPECT_THAT(calls("sbatch"), SizeIs(1));
}

// To sbatch, variables of the environment matter more than the options in a script, and less than those of its command.
TEST_F(CollectorTest, VariablesOfTheEnvironmentChangeNeitherJobsNorAnswers) {
  constexpr std::array kVariables = {"SBATCH_JOB_NAME", "SBATCH_ARRAY_INX", "SBATCH_CLUSTERS", "SBATCH_OUTPUT",
                                     "SBATCH_WAIT",     "SQUEUE_STATES",    "SCANCEL_STATE",   "SBATCH_ACCOUNT"};
  for (const char* const name : kVariables) ::setenv(name, "mine", 1);
  options_.sbatch = {"--partition=lab", "--comment=\"a b\""};
  for (const char* const command : {"sbatch", "squeue", "scancel"}) {
    at_call(command, 1, fmt::format("env >>'{}'\n", (slurm_.path() / "seen").string()));
  }
  when_submitted([&](const std::string&) { answer(1); });
  expect_graded(1);
  for (const char* const name : kVariables) ::unsetenv(name);
  const std::string seen = file_text(slurm_.path() / "seen");
  EXPECT_THAT(seen, HasSubstr("SBATCH_ACCOUNT=mine")) << "nothing here depends on it";
  for (const char* const name : kVariables) {
    if (name == std::string_view("SBATCH_ACCOUNT")) continue;
    EXPECT_THAT(seen, Not(HasSubstr(name)));
  }
  EXPECT_THAT(calls("sbatch"), ElementsAre(AllOf(HasSubstr("--job-name=roofwalk-"), HasSubstr(" --array=0-0 "),
                                                 HasSubstr(" --partition=lab --comment=a b /"))));
}

TEST_F(CollectorTest, AKeptCopyThatWasChangedIsMadeWhole) {
  const std::string text = "// 1\n", key = sha256_hex(text);
  ASSERT_TRUE(batch_->keep_source(key, text));
  std::ofstream(batch_->source(key), std::ios::binary) << "// 2\n";
  ASSERT_TRUE(batch_->keep_source(key, text));
  EXPECT_EQ(file_text(batch_->source(key)), text);
}

TEST_F(CollectorTest, AnEmptyHandInHasACopy) {
  const std::string key = sha256_hex("");
  ASSERT_TRUE(batch_->keep_source(key, ""));
  EXPECT_TRUE(fs::is_regular_file(batch_->source(key)));
}

TEST_F(CollectorTest, WhatSlurmRefusesIsAnErrorAndLeavesNothing) {
  slurm_.write("sbatch.others", "sbatch: error: invalid account\n");
  for (int call = 1; call <= 5; ++call) at_call("sbatch", call, "exit 1\n");
  const Status collected = collect(1);
  ASSERT_FALSE(collected);
  EXPECT_THAT(collected.error().text(),
              HasSubstr("Slurm does not take the job: sbatch: sbatch: error: invalid account"));
  EXPECT_THAT(shared().arrays(), IsEmpty());
  EXPECT_THAT(verdicts(), IsEmpty());
}

// Whoever may use the cluster may name a job so; nothing of theirs keeps a lost task from being submitted again.
TEST_F(CollectorTest, LooksAtThisUsersJobsOnly) {
  when_submitted([](const std::string&) {});
  when_submitted([&](const std::string&) { answer(1); });
  expect_graded(1);
  EXPECT_THAT(calls("squeue"), Each(HasSubstr(fmt::format("--user={} --name=roofwalk-", ::geteuid()))));
}

TEST_F(CollectorTest, ADamagedCopyIsMadeAnew) {
  const std::string sha256 = sha256_hex("// 1\n");
  ASSERT_TRUE(shared().make());
  std::ofstream(shared().source(sha256)) << "//";
  when_submitted([&](const std::string&) {
    EXPECT_EQ(file_text(shared().source(sha256)), "// 1\n");
    answer(1);
  });
  expect_graded(1);
}

TEST_F(CollectorTest, NothingIsReadFromAFolderOfAnothers) {
  fs::create_directories(folder_.path() / "elsewhere");
  fs::create_directory_symlink(folder_.path() / "elsewhere", options_.folder);
  const Status collected = collect(1);
  ASSERT_FALSE(collected);
  EXPECT_THAT(collected.error().text(), HasSubstr("shared: is no folder of yours"));
  EXPECT_THAT(calls("sbatch"), IsEmpty());
  EXPECT_TRUE(fs::is_empty(folder_.path() / "elsewhere"));
}

}  // namespace
}  // namespace roofwalk::test
