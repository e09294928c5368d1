// Tries each rule of the sandbox's policy from inside a box.
#include "common/sandbox/box.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/sandbox/compile_box.h"
#include "common/sandbox/run_boxed.h"
#include "tests/support/boxes.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class BoxTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/roofwalk-box-test-XXXXXX";
    folder_ = ::mkdtemp(name);
    fs::permissions(folder_, fs::perms(0755));
    ROOFWALK_SKIP_WITHOUT_BOXES();
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Returns a box with the system's commands, like the compilers' box.
  static Box box() {
    Box box = compile_box("/usr/include");
    box.shows_processes = true;
    return box;
  }

  static CommandResult run(const Box& box, const std::vector<std::string>& program, const BoxedRun& limits = {}) {
    auto result = run_boxed(box, program, limits);
    EXPECT_TRUE(result.ok()) << result.error().text();
    return result ? *result : CommandResult{};
  }
  static CommandResult shell(const std::string& script, const Box& box = BoxTest::box(), const BoxedRun& limits = {}) {
    return run(box, {"/bin/sh", "-c", script}, limits);
  }
  static CommandResult perl(const std::string& script) { return run(box(), {"/usr/bin/perl", "-e", script}); }

  fs::path folder_;
};

// Some distributions install the toolkit into /usr, and some people into their home.
TEST_F(BoxTest, ShowsOfASharedFolderTheToolkitAlone) {
  const auto shows = [&](const std::string& from) {
    const auto mounts = compile_box(folder_).mounts;
    return std::any_of(mounts.begin(), mounts.end(),
                       [&](const BoxMount& mount) { return mount.from == folder_ / from; });
  };
  EXPECT_EQ(compile_box(folder_).mounts.back().from, folder_);
  fs::create_directory(folder_ / "share");
  EXPECT_NE(compile_box(folder_).mounts.back().from, folder_);
  for (const char* const part : {"bin", "include", "nvvm", "targets"}) EXPECT_TRUE(shows(part)) << part;
  EXPECT_FALSE(shows("share"));
}

TEST_F(BoxTest, GivesOutputResultAndExitCode) {
  Box with_file = box();
  with_file.files.push_back({std::string(kBoxFolder) + "/deep/er/file", "from outside"});
  const auto result = shell("pwd; echo trouble >&2; cat deep/er/file >&3; exit 7", with_file);
  EXPECT_EQ(result.output, "/src\ntrouble\n");
  EXPECT_EQ(result.channel, "from outside");
  EXPECT_EQ(result.exit_code, 7);
}

TEST_F(BoxTest, HoldsNothingButWhatIsNamed) {
  EXPECT_EQ(shell("ls /").output, "bin\ncuda\ndev\netc\nlib\nlib64\nproc\nsrc\ntmp\nusr\n");
  EXPECT_EQ(shell("ls -A /tmp /src").output, "/src:\n\n/tmp:\n");
  EXPECT_THAT(shell("ls /etc").output, Not(HasSubstr("passwd")));
  EXPECT_THAT(shell("ls /usr").output, Not(HasSubstr("local")));
  EXPECT_NE(shell("ls " + folder_.string()).exit_code, 0);
}

TEST_F(BoxTest, TheEnvironmentIsTheBoxes) {
  ::setenv("NVCC_APPEND_FLAGS", "-arch=compute_90", 1);
  const std::string environment = shell("env").output;
  ::unsetenv("NVCC_APPEND_FLAGS");
  EXPECT_THAT(environment, Not(HasSubstr("NVCC_APPEND_FLAGS")));
  EXPECT_THAT(environment, HasSubstr("PATH=/cuda/bin:/usr/bin:/bin\n"));
  EXPECT_THAT(environment, HasSubstr("SOURCE_DATE_EPOCH=0\n"));
}

// The first process of a box is bubblewrap.
TEST_F(BoxTest, NoProcessInsideHasTheEnvironmentOutside) {
  ::setenv("ROOFWALK_TEST_TOKEN", "secret-4711", 1);
  const std::string all = shell("cat /proc/*/environ").output;
  ::unsetenv("ROOFWALK_TEST_TOKEN");
  EXPECT_THAT(all, HasSubstr("SOURCE_DATE_EPOCH=0"));
  EXPECT_THAT(all, Not(HasSubstr("secret-4711")));
}

// Files of /proc change from one compilation to the next.
TEST_F(BoxTest, CompilersSeeNoProcesses) { EXPECT_FALSE(compile_box("/usr/include").shows_processes); }

TEST_F(BoxTest, OnlyItsOwnTmpCanBeWrittenTo) {
  Box with_file = box();
  with_file.files.push_back({std::string(kBoxFolder) + "/kernel.cu", "text"});
  for (const char* place : {"/x", "/src/x", "/dev/x", "/etc/x", "/usr/bin/x", "/cuda/x", "/src/kernel.cu"}) {
    EXPECT_NE(shell(std::string("echo no > ") + place, with_file).exit_code, 0) << place;
  }
  EXPECT_EQ(shell("stat -c %a kernel.cu", with_file).output, "444\n");
  EXPECT_EQ(shell("echo yes > /tmp/x && cat /tmp/x").output, "yes\n");
  EXPECT_THAT(shell("ls -A /tmp").output, IsEmpty());  // nothing is left for the next box
}

// Here the parent leaves a file and a folder open without close-on-exec. Through the folder, a program in the box could
// reach everything.
TEST_F(BoxTest, NoDescriptorOfTheParentIsInside) {
  std::ofstream(folder_ / "secret") << "seed 4711";
  const int file = ::open((folder_ / "secret").c_str(), O_RDONLY);
  const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY);
  const int low = ::dup2(file, 4);
  const auto result = shell("for fd in /proc/self/fd/*; do cat $fd/secret $fd; done 2>/dev/null; ls /proc/self/fd");
  for (const int fd : {file, folder, low}) ::close(fd);
  EXPECT_THAT(result.output, Not(HasSubstr("4711")));
  EXPECT_EQ(result.output, "0\n1\n2\n3\n4\n");  // 3 returns the result; 4 is the folder that `ls` reads
}

TEST_F(BoxTest, AToolkitThatTheBoxCannotReachIsTold) {
  if (::geteuid() != 0) GTEST_SKIP() << "this takes root";
  const fs::path closed = folder_ / "root", toolkit = closed / ".venv/cuda";
  fs::create_directories(toolkit);
  EXPECT_TRUE(require_reach(toolkit, "the CUDA toolkit"));
  fs::permissions(closed, fs::perms(0700));
  const Status reach = require_reach(toolkit, "the CUDA toolkit");
  ASSERT_FALSE(reach);
  EXPECT_THAT(reach.error().text(), HasSubstr("the CUDA toolkit is in " + toolkit.string()));
  EXPECT_THAT(reach.error().text(), HasSubstr("may not enter " + closed.string()));
  EXPECT_THAT(reach.error().text(), HasSubstr("chmod o+x " + closed.string()));
  // The system agrees with require_reach: a box with this mount does not run.
  Box with_toolkit = box();
  with_toolkit.mounts.push_back({toolkit, "/toolkit"});
  EXPECT_FALSE(run_boxed(with_toolkit, {"/usr/bin/true"}, {}));
  fs::permissions(closed, fs::perms(0711));
  EXPECT_TRUE(require_reach(toolkit, "the CUDA toolkit"));
  EXPECT_EQ(run(with_toolkit, {"/usr/bin/true"}).exit_code, 0);
}

// A compiler can be told to read any file.
TEST_F(BoxTest, NoFileMakesItsReaderWait) {
  for (const char* file : {"/dev/ptmx", "/dev/pts/ptmx", "/dev/tty", "/dev/console", "/dev/stdout", "/dev/stderr",
                           "/dev/fd/2", "/proc/self/fd/1", "/proc/kmsg"}) {
    const CommandResult read =
        shell(std::string("head -c 1 ") + file + " > /tmp/it; echo ended", box(), {.timeout_s = 5});
    EXPECT_FALSE(read.timed_out) << file;
    EXPECT_THAT(read.output, HasSubstr("ended")) << file;
  }
}

TEST_F(BoxTest, ItSeesNoProcessButItsOwn) {
  EXPECT_THAT(shell("ls -d /proc/[0-9]* | wc -l").output, testing::AnyOf("3\n", "4\n", "5\n"));
  EXPECT_NE(shell("kill -0 " + std::to_string(::getpid())).exit_code, 0);
}

TEST_F(BoxTest, ThereIsNoNetwork) {
  EXPECT_THAT(perl("socket(S, 2, 1, 0) or print $!").output, HasSubstr("not supported"));   // AF_INET
  EXPECT_THAT(perl("socket(S, 10, 1, 0) or print $!").output, HasSubstr("not supported"));  // AF_INET6
  EXPECT_THAT(perl("socket(S, 40, 1, 0) or print $!").output, HasSubstr("not supported"));  // AF_VSOCK
  EXPECT_THAT(perl("socket(S, 16, 3, 0) or print $!").output, HasSubstr("not supported"));  // AF_NETLINK
  EXPECT_EQ(perl("socket(S, 1, 1, 0) or print $!").output, "");                             // AF_UNIX, for gcc
}

// The numbers of the calls are those of x86-64; on other processors they mean other calls.
#if defined(__x86_64__)
TEST_F(BoxTest, WaysOutOfAProcessAreForbidden) {
  const std::pair<const char*, const char*> calls[] = {
      {"ptrace", "101, 0, 0, 0, 0"},    {"add_key", "248, 0, 0, 0, 0, 0"},
      {"keyctl", "250, 0, 0, 0, 0, 0"}, {"unshare", "272, 0x10000000"},
      {"io_uring_setup", "425, 8, 0"},  {"bpf", "321, 0, 0, 0"},
      {"mount", "165, 0, 0, 0, 0, 0"},  {"setns", "308, 0, 0"},
      {"userfaultfd", "323, 0"},        {"clone", "56, 0x10000011, 0, 0, 0, 0"},
      {"personality", "135, 0"},        {"process_vm_readv", "310, 1, 0, 0, 0, 0, 0"}};
  for (const auto& [name, arguments] : calls) {
    EXPECT_THAT(perl(std::string("syscall(") + arguments + ") < 0 and print $!").output,
                HasSubstr("Operation not permitted"))
        << name;
  }
  EXPECT_THAT(perl("syscall(435, 0, 0) < 0 and print $!").output, HasSubstr("not implemented"));  // clone3
  EXPECT_THAT(
      perl("my $c = 'x'; syscall(16, 0, 0x5412, $c) < 0 and print $!").output,  // ioctl TIOCSTI: typing for its owner
      HasSubstr("Operation not permitted"));
}
#endif

TEST_F(BoxTest, ItHasNoRights) {
  const std::string status = shell("cat /proc/self/status").output;
  EXPECT_THAT(status, HasSubstr("CapEff:\t0000000000000000"));
  EXPECT_THAT(status, HasSubstr("CapBnd:\t0000000000000000"));
  EXPECT_THAT(status, HasSubstr("NoNewPrivs:\t1"));
  EXPECT_THAT(status, HasSubstr("Seccomp:\t2"));
}

// If root made the box without giving up its rights, a program in it could read root's files, whatever its user id in
// the box.
TEST_F(BoxTest, RootGivesItsRightsUpFirst) {
  if (::geteuid() != 0) GTEST_SKIP() << "this takes root";
  std::ofstream(folder_ / "roots") << "seed 4711";
  fs::permissions(folder_ / "roots", fs::perms(0600));
  Box with_folder = box();
  with_folder.mounts.push_back({folder_, "/shown"});
  EXPECT_EQ(shell("ls /shown", with_folder).output, "roots\n");
  EXPECT_THAT(shell("cat /shown/roots", with_folder).output, HasSubstr("Permission denied"));
}

TEST_F(BoxTest, MemoryFilesTimeAndProcessesAreLimited) {
  Box small = box();
  small.limits.memory_bytes = 256 << 20;
  EXPECT_THAT(run(small, {"/usr/bin/perl", "-e", "$x = 'x' x 512000000; print 'done'"}).output, Not(HasSubstr("done")));
  small = box();
  small.limits.file_bytes = 1 << 20;
  EXPECT_NE(shell("head -c 2000000 /dev/zero > /tmp/x", small).exit_code, 0);
  small = box();
  small.limits.temporary_bytes = 1 << 20;
  EXPECT_THAT(shell("head -c 2000000 /dev/zero > /tmp/x", small).output, HasSubstr("No space left"));
  small = box();
  small.limits.cpu_s = 1;
  const auto busy = shell("while :; do :; done", small);
  EXPECT_EQ(busy.exit_code, 128 + SIGXCPU);
  EXPECT_FALSE(busy.timed_out);
  small = box();
  small.limits.processes = 6;
  EXPECT_NE(shell("for i in 1 2 3 4 5 6 7 8; do sleep 5 & done", small).exit_code, 0);
}

TEST_F(BoxTest, OtherLimitsAreSet) { EXPECT_EQ(shell("ulimit -n; ulimit -s; ulimit -c").output, "256\n65536\n0\n"); }

// Each namespace must protect its part of the system, even if the system call filter let a call through.
TEST_F(BoxTest, NothingOfTheSystemIsShared) {
  for (const char* name : {"user", "pid", "net", "ipc", "uts", "cgroup", "mnt"}) {
    const std::string path = std::string("/proc/self/ns/") + name;
    EXPECT_NE(shell("readlink " + path).output, fs::read_symlink(path).string() + "\n") << name;
  }
  EXPECT_EQ(shell("grep -c : /proc/net/dev").output, "1\n");  // loopback
}

// What runs on somebody's terminal could otherwise type into it.
TEST_F(BoxTest, ATerminalIsNotShared) {
  const pid_t on_terminal = ::fork();
  if (on_terminal == 0) {
    ::setsid();
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
    ::grantpt(terminal);
    ::unlockpt(terminal);
    if (::open(::ptsname(terminal), O_RDWR) < 0 || ::open("/dev/tty", O_RDWR) < 0) ::_exit(2);
    const auto of_box = run_boxed(box(), {"/bin/sh", "-c", "cut -d ' ' -f 7 /proc/self/stat"}, {});
    ::_exit(of_box.ok() && of_box->output == "0\n" ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(on_terminal, &status, 0), on_terminal);
  EXPECT_EQ(status, 0);
}

// Kills the maker of a box after this time; whether nothing of the box is left.
bool leaves_nothing_if_killed_after(std::chrono::microseconds time, const Box& box) {
  const pid_t maker = ::fork();
  if (maker == 0) {
    const auto never = run_boxed(box, {"/bin/sleep", "1000"}, {});
    ::_exit(never.ok() ? 0 : 1);
  }
  std::this_thread::sleep_for(time);
  ::kill(maker, SIGKILL);
  // This process takes over what is left (PR_SET_CHILD_SUBREAPER).
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (pid_t ended = 0; ended >= 0 && std::chrono::steady_clock::now() < deadline;) {
    ended = ::waitpid(-1, nullptr, WNOHANG);
    if (ended < 0) return true;
    if (ended == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  const pid_t self = ::getpid();
  std::ifstream children("/proc/self/task/" + std::to_string(self) + "/children");
  for (pid_t left = 0; children >> left;) ::kill(left, SIGKILL);
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
  return false;
}

class KilledMaker : public BoxTest {
 protected:
  static void leaves_nothing(std::chrono::microseconds step) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (auto time = std::chrono::microseconds(0); time <= std::chrono::milliseconds(20); time += step) {
      EXPECT_TRUE(leaves_nothing_if_killed_after(time, box())) << time.count() << " us";
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  }
};
class LongKilledMaker : public KilledMaker {};

TEST_F(KilledMaker, LeavesNothingOfItsBox) { leaves_nothing(std::chrono::microseconds(1700)); }
TEST_F(LongKilledMaker, LeavesNothingOfItsBox) { leaves_nothing(std::chrono::microseconds(25)); }

// Returns the number of processes on this machine with `word` in their command line.
int processes_with(const std::string& word) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "cmdline");
    const std::string line((std::istreambuf_iterator<char>(in)), {});
    if (line.find(word) != std::string::npos) ++count;
  }
  return count;
}

// Returns a sleep command that no other process has.
std::string own_sleep() { return "sleep 47." + std::to_string(::getpid()); }

TEST_F(BoxTest, WhatRunsTooLongIsGoneAltogether) {
  const std::string nap = own_sleep();
  const auto began = std::chrono::steady_clock::now();
  const auto result =
      shell("setsid " + nap + " & (trap '' TERM HUP; " + nap + ") & " + nap + "; wait", box(), {.timeout_s = 1});
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(processes_with(nap.substr(nap.find(' ') + 1)), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));  // instead of 47
}

TEST_F(BoxTest, WhatOutlivesItsParentIsGoneAtTheEnd) {
  const std::string nap = own_sleep();
  EXPECT_EQ(shell("setsid " + nap + " & exit 3").exit_code, 3);
  EXPECT_EQ(processes_with(nap.substr(nap.find(' ') + 1)), 0);
}

TEST_F(BoxTest, AFloodOfOutputIsStopped) {
  const auto result = shell("yes", box(), {.max_log_bytes = 1000, .max_thrown_bytes = 100'000});
  EXPECT_TRUE(result.flooded);
  EXPECT_TRUE(result.output_cut);
  EXPECT_EQ(result.output.size(), 1000u);
  const auto other = shell("yes >&3", box(), {.max_result_bytes = 1000, .max_thrown_bytes = 100'000});
  EXPECT_TRUE(other.flooded);
  EXPECT_EQ(other.channel.size(), 1000u);
}

// A program's output must not be taken for bubblewrap's own error.
TEST_F(BoxTest, AProgramCannotClaimThatThereIsNoBox) {
  const auto result = shell("echo 'bwrap: setting up uid map: Permission denied'; exit 1");
  EXPECT_EQ(result.exit_code, 1);
}

TEST_F(BoxTest, ABoxThatCannotBeMadeIsAnError) {
  Box broken = box();
  broken.mounts.push_back({"/no/such/folder", "/nowhere"});
  const auto result = run_boxed(broken, {"/usr/bin/true"});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("/no/such/folder"));
}

}  // namespace
}  // namespace roofwalk
