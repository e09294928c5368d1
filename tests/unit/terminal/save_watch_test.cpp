#include "grader/terminal/save_watch.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <fstream>

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Clock = SaveWatch::Clock;

class SaveWatchTest : public ::testing::Test {
 protected:
  SaveWatchTest() {
    fs::create_directories(folder_);
    write(file_, "one");
  }
  ~SaveWatchTest() override { fs::remove_all(folder_); }

  static void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

  // Whether the watch reports a save 150 ms later. The test passes the clock in, so the host's load does not matter.
  static bool saved_in_the_end(SaveWatch& watch) {
    const auto now = Clock::now();
    const bool at_once = watch.saved(now);
    EXPECT_FALSE(at_once);
    return watch.saved(now + milliseconds(150));
  }

  fs::path folder_ = fs::temp_directory_path() / ("roofwalk-saves-" + std::to_string(::getpid()));
  fs::path file_ = folder_ / "kernel.cu";
};

TEST_F(SaveWatchTest, NothingIsNoSave) {
  SaveWatch watch(file_);
  EXPECT_FALSE(saved_in_the_end(watch));
}

TEST_F(SaveWatchTest, SeveralWritesAreOneSaveOnceTheyHaveSettled) {
  SaveWatch watch(file_);
  const auto start = Clock::now();
  const auto saved_at = [&](int ms) { return watch.saved(start + milliseconds(ms)); };
  write(file_, "t");
  EXPECT_FALSE(saved_at(0));
  write(file_, "tw");
  EXPECT_FALSE(saved_at(60));
  EXPECT_LE(watch.patience_ms(start + milliseconds(60)), 100);
  EXPECT_FALSE(saved_at(120));
  EXPECT_TRUE(saved_at(170));
  EXPECT_FALSE(saved_at(2000));
}

TEST_F(SaveWatchTest, WritesThatGoOnAreNotWaitedForLongerThanASecond) {
  SaveWatch watch(file_);
  const auto start = Clock::now();
  for (int ms = 0; ms < 1000; ms += 60) {
    write(file_, std::string(static_cast<std::size_t>(ms), 'x'));
    EXPECT_FALSE(watch.saved(start + milliseconds(ms))) << ms;
  }
  write(file_, "more");
  EXPECT_TRUE(watch.saved(start + milliseconds(1020)));
}

TEST_F(SaveWatchTest, AFileMovedIntoPlaceIsASave) {
  SaveWatch watch(file_);
  fs::rename(file_, folder_ / "kernel.cu~");
  write(folder_ / ".kernel.cu.swp", "noise");
  write(folder_ / "new", "two");
  fs::rename(folder_ / "new", file_);
  EXPECT_TRUE(saved_in_the_end(watch));
}

TEST_F(SaveWatchTest, OtherFilesAreNoSave) {
  SaveWatch watch(file_);
  write(folder_ / "other.cu", "x");
  EXPECT_FALSE(saved_in_the_end(watch));
}

TEST_F(SaveWatchTest, AFileThatIsGoneIsSavedWhenItIsBack) {
  SaveWatch watch(file_);
  fs::remove(file_);
  EXPECT_FALSE(watch.exists());
  EXPECT_FALSE(saved_in_the_end(watch));
  write(file_, "back");
  EXPECT_TRUE(saved_in_the_end(watch));
}

TEST_F(SaveWatchTest, AWriteThroughASymbolicLinkIsSeen) {
  fs::create_directories(folder_ / "elsewhere");
  fs::rename(file_, folder_ / "elsewhere" / "mine.cu");
  fs::create_symlink(folder_ / "elsewhere" / "mine.cu", file_);
  SaveWatch watch(file_);
  write(folder_ / "elsewhere" / "mine.cu", "three");
  pollfd news{watch.descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&news, 1, 0), 1);
  EXPECT_TRUE(saved_in_the_end(watch));
}

}  // namespace
}  // namespace roofwalk
