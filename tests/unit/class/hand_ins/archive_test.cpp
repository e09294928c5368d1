#include "grader/class/hand_ins/archive.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>

#include "common/base/rng.h"
#include "grader/class/hand_ins/found_file.h"
#include "grader/class/hand_ins/zip/zip_cost.h"
#include "grader/course/course.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/zip_of_many.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

const std::vector<ArchiveFile> kFiles = {{"setup.sh", "#!/bin/sh\n", true},
                                         {"deep/er/\xc3\xa4.txt", std::string(100'000, 'x'), false}};

TEST(Archives, AreReadAsTheyWereWritten) {
  const test::ScratchFolder folder;
  ASSERT_TRUE(write_archive(folder.path() / "a.zip", kFiles));
  const auto archive = Archive::open(folder.path() / "a.zip");
  ASSERT_TRUE(archive) << archive.error().text();
  ASSERT_EQ(archive->entries().size(), 2u);
  std::size_t cost_bytes = 0;
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    EXPECT_EQ(archive->entries()[i].name, kFiles[i].name);
    const auto bytes = archive->read(archive->entries()[i], 1 << 20, cost_bytes);
    ASSERT_TRUE(bytes);
    EXPECT_EQ(*bytes, kFiles[i].bytes);
  }
  EXPECT_GT(cost_bytes, 100'000u);
  cost_bytes = 0;
  EXPECT_FALSE(archive->read(archive->entries()[1], 99'999, cost_bytes));
  EXPECT_GT(cost_bytes, 99'999u);  // a failed read costs its bytes, too
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
    EXPECT_FALSE(archive) << cut;  // the directory of entries is at the end
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x41);
    const auto archive = Archive::in_memory(bytes);
    if (!archive) continue;
    for (const ArchiveEntry& entry : archive->entries()) {
      std::size_t cost_bytes = 0;
      const auto read = archive->read(entry, 1 << 20, cost_bytes);
      if (!read || entry.name != kFiles[0].name) continue;  // the checksum revealed the damage
      EXPECT_EQ(*read, kFiles[0].bytes) << at;
    }
  }
}

// In the list of entries, a name gets a control character, or a byte that is not UTF-8 although the entry's flag says
// that the name is.
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
      std::size_t cost_bytes = 0;
      EXPECT_EQ(*archive->read(archive->entries()[0], 10, cost_bytes), "one");
      EXPECT_EQ(*archive->read(archive->entries()[1], 10, cost_bytes), "two");
      if (name == "\x01") {
        EXPECT_EQ(archive->entries()[0].name, "\xc3\xa4\x01.txt");
      }
    }
  }
}

// The zip's entry count, of 16 bits or in zip64, may be forged and too small. libzip reads all entries that follow, so
// the limit must hold for these.
TEST(Archives, OfTooManyEntriesAreNotOpened) {
  const test::ScratchFolder folder;
  const auto name = [](std::size_t i) { return std::to_string(i); };
  constexpr std::size_t kMany = kMostOwnEntries + 1;
  for (const test::SaidCount said : {test::SaidCount::modulo, test::SaidCount::in_64_bits}) {
    const auto fits = Archive::in_memory(test::zip_of_many(kMostOwnEntries, name, "x", said));
    ASSERT_TRUE(fits) << fits.error().text();
    EXPECT_EQ(fits->entries().size(), kMostOwnEntries);
    const std::string bytes = test::zip_of_many(kMany, name, "x", said);
    const fs::path file = folder.write("many.zip", bytes);
    for (const auto& archive : {Archive::in_memory(bytes), Archive::open(file, kMostOwnEntries)}) {
      ASSERT_FALSE(archive);
      EXPECT_EQ(archive.error().message, "is a zip of more than 20000 entries, and is not opened");
    }
    EXPECT_TRUE(Archive::open(file));
  }
  // Here the count claims 60,000,000,000 entries, for which libzip would allocate memory.
  std::string bytes = test::zip_of_many(1, name, "x", test::SaidCount::in_64_bits);
  for (const std::size_t at : {24, 32}) bytes[bytes.rfind("PK\6\6") + at + 4] = 14;
  EXPECT_FALSE(Archive::in_memory(bytes));
}

// libzip compares each name with all names of the same hash. If the names share a long prefix, that takes very long.
TEST(Archives, NamesThatAreMadeToCollideAreNotOpened) {
  const auto colliding = [](std::size_t i) {
    std::string text;
    for (int bit = 0; bit < 16; ++bit) text += (i >> bit & 1) != 0 ? "Ez" : "FY";
    return text;
  };
  const auto expect_refused = [](const std::string& zip, const char* why) {
    const auto begin = std::chrono::steady_clock::now();
    const auto archive = Archive::in_memory(zip);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1)) << why;
    ASSERT_FALSE(archive) << why;
    EXPECT_THAT(archive.error().message, HasSubstr(why));
  };
  expect_refused(test::zip_of_many(
                     kMostOwnEntries, [](std::size_t i) { return std::string(3150, 'q') + std::to_string(i); }, "x"),
                 "is a zip that has more than 2 MiB of file names, and is not opened");
  expect_refused(test::zip_of_many(
                     kMostOwnEntries, [&](std::size_t i) { return std::string(60, 'q') + colliding(i); }, "x"),
                 "has more than 500 file names with the same hash");
  expect_refused(test::zip_of_many(
                     kMostOwnEntries, [&](std::size_t i) { return "\x01" + colliding(i); }, "x"),
                 "has more than 500 file names with the same hash");
  // Ordinary names of a large project, and names that are not UTF-8.
  for (const char* project : {"project", "\x84"}) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(Archive::in_memory(test::zip_of_many(
        kMostOwnEntries, [&](std::size_t i) { return fmt::format("{}/build/lib/{}/Data.h", project, i); }, "x")));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  }
}

// libzip converts a name that is not UTF-8 before it takes the hash.
TEST(Archives, OldNamesAreReadAsLibzipReadsThem) {
  std::string name;
  for (int byte = 1; byte < 0x100; ++byte) {
    if (byte != '/') name += static_cast<char>(byte);
  }
  const auto archive = Archive::in_memory(test::zip_of_many(
      1, [&](std::size_t) { return name; }, "x"));
  ASSERT_TRUE(archive) << archive.error().text();
  EXPECT_EQ(archive->entries()[0].name, from_code_page_437(name));
}

// A class's zip holds names that its students chose.
TEST(Archives, NamesOfAClassThatAreMadeToCollideAreNotOpened) {
  const test::ScratchFolder folder;
  const auto colliding = [](std::size_t i) {
    std::string text;
    for (int bit = 0; bit < 16; ++bit) text += (i >> bit & 1) != 0 ? "Ez" : "FY";
    return text;
  };
  const auto open = [&](std::size_t count, const std::function<std::string(std::size_t)>& name) {
    const fs::path file = folder.write("c.zip", test::zip_of_many(count, name, "x"));
    const auto begin = std::chrono::steady_clock::now();
    auto archive = Archive::open(file);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2)) << name(0);
    return archive;
  };
  const std::string long_folder = "eve/" + std::string(200, 'q');
  // In libzip's eyes, the byte 0x84 is a letter of the code page 437, and U+00E4 in UTF-8.
  for (const std::string& begin : {std::string("eve/"), long_folder, "eve/\x84" + std::string(100, 'q')}) {
    const auto archive = open(8000, [&](std::size_t i) { return begin + colliding(i); });
    ASSERT_FALSE(archive);
    EXPECT_EQ(archive.error().message,
              "is a zip that has more than 500 file names with the same hash, and is not opened");
    EXPECT_EQ(archive.error().advice, "unpack it and name the folder");
  }
  // The hashes of these names are equal only after libzip has converted 0x84 and 0x86 to UTF-8.
  const auto archive = open(8000, [](std::size_t i) {
    std::string text = "eve/";
    for (int bit = 0; bit < 13; ++bit) text += (i >> bit & 1) != 0 ? "\x84z" : "\x86Y";
    return text;
  });
  EXPECT_FALSE(archive);
  // Honest classes: 500 students with 20 files each, in UTF-8 or in the encoding of an old program, and the largest.
  const auto honest = [](const std::string& student) {
    return [student](std::size_t i) {
      return student + std::to_string(i / 20) + "_481_assignsubmission_file_/project/src/File" + std::to_string(i % 20);
    };
  };
  EXPECT_TRUE(open(10'000, honest("Doe Jane ")));
  EXPECT_TRUE(open(10'000, honest("M\x81ller ")));
  EXPECT_TRUE(open(kMostClassEntries, honest("M\xc3\xbcller ")));
}

// Entries as other programs, or hands, make them. What the list of entries says of one counts, not its own header.
TEST(Archives, EntriesOfEveryMakeAreReadOrAreErrors) {
  const test::ScratchFolder folder;
  ASSERT_TRUE(write_archive(folder.path() / "a.zip", {{"eve.cu_txt", "one"}}));
  const std::string whole = file_text(folder.path() / "a.zip");
  const std::size_t own = whole.find("PK\3\4"), head = whole.rfind("PK\1\2");
  const auto with = [&](const std::vector<std::pair<std::size_t, std::string>>& changes) {
    std::string bytes = whole;
    for (const auto& [at, text] : changes) bytes.replace(at, text.size(), text);
    auto archive = Archive::in_memory(bytes);
    EXPECT_TRUE(archive) << archive.error().text();
    EXPECT_EQ(archive->entries().size(), 1u);
    return *std::move(archive);
  };
  const auto read = [](const Archive& archive) {
    std::size_t cost_bytes = 0;
    return archive.read(archive.entries().front(), 10, cost_bytes);
  };
  const std::string described("\x08\0", 2), encrypted("\x01\0", 2), zeros(12, '\0');
  EXPECT_EQ(read(with({{own + 6, described}, {head + 8, described}, {own + 14, zeros}})).value(), "one");
  EXPECT_FALSE(read(with({{own + 6, encrypted}, {head + 8, encrypted}})));
  const Archive other_name = with({{own + 30, "/etc/../up"}});
  EXPECT_EQ(other_name.entries().front().name, "eve.cu_txt");
  EXPECT_EQ(read(other_name).value(), "one");
  const std::string cut("eve.cu\0txt", 10);
  EXPECT_FALSE(is_source(with({{own + 30, cut}, {head + 46, cut}}).entries().front().name));
  for (const char* const system : {"\x03", "\x13"}) {  // Unix and macOS
    const Archive link = with({{head + 5, system}, {head + 38, test::little_endian(std::uint64_t{0120777} << 16, 4)}});
    EXPECT_EQ(link.entries().front().kind, ArchiveEntry::Kind::link);
  }
  const auto same = Archive::in_memory(test::zip_of_many(
      3, [](std::size_t) { return "eve.cu"; }, "one"));
  ASSERT_TRUE(same) << same.error().text();
  EXPECT_EQ(same->entries().size(), 3u);
}

// libzip allocates memory for each extra field of an entry, so a zip of many tiny fields could cost gigabytes.
TEST(Archives, ExtraFieldsAreLimited) {
  std::string fields;
  while (fields.size() < 65'000) fields += "\x99\x99" + test::little_endian(1, 2) + "a";
  const auto with = [&](std::size_t count) {
    std::string bytes = test::zip_of_many(
        1, [](std::size_t) { return "x"; }, "x");
    const std::size_t list = bytes.rfind("PK\1\2"), end = bytes.rfind("PK\5\6");
    std::string head = bytes.substr(list, 46).replace(30, 2, test::little_endian(fields.size(), 2)), all;
    for (std::size_t i = 0; i < count; ++i) all += head + "x" + fields;
    const std::string here = test::little_endian(count, 2);
    return bytes.substr(0, list) + all + bytes.substr(end, 8) + here + here + test::little_endian(all.size(), 4) +
           test::little_endian(list, 4) + test::little_endian(0, 2);
  };
  EXPECT_TRUE(Archive::in_memory(with(10)));
  const auto archive = Archive::in_memory(with(100));
  ASSERT_FALSE(archive);
  EXPECT_THAT(archive.error().message, HasSubstr("has more than 4 MiB of extra fields, and is not opened"));
}

// A download was cut off. Before the cut are a learner's stored bytes that look like the end of an empty archive. The
// class must not seem empty.
TEST(Archives, ACutDownloadIsNoEmptyClass) {
  const test::ScratchFolder folder;
  const std::string empty_end = "PK\5\6" + std::string(18, '\0');
  EXPECT_TRUE(Archive::in_memory(empty_end));
  for (const std::size_t behind : {0u, 1u, 64u, 65u, 3000u}) {
    const std::string bytes = "PK\3\4" + std::string(3000, 'x') + empty_end + std::string(behind, 'x');
    EXPECT_FALSE(Archive::in_memory(bytes)) << behind;
  }
  ASSERT_TRUE(write_archive(folder.path() / "a.zip", kFiles));
  const std::string whole = file_text(folder.path() / "a.zip");
  EXPECT_TRUE(Archive::in_memory(whole + "\r\n"));
  EXPECT_FALSE(Archive::in_memory(whole + std::string(1000, 'x')));
  EXPECT_FALSE(Archive::in_memory(std::string(1000, 'x') + whole));
}

TEST(Archives, OneListOfEntriesCounts) {
  std::string bytes = test::zip_of_many(
      1000, [](std::size_t i) { return std::to_string(i); }, "x");
  const std::string end = bytes.substr(bytes.rfind("PK\5\6"));
  bytes.replace(bytes.size() - 2, 2, test::little_endian(2900 * end.size(), 2));
  for (int i = 0; i < 2900; ++i) bytes += end;
  const auto archive = Archive::in_memory(bytes);
  ASSERT_TRUE(archive) << archive.error().text();
  EXPECT_EQ(archive->entries().size(), 1000u);
}

// One file's bytes look like the end of an archive with no entries, or with very many. Another file's name makes libzip
// refuse the true directory and search for another one.
TEST(Archives, NobodysBytesAreTheListOfAll) {
  const std::string empty = "PK\5\6" + std::string(18, '\0');
  const std::string many =
      "PK\6\7" + test::little_endian(0, 4) + test::little_endian(200, 8) + test::little_endian(1, 4) + empty;
  const test::ScratchFolder folder;
  Rng rng(1, "archive");
  for (const std::string& planted : {empty, many}) {
    for (const bool is_odd : {false, true}) {
      std::string noise(6000, '\0');
      for (char& c : noise) c = static_cast<char>(rng.next());
      noise.insert(3000, planted);
      ASSERT_TRUE(write_archive(folder.path() / "a.zip",
                                {{"ada.cu", "one"}, {"\xc3\xa4?.txt", ""}, {"notes.png", noise}, {"bob.cu", "two"}}));
      std::string bytes = file_text(folder.path() / "a.zip");
      ASSERT_NE(bytes.find(planted), std::string::npos);  // incompressible bytes are stored unchanged
      if (is_odd) bytes[bytes.rfind("\xc3\xa4?.txt") + 2] = '\1';
      std::ofstream(folder.path() / "b.zip", std::ios::binary) << bytes;
      for (const auto& archive : {Archive::open(folder.path() / "b.zip"), Archive::in_memory(bytes)}) {
        ASSERT_TRUE(archive) << archive.error().text();
        ASSERT_EQ(archive->entries().size(), 4u);
        std::size_t cost_bytes = 0;
        EXPECT_EQ(*archive->read(archive->entries()[2], 1 << 20, cost_bytes), noise);
        EXPECT_EQ(*archive->read(archive->entries()[3], 1 << 20, cost_bytes), "two");
      }
    }
  }
}

// Two bytes follow the archive. A file in the archive contains a forged end record, whose comment length reaches
// exactly to the end of these two bytes.
TEST(Archives, WhatIsLeftBehindMakesNoFileTheEnd) {
  const std::string planted = "PK\5\6" + std::string(18, '\0');
  Rng rng(1, "behind");
  std::string noise(6000, '\0');
  for (char& c : noise) c = static_cast<char>(rng.next());
  noise.insert(3000, planted);
  const test::ScratchFolder folder;
  ASSERT_TRUE(write_archive(folder.path() / "a.zip", {{"ada.cu", "one"}, {"notes.png", noise}}));
  std::string bytes = file_text(folder.path() / "a.zip") + "\r\n";
  const std::size_t at = bytes.find(planted);
  ASSERT_NE(at, std::string::npos);  // incompressible bytes are stored unchanged
  bytes.replace(at + 20, 2, test::little_endian(bytes.size() - at - planted.size(), 2));
  const auto archive = Archive::in_memory(bytes);
  ASSERT_TRUE(archive) << archive.error().text();
  EXPECT_EQ(archive->entries().size(), 2u);
}

// libzip looks for the zip64 locator right before the end record, where the directory's last entry ends. The name of
// that entry looks like a locator, alone or together with the time field behind it, and may even point to a record
// inside a file.
TEST(Archives, TheLastNameIsNoRecord) {
  const std::string locator = "PK\6\7", field = "UT" + test::little_endian(5, 2) + "\1wxyz";
  Rng rng(1, "record");
  std::string noise(3000, '\0');
  for (char& c : noise) c = static_cast<char>(rng.next());
  noise += "PK\6\6" + test::little_endian(44, 8) + std::string(44, '\0');
  const auto expect_both = [](const std::string& bytes, const std::string& last, const std::string& file) {
    const auto archive = Archive::in_memory(bytes);
    ASSERT_TRUE(archive) << archive.error().text();
    ASSERT_EQ(archive->entries().size(), 2u);
    EXPECT_TRUE(archive->entries()[1].name.starts_with(last)) << archive->entries()[1].name;
    std::size_t cost_bytes = 0;
    for (const ArchiveEntry& entry : archive->entries()) EXPECT_EQ(*archive->read(entry, 1 << 20, cost_bytes), file);
  };
  const auto zip_with = [](const std::string& last, const std::string& file) {
    return test::zip_of_many(
        2, [&](std::size_t i) { return i == 0 ? "ada.cu" : last; }, file);
  };
  const std::string whole = "eve/" + locator + "AAAABBBBBBBBCCCC", part = "eve/" + locator + "AAAABBB";
  expect_both(zip_with(whole, "x"), whole, "x");
  std::string timed = zip_with(part, "x");
  const std::size_t end = timed.rfind("PK\5\6"), head = timed.rfind("PK\1\2"), list = timed.find("PK\1\2");
  timed.replace(end + 12, 4, test::little_endian(end + field.size() - list, 4));
  timed.insert(end, field);
  timed.replace(head + 30, 2, test::little_endian(field.size(), 2));
  expect_both(timed, part, "x");
  const std::size_t record = zip_with(part, noise).find("PK\6\6");
  ASSERT_NE(record, std::string::npos);  // incompressible bytes are stored unchanged
  const std::string telling =
      "eve/" + locator + test::little_endian(0, 4) + test::little_endian(record, 8) + test::little_endian(1, 4);
  expect_both(zip_with(telling, noise), "eve/PK", noise);
}

// Writes the archive behind `by` other bytes in a file, with its offsets adapted, and returns the path.
fs::path moved(const test::ScratchFolder& folder, std::string bytes, std::size_t by) {
  const std::size_t end = bytes.rfind("PK\5\6"), list = bytes.find("PK\1\2");
  const auto move = [&](std::size_t at) {
    std::size_t value = by;
    for (std::size_t i = 0; i < 4; ++i) value += std::size_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    bytes.replace(at, 4, test::little_endian(value, 4));
  };
  for (std::size_t at = list; at < end; at = std::min(bytes.find("PK\1\2", at + 4), end)) move(at + 42);
  move(end + 16);
  std::ofstream out(folder.path() / "moved.zip", std::ios::binary);
  out.seekp(static_cast<std::streamoff>(by));
  out << bytes;
  return folder.path() / "moved.zip";
}

// The bytes of an offset in the archive may happen to equal the signature of an end record.
TEST(Archives, ANumberIsNoRecord) {
  constexpr std::size_t kMark = 0x06054b50;  // "PK\5\6"
  const test::ScratchFolder folder;
  ASSERT_TRUE(write_archive(folder.path() / "a.zip", {{"ada.cu", "one"}, {"bob.cu", "two"}, {"eve.cu", "three"}}));
  const std::string bytes = file_text(folder.path() / "a.zip");
  for (const char* what : {"PK\3\4", "PK\1\2"}) {
    const std::size_t second = bytes.find(what, bytes.find(what) + 1), first = bytes.find(what);
    for (const std::size_t at : {first, second}) {
      const auto archive = Archive::open(moved(folder, bytes, kMark - at));
      ASSERT_TRUE(archive) << archive.error().text();
      ASSERT_EQ(archive->entries().size(), 3u);
      std::size_t cost_bytes = 0;
      EXPECT_EQ(archive->read(archive->entries()[0], 10, cost_bytes).value(), "one");
      EXPECT_EQ(archive->read(archive->entries()[1], 10, cost_bytes).value(), "two");
      EXPECT_EQ(archive->read(archive->entries()[2], 10, cost_bytes).value(), "three");
    }
  }
}

TEST(Archives, BeyondFourGigabytesAreRead) {
  const test::ScratchFolder folder;
  ASSERT_TRUE(write_archive(folder.path() / "a.zip", kFiles));
  const std::string bytes = file_text(folder.path() / "a.zip");
  const std::size_t list = bytes.find("PK\1\2"), size = bytes.rfind("PK\5\6") - list, place = 5'000'000'000;
  const std::string none = test::little_endian(0xffffffff, 4);
  std::ofstream out(folder.path() / "large.zip", std::ios::binary);
  out << bytes.substr(0, list);
  out.seekp(place);
  out << bytes.substr(list, size) << "PK\6\6" << test::little_endian(44, 8) << test::little_endian(45, 2)
      << test::little_endian(45, 2) << test::little_endian(0, 8) << test::little_endian(2, 8)
      << test::little_endian(2, 8) << test::little_endian(size, 8) << test::little_endian(place, 8);
  out << "PK\6\7" << test::little_endian(0, 4) << test::little_endian(place + size, 8) << test::little_endian(1, 4);
  out << "PK\5\6" << test::little_endian(0, 4) << test::little_endian(2, 2) << test::little_endian(2, 2) << none << none
      << test::little_endian(0, 2);
  out.close();
  const auto archive = Archive::open(folder.path() / "large.zip");
  ASSERT_TRUE(archive) << archive.error().text();
  ASSERT_EQ(archive->entries().size(), 2u);
  std::size_t cost_bytes = 0;
  EXPECT_EQ(archive->read(archive->entries()[1], 1 << 20, cost_bytes).value(), kFiles[1].bytes);
}

// An extra field in the directory gives an entry's time in UTC. Without it, the time counts as one in this computer's
// time zone.
TEST(Archives, TimesAreThoseOfTheWorldWhereTheyAreTold) {
  const test::ScratchFolder folder;
  ASSERT_TRUE(write_archive(folder.path() / "a.zip", {{"x", "one"}}));
  std::string bytes = file_text(folder.path() / "a.zip");
  const std::size_t head = bytes.rfind("PK\1\2"), end = bytes.rfind("PK\5\6");
  const std::size_t more = bytes[head + 30] + bytes[head + 31];  // length of the other fields
  const std::string field = "UT" + test::little_endian(5, 2) + "\1" + test::little_endian(1'700'000'001, 4);
  bytes.replace(end + 12, 4, test::little_endian(end - head + field.size(), 4));
  bytes.insert(head + 46 + 1 + more, field);
  bytes.replace(head + 30, 2, test::little_endian(more + field.size(), 2));
  const auto archive = Archive::in_memory(bytes);
  ASSERT_TRUE(archive) << archive.error().text();
  ASSERT_EQ(archive->entries().size(), 1u);
  EXPECT_EQ(archive->entries()[0].written_at_s, 1'700'000'001);
}

TEST(Archives, APipeIsNone) {
  const test::ScratchFolder folder;
  ASSERT_EQ(::mkfifo((folder.path() / "a.zip").c_str(), 0600), 0);
  EXPECT_THAT(Archive::open(folder.path() / "a.zip").error().message, HasSubstr("is not a regular file"));
}

}  // namespace
}  // namespace roofwalk
