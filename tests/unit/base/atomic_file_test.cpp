#include "common/base/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

std::string text_in(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

TEST(Replace, PutsAFileInAnothersPlaceAndLeavesNothingBeside) {
  const test::ScratchFolder folder;
  const fs::path file = folder.path() / "a" / "b.json";
  ASSERT_TRUE(replace_file(file, "one"));
  ASSERT_TRUE(replace_file(file, std::string("t\0wo", 4)));
  EXPECT_EQ(text_in(file), std::string("t\0wo", 4));
  EXPECT_THAT(names_in(file.parent_path()), ::testing::ElementsAre("b.json"));
}

TEST(Replace, SaysWhyAFileCannotBeWrittenAndLeavesTheOldOne) {
  const test::ScratchFolder folder;
  fs::create_directories(folder.path() / "taken" / "inside");
  const Status status = replace_file(folder.path() / "taken", "text");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, ::testing::StartsWith("cannot be written: "));
  EXPECT_EQ(status.error().file, (folder.path() / "taken").string());
  EXPECT_THAT(names_in(folder.path()), ::testing::ElementsAre("taken"));
}

TEST(Replace, PutsAFolderInAnothersPlaceWithAllThatIsInIt) {
  const test::ScratchFolder folder;
  const fs::path place = folder.path() / "site", fresh = fresh_beside(place);
  ASSERT_TRUE(replace_file(place / "old.html", "old"));
  ASSERT_TRUE(write_into_fresh(fresh / "new.html", "new"));
  ASSERT_TRUE(write_into_fresh(fresh / "pages/a.html", "a"));
  EXPECT_FALSE(write_into_fresh(fresh / "pages", "a folder's name"));
  ASSERT_TRUE(replace_folder(fresh, place));
  EXPECT_THAT(names_in(place), ::testing::UnorderedElementsAre("new.html", "pages"));
  EXPECT_EQ(text_in(place / "pages/a.html"), "a");
  EXPECT_THAT(names_in(folder.path()), ::testing::ElementsAre("site"));
  EXPECT_FALSE(replace_folder(fresh, place)) << "there is nothing to put there";
  EXPECT_THAT(names_in(place), ::testing::UnorderedElementsAre("new.html", "pages")) << "the old folder stays";
}

TEST(TemporaryFolders, AreThisUsersAndGoWithAllThatIsInThem) {
  const test::ScratchFolder beside;
  fs::path place;
  {
    const TemporaryFolder folder("test");
    place = folder.path();
    EXPECT_TRUE(place.filename().string().starts_with("roofwalk-test-")) << place;
    EXPECT_EQ(fs::status(place).permissions(), fs::perms::owner_all);
    ASSERT_TRUE(replace_file(place / "a/b", "text"));
    fs::create_directory_symlink(beside.write("kept/file", "text").parent_path(), place / "link");
  }
  EXPECT_FALSE(place.empty() || fs::exists(place));
  EXPECT_TRUE(fs::exists(beside.path() / "kept/file"));
}

}  // namespace
}  // namespace roofwalk
