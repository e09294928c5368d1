// Grades a class by a Slurm of two nodes on this machine (slurm_cluster.sh), and kills its parts at random moments.
#include <fmt/format.h>

#include <cstdlib>

#include "tests/batch/class_fixture.h"
#include "tests/support/part_of_today.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk::test {
namespace {

using ::testing::HasSubstr;

class SlurmTest : public ClassTest {
 protected:
  SlurmTest() : ClassTest(Compiled::own) {}

  void SetUp() override {
    const CommandResult started = cluster({"start", place(), (fs::path(TEST_CACHE).parent_path() / "slurm").string()});
    if (started.exit_code == 4) GTEST_SKIP() << started.output;
    ASSERT_EQ(started.exit_code, 0) << started.output;
    // Debian's programs find their libraries in the folder only.
    const std::string root = (fs::path(TEST_CACHE).parent_path() / "slurm/root").string();
    const char* const path = std::getenv("PATH");
    ::setenv("PATH", fmt::format("{}/usr/bin:{}", root, path != nullptr ? path : "/usr/bin:/bin").c_str(), 1);
    ::setenv("LD_LIBRARY_PATH",
             fmt::format("{0}/usr/lib/x86_64-linux-gnu:{0}/usr/lib/x86_64-linux-gnu/slurm-wlm", root).c_str(), 1);
    ::setenv("SLURM_CONF", (cluster_.path() / "slurm/slurm.conf").c_str(), 1);
  }
  void TearDown() override { cluster({"stop", place()}); }

  std::string place() const { return (cluster_.path() / "slurm").string(); }

  CommandResult cluster(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {TEST_SOURCE_DIR "/tests/batch/slurm_cluster.sh"};
    all.insert(all.end(), words.begin(), words.end());
    // A daemon would be killed with the group of the command that starts it.
    all.insert(all.begin(), {"setsid", "--wait"});
    const auto result = run_command({.arguments = all, .timeout_s = 120});
    return result ? *result : CommandResult{.exit_code = -1, .output = result.error().text()};
  }

  std::vector<std::string> slurm_arguments(const std::string& grades, std::vector<std::string> more = {}) const {
    std::vector<std::string> all = arguments(grades, 1);
    all.resize(all.size() - (boxed_ ? 2 : 3));  // without --workers
    if (!boxed_) all.emplace_back("--unsandboxed");
    all.insert(all.end(), {"--executor", "slurm"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  CommandResult grade_by_slurm(const std::string& grades, std::vector<std::string> more = {}) const {
    const auto result = run_command(
        {.arguments = slurm_arguments(grades, std::move(more)), .working_directory = folder_, .timeout_s = 3000});
    EXPECT_TRUE(result) << result.error().text();
    return result ? *result : CommandResult{};
  }

  pid_t start_collector(const std::string& grades) const {
    const Descriptor output(
        ::open((folder_ / "collector.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    const auto pid = start_child({.program = TEST_PROGRAM,
                                  .arguments = slurm_arguments(grades, {"--per-task", "3"}),
                                  .environment = std::nullopt,
                                  .working_directory = folder_,
                                  .output = output.get()});
    EXPECT_TRUE(pid) << pid.error().text();
    return pid ? *pid : -1;
  }

  // Cancels a task that runs, as a preemption or a reboot would.
  static void kill_a_task() {
    const auto queue =
        run_command({.arguments = {"squeue", "--noheader", "--array", "--states=RUNNING", "--format=%F_%K"}});
    if (!queue || queue->exit_code != 0) return;
    const std::string id = queue->output.substr(0, queue->output.find('\n'));
    if (!id.empty()) [[maybe_unused]]
      const auto result = run_command({.arguments = {"scancel", id}});
  }

  static bool queue_is_empty() {
    const auto queue = run_command({.arguments = {"squeue", "--noheader"}});
    return queue && queue->exit_code == 0 && queue->output.empty();
  }

  void kill_and_restart(const std::string& daemon, std::chrono::milliseconds away) const {
    cluster({"kill", place(), daemon});
    std::this_thread::sleep_for(away);
    const CommandResult restarted = cluster({"restart", place(), daemon});
    EXPECT_EQ(restarted.exit_code, 0) << restarted.output;
  }

  // As an administrator does: a slurmctld that was killed may give a job's number out again, and then takes nodes out
  // of service on which a task of that number runs ("Duplicate jobid").
  static void put_nodes_into_service() {
    [[maybe_unused]] const auto result =
        run_command({.arguments = {"scontrol", "update", "NodeName=node1,node2", "State=RESUME"}});
  }

  // Grades, while one part after the other is killed. Returns the exit code of the last collector.
  int grade_with_kills(const std::string& grades, int kills, std::uint64_t seed) const {
    Rng rng(seed, "kills of Slurm");
    pid_t collector = start_collector(grades);
    for (int kill = 0; kill < kills && !has_ended(collector); ++kill) {
      std::this_thread::sleep_for(std::chrono::milliseconds(static_cast<int>(500 + 4000 * rng.uniform())));
      const auto away = std::chrono::milliseconds(static_cast<int>(2000 * rng.uniform()));
      switch (kill % 5) {
        case 0:
          kill_a_task();
          break;
        case 1:
          kill_and_restart("slurmd-node1", away);
          break;
        case 2:
          ::kill(collector, SIGKILL);
          ::waitpid(collector, nullptr, 0);
          collector = start_collector(grades);
          break;
        case 3:
          kill_and_restart("slurmctld", away);
          break;
        default:
          kill_and_restart("slurmd-node2", away);
      }
    }
    while (!has_ended(collector)) {
      std::this_thread::sleep_for(std::chrono::seconds(2));
      put_nodes_into_service();
    }
    int status = 0;
    ::waitpid(collector, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  const ScratchFolder cluster_;  // Slurm's configuration allows no spaces in paths
};

TEST_F(SlurmTest, LongAClassHasTheGradebookOfALocalRun) {
  make({.students = 9, .seed = 5, .bytes_of_large = 2u << 20});
  undisturbed(2);
  const CommandResult dry = grade_by_slurm("slurm", {"--dry-run", "--sbatch", "--partition=lab --time=10"});
  EXPECT_EQ(dry.exit_code, 0) << dry.output;
  EXPECT_THAT(dry.output, HasSubstr("#SBATCH --partition=lab\n#SBATCH --time=10\n"));
  const CommandResult detached = grade_by_slurm("slurm", {"--detach"});
  EXPECT_THAT(detached.output, HasSubstr(": job roofwalk-"));
  const CommandResult status = grade_by_slurm("slurm", {"--status"});
  EXPECT_EQ(status.exit_code, 0) << status.output;
  EXPECT_THAT(status.output, HasSubstr("answered"));
  const CommandResult graded = grade_by_slurm("slurm");
  EXPECT_LE(graded.exit_code, 1) << graded.output;
  EXPECT_EQ(results("slurm"), results("undisturbed"));
  expect_nothing_twice("slurm");
  EXPECT_FALSE(fs::exists(folder_ / "slurm/slurm"));
  EXPECT_THAT(grade_by_slurm("slurm", {"--status"}).output, HasSubstr("no job"));
}

// Nobody waits: tasks are killed, and the jobs that follow them submit again what was lost, until the last one takes
// the answers into the record, which is on the same machine here.
TEST_F(SlurmTest, LongNobodyWaitsAndEverythingIsGraded) {
  make({.students = 9, .seed = 5, .bytes_of_large = 2u << 20});
  undisturbed(2);
  const CommandResult detached = grade_by_slurm("alone", {"--detach", "--per-task", "3"});
  EXPECT_THAT(detached.output, HasSubstr("a job that starts when the tasks have ended"));
  EXPECT_THAT(grade_by_slurm("alone", {"--status"}).output, HasSubstr("a job follows the tasks: "));
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(20);
  for (int look = 0; fs::exists(folder_ / "alone/slurm") && std::chrono::steady_clock::now() < end; ++look) {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    if (look % 2 == 0 && look < 12) kill_a_task();
    if (look == 5) kill_and_restart("slurmd-node1", std::chrono::milliseconds(500));
  }
  EXPECT_FALSE(fs::exists(folder_ / "alone/slurm")) << file_text(folder_ / "alone/slurm/follow-up.log");
  // The last job removes the folder before it writes the gradebook.
  while (!queue_is_empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  EXPECT_EQ(results("alone"), results("undisturbed"));
  expect_nothing_twice("alone");
}

// Other kills each day, because a run takes minutes. ROOFWALK_KILLS=17 chooses others by hand.
TEST_F(SlurmTest, LongTwoHundredSubmissionsAndKillsOfEveryPart) {
  make({.students = students_or(200)});
  undisturbed(2);
  const auto part = part_of_today();
  const char* const chosen = std::getenv("ROOFWALK_KILLS");
  const std::uint64_t seed = chosen != nullptr ? std::stoull(chosen) : 1 + part.value_or(0);
  SCOPED_TRACE(fmt::format("repeat it with ROOFWALK_KILLS={}", seed));
  EXPECT_LE(grade_with_kills("killed", 15, seed), 1) << file_text(folder_ / "collector.log");
  EXPECT_EQ(results("killed"), results("undisturbed"));
  expect_nothing_twice("killed");
}

}  // namespace
}  // namespace roofwalk::test
