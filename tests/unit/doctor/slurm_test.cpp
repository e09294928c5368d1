// What sinfo prints, and a sinfo that never answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "grader/doctor/findings.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

using ::testing::HasSubstr;

// A folder at the front of the PATH, as long as the object lives.
class FrontOfPath {
 public:
  explicit FrontOfPath(const std::filesystem::path& folder) : before_(std::getenv("PATH")) {
    ::setenv("PATH", (folder.string() + ":" + before_).c_str(), 1);
  }
  ~FrontOfPath() { ::setenv("PATH", before_.c_str(), 1); }
  FrontOfPath(const FrontOfPath&) = delete;
  FrontOfPath& operator=(const FrontOfPath&) = delete;

 private:
  std::string before_;
};

void make_sinfo(const test::ScratchFolder& folder, const std::string& script) {
  const auto file = folder.write("sinfo", "#!/bin/sh\n" + script);
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

// Output of sinfo 22.05.
TEST(SlurmNodes, AreReadOnceEach) {
  const auto nodes = slurm_nodes(
      "node1|idle|none\nnode1|idle|none\nslurm_load_partitions: a warning\nnode2|down*|Not responding\n"
      "node3|drained|fan | disk\n");
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].name, "node1");
  EXPECT_EQ(nodes[1].state, "down*");
  EXPECT_EQ(nodes[2].reason, "fan | disk");
  EXPECT_TRUE(slurm_nodes("").empty());
}

TEST(SlurmNodes, AreAskedForAndNotWaitedFor) {
  const test::ScratchFolder folder;
  const FrontOfPath front(folder.path());
  make_sinfo(folder, "echo 'node1|drained|disk'\n");
  const auto answer = slurm_around(20);
  EXPECT_TRUE(answer.is_here);
  EXPECT_EQ(answer.trouble, "");
  ASSERT_EQ(answer.nodes.size(), 1u);
  make_sinfo(folder, "echo 'slurm_load_partitions: Unable to contact slurm controller' >&2\nexit 1\n");
  EXPECT_THAT(slurm_around(20).trouble, HasSubstr("Unable to contact"));
  make_sinfo(folder, "sleep 60\n");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(slurm_around(0.1).trouble, HasSubstr("no answer within 0.1 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

// Where more nodes are out of service than a command has room for, it names one, and the page says how to find the
// others.
TEST(SlurmNodes, AHundredAreOneCommand) {
  Surroundings around;
  around.slurm.is_here = true;
  for (int i = 0; i < 100; ++i) around.slurm.nodes.push_back({"node" + std::to_string(i), "down", "power"});
  const auto findings = findings_of(around);
  const MachineFinding& finding = findings.back();
  EXPECT_THAT(finding.what,
              HasSubstr("0 of 100 take tasks: node0 down (power), node1 down (power), node2 down (power) and 97 more"));
  EXPECT_THAT(finding.advice, ::testing::Contains("$ sudo scontrol update nodename=node0 state=resume"));
  EXPECT_THAT(finding.advice, ::testing::Contains(HasSubstr("sinfo --list-reasons")));
}

}  // namespace
}  // namespace roofwalk
