// Tests the program on a pseudo-terminal, with typed keys and saved files, as a user sees it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <vector>

#include "tests/support/temporary_course.h"

namespace roofwalk::e2e {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kClear = "\x1b[H\x1b[2J";
constexpr std::chrono::seconds kPatience{120};  // long enough for a host busy with other tests

// A program on a pseudo-terminal of its own.
class OnTerminal {
 public:
  OnTerminal(const fs::path& root, std::vector<std::string> arguments, unsigned short columns, unsigned short rows) {
    const winsize size{rows, columns, 0, 0};
    EXPECT_EQ(::openpty(&master_, &slave_, nullptr, nullptr, &size), 0);
    EXPECT_EQ(::tcgetattr(slave_, &before_), 0);
    arguments.insert(arguments.begin(), E2E_PROGRAM);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    child_ = ::fork();
    if (child_ != 0) return;
    ::setsid();
    ::ioctl(slave_, TIOCSCTTY, 0);
    for (const int fd : {0, 1, 2}) ::dup2(slave_, fd);
    ::close_range(3, ~0u, 0);
    ::setenv("ROOFWALK_ROOT", root.c_str(), 1);
    ::setenv("TERM", "xterm", 1);
    ::setenv("NO_COLOR", "1", 1);
    ::unsetenv("ROOFWALK_YES");
    if (::chdir(root.c_str()) == 0) ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ~OnTerminal() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    ::close(master_);
    ::close(slave_);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  void type(const std::string& keys) {
    EXPECT_EQ(::write(master_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  void resize(unsigned short columns, unsigned short rows) {
    const winsize size{rows, columns, 0, 0};
    EXPECT_EQ(::ioctl(master_, TIOCSWINSZ, &size), 0);
  }

  // Waits until the screen shows all of `wanted`, and returns the screen.
  std::string screen_with(const std::vector<std::string>& wanted) {
    const auto shows = [&] {
      const std::string now = screen();
      return std::all_of(wanted.begin(), wanted.end(), [&](auto& text) { return now.find(text) != std::string::npos; });
    };
    const auto end = Clock::now() + kPatience;
    while (!shows() && Clock::now() < end && read_more(200)) {
    }
    while (read_more(50) && Clock::now() < end) {  // reads the rest of a screen that is still being drawn
      if (!grew_) break;
    }
    EXPECT_TRUE(shows()) << "the screen lacks " << wanted.front() << ":\n" << screen();
    return screen();
  }

  // Waits until the text has been written this many times, even if it is overwritten at once.
  void until_shown(const std::string& text, int times) {
    const auto end = Clock::now() + kPatience;
    while (times_shown(text) < times && Clock::now() < end && read_more(200)) {
    }
    EXPECT_GE(times_shown(text), times) << text;
  }

  // Returns the output since the screen was last cleared, with lines that end with \n only.
  std::string screen() const {
    const auto cleared = output_.rfind(kClear);
    std::string text = cleared == std::string::npos ? output_ : output_.substr(cleared + std::string(kClear).size());
    std::erase(text, '\r');
    return text;
  }

  int times_shown(const std::string& text) const {
    int times = 0;
    for (auto at = output_.find(text); at != std::string::npos; at = output_.find(text, at + 1)) ++times;
    return times;
  }

  // Waits until the program has ended, and returns its status as given by wait(2).
  int ended() {
    const auto end = Clock::now() + kPatience;
    int status = 0;
    while (Clock::now() < end) {
      read_more(20);
      if (::waitpid(child_, &status, WNOHANG) == child_) {
        child_ = -1;
        read_what_is_under_way();
        return status;
      }
    }
    ADD_FAILURE() << "it goes on:\n" << screen();
    return -1;
  }

  // Whether the terminal's modes are those from before the program: lines are echoed and end with Enter.
  bool is_sane() const {
    termios now{};
    return ::tcgetattr(slave_, &now) == 0 && now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag &&
           now.c_oflag == before_.c_oflag;
  }
  bool echoes() const {
    termios now{};
    return ::tcgetattr(slave_, &now) == 0 && (now.c_lflag & ECHO) != 0;
  }

 private:
  // Writes a mark and reads until it arrives: output arrives in order, so all earlier output has then arrived.
  void read_what_is_under_way() {
    const std::string mark = "\x05";
    EXPECT_EQ(::write(slave_, mark.data(), mark.size()), static_cast<ssize_t>(mark.size()));
    const auto end = Clock::now() + kPatience;
    while (!output_.ends_with(mark) && Clock::now() < end) read_more(20);
    EXPECT_TRUE(output_.ends_with(mark));
    output_.resize(output_.size() - mark.size());
  }

  bool read_more(int wait_ms) {
    pollfd news{master_, POLLIN, 0};
    grew_ = false;
    if (::poll(&news, 1, wait_ms) <= 0) return true;
    char buffer[8192];
    const ssize_t count = ::read(master_, buffer, sizeof buffer);
    if (count <= 0) return false;
    output_.append(buffer, static_cast<std::size_t>(count));
    grew_ = true;
    return true;
  }

  int master_ = -1, slave_ = -1;
  pid_t child_ = -1;
  termios before_{};
  std::string output_;
  bool grew_ = false;
};

class TerminalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int master = -1, slave = -1;
    if (::openpty(&master, &slave, nullptr, nullptr, nullptr) != 0) {
      GTEST_SKIP() << "this machine has no pseudo-terminals: is /dev/pts mounted?";
    }
    ::close(master);
    ::close(slave);
  }

  // Saves as editors do: writes a new file and renames it to the old name.
  void save(const std::string& source) {
    const fs::path file = course_.root() / "my" / "vector-add.cu", next = course_.root() / "my" / "4913";
    fs::copy_file(fs::path(E2E_SOURCE_DIR) / source, next, fs::copy_options::overwrite_existing);
    fs::rename(next, file);
  }

  static int lines_of(const std::string& screen) {
    return static_cast<int>(std::count(screen.begin(), screen.end(), '\n')) + 1;
  }

  test::TemporaryCourse course_{E2E_SOURCE_DIR, E2E_CACHE};
  const std::string step1_ = "solutions/01-vector-add/step1_fill_the_machine.cu";
  const std::string not_cuda_ = "tests/grader/wrong/01-vector-add/not_cuda.cu";
};

TEST_F(TerminalTest, ASaveIsCheckedAndKeysAreHeard) {
  OnTerminal watch(course_.root(), {"watch", "vector-add", "--no-ask"}, 80, 24);
  std::string screen = watch.screen_with({"NOT YET", "goal up", "look at", "q quit"});
  EXPECT_EQ(lines_of(screen), 24);
  EXPECT_THAT(screen, Not(HasSubstr("n next")));
  EXPECT_THAT(screen, Not(HasSubstr("FLOP/s over FLOP/DRAM byte")));
  EXPECT_FALSE(watch.echoes());

  watch.type("h");
  screen = watch.screen_with({"hint 1/", "NOT YET", "goal up"});
  EXPECT_EQ(lines_of(screen), 24);
  watch.type("p");
  screen = watch.screen_with({"FLOP/s over FLOP/DRAM byte", "NOT YET", "goal up"});
  EXPECT_EQ(lines_of(screen), 24);
  watch.type("p");
  EXPECT_THAT(watch.screen_with({"NOT YET", "compulsory"}), Not(HasSubstr("FLOP/s over FLOP/DRAM byte")));

  save(not_cuda_);
  screen = watch.screen_with({"DOES NOT COMPILE", "my/vector-add.cu:", "q quit"});
  watch.type("p");
  watch.screen_with({"there is no dot to draw"});

  save(step1_);
  screen = watch.screen_with({"PASS", "n next", "q quit"});
  watch.type("q");
  const int status = watch.ended();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(watch.is_sane());
}

TEST_F(TerminalTest, ANewSizeIsDrawnAtOnce) {
  OnTerminal watch(course_.root(), {"watch", "vector-add", "--no-ask"}, 80, 24);
  watch.screen_with({"NOT YET", "q quit"});
  watch.resize(200, 60);
  EXPECT_EQ(lines_of(watch.screen_with({"FLOP/s over FLOP/DRAM byte"})), 60);
  watch.resize(60, 12);
  EXPECT_EQ(lines_of(watch.screen_with({"NOT YET", "goal up"})), 12);
  watch.type("\x04");  // Ctrl-D
  EXPECT_TRUE(WIFEXITED(watch.ended()));
}

TEST_F(TerminalTest, SavesDuringACheckAreOneMoreCheck) {
  OnTerminal watch(course_.root(), {"watch", "vector-add", "--no-ask"}, 80, 24);
  watch.screen_with({"NOT YET", "q quit"});
  const int before = watch.times_shown("checking my/");
  save(step1_);
  watch.until_shown("checking my/", before + 1);
  for (int i = 0; i < 3; ++i) save(not_cuda_);
  watch.screen_with({"DOES NOT COMPILE"});
  EXPECT_EQ(watch.times_shown("checking my/"), before + 2);
}

TEST_F(TerminalTest, CtrlCLeavesTheTerminalAsItWas) {
  for (const bool during_a_check : {false, true}) {
    OnTerminal watch(course_.root(), {"watch", "vector-add", "--no-ask"}, 80, 24);
    watch.screen_with({"NOT YET"});
    if (during_a_check) {
      const int checks = watch.times_shown("checking my/");
      save(step1_);
      watch.until_shown("checking my/", checks + 1);
    }
    EXPECT_FALSE(watch.is_sane());
    watch.type("\x03");
    const int status = watch.ended();
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
    EXPECT_TRUE(watch.is_sane());
  }
}

TEST_F(TerminalTest, ResetAsksFirstAndSaysWhereTheFileIs) {
  fs::create_directories(course_.root() / "my");
  save(step1_);
  OnTerminal watch(course_.root(), {"watch", "vector-add", "--no-ask"}, 80, 24);
  watch.screen_with({"PASS", "q quit"});
  watch.type("r");
  watch.screen_with({"my/old/vector-add-1.cu (y/n)"});
  watch.type("x");
  watch.screen_with({"PASS", "q quit"});
  EXPECT_FALSE(fs::exists(course_.root() / "my" / "old"));
  watch.type("ry");
  watch.screen_with({"NOT YET", "my/old/vector-add-1.cu", "Your grade stays", "n next"});
  EXPECT_TRUE(fs::exists(course_.root() / "my" / "old" / "vector-add-1.cu"));
}

TEST_F(TerminalTest, NextGoesOnWithTheNextChapter) {
  fs::create_directories(course_.root() / "my");
  save(step1_);
  OnTerminal watch(course_.root(), {"watch", "vector-add", "--no-ask"}, 80, 24);
  watch.screen_with({"PASS", "n next"});
  watch.type("n");
  watch.screen_with({"naive-gemm on", "NOT YET", "lesson.md"});
}

TEST_F(TerminalTest, RunAsksForAPredictionAndComesBackToIt) {
  OnTerminal run(course_.root(), {"run", "vector-add"}, 80, 24);
  run.screen_with({"Predict first", "1  "});
  run.type("a lot\n1/6\n");
  run.screen_with({"2  "});
  run.type("l\n");
  run.screen_with({"3  "});
  run.type("r\n");
  run.screen_with({"you said AI 0.167, it is 0.0833 at DRAM: x2 too high", "latency, as you said"});
  EXPECT_EQ(WEXITSTATUS(run.ended()), 1);

  save(step1_);
  OnTerminal again(course_.root(), {"run", "vector-add"}, 80, 24);
  EXPECT_EQ(WEXITSTATUS(again.ended()), 0);
  EXPECT_THAT(again.screen(), Not(HasSubstr("Predict first")));
  EXPECT_THAT(again.screen(), HasSubstr("you said the dot would go right, it went up"));
}

TEST_F(TerminalTest, NobodyIsAskedWhoDoesNotWantToBe) {
  OnTerminal run(course_.root(), {"run", "vector-add", "--no-ask"}, 80, 24);
  EXPECT_EQ(WEXITSTATUS(run.ended()), 1);
  EXPECT_THAT(run.screen(), Not(HasSubstr("Predict first")));
}

TEST_F(TerminalTest, AsJsonEachSaveIsALine) {
  fs::create_directories(course_.root() / "my");
  save(step1_);
  OnTerminal watch(course_.root(), {"watch", "vector-add", "--format", "json"}, 80, 24);
  watch.screen_with({"\"verdict\":\"pass\"", "\n"});
  save(not_cuda_);
  const std::string lines = watch.screen_with({"\"verdict\":\"compile_error\"", "\n"});
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
  EXPECT_THAT(lines, Not(HasSubstr("\x1b")));
}

// The wider the terminal, the more columns are shown beside the source.
TEST_F(TerminalTest, ProfileUsesTheRoomThereIs) {
  for (const auto& [columns, has_all] : {std::pair{80, false}, std::pair{200, true}}) {
    OnTerminal profile(course_.root(), {"profile", "vector-add", "--no-ask"}, static_cast<unsigned short>(columns), 60);
    EXPECT_EQ(profile.ended(), 0);
    EXPECT_THAT(profile.screen(), HasSubstr("1 block where 32 fit"));
    EXPECT_EQ(profile.times_shown("FLOPs") > 0, has_all) << profile.screen();
  }
}

// The pages of a class while its grades come in.
class ReportWatchTest : public TerminalTest {
 protected:
  void hand_in(const std::string& student, const std::string& source) const {
    const fs::path file = course_.root() / "class" / student / "vector-add.cu";
    fs::create_directories(file.parent_path());
    fs::copy_file(fs::path(E2E_SOURCE_DIR) / source, file, fs::copy_options::overwrite_existing);
  }

  void grade() const {
    OnTerminal grade(course_.root(), {"grade", "class", "--chapter", "vector-add", "--unsandboxed"}, 80, 24);
    EXPECT_EQ(WEXITSTATUS(grade.ended()), 0) << grade.screen();
  }

  std::string index() const {
    std::ifstream in(course_.root() / "grades/report/index.html");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // Reads the page again and again, as a browser does, until it holds the text. It is whole each time.
  std::string page_with(const std::string& text) const {
    const auto end = Clock::now() + kPatience;
    std::string page = index();
    while (page.find(text) == std::string::npos && Clock::now() < end) {
      ::usleep(20'000);
      page = index();
      EXPECT_TRUE(page.ends_with("</html>\n")) << page.size();
    }
    EXPECT_THAT(page, HasSubstr(text));
    return page;
  }

  static constexpr const char* kReloads = "<meta http-equiv=\"refresh\"";
};

TEST_F(ReportWatchTest, LongPagesFollowTheGradesUntilCtrlC) {
  hand_in("Ada", step1_);
  hand_in("bob", "chapters/01-vector-add/kernel.cu");
  grade();
  EXPECT_THAT(index(), Not(HasSubstr(kReloads)));
  OnTerminal watch(course_.root(), {"report", "--watch"}, 80, 24);
  watch.screen_with({"grades/report/index.html\nis kept fresh until you type Ctrl-C\n", "2 of 2 graded"});
  EXPECT_THAT(page_with(kReloads), Not(HasSubstr("Ada")));

  hand_in("cid", not_cuda_);
  grade();
  watch.screen_with({"3 of 3 graded"});
  const std::string page = page_with("student 3");
  EXPECT_THAT(page, HasSubstr("does not compile"));
  EXPECT_THAT(page, HasSubstr(kReloads));  // although `grade` has put its own pages there

  OnTerminal second(course_.root(), {"report", "--watch"}, 80, 24);
  EXPECT_EQ(WEXITSTATUS(second.ended()), 2);
  EXPECT_THAT(second.screen(), HasSubstr("another `report --watch` keeps these pages"));

  watch.type("\x03");
  const int status = watch.ended();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  EXPECT_TRUE(watch.is_sane());
  EXPECT_THAT(index(), Not(HasSubstr(kReloads)));
  EXPECT_THAT(index(), HasSubstr("student 3"));
}

TEST_F(ReportWatchTest, LongPagesFollowTheTermsAsFarAsTheyCanBeRead) {
  hand_in("Ada", step1_);
  grade();
  std::ofstream(course_.root() / "course.toml") << "title = \"One\"\n[[chapter]]\nname = \"vector-add\"\n";
  OnTerminal watch(course_.root(), {"report", "--watch", "--names"}, 80, 24);
  const auto named = [&] {
    std::ifstream in(course_.root() / "grades/report-with-names/index.html");
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  watch.screen_with({"1 of 1 graded"});
  EXPECT_THAT(named(), HasSubstr("<h1>One</h1>"));
  EXPECT_THAT(named(), HasSubstr("Ada</a>"));
  std::ofstream(course_.root() / "course.toml") << "title = \"Tw";
  watch.screen_with({"the pages stay as they are: course.toml"});
  EXPECT_THAT(named(), HasSubstr("<h1>One</h1>"));
  std::ofstream(course_.root() / "course.toml") << "title = \"Three\"\n[[chapter]]\nname = \"vector-add\"\n";
  const auto end = Clock::now() + kPatience;
  while (named().find("<h1>Three</h1>") == std::string::npos && Clock::now() < end) ::usleep(20'000);
  EXPECT_THAT(named(), HasSubstr("<h1>Three</h1>"));
  watch.type("\x03");
  EXPECT_TRUE(WIFSIGNALED(watch.ended()));
}

}  // namespace
}  // namespace roofwalk::e2e
