// Attacks in hand-ins: on the grader's run time and memory, on others' places, on paths outside the hand-in.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>

#include "grader/class/hand_ins/hand_in.h"
#include "tests/support/collecting.h"
#include "tests/support/zip_of_many.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HostileHandIns : public test::Collecting {};

TEST_F(HostileHandIns, ABombInAZipIsNotUnpacked) {
  folder_.write("c/alice.zip", zip_of({{"vector-add.cu", std::string(65u << 20, 'x')}}));
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), IsEmpty());
  EXPECT_THAT(left_out(handed), ElementsAreArray({"c/alice.zip/vector-add.cu: is larger than 1048576 bytes"}));
}

// Each entry refers to the same 65 MiB and cannot be read.
TEST_F(HostileHandIns, AFileThatCannotBeReadIsNotFree) {
  const auto name = [](std::size_t i) { return std::to_string(i) + "/vector-add.cu"; };
  folder_.write("c/eve.zip", test::zip_of_many(200, name, std::string(65u << 20, 'x')));
  folder_.write("c/ada/vector-add.cu", "A");
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), ElementsAreArray({"ada vector-add c/ada/vector-add.cu"}));
  EXPECT_THAT(left_out(handed), ::testing::Contains(HasSubstr(": holds 180 more files that are not read: reading stops "
                                                              "at 128 MiB, or after 20 files that cannot be read")));
  EXPECT_LE(handed.left_out.size(), 12u);
}

// One of Eve's zips has too many entries, the other too many names with equal hashes, each of which libzip would
// compare with all others. libzip must open neither.
TEST_F(HostileHandIns, AZipOfTooManyEntriesIsNotOpened) {
  const auto name = [](std::size_t i) {
    std::string text;
    for (int bit = 0; bit < 16; ++bit) text += (i >> bit & 1) != 0 ? "Ez" : "FY";
    return text;
  };
  const auto harmless = [](std::size_t i) { return std::to_string(i); };
  folder_.write("c/eve/1.zip", test::zip_of_many(kMostOwnEntries + 1, name, "x"));
  folder_.write("c/eve/2.zip", test::zip_of_many(kMostOwnEntries, name, "x"));
  folder_.write("c/eve/vector-add.cu", "E");
  for (int i = 0; i < 3; ++i)
    folder_.write("c/fay/" + std::to_string(i) + ".zip", test::zip_of_many(12'000, harmless, "x"));
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), ElementsAreArray({"eve vector-add c/eve/vector-add.cu"}));
  EXPECT_THAT(left_out(handed),
              ::testing::IsSupersetOf({HasSubstr("c/eve/1.zip: is a zip of more than 20000 entries, and is not opened"),
                                       HasSubstr("c/eve/2.zip: is a zip that has more than 500 file names with the"),
                                       HasSubstr("c/fay: holds 1 more zips than are opened")}));
}

TEST_F(HostileHandIns, OfManyFilesTheNewestAreGraded) {
  std::vector<ArchiveFile> copies;
  for (int i = 1; i <= 13; ++i) {
    copies.push_back({"vector-add-" + std::to_string(i) + ".cu", std::to_string(i), false, 1'600'000'000 + 100 * i});
  }
  copies.push_back({"tiled-gemm.cu", "T"});
  std::vector<ArchiveFile> in_folder = copies;
  for (ArchiveFile& file : in_folder) file.name = "ada/" + file.name;
  in_folder.push_back({"bob/vector-add.cu", "B"});
  folder_.write("c.zip", zip_of(in_folder));
  const Handed handed = collect_all(folder_.path() / "c.zip");
  EXPECT_THAT(lines(handed), ElementsAre("ada tiled-gemm c.zip/ada/tiled-gemm.cu", HasSubstr("vector-add-11.cu"),
                                         HasSubstr("vector-add-12.cu"), HasSubstr("vector-add-13.cu"),
                                         "bob vector-add c.zip/bob/vector-add.cu"));
  EXPECT_THAT(left_out(handed),
              ElementsAreArray({"c.zip/ada: holds more than is graded: of 13 files of vector-add the 3 newest: "
                                "vector-add-13.cu, vector-add-12.cu, vector-add-11.cu"}));
  // Within a student's zip, times do not tell which file is newest. The file named like the chapter is graded first.
  copies.push_back({"vector-add.cu", "the one"});
  folder_.write("z/ada.zip", zip_of(copies));
  EXPECT_THAT(lines(collect_all(folder_.path() / "z")), ::testing::Contains(HasSubstr("ada.zip/vector-add.cu")));
}

TEST_F(HostileHandIns, WhatCannotBeReadTakesNobodysPlace) {
  fs::create_directories(folder_.path() / "c/bob");
  for (const char* name : {"vector-add (1).cu", "vector-add (2).cu", "vector-add (3).cu"}) {
    const fs::path huge = folder_.write(fs::path("c/ada") / name, "");
    fs::resize_file(huge, (1u << 20) + 1);
  }
  const fs::path good = folder_.write("c/ada/vector-add.cu", "A");
  fs::last_write_time(good, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), ElementsAreArray({"ada vector-add c/ada/vector-add.cu"}));
  EXPECT_EQ(handed.left_out.size(), 3u);
}

TEST_F(HostileHandIns, OneStudentsJunkRefusesNobody) {
  std::vector<ArchiveFile> files = {{"ada/vector-add.cu", "A"}, {"eve/vector-add.cu", "E"}};
  std::vector<ArchiveFile> own = {{"vector-add.cu", "F"}};
  for (int i = 0; i < 19'990; ++i) {
    files.push_back({"eve/junk" + std::to_string(i), ""});
    own.push_back({"junk" + std::to_string(i), ""});
  }
  for (int i = 0; i < 100; ++i) files.push_back({"eve/x" + std::to_string(i) + ".cu", ""});
  files.push_back({"fay.zip", zip_of(own)});
  folder_.write("c.zip", zip_of(files));
  const Handed handed = collect_all(folder_.path() / "c.zip");
  EXPECT_THAT(lines(handed),
              ElementsAreArray({"ada vector-add c.zip/ada/vector-add.cu", "eve vector-add c.zip/eve/vector-add.cu",
                                "fay vector-add c.zip/fay.zip/vector-add.cu"}));
  EXPECT_LE(handed.left_out.size(), 12u);
  EXPECT_THAT(left_out(handed), ::testing::Contains("c.zip/eve: holds 90 more that are left out"));
}

TEST_F(HostileHandIns, NoZipOfAHandInIsPassedOver) {
  const std::string inner = zip_of({{"tiled-gemm.cu", "T"}});
  folder_.write("c/ada/vector-add.cu", "A");
  folder_.write("c/ada/deep/er/more.zip", inner);
  folder_.write("c/bob/1.zip", zip_of({{"2.zip", zip_of({{"3.zip", inner}})}, {"vector-add.cu", "B"}}));
  for (int i = 0; i < 12; ++i) folder_.write("c/cid/" + std::to_string(i) + ".zip", inner);
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_THAT(lines(handed), ::testing::Contains("ada tiled-gemm c/ada/deep/er/more.zip/tiled-gemm.cu"));
  EXPECT_THAT(left_out(handed),
              ::testing::Contains("c/bob/1.zip/2.zip/3.zip: is a zip in a zip in a zip, and is not opened"));
  EXPECT_THAT(left_out(handed), ::testing::Contains(HasSubstr("c/cid: holds 2 more zips than are opened: at most 10")));
}

// All paths with `..` are reported in one message, so that they do not use up the limited number of messages.
TEST_F(HostileHandIns, ManyWaysUpAreOneLine) {
  std::vector<ArchiveFile> files = {{"Jane_1_assignsubmission_file_/vector-add.cu", "A"}, {"vector-add.cu", "B"}};
  for (int i = 0; i < 40; ++i) files.push_back({"eve/../" + std::to_string(i) + "/vector-add.cu", "E"});
  const Handed handed = collect_all(folder_.write("c.zip", zip_of(files)));
  ASSERT_EQ(handed.left_out.size(), 5u);
  EXPECT_THAT(left_out(handed),
              ::testing::Contains(HasSubstr("c.zip/vector-add.cu: is next to the students' hand-ins")));
  EXPECT_THAT(left_out(handed),
              ::testing::Contains("c.zip: holds 37 more entries that lead out of their folders (`..`)"));
}

// A zip may have thousands of names of 64 KiB, since these compress to almost nothing. Each contains thousands of marks
// (such as `_assignsubmission_file`) at which the owner's name may end; the grader must not try them all.
TEST_F(HostileHandIns, LongNamesTakeNobodysTime) {
  std::string marks(30'000, 'a');
  marks += '\\';
  while (marks.size() < 65'000) marks += "_1_assignsubmission_file";
  const auto name = [&](std::size_t i) { return marks + std::to_string(i) + ".cu"; };
  std::string numbers;
  while (numbers.size() < 65'000) numbers += "_1_";
  const auto numbered = [&](std::size_t i) { return numbers + std::to_string(i) + ".cu"; };
  folder_.write("c/eve/more.zip", test::zip_of_many(20, name, "x"));
  folder_.write("c/eve/numbers.zip", test::zip_of_many(1000, numbered, "x"));
  folder_.write("c/eve/vector-add.cu", "E");
  folder_.write("c/ada/vector-add.cu", "A");
  const auto begin = std::chrono::steady_clock::now();
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  EXPECT_THAT(lines(handed),
              ElementsAreArray({"ada vector-add c/ada/vector-add.cu", "eve vector-add c/eve/vector-add.cu"}));
  EXPECT_THAT(left_out(handed),
              ::testing::UnorderedElementsAre(
                  "c/eve/more.zip: 20 files in it have names longer than 4096 bytes, and are not looked at",
                  HasSubstr("c/eve/numbers.zip: is a zip that has more than 2 MiB of file names")));
}

// What a group hands in takes no member's own files away, and is read once for all of them.
TEST_F(HostileHandIns, AGroupsSubmissionTakesNoRoomOfItsMembers) {
  std::string metadata =
      "submission_1:\n  :submitters:\n  - :name: M0\n    :email: m0@x.edu\n"
      "submission_2:\n  :submitters:\n";
  for (int i = 0; i < 12; ++i) metadata += fmt::format("  - :name: M{0}\n    :email: m{0}@x.edu\n", i);
  metadata += "  - :name: M1\n    :email: M1@x.edu\n";  // named twice
  folder_.write("c/submission_metadata.yml", metadata);
  folder_.write("c/submission_1/vector-add.cu", "ace");
  for (int i = 0; i < 4; ++i) folder_.write(fmt::format("c/submission_2/vector-add-{}.cu", i), std::to_string(i));
  folder_.write("c/submission_2/tiled-gemm.cu.txt", "?");
  folder_.write("c/submission_2/huge/tiled-gemm.zip", std::string(1000, 'x'));
  const fs::path own = folder_.path() / "c/submission_1/vector-add.cu";
  fs::last_write_time(own, fs::file_time_type::clock::now() - std::chrono::hours(1));
  std::size_t kept = 0;
  const auto handed = collect({folder_.path() / "c"}, {{"vector-add", "tiled-gemm"}},
                              [&](const std::string&, const std::string&) -> Status { return ++kept, kOk; });
  ASSERT_TRUE(handed) << handed.error().text();
  EXPECT_EQ(kept, 1 + kMostGraded);
  EXPECT_EQ(handed->students.size(), 12u);
  EXPECT_EQ(handed->submissions.size(), 1 + 12 * kMostGraded);
  EXPECT_THAT(lines(*handed), ::testing::Contains("M0 (m0@x.edu) vector-add c/submission_1/vector-add.cu"));
  for (int i = 0; i < 12; ++i) {
    const std::string student = fmt::format("M{0} (m{0}@x.edu)", i);
    std::size_t lines_about = 0;
    for (const LeftOut& out : handed->left_out) lines_about += out.student == student ? 1 : 0;
    EXPECT_EQ(lines_about, 3u) << student;  // too many files, one in a wrong form, a broken zip
  }
}

// Each link to a folder would be a line.
TEST_F(HostileHandIns, ManyLinksToFoldersAreCounted) {
  constexpr int kMany = 1000;
  folder_.write("c/ada/vector-add.cu", "A");
  folder_.write("c/eve/x/vector-add.cu", "E");
  for (int i = 0; i < kMany; ++i)
    fs::create_directory_symlink("/tmp",
                                 folder_.path() / "c/eve" / (i < kMany / 2 ? "" : "x") / fmt::format("link{:04}", i));
  for (const auto& handed :
       {collect_all(folder_.path() / "c"), collect_all({folder_.path() / "c/ada", folder_.path() / "c/eve"})}) {
    EXPECT_THAT(lines(handed),
                ElementsAreArray({"ada vector-add c/ada/vector-add.cu", "eve vector-add c/eve/x/vector-add.cu"}));
    ASSERT_EQ(handed.left_out.size(), 11u);
    EXPECT_EQ(left_out(handed).front(), "c/eve/link0000: is a link, and links are not followed");
    EXPECT_EQ(left_out(handed).back(), "c/eve: holds 990 more that are left out");
    EXPECT_GT(handed.left_out.back().handed_in_at_s, kHandedIn - 1'000'000'000);
  }
  const ChapterNames chapters(Wanted{{"vector-add"}});
  const Listing listing = list_folder(folder_.path() / "c", chapters);
  EXPECT_LE(listing.folders.at("eve").told.size(), 10u);
  EXPECT_LE(pile_of(list_folder(folder_.path() / "c/eve", chapters)).told.size(), 10u);
}

// A class's zip may contain names that are too long, too.
TEST_F(HostileHandIns, LongNamesInAClassAreToldOnce) {
  const auto name = [](std::size_t i) {
    return i == 0 ? "ada/vector-add.cu" : i == 1 ? "bob/vector-add.cu" : "eve/" + std::string(4093, 'x');
  };
  const Handed handed = collect_all(folder_.write("c.zip", test::zip_of_many(9, name, "x")));
  EXPECT_THAT(students(handed), ElementsAreArray({"ada", "bob"}));
  EXPECT_THAT(left_out(handed),
              ElementsAreArray({"c.zip: 7 files in it have names longer than 4096 bytes, and are not looked at"}));
}

// A student's zip that is too large is not opened, whether it is named alone or is found within a class.
TEST_F(HostileHandIns, AHugeZipAmongSeveralIsNotOpened) {
  const auto name = [](std::size_t i) {
    return i == 0 ? std::string("ada_7_8_vector-add.cu") : std::to_string(i) + std::string(65'000, '\xb0');
  };
  folder_.write("c/eve.zip", test::zip_of_many(1100, name, "x"));
  folder_.write("c/ada/vector-add.cu", "A");
  const Handed handed = collect_all({folder_.path() / "c/ada", folder_.path() / "c/eve.zip"});
  EXPECT_THAT(students(handed), ElementsAreArray({"ada", "eve"}));
  EXPECT_THAT(left_out(handed), ElementsAreArray({"c/eve.zip: is larger than 67108864 bytes"}));
  EXPECT_THAT(handed.told, IsEmpty());
}

// Peak memory and processor time of this process so far.
struct Taken {
  std::size_t most_bytes = 0;
  std::int64_t time_s = 0;
};

Taken taken() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return {static_cast<std::size_t>(usage.ru_maxrss) << 10, usage.ru_utime.tv_sec + usage.ru_stime.tv_sec};
}

// Whoever can write into a folder of the class, as on a shared disk, may replace a folder in it by a link to what only
// the instructor can read, between the look at it and the reading.
TEST_F(HostileHandIns, AFolderThatBecomesALinkShowsNothing) {
  folder_.write("solutions/vector-add.cu", "S");
  folder_.write("c/eve/work/vector-add.cu", "E");
  const Wanted wanted{{"vector-add"}};
  const Listing listing = list_class_folder(folder_.path() / "c", ChapterNames(wanted));
  const Found& file = listing.folders.at("eve").files.at(0);
  std::size_t cost = 0;
  EXPECT_EQ(*file.read(10, cost), "E");
  fs::rename(folder_.path() / "c/eve/work", folder_.path() / "c/eve/old");
  fs::create_directory_symlink(folder_.path() / "solutions", folder_.path() / "c/eve/work");
  EXPECT_FALSE(file.read(10, cost).ok());
  fs::remove_all(folder_.path() / "c/eve");
  fs::create_directory(folder_.path() / "solutions/work");
  folder_.write("solutions/work/vector-add.cu", "S");
  fs::create_directory_symlink(folder_.path() / "solutions", folder_.path() / "c/eve");
  EXPECT_FALSE(file.read(10, cost).ok());
}

// Thousands of names, each with a hundred folders, compress to a few kilobytes. Looking at them must not take much
// memory or time.
TEST_F(HostileHandIns, DeepFoldersTakeNobodysMemory) {
  std::string folders;
  while (folders.size() < 200) folders += "a/";
  const auto name = [&](std::size_t i) { return folders + std::to_string(i) + ".cu"; };
  const std::string many = test::zip_of_many(9000, name, "x");
  folder_.write("c/eve.zip", zip_of({{"1.zip", many}, {"2.zip", many}}));
  folder_.write("c/ada/vector-add.cu", "A");
  const Taken before = taken();
  const Handed handed = collect_all(folder_.path() / "c");
  EXPECT_LT(taken().most_bytes - before.most_bytes, 500u << 20);
  EXPECT_LT(taken().time_s - before.time_s, 8);
  EXPECT_THAT(lines(handed), ElementsAreArray({"ada vector-add c/ada/vector-add.cu"}));
  EXPECT_THAT(left_out(handed), ::testing::Contains(HasSubstr("holds 8000 more files than are looked at")));
}

}  // namespace
}  // namespace roofwalk
