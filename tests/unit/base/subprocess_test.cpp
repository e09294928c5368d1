#include "common/base/subprocess.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace roofwalk {
namespace {

using std::chrono::steady_clock;

CommandResult run(const Command& command) {
  auto result = run_command(command);
  EXPECT_TRUE(result.ok()) << result.error().text();
  return *result;
}

CommandResult shell(const std::string& script, double timeout_s = 20) {
  return run({.arguments = {"sh", "-c", script}, .timeout_s = timeout_s});
}

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

TEST(Subprocess, GivesOutputOfBothStreamsAndTheExitCode) {
  const CommandResult result = shell("echo out; echo err >&2; exit 7");
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_FALSE(result.timed_out);
  EXPECT_FALSE(result.output_cut);
}

TEST(Subprocess, ASignalIs128AndItsNumber) { EXPECT_EQ(shell("kill -SEGV $$").exit_code, 128 + SIGSEGV); }

TEST(Subprocess, TheChannelIsReadApart) {
  const CommandResult result =
      run({.arguments = {"sh", "-c", "echo out; echo apart >&3; echo more >&3"}, .max_channel_bytes = 8});
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.channel, "apart\nmo");
  EXPECT_TRUE(result.channel_cut);
}

TEST(Subprocess, WhatWritesWithoutEndIsKilled) {
  const CommandResult result = run({.arguments = {"yes"}, .max_output_bytes = 10, .max_thrown_bytes = 100'000});
  EXPECT_TRUE(result.flooded);
  EXPECT_EQ(result.output.size(), 10u);
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
}

TEST(Subprocess, PassedDescriptorsHaveTheNumbersAskedFor) {
  char name[] = "/tmp/roofwalk-passed-XXXXXX";
  const Descriptor file(::mkstemp(name));
  ::unlink(name);
  ASSERT_EQ(::write(file.get(), "text", 4), 4);
  ASSERT_EQ(::lseek(file.get(), 0, SEEK_SET), 0);
  // The command uses no pipe of the shell, whose descriptors might be listed, too. Descriptor 3 is the folder that ls
  // reads.
  const CommandResult result =
      run({.arguments = {"sh", "-c", "cat <&7; exec ls -m /proc/self/fd"}, .passed = {{file.get(), 7}}});
  EXPECT_EQ(result.output, "text0, 1, 2, 3, 7\n");
}

TEST(Subprocess, RootCanRunItAsSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may";
  const CommandResult result = run({.arguments = {"sh", "-c", "id -u; id -g; id -G; grep NoNewPrivs /proc/self/status"},
                                    .run_as = UserId{65534, 65533}});
  EXPECT_EQ(result.output, "65534\n65533\n65533\nNoNewPrivs:\t1\n");
}

TEST(Subprocess, ArgumentsAreNeverReadByAShell) {
  EXPECT_EQ(run({.arguments = {"printf", "%s|", "a b", "$(id)", "`id`;"}}).output, "a b|$(id)|`id`;|");
}

TEST(Subprocess, AMissingProgramIsAnErrorThatNamesIt) {
  for (const char* name : {"roofwalk-no-such-program", "/nowhere/program", "/dev/null", ""}) {
    const auto result = run_command({.arguments = {name}});
    ASSERT_FALSE(result.ok()) << name;
    EXPECT_THAT(result.error().message, testing::HasSubstr(name));
  }
}

TEST(Subprocess, AMissingFolderIsAnError) {
  EXPECT_FALSE(run_command({.arguments = {"true"}, .working_directory = "/nowhere"}).ok());
}

TEST(Subprocess, RunsInTheFolderAskedFor) {
  EXPECT_EQ(run({.arguments = {"pwd", "-P"}, .working_directory = "/usr"}).output, "/usr\n");
}

TEST(Subprocess, AnEnvironmentReplacesOurs) {
  ::setenv("ROOFWALK_TEST_LEAK", "1", 1);
  EXPECT_EQ(run({.arguments = {"env"}, .environment = {{"A", "1"}, {"B", "x=y"}}}).output, "A=1\nB=x=y\n");
  EXPECT_THAT(run({.arguments = {"env"}}).output, testing::HasSubstr("ROOFWALK_TEST_LEAK=1"));
}

TEST(Subprocess, StdinIsEmpty) { EXPECT_EQ(run({.arguments = {"cat"}, .timeout_s = 5}).output, ""); }

TEST(Subprocess, InheritsNoDescriptor) {
  const int fd = ::open("/dev/zero", O_RDONLY);  // deliberately without O_CLOEXEC
  const CommandResult result = shell("ls /proc/self/fd | wc -l");
  ::close(fd);
  EXPECT_EQ(std::stoi(result.output), 4);  // 0, 1, 2 and the folder that ls reads
}

TEST(Subprocess, TheTimeLimitHolds) {
  const auto start = steady_clock::now();
  const CommandResult result = shell("echo before; sleep 30", 0.2);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.output, "before\n");
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  EXPECT_LT(seconds_since(start), 5);
}

TEST(Subprocess, ASilentProgramThatClosedItsStreamsIsKilledToo) {
  const auto start = steady_clock::now();
  EXPECT_TRUE(shell("exec >/dev/null 2>&1; sleep 30", 0.2).timed_out);
  EXPECT_LT(seconds_since(start), 5);
}

// Whether process `pid` ends within two seconds. A zombie, which only waits for its parent, counts as ended.
bool gone(pid_t pid) {
  for (int i = 0; i < 200; ++i) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    if (!(status >> number >> name >> state) || state == "Z" || state == "X") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(Subprocess, TheTimeLimitKillsGrandchildren) {
  const CommandResult result = shell("sh -c 'sleep 31 & echo $!; wait' & wait", 0.3);
  EXPECT_TRUE(result.timed_out);
  const pid_t grandchild = std::stoi(result.output);
  EXPECT_TRUE(gone(grandchild));
}

TEST(Subprocess, AGrandchildThatOutlivesTheProgramIsNotWaitedForAndDoesNotStay) {
  const auto start = steady_clock::now();
  const CommandResult result = shell("sleep 32 & echo $!; exit 3");
  EXPECT_LT(seconds_since(start), 5);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_FALSE(result.timed_out);
  EXPECT_TRUE(gone(std::stoi(result.output)));
}

TEST(Subprocess, OutputIsCutAtTheCapAndTheProgramStillEnds) {
  const CommandResult result =
      run({.arguments = {"sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; exit 5"}, .max_output_bytes = 1000});
  EXPECT_EQ(result.output, std::string(1000, 'x'));
  EXPECT_TRUE(result.output_cut);
  EXPECT_EQ(result.exit_code, 5);
}

TEST(Subprocess, OutputOfExactlyTheCapIsWhole) {
  const CommandResult result = run({.arguments = {"printf", "12345"}, .max_output_bytes = 5});
  EXPECT_EQ(result.output, "12345");
  EXPECT_FALSE(result.output_cut);
}

TEST(Subprocess, LimitsReachTheProgram) {
  const CommandResult result = run({.arguments = {"sh", "-c", "ulimit -v; ulimit -f; ulimit -s; ulimit -t; ulimit -c"},
                                    .max_memory_bytes = std::size_t{1} << 30,
                                    .max_file_bytes = 1 << 20,
                                    .max_stack_bytes = 4 << 20,
                                    .max_cpu_s = 7});
  EXPECT_EQ(result.output, "1048576\n2048\n4096\n7\n0\n");  // KiB, blocks of 512 bytes, KiB, seconds
}

}  // namespace
}  // namespace roofwalk
