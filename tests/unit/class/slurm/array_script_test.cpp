#include "grader/class/slurm/array_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofwalk::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ArrayJob job() {
  return {.name = "roofwalk-1",
          .tasks = 25,
          .at_once = 4,
          .options = {"--partition=lab"},
          .program = "/opt/roof walk/roofwalk",
          .folder = "/class/it's 5%/slurm",
          .environment = {{"ROOFWALK_ROOT", "/class/a'b"}}};
}

TEST(ArrayScript, QuotesEveryPath) {
  EXPECT_EQ(
      array_script(job()),
      "#!/bin/bash\n"
      "#SBATCH --job-name=roofwalk-1\n"
      "#SBATCH --array=0-24%4\n"
      "#SBATCH --output=\"/class/it's 5%%/slurm/arrays/roofwalk-1/%a.log\"\n"
      "#SBATCH --open-mode=append\n"
      "#SBATCH --requeue\n"
      "#SBATCH --ntasks=1\n"
      "#SBATCH --partition=lab\n"
      "export ROOFWALK_ROOT='/class/a'\\''b'\n"
      "exec '/opt/roof walk/roofwalk' grade-task '/class/it'\\''s 5%/slurm' roofwalk-1 \"$SLURM_ARRAY_TASK_ID\"\n");
}

TEST(ArrayScript, AsksForOneGpuUnlessTheUserAsksForSome) {
  ArrayJob one = job();
  EXPECT_THAT(array_script(one), Not(HasSubstr("--gres")));
  one.needs_gpu = true;
  EXPECT_THAT(array_script(one), HasSubstr("#SBATCH --gres=gpu:1\n"));
  for (const char* const option : {"--gres=gpu:1g.10gb:1", "--gpus=1", "--gpus-per-task=1"}) {
    one.options = {option};
    EXPECT_THAT(array_script(one), Not(HasSubstr("--gres=gpu:1\n"))) << option;
  }
}

TEST(FollowUpScript, WaitsForAllJobsAndAsksForNoGpu) {
  EXPECT_EQ(follow_up_script({.name = "roofwalk-follow-up-1",
                              .after = {"17", "21"},
                              .options = {"--partition=lab", "--gpus=1", "--exclusive", "--dependency=singleton"},
                              .program = "/opt/roof walk/roofwalk",
                              .folder = "/class/5%/slurm",
                              .environment = {{"ROOFWALK_ROOT", "/class"}}}),
            "#!/bin/bash\n"
            "#SBATCH --job-name=roofwalk-follow-up-1\n"
            "#SBATCH --dependency=afterany:17:21\n"
            "#SBATCH --output=\"/class/5%%/slurm/follow-up.log\"\n"
            "#SBATCH --open-mode=append\n"
            "#SBATCH --requeue\n"
            "#SBATCH --ntasks=1\n"
            "#SBATCH --partition=lab\n"
            "export ROOFWALK_ROOT='/class'\n"
            "exec '/opt/roof walk/roofwalk' grade-follow-up '/class/5%/slurm'\n");
}

TEST(ArrayScript, AnOptionIsOneWordThatRoofwalkDoesNotSet) {
  for (const char* const option :
       {"--partition=lab", "--time=30", "--exclusive", "--wait-all-nodes=1", "--cluster-constraint=x"}) {
    EXPECT_TRUE(check_sbatch_option(option)) << option;
  }
  for (const char* const option : {"-p", "lab", "--array=1-9", "--output=x", "--job-name=y", "--x\nrm -rf ~",
                                   "--wrap=ls", "--arr=1-9", "--clusters=all", "--clus=all", "--test-only", "--"}) {
    EXPECT_FALSE(check_sbatch_option(option)) << option;
  }
}

}  // namespace
}  // namespace roofwalk::test
