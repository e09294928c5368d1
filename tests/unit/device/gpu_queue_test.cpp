// The queue of a GPU with real processes: children that fork, are killed or stopped, and belong to other users.
#include "common/device/gpu_queue.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "common/device/queue_file.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kGpu = "GPU-0a1b2c3d-0000-1111-2222-333344445555";

// Messages from children to the test, in order of time, through a pipe with records of fixed length.
struct Word {
  char what = 0;  // 'w' waits, 's' starts its turn, 'e' ends it, 'x' error
  int who = 0;
  double at_s = 0;
  int before = 0;
};

class GpuQueueTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/roofwalk-queue-XXXXXX";
    folder_ = ::mkdtemp(name);
    ASSERT_EQ(::chmod(folder_.c_str(), 01777), 0);
    ::setenv("ROOFWALK_LOCK_DIR", folder_.c_str(), 1);
    ASSERT_EQ(::pipe2(words_, O_CLOEXEC), 0);
  }
  void TearDown() override {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    ::close(words_[0]);
    ::close(words_[1]);
    ::unsetenv("ROOFWALK_LOCK_DIR");
    fs::remove_all(folder_);
  }

  fs::path file() const { return folder_ / ("roofwalk-" + std::string(kGpu) + ".lock"); }

  void say(char what, int who, int before = 0) const {
    const Word word{what, who, queue_seconds(), before};
    ASSERT_EQ(::write(words_[1], &word, sizeof word), static_cast<ssize_t>(sizeof word));
  }

  // Returns the next message; what == 0 if none comes within `seconds`.
  Word hear(double seconds = 5) const {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(words_[0], &set);
    timeval limit{static_cast<time_t>(seconds), static_cast<suseconds_t>((seconds - static_cast<int>(seconds)) * 1e6)};
    Word word;
    if (::select(words_[0] + 1, &set, nullptr, nullptr, &limit) == 1) {
      EXPECT_EQ(::read(words_[0], &word, sizeof word), static_cast<ssize_t>(sizeof word));
    }
    return word;
  }

  // Returns the next message of kind `what`.
  Word hear_of(char what, double seconds = 5) const {
    for (const double end = queue_seconds() + seconds; queue_seconds() < end;) {
      if (const Word word = hear(end - queue_seconds()); word.what == what) return word;
    }
    return {};
  }

  // Returns the next message of child `who` that says it waits behind `before` others.
  Word hear_waiting(int who, int before) const {
    for (const double end = queue_seconds() + 3; queue_seconds() < end;) {
      const Word word = hear(end - queue_seconds());
      if (word.what == 'w' && word.who == who && word.before == before) return word;
    }
    return {};
  }

  pid_t start(const std::function<void()>& child) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      child();
      ::_exit(0);
    }
    children_.push_back(pid);
    return pid;
  }

  // Starts a child that takes its turn for `hold` and reports it. While waiting, the child reports how many are before
  // it: once, or at every call of its callback if `every_wait`.
  pid_t start_run(int who, const std::string& user, std::chrono::milliseconds hold, bool every_wait = false) {
    return start([=, this] { run(who, user, hold, every_wait); });
  }

  void run(int who, const std::string& user, std::chrono::milliseconds hold, bool every_wait = false) const {
    bool told = false;
    const auto turn = GpuTurn::wait({.gpu_uuid = kGpu, .doing = "tiled-gemm", .user = user, .most_seconds = 60},
                                    [&](const GpuWait& wait) {
                                      if (!told || every_wait) say('w', who, wait.before);
                                      told = true;
                                    });
    if (!turn) return say('x', who);
    say('s', who);
    std::this_thread::sleep_for(hold);
    say('e', who);
  }

  void kill(pid_t child, int signal = SIGKILL) {
    ASSERT_EQ(::kill(child, signal), 0);
    if (signal != SIGKILL) return;
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    std::erase(children_, child);
  }

  static Result<GpuTurn> take(double most_seconds) {
    return GpuTurn::wait({.gpu_uuid = kGpu, .most_seconds = most_seconds});
  }

  // Returns the reason why no turn is available now.
  static std::string refusal() {
    const auto turn = take(0);
    return turn ? "there is one" : turn.error().text();
  }

  fs::path folder_;
  int words_[2] = {-1, -1};
  std::vector<pid_t> children_;
};

TEST_F(GpuQueueTest, FortyRunsOfTwoUsersAreServedInTheirOrderAndNeverAtOnce) {
  constexpr int kRuns = 40;
  std::vector<double> starts, ends;
  {
    const auto turn = take(1);
    ASSERT_TRUE(turn);
    for (int who = 0; who < kRuns; ++who) {
      start_run(who, who % 3 == 0 ? "anna" : "ben", 4ms);
      const Word word = hear();
      ASSERT_EQ(word.what, 'w');
      ASSERT_EQ(word.who, who);
      EXPECT_EQ(word.before, who);
    }
  }
  for (int who = 0; who < kRuns; ++who) {
    const Word begun = hear(), ended = hear();
    ASSERT_EQ(begun.what, 's');
    ASSERT_EQ(begun.who, who);
    ASSERT_EQ(ended.what, 'e') << "two at once";
    ASSERT_EQ(ended.who, who);
  }
}

TEST_F(GpuQueueTest, RunsThatComeAtOnceAreNeverTimedAtOnce) {
  for (int who = 0; who < 20; ++who) start_run(who, "anna", 2ms);
  for (int served = 0; served < 20; ++served) {
    const Word begun = hear_of('s');
    ASSERT_EQ(begun.what, 's');
    Word next = hear();
    while (next.what == 'w') next = hear();
    ASSERT_EQ(next.what, 'e') << "two at once";
    EXPECT_EQ(next.who, begun.who);
  }
}

TEST_F(GpuQueueTest, AKilledHolderGivesItBackAtOnce) {
  const pid_t holder = start_run(0, "anna", 1h);
  ASSERT_EQ(hear().what, 's');
  start_run(1, "ben", 0ms);
  ASSERT_EQ(hear().what, 'w');
  const double killed = queue_seconds();
  kill(holder);
  EXPECT_EQ(hear_of('s').who, 1);
  EXPECT_LT(queue_seconds() - killed, 0.4);
}

TEST_F(GpuQueueTest, AKilledWaiterLosesItsPlace) {
  const pid_t holder = start_run(0, "anna", 1h);
  ASSERT_EQ(hear().what, 's');
  const pid_t waiter = start_run(1, "ben", 0ms, true);
  EXPECT_EQ(hear_waiting(1, 0).who, 1);
  start_run(2, "anna", 0ms, true);
  EXPECT_EQ(hear_waiting(2, 1).who, 2);
  EXPECT_EQ(hear_waiting(1, 0).who, 1);  // later arrivals are not counted
  kill(waiter);
  EXPECT_EQ(hear_waiting(2, 0).who, 2);
  kill(holder);
  const double killed = queue_seconds();
  EXPECT_EQ(hear_of('s').who, 2);
  EXPECT_LT(queue_seconds() - killed, 0.4);
}

TEST_F(GpuQueueTest, AWaiterThatWasStoppedLetsTheOthersPass) {
  const pid_t holder = start_run(0, "anna", 1h);
  ASSERT_EQ(hear().what, 's');
  const pid_t stopped = start_run(1, "ben", 0ms);
  ASSERT_EQ(hear().what, 'w');
  start_run(2, "anna", 0ms);
  ASSERT_EQ(hear().what, 'w');
  kill(stopped, SIGSTOP);
  kill(holder);
  EXPECT_EQ(hear_of('s').who, 2);
  kill(stopped, SIGCONT);
  EXPECT_EQ(hear_of('s').who, 1);
}

TEST_F(GpuQueueTest, WhatTheHolderStartedDoesNotHoldIt) {
  const pid_t holder = start([&] {
    const auto turn = take(1);
    const pid_t started = ::fork();
    if (started == 0) {
      ::execlp("sleep", "sleep", "3", nullptr);
      ::_exit(1);
    }
    std::this_thread::sleep_for(100ms);  // until the child has become `sleep`
    say('s', started);
    std::this_thread::sleep_for(1h);
  });
  const Word word = hear();
  ASSERT_EQ(word.what, 's');
  EXPECT_FALSE(take(0));
  kill(holder);
  EXPECT_TRUE(take(0.5));
  EXPECT_EQ(::kill(word.who, SIGKILL), 0);  // the process was alive all the time
}

TEST_F(GpuQueueTest, AForkedCopyNeitherKeepsNorGivesBackTheTurn) {
  pid_t copy = 0;
  {
    auto turn = take(1);
    ASSERT_TRUE(turn);
    copy = start([&] {
      { const GpuTurn gone = *std::move(turn); }
      say('s', 0);
      std::this_thread::sleep_for(1h);
    });
    ASSERT_EQ(hear().what, 's');
    const int other = ::open(file().c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_NE(::flock(other, LOCK_EX | LOCK_NB), 0);
    ::close(other);
  }
  EXPECT_TRUE(take(0.5));
  kill(copy);
}

TEST_F(GpuQueueTest, TellsWhoHasItAndHowLongItMayTake) {
  { ASSERT_TRUE(take(1)); }  // a short turn, so that the queue knows how long turns take
  start([&] {
    const auto turn = GpuTurn::wait({.gpu_uuid = kGpu, .doing = "naive\033[2J-gemm", .user = "an\"na"});
    say('s', 0);
    std::this_thread::sleep_for(1h);
  });
  ASSERT_EQ(hear().what, 's');
  std::vector<GpuWait> waits;
  const auto turn = GpuTurn::wait({.gpu_uuid = kGpu, .user = "ben", .most_seconds = 0.6},
                                  [&](const GpuWait& wait) { waits.push_back(wait); });
  ASSERT_FALSE(turn);
  ASSERT_GE(waits.size(), 1u);
  const GpuWait& wait = waits.back();
  ASSERT_TRUE(wait.holder);
  EXPECT_EQ(wait.holder->user, "an?na");
  EXPECT_EQ(wait.holder->doing, "naive?[2J-gemm");
  EXPECT_EQ(wait.holder->pid, children_.back());
  EXPECT_FALSE(wait.holder->same_user);
  EXPECT_EQ(wait.before, 0);
  ASSERT_TRUE(wait.estimate_s);
  EXPECT_LT(*wait.estimate_s, 0.1);
  EXPECT_THAT(turn.error().text(),
              AllOf(HasSubstr("the GPU was not free for 1 s: an?na has had it for"), HasSubstr("naive?[2J-gemm"),
                    HasSubstr("process " + std::to_string(children_.back())), HasSubstr("try again later")));
}

TEST_F(GpuQueueTest, AProgramThatIsNotOursMayLockTheFile) {
  { ASSERT_TRUE(take(1)); }
  const int other = ::open(file().c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_EX | LOCK_NB), 0);
  EXPECT_THAT(refusal(), HasSubstr("a program that is not roofwalk may have locked " + file().string()));
  ::close(other);
  EXPECT_TRUE(take(0));
}

TEST_F(GpuQueueTest, AnotherGpuIsAnotherQueue) {
  const auto turn = take(1);
  EXPECT_TRUE(GpuTurn::wait({.gpu_uuid = "MIG-0a1b2c3d-0000-1111-2222-333344445555", .most_seconds = 0}));
  EXPECT_FALSE(take(0));
}

TEST_F(GpuQueueTest, UsersShareItWhateverTheirUmask) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  for (const uid_t first : {0u, 12345u}) {
    fs::remove(file());
    const pid_t holder = start([&] {
      ::umask(077);
      if (::setuid(first) != 0) ::_exit(1);
      run(0, "anna", 1h);
    });
    ASSERT_EQ(hear().what, 's');
    struct stat info {};
    ASSERT_EQ(::stat(file().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0666u);
    EXPECT_EQ(info.st_uid, first);
    start([&] {
      ::umask(077);
      if (::setuid(first == 0 ? 23456 : 0) != 0) ::_exit(1);
      run(1, "ben", 0ms);
    });
    ASSERT_EQ(hear().what, 'w');
    kill(holder);
    EXPECT_EQ(hear_of('s').who, 1);
    ASSERT_EQ(hear_of('e').who, 1);
  }
}

TEST_F(GpuQueueTest, FollowsNoLinkAndWritesIntoNoFileOfAnother) {
  const fs::path mine = folder_ / "thesis";
  std::ofstream(mine) << "my thesis";
  fs::create_symlink(mine, file());
  EXPECT_THAT(refusal(), AllOf(HasSubstr("is a link"), HasSubstr("remove it")));
  fs::remove(file());
  fs::create_symlink(folder_ / "nowhere", file());
  EXPECT_THAT(refusal(), HasSubstr("is a link"));
  EXPECT_FALSE(fs::exists(folder_ / "nowhere"));
  fs::remove(file());
  fs::create_hard_link(mine, file());
  EXPECT_THAT(refusal(), HasSubstr("not a regular file of its own"));
  fs::remove(file());
  ASSERT_EQ(::mkfifo(file().c_str(), 0666), 0);
  EXPECT_THAT(refusal(), HasSubstr("not a regular file of its own"));
  fs::remove(file());
  fs::create_directory(file());
  EXPECT_THAT(refusal(), HasSubstr("cannot be opened"));
  std::string text;
  std::getline(std::ifstream(mine), text);
  EXPECT_EQ(text, "my thesis");
}

TEST_F(GpuQueueTest, WhatIsWrittenInTheFileDecidesNothing) {
  const auto turn = take(1);
  ASSERT_TRUE(turn);
  std::ofstream(file(), std::ios::in | std::ios::binary) << std::string(70000, '{');
  GpuWait seen;
  const auto refused =
      GpuTurn::wait({.gpu_uuid = kGpu, .most_seconds = 0.1}, [&](const GpuWait& wait) { seen = wait; });
  EXPECT_FALSE(refused);
  EXPECT_FALSE(seen.holder);
  EXPECT_FALSE(seen.estimate_s);
  EXPECT_EQ(seen.before, 1);
}

TEST_F(GpuQueueTest, AProgramThatLocksMoreThanATicketIsAnError) {
  { ASSERT_TRUE(take(1)); }
  const int other = ::open(file().c_str(), O_RDWR | O_CLOEXEC);
  struct flock all {};
  all.l_type = F_WRLCK;
  all.l_whence = SEEK_SET;
  ASSERT_EQ(::fcntl(other, F_OFD_SETLK, &all), 0);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("cannot be locked"), HasSubstr("set ROOFWALK_LOCK_DIR")));
  all.l_type = F_UNLCK;  // unlocks all but a million tickets
  all.l_start = 1'000'000 + (std::int64_t{1} << 40);
  ASSERT_EQ(::fcntl(other, F_OFD_SETLK, &all), 0);
  EXPECT_THAT(refusal(), HasSubstr("the GPU was not free"));
  ::close(other);
}

TEST_F(GpuQueueTest, ARemovedFileEndsTheQueueForThoseWhoWaitToo) {
  const pid_t holder = start_run(0, "anna", 1h);
  ASSERT_EQ(hear().what, 's');
  start_run(1, "ben", 1h);
  ASSERT_EQ(hear().what, 'w');
  fs::remove(file());
  std::ofstream(file()).close();
  EXPECT_EQ(hear_of('s').who, 1);  // in the new file
  EXPECT_FALSE(take(0));           // later ones wait in the new file, too
  kill(holder);
}

TEST_F(GpuQueueTest, FoldersThatCannotServeAllAreErrorsThatSayWhatToDo) {
  ::chmod(folder_.c_str(), 0777);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("anybody may remove"), HasSubstr("chmod +t " + folder_.string())));
  ::setenv("ROOFWALK_LOCK_DIR", ".", 1);
  EXPECT_THAT(refusal(), HasSubstr("ROOFWALK_LOCK_DIR is not the absolute path of a folder: ."));
  ::setenv("ROOFWALK_LOCK_DIR", (folder_ / "none").c_str(), 1);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("is not the absolute path of a folder"), HasSubstr("set ROOFWALK_LOCK_DIR")));
  ::setenv("ROOFWALK_LOCK_DIR", "/proc/self", 1);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("queue for the GPU cannot be made"), HasSubstr("chmod 1777")));
}

TEST(GpuQueue, OnlyAUuidNamesAGpu) {
  for (const char* name : {"", "GPU/../../etc", "GPU-1\n", "GPU 1", "MIG-GPU-1/1/0", "GPU-\xc3\xa9", "."}) {
    const auto turn = GpuTurn::wait({.gpu_uuid = name});
    ASSERT_FALSE(turn) << name;
    EXPECT_THAT(turn.error().text(), AllOf(HasSubstr("is not the UUID of a GPU"), Not(HasSubstr("\n")))) << name;
  }
  EXPECT_FALSE(GpuTurn::wait({.gpu_uuid = std::string(300, 'a')}));
}

TEST(WaitingLine, SaysWhoAndHowLong) {
  GpuWait wait;
  EXPECT_EQ(waiting_line(wait), "waiting for the GPU");
  wait.before = 2;
  EXPECT_EQ(waiting_line(wait), "waiting for the GPU: 2 before you");
  wait.holder = GpuHolder{.user = "anna", .doing = "tiled-gemm", .pid = 7, .held_s = 12.3};
  wait.before = 3;
  EXPECT_EQ(waiting_line(wait), "waiting for the GPU: anna has had it for 12 s, 3 before you (tiled-gemm)");
  wait.estimate_s = 41.2;
  EXPECT_EQ(waiting_line(wait), "waiting for the GPU: anna has had it for 12 s, 3 before you, about 41 s to go");
  wait.before = 0;
  wait.estimate_s = 0.2;
  wait.holder->held_s = 200;
  EXPECT_EQ(waiting_line(wait), "waiting for the GPU: anna has had it for 3 min (tiled-gemm)");
  wait.holder->same_user = true;
  EXPECT_EQ(waiting_line(wait), "waiting for the GPU: your other run has had it for 3 min (tiled-gemm)");
}

TEST(WaitingLine, FitsInEightyColumns) {
  GpuWait wait{.holder = GpuHolder{.user = std::string(32, 'u'), .doing = std::string(48, 'd'), .held_s = 1e9},
               .before = 1'000'000,
               .estimate_s = 1e11};
  EXPECT_LE(waiting_line(wait).size(), 80u);
  EXPECT_THAT(waiting_line(wait), HasSubstr("uuu... has had it for 9999 h, 1000000 before you"));
}

}  // namespace
}  // namespace roofwalk
