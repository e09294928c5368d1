#include "grader/class/slurm/slurm_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofwalk::test {
namespace {

// Output of squeue 22.05.
TEST(SlurmQueue, ReadsTheTasksOfArrays) {
  const auto tasks = parse_queue(
      "roofwalk-1|17|2|PENDING|Resources\n"
      "roofwalk-1|17|0|RUNNING|None\n"
      "roofwalk-2|18|0|PENDING|launch failed requeued held\n"
      "roofwalk-2|18|1|SPECIAL_EXIT|(null)\n");
  ASSERT_EQ(tasks.size(), 4u);
  EXPECT_EQ(tasks[0].job_name, "roofwalk-1");
  EXPECT_EQ(tasks[0].job_id, "17");
  EXPECT_EQ(tasks[0].task, 2u);
  EXPECT_EQ(tasks[0].reason, "Resources");
  EXPECT_FALSE(tasks[0].is_held());
  EXPECT_EQ(tasks[1].state, "RUNNING");
  EXPECT_FALSE(tasks[1].is_held());
  EXPECT_TRUE(tasks[2].is_held());
  EXPECT_TRUE(tasks[3].is_held());
}

TEST(SlurmQueue, LeavesOutWarningsAndJobsThatAreNoArrays) {
  EXPECT_TRUE(parse_queue("slurm_load_jobs: warning\nroofwalk-1|17|N/A|RUNNING|None\n\n").empty());
  EXPECT_TRUE(parse_queue("").empty());
}

TEST(SlurmQueue, ReadsJobsThatAreNoArrays) {
  const auto jobs = parse_jobs("a warning\n101|PENDING|Dependency\n102|RUNNING|None\n");
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].id, "101");
  EXPECT_EQ(jobs[0].state, "PENDING");
  EXPECT_EQ(jobs[0].reason, "Dependency");
}

}  // namespace
}  // namespace roofwalk::test
