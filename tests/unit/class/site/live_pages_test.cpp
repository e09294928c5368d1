// Pages that are kept fresh: what differs is replaced, what is no longer there goes, and nobody sees half a page.
#include "grader/class/site/live_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>

#include "common/store/store.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

using Pages = std::map<std::string, std::string>;

class LivePagesTest : public ::testing::Test {
 protected:
  LivePages open() const {
    auto pages = LivePages::open(folder_);
    EXPECT_TRUE(pages) << pages.error().text();
    return *std::move(pages);
  }

  static std::size_t update(LivePages& live, const Pages& wanted) {
    const auto replaced = live.update([&](const WritePage& write) -> Status {
      for (const auto& [path, text] : wanted) ROOFWALK_TRY_STATUS(write(path, text));
      return kOk;
    });
    EXPECT_TRUE(replaced) << replaced.error().text();
    return replaced ? *replaced : 0;
  }

  Pages there() const {
    Pages pages;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file()) pages[entry.path().lexically_relative(folder_).string()] = file_text(entry.path());
    }
    return pages;
  }

  unsigned long inode_of(const char* page) const {
    struct stat info {};
    EXPECT_EQ(::stat((folder_ / page).c_str(), &info), 0);
    return info.st_ino;
  }

  const ScratchFolder scratch_;
  const fs::path folder_ = scratch_.path() / "report";
};

TEST_F(LivePagesTest, ReplaceWhatDiffersAndRemoveWhatIsGone) {
  LivePages live = open();
  Pages wanted = {{"index.html", "1 of 2"}, {"students/a.html", "a"}, {"students/b.html", "b"}};
  EXPECT_EQ(update(live, wanted), 3u);
  EXPECT_EQ(there(), wanted);
  EXPECT_EQ(update(live, wanted), 0u);
  const unsigned long index = inode_of("index.html"), a = inode_of("students/a.html");
  wanted["index.html"] = "2 of 2";
  wanted.erase("students/b.html");
  EXPECT_EQ(update(live, wanted), 1u);
  EXPECT_EQ(there(), wanted);
  EXPECT_NE(inode_of("index.html"), index) << "written in place, so that a reader may see half of it";
  EXPECT_EQ(inode_of("students/a.html"), a);
}

TEST_F(LivePagesTest, AKilledProgramsLeavingsGo) {
  LivePages live = open();
  scratch_.write("report/index.html.new-4711", "<!doct");
  scratch_.write("report/index.html", "of last year");
  update(live, {{"index.html", "of today"}});
  EXPECT_EQ(there(), (Pages{{"index.html", "of today"}}));
}

TEST_F(LivePagesTest, WhatIsKeptIsNotWrittenAgain) {
  LivePages live = open();
  EXPECT_FALSE(live.keep("plots/a.svg"));
  update(live, {{"plots/a.svg", "plot"}});
  const auto keep = [&](const WritePage&) -> Status {
    EXPECT_TRUE(live.keep("plots/a.svg"));
    EXPECT_FALSE(live.keep("plots/b.svg"));
    return kOk;
  };
  ASSERT_TRUE(live.update(keep));
  EXPECT_EQ(there(), (Pages{{"plots/a.svg", "plot"}}));
  // `grade` puts a folder of its own in the place.
  scratch_.write("report.new/index.html", "of grade");
  fs::rename(folder_, scratch_.path() / "report.old");
  fs::rename(scratch_.path() / "report.new", folder_);
  EXPECT_TRUE(live.was_replaced());
  EXPECT_FALSE(live.keep("plots/a.svg"));
  EXPECT_EQ(update(live, {{"plots/a.svg", "plot"}}), 1u);
  EXPECT_FALSE(live.was_replaced());
  EXPECT_EQ(there(), (Pages{{"plots/a.svg", "plot"}}));
}

TEST_F(LivePagesTest, AFailureLeavesWholePages) {
  LivePages live = open();
  update(live, {{"index.html", "old"}, {"students/a.html", "old"}});
  const auto failed = live.update([](const WritePage& write) -> Status {
    ROOFWALK_TRY_STATUS(write("students/a.html", "new"));
    return Error{"the record is damaged"};
  });
  EXPECT_FALSE(failed);
  EXPECT_EQ(there(), (Pages{{"index.html", "old"}, {"students/a.html", "new"}}));
}

TEST_F(LivePagesTest, OneProgramKeepsAFolder) {
  EXPECT_FALSE(LivePages::are_kept(folder_));
  {
    const LivePages live = open();
    EXPECT_TRUE(LivePages::are_kept(folder_));
    const auto second = LivePages::open(folder_);
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr("another `report --watch`"));
  }
  EXPECT_FALSE(LivePages::are_kept(folder_));
}

}  // namespace
}  // namespace roofwalk::test
