// The job that looks after tasks when nobody waits, with a Slurm of shell scripts: each submitted script is kept, and
// an array is in the queue from then on.
#include "grader/class/slurm/follow_up.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "common/base/json.h"
#include "common/store/store.h"
#include "grader/class/slurm/units.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk::test {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class FollowUpTest : public ::testing::Test {
 protected:
  FollowUpTest() : path_before_(std::getenv("PATH")) {
    EXPECT_TRUE(folder_.make());
    // sbatch: the script is the last argument. Jobs get the numbers 100, 101, ...
    command("sbatch",
            "for script; do :; done\nnumber=$((100 + $(ls submitted | wc -l)))\ncp \"$script\" submitted/$number\n"
            "name=$(sed -n 's/^#SBATCH --job-name=//p' \"$script\")\n"
            "if grep -q -e --array= \"$script\"; then echo \"$name|$number|0|PENDING|None\" >>queue; fi\n"
            "echo $number\n");
    command("squeue", "case \"$*\" in *%j*) cat queue ;; *) cat jobs ;; esac\n");
    command("scancel", "echo \"$*\" >>cancelled\n");
    for (const char* const file : {"queue", "jobs", "cancelled"}) slurm_.write(file, "");
    fs::create_directories(slurm_.path() / "submitted");
    ::setenv("PATH", (slurm_.path().string() + ":" + path_before_).c_str(), 1);
  }
  ~FollowUpTest() override { ::setenv("PATH", path_before_.c_str(), 1); }

  void command(const std::string& name, const std::string& script) const {
    const fs::path file = slurm_.write(name, "#!/bin/sh\ncd '" + slurm_.path().string() + "'\n" + script);
    fs::permissions(file, fs::perms::owner_all);
  }

  std::string submitted(int number) const { return file_text(slurm_.path() / "submitted" / std::to_string(number)); }
  bool was_submitted(int number) const { return fs::exists(slurm_.path() / "submitted" / std::to_string(number)); }

  void array_of(const std::string& name, const std::vector<std::string>& units) const {
    for (std::size_t task = 0; task < units.size(); ++task) {
      EXPECT_TRUE(folder_.write(name, task, {Unit{units[task], "abc", "vector-add.cu", Json::object()}}));
    }
  }
  void answer(const std::string& unit) const { EXPECT_TRUE(folder_.write_answer(unit, Json{{"attempt", "whole"}})); }

  SlurmOptions options() const {
    SlurmOptions all;
    all.folder = folder_.root();
    all.program = "/opt/roofwalk";
    all.course = "/opt/course";
    all.sbatch = {"--partition=lab", "--gres=gpu:1"};
    return all;
  }

  Status run() {
    return follow_up(folder_.root(), {.grace_s = 0.01, .between_asks_s = 0.01, .most_silence_s = 0.05},
                     [this](const std::string& line) { told_.push_back(line); });
  }

  // A first job 100, as `grade --detach` submits it when no task is in the queue.
  void detach(const SlurmOptions& all) {
    const Status renewed = renew_follow_up(all);
    ASSERT_TRUE(renewed) << renewed.error().text();
    ASSERT_TRUE(was_submitted(100));
  }

  const ScratchFolder slurm_, class_;
  const UnitFolder folder_{class_.path() / "slurm"};
  const std::string path_before_;
  std::vector<std::string> told_;
};

TEST_F(FollowUpTest, WhatWasLostIsSubmittedAgainAndFollowed) {
  array_of("roofwalk-1", {"key-a.1", "key-b.1"});
  answer("key-a.1");
  detach(options());
  const Status ran = run();
  ASSERT_TRUE(ran) << ran.error().text();
  EXPECT_THAT(submitted(101), HasSubstr("#SBATCH --array=0-0\n"));
  EXPECT_THAT(submitted(101), HasSubstr("#SBATCH --gres=gpu:1\n"));
  EXPECT_THAT(submitted(102), HasSubstr("#SBATCH --dependency=afterany:101\n"));
  EXPECT_THAT(submitted(102), HasSubstr("#SBATCH --partition=lab\n"));
  EXPECT_THAT(submitted(102), Not(HasSubstr("--gres")));  // it computes nothing
  EXPECT_THAT(submitted(102), HasSubstr(" grade-follow-up "));
  EXPECT_FALSE(was_submitted(103));
  ASSERT_THAT(folder_.arrays(), SizeIs(2));
  for (const std::string& name : folder_.arrays()) {
    if (name != "roofwalk-1") {
      EXPECT_EQ(folder_.read(name, 0)->front().name, "key-b.1");
    }
  }
}

TEST_F(FollowUpTest, WhatIsInTheQueueIsOnlyFollowed) {
  array_of("roofwalk-1", {"key-a.1"});
  array_of("roofwalk-2", {"key-b.1"});
  answer("key-b.1");
  slurm_.write("queue", "roofwalk-1|17|0|RUNNING|None\n");
  detach(options());
  EXPECT_THAT(submitted(100), HasSubstr("--dependency=afterany:17\n"));
  ASSERT_TRUE(run());
  EXPECT_THAT(submitted(101), HasSubstr("--dependency=afterany:17\n"));
  EXPECT_FALSE(was_submitted(102));
  EXPECT_THAT(file_text(slurm_.path() / "cancelled"), HasSubstr("--state=PENDING --name=roofwalk-follow-up-"));
}

TEST_F(FollowUpTest, WhatSlurmHoldsIsCancelledAndSubmittedAgain) {
  array_of("roofwalk-1", {"key-a.1"});
  slurm_.write("queue", "roofwalk-1|17|0|PENDING|launch failed requeued held\n");
  detach(options());
  ASSERT_TRUE(run());
  EXPECT_THAT(file_text(slurm_.path() / "cancelled"), HasSubstr("17_0\n"));
  EXPECT_THAT(submitted(101), HasSubstr("--array=0-0"));
}

TEST_F(FollowUpTest, TheFifthLossIsAFault) {
  for (int job = 1; job <= 4; ++job) array_of("roofwalk-" + std::to_string(job), {"key-a.1"});
  detach(options());
  ASSERT_TRUE(run());
  EXPECT_FALSE(folder_.answer("key-a.1"));  // a fifth task has it
  ASSERT_THAT(folder_.arrays(), SizeIs(5));
  slurm_.write("queue", "");
  ASSERT_TRUE(run());
  const auto fault = folder_.answer("key-a.1");
  ASSERT_TRUE(fault && !fault->ok());
  EXPECT_THAT(fault->error().text(), HasSubstr("ended 5 times without an answer"));
  EXPECT_THAT(folder_.arrays(), SizeIs(5));
}

TEST_F(FollowUpTest, TakesAnswersIntoTheRecordOnItsMachineAlone) {
  array_of("roofwalk-1", {"key-a.1"});
  answer("key-a.1");
  SlurmOptions all = options();
  all.record = class_.write("grades.db", "the record");
  all.collect = {"--gtest_filter=NoTestHasThisName"};  // this test's own program stands for roofwalk
  detach(all);
  ASSERT_TRUE(run());
  EXPECT_THAT(told_, Contains(HasSubstr("NoTestHasThisName")));
  told_.clear();
  // Another file at the same path, as on a node's own disk.
  class_.write("other", "not the record");
  fs::rename(class_.path() / "other", all.record);
  ASSERT_TRUE(run());
  EXPECT_THAT(told_, SizeIs(0));
}

TEST_F(FollowUpTest, EndsWhereSomebodyTookAllAnswersOrSlurmIsSilent) {
  ASSERT_TRUE(run());  // no array is there
  EXPECT_FALSE(was_submitted(100));
  array_of("roofwalk-1", {"key-a.1"});
  detach(options());
  command("squeue", "echo 'squeue: error: Unable to contact slurm controller' >&2\nexit 1\n");
  const Status silent = run();
  ASSERT_FALSE(silent);
  EXPECT_THAT(silent.error().message, HasSubstr("Slurm does not answer: squeue"));
}

TEST_F(FollowUpTest, StatusTellsOfIt) {
  EXPECT_EQ(follow_up_text(folder_.root()), "");
  detach(options());
  slurm_.write("jobs", "100|PENDING|Dependency\n");
  EXPECT_EQ(follow_up_text(folder_.root()), "a job follows the tasks: 100 PENDING (Dependency)\n");
  slurm_.write("jobs", "");
  EXPECT_THAT(follow_up_text(folder_.root()), HasSubstr("no job follows the tasks: the same command"));
}

}  // namespace
}  // namespace roofwalk::test
