#include "grader/save_watch.h"

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

  // Whether a save is told within two seconds; `saves` counts how often.
  static int saves_within(SaveWatch& watch, milliseconds time) {
    int saves = 0;
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
      pollfd news{watch.descriptor(), POLLIN, 0};
      ::poll(&news, 1, std::min(watch.patience_ms(Clock::now()), 50));
      saves += watch.saved(Clock::now()) ? 1 : 0;
    }
    return saves;
  }

  fs::path folder_ = fs::temp_directory_path() / ("roofwalk-saves-" + std::to_string(::getpid()));
  fs::path file_ = folder_ / "kernel.cu";
};

TEST_F(SaveWatchTest, NothingIsNoSave) {
  SaveWatch watch(file_);
  EXPECT_EQ(saves_within(watch, milliseconds(700)), 0);
}

TEST_F(SaveWatchTest, SeveralWritesAreOneSave) {
  SaveWatch watch(file_);
  for (const char* text : {"t", "tw", "two"}) write(file_, text);
  EXPECT_EQ(saves_within(watch, milliseconds(700)), 1);
}

TEST_F(SaveWatchTest, AFileMovedIntoPlaceIsASave) {
  SaveWatch watch(file_);
  fs::rename(file_, folder_ / "kernel.cu~");
  write(folder_ / ".kernel.cu.swp", "noise");
  write(folder_ / "new", "two");
  fs::rename(folder_ / "new", file_);
  EXPECT_EQ(saves_within(watch, milliseconds(700)), 1);
}

TEST_F(SaveWatchTest, OtherFilesAreNoSave) {
  SaveWatch watch(file_);
  write(folder_ / "other.cu", "x");
  EXPECT_EQ(saves_within(watch, milliseconds(700)), 0);
}

TEST_F(SaveWatchTest, AFileThatIsGoneIsSavedWhenItIsBack) {
  SaveWatch watch(file_);
  fs::remove(file_);
  EXPECT_FALSE(watch.exists());
  EXPECT_EQ(saves_within(watch, milliseconds(300)), 0);
  write(file_, "back");
  EXPECT_EQ(saves_within(watch, milliseconds(700)), 1);
}

TEST_F(SaveWatchTest, AWriteThroughASymbolicLinkIsSeen) {
  fs::create_directories(folder_ / "elsewhere");
  fs::rename(file_, folder_ / "elsewhere" / "mine.cu");
  fs::create_symlink(folder_ / "elsewhere" / "mine.cu", file_);
  SaveWatch watch(file_);
  write(folder_ / "elsewhere" / "mine.cu", "three");
  pollfd news{watch.descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&news, 1, 400), 1);
  EXPECT_EQ(saves_within(watch, milliseconds(700)), 1);
}

}  // namespace
}  // namespace roofwalk
