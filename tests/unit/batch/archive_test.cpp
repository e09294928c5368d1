#include "grader/batch/archive.h"

#include <gtest/gtest.h>

#include "grader/course.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

const std::vector<ArchiveFile> kFiles = {{"setup.sh", "#!/bin/sh\n", true},
                                         {"deep/er/\xc3\xa4.txt", std::string(100'000, 'x'), false}};

TEST(Archives, AreReadAsTheyWereWritten) {
  const test::ScratchFolder folder;
  ASSERT_TRUE(write_archive(folder.path() / "a.zip", kFiles));
  const auto archive = Archive::open(folder.path() / "a.zip");
  ASSERT_TRUE(archive) << archive.error().text();
  ASSERT_EQ(archive->entries().size(), 2u);
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    EXPECT_EQ(archive->entries()[i].name, kFiles[i].name);
    const auto bytes = archive->read(archive->entries()[i], 1 << 20);
    ASSERT_TRUE(bytes);
    EXPECT_EQ(*bytes, kFiles[i].bytes);
  }
  EXPECT_FALSE(archive->read(archive->entries()[1], 99'999));
}

TEST(Archives, AreTheSameBytesEveryTime) {
  const test::ScratchFolder folder;
  ASSERT_TRUE(write_archive(folder.path() / "a.zip", kFiles));
  ASSERT_TRUE(write_archive(folder.path() / "b.zip", kFiles));
  EXPECT_EQ(file_text(folder.path() / "a.zip"), file_text(folder.path() / "b.zip"));
}

TEST(Archives, ThatAreDamagedAreErrorsNotCrashes) {
  const test::ScratchFolder folder;
  ASSERT_TRUE(write_archive(folder.path() / "a.zip", kFiles));
  const std::string whole = file_text(folder.path() / "a.zip");
  for (std::size_t cut = 7; cut < whole.size(); cut += 7) {
    const auto archive = Archive::in_memory(whole.substr(0, cut));
    EXPECT_FALSE(archive) << cut;  // the directory stands at the end
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x41);
    const auto archive = Archive::in_memory(bytes);
    if (!archive) continue;
    for (const ArchiveEntry& entry : archive->entries()) {
      const auto read = archive->read(entry, 1 << 20);
      if (!read || entry.name != kFiles[0].name) continue;  // the sum told it
      EXPECT_EQ(*read, kFiles[0].bytes) << at;
    }
  }
}

// In the list of entries: the name and the flag that says it is UTF-8.
TEST(Archives, OneOddNameRefusesNothing) {
  const test::ScratchFolder folder;
  for (const std::string name : {"\x01", "\xff"}) {
    ASSERT_TRUE(write_archive(folder.path() / "a.zip", {{"\xc3\xa4?.txt", "one"}, {"b.txt", "two"}}));
    std::string bytes = file_text(folder.path() / "a.zip");
    const std::size_t at = bytes.rfind("\xc3\xa4?.txt");
    ASSERT_NE(bytes[at - 46 + 9] & 0x08, 0);
    bytes[at + 2] = name[0];
    std::ofstream(folder.path() / "odd.zip", std::ios::binary) << bytes;
    for (const auto& archive : {Archive::open(folder.path() / "odd.zip"), Archive::in_memory(bytes)}) {
      ASSERT_TRUE(archive) << archive.error().text();
      ASSERT_EQ(archive->entries().size(), 2u);
      EXPECT_EQ(*archive->read(archive->entries()[0], 10), "one");
      EXPECT_EQ(*archive->read(archive->entries()[1], 10), "two");
      if (name == "\x01") {
        EXPECT_EQ(archive->entries()[0].name, "\xc3\xa4\x01.txt");
      }
    }
  }
}

}  // namespace
}  // namespace roofwalk
