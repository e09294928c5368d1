// Names that Canvas writes into its zips: whose file each is, whether it is late, and what no name may pretend.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "grader/class/hand_ins/archive.h"
#include "tests/support/collecting.h"
#include "tests/support/zip_of_many.h"

namespace roofwalk {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// owners() packs files with these names into one zip, and returns each submission in it as "student id mark".
class CanvasZips : public test::Collecting {
 protected:
  std::vector<std::string> owners(const std::vector<std::string>& names) {
    std::vector<ArchiveFile> files;
    for (const std::string& name : names) files.push_back({name, "of " + name});
    handed_ = collect_all(folder_.write("c.zip", zip_of(files)));
    std::erase_if(handed_.told, [](const std::string& line) {
      return line.starts_with("c.zip is treated as a class of ");  // because it is small
    });
    std::vector<std::string> all;
    for (const Submission& s : handed_.submissions) {
      all.push_back(fmt::format("{} {} {}", s.owner.student, s.owner.lms_id,
                                s.owner.mark == LateMark::none      ? "-"
                                : s.owner.mark == LateMark::on_time ? "on time"
                                                                    : "late"));
    }
    return all;
  }
  Handed handed_;
};

// In a group assignment, Canvas puts the group's name into file names. Its members choose it, so it may contain
// numbers.
TEST_F(CanvasZips, AGroupsNameTakesNobodysNumber) {
  EXPECT_THAT(owners({"doejane_12_345_vector-add.cu", "x_12_13_346_vector-add.cu", "team_5_21_355_vector-add.cu",
                      "smith_5_356_vector-add.cu", "lab_late_30_357_vector-add.cu"}),
              ElementsAreArray({"doejane (12) 12 on time", "lab (30) 30 late", "smith (5) 5 on time",
                                "team_5 (21) 21 on time", "x_12 (13) 13 on time"}));
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("lab_late_30_357_vector-add.cu has `late` in lower case")));
  // The second file may be file 346 of doejane (12) or file 347 of a person doejane_12 (346). So it gets a row of its
  // own, and 346 identifies nobody.
  EXPECT_THAT(owners({"doejane_12_345_vector-add.cu", "doejane_12_346_347_vector-add.cu"}),
              ElementsAreArray({"doejane (12) 12 on time", "doejane_12_346  on time"}));
  EXPECT_THAT(handed_.told,
              ElementsAreArray({"c.zip/doejane_12_346_347_vector-add.cu can be read as doejane (12)'s or as "
                                "doejane_12 (346)'s: which one is unclear, so it has a row of its own"}));
  // Numbers after Canvas' own are recognized as parts of the learner's file name if they have fewer digits than Canvas'
  // numbers, begin with 0 or follow a capital letter.
  EXPECT_THAT(owners({"doejane_12_345_1_vector-add.cu", "roe_13_348_vector-add.cu", "fay_14_349_01_vector-add.cu",
                      "gil_15_350_My_400_500_vector-add.cu"}),
              ElementsAreArray(
                  {"doejane (12) 12 on time", "fay (14) 14 on time", "gil (15) 15 on time", "roe (13) 13 on time"}));
  EXPECT_THAT(handed_.told, IsEmpty());
  EXPECT_THAT(owners({"doejane_12_345_1_vector-add.cu"}), ElementsAreArray({"doejane (12) 12 on time"}));
  // A number that occurs in two names need not be a person's, because any learner can cause that.
  EXPECT_THAT(owners({"team_5_21_355_vector-add.cu", "team_5_21_356_tiled-gemm.cu"}),
              ElementsAreArray({"team_5_21  on time", "team_5_21  on time"}));
}

// On a young Canvas, people's numbers are as long as files'. Mallory, number 3020, has a name that ends with Bob's
// name and number, and her file's number is far from the others'.
TEST_F(CanvasZips, OnAYoungCanvasNoFileIsTakenForAnothers) {
  std::vector<std::string> names = {"ada_2811_3001_vector-add.cu", "bob_2815_3012_vector-add.cu",
                                    "carl_2820_3019_vector-add.cu", "dora_2830_3031_vector-add.cu",
                                    "eve_2840_3040_vector-add.cu"};
  for (const char* file : {"4500", "2012"}) {
    std::vector<std::string> all = names;
    all.push_back(fmt::format("bob_2815_3020_{}_vector-add.cu", file));
    EXPECT_THAT(owners(all),
                ElementsAreArray({"ada (2811) 2811 on time", "bob (2815) 2815 on time", "bob_2815_3020  on time",
                                  "carl (2820) 2820 on time", "dora (2830) 2830 on time", "eve (2840) 2840 on time"}));
    EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("which one is unclear, so it has a row of its own")));
  }
}

// Eve has a name on Canvas that begins with Ada's name and number. No number that a learner puts into a file name may
// make the grader take Eve's file for Ada's.
TEST_F(CanvasZips, NoNameOfAFileRulesOutWhatCanvasWrote) {
  const std::string ada = "lovelaceada_48101_7712391_vector-add.cu", sam = "sam_48200_7712300_vector-add.cu";
  const std::string eve = "lovelaceada_48101_7712392_b";
  // The number of Eve's file occurs again in the learner's part of a name: her own or a friend's.
  EXPECT_THAT(owners({ada, sam, eve + "_LATE_48103_7712393_7712393_7712393_vector-add.cu"}),
              ElementsAreArray({"lovelaceada (48101) 48101 on time", "lovelaceada_48101_7712392_b_48103  late",
                                "sam (48200) 48200 on time"}));
  EXPECT_THAT(owners({ada, sam, eve + "_48103_7712393_vector-add.cu", "fay_48104_7712399_5_7712393_vector-add.cu"}),
              ElementsAreArray({"fay (48104) 48104 on time", "lovelaceada (48101) 48101 on time",
                                "lovelaceada_48101_7712392_b_48103  on time", "sam (48200) 48200 on time"}));
  // Eve's name contains more numbers than the grader examines.
  EXPECT_THAT(owners({ada, sam, "lovelaceada_48101_7712392_01_02_03_04_05_06_07_08b_LATE_48103_7712393_vector-add.cu"}),
              ElementsAre("lovelaceada (48101) 48101 on time", HasSubstr("  late"), "sam (48200) 48200 on time"));
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("so it has a row of its own")));
}

// In a quiz's file name, the number directly follows the name. Eve's name contains Ada's name and number and ends with
// digits.
TEST_F(CanvasZips, NoDigitsOfANameRuleOutAQuizsNumber) {
  for (const char* eve :
       {"lovelace_ada48101_question_700_7712392_x048103", "lovelace_ada48101_question_700_7712392_x99948103"}) {
    EXPECT_THAT(
        owners({"lovelace_ada48101_question_700_7712391_vector-add.cu", "sam_s48200_question_700_7712300_vector-add.cu",
                std::string(eve) + "_question_700_7712393_vector-add.cu"}),
        ElementsAre("lovelace_ada (48101) Unproven 48101 -", HasSubstr("  -"), "sam_s (48200) Unproven 48200 -"));
    EXPECT_THAT(handed_.told, Contains(HasSubstr("so it has a row of its own")));
  }
}

TEST_F(CanvasZips, WhoeverHandsInManyOpenNamesHasFewRows) {
  std::vector<std::string> names = {"sam_48200_7712300_vector-add.cu"};
  for (int i = 10; i < 40; ++i) names.push_back(fmt::format("doeeve_48103_77123{0}_483{0}_77125{0}_vector-add.cu", i));
  owners(names);
  EXPECT_LE(handed_.students.size(), 6u);
}

// Eve's names differ in all numbers behind her own, so each can be read in other ways. She still has few rows, and few
// files are graded; her friend's file, whose name may be one of hers, is among them.
TEST_F(CanvasZips, NoNamesGiveOnePersonManyGrades) {
  std::vector<std::string> names;
  for (int i = 0; i < 6; ++i)
    names.push_back(fmt::format("s{}x_{}_{}_vector-add.cu", i, 100'000 + 317 * i, 9'000'000 + 7 * i));
  for (int i = 0; i < 40; ++i) {
    std::string rest;
    for (int j = 1; j < 7; ++j)
      rest += std::to_string(j % 2 != 0 ? 9'000'000 + (i * 7919 + j * 104'729) % 150'000
                                        : 120'000 + (i * 7919 + j * 104'729) % 70'000) +
              "_";
    for (int k = 0; k < 3; ++k)
      names.push_back(fmt::format("eve_199999_{}_{}v{}_vector-add.cu", 9'100'501 + i, rest, k));
  }
  owners(names);
  EXPECT_LE(handed_.students.size(), 6u + 4u);
  EXPECT_LE(handed_.submissions.size(), 6u + kMostGraded + 3u);
  EXPECT_THAT(left_out(handed_), Contains(HasSubstr("others that may be the same person's are graded, too")));
  names.push_back("eve_199999_9100500_vector-add.cu");
  owners(names);
  EXPECT_THAT(students(handed_), Contains("eve (199999)"));
  EXPECT_LE(handed_.submissions.size(), 6u + kMostGraded + 3u);
}

// Files of other people whose names begin alike take no group's row, however many they are.
TEST_F(CanvasZips, AGroupThatIsCalledAsAnotherHidesNoHandIn) {
  std::vector<std::string> names;
  for (int i = 10; i < 18; ++i)
    names.push_back(fmt::format("team_{0}_{1}_{2}_vector-add.cu", i, 98'000 + 3 * i, 1'234'000 + 7 * i));
  owners(names);
  const std::vector<std::string> teams = students(handed_);
  EXPECT_EQ(teams.size(), 8u);
  for (int j = 0; j < 9; ++j) names.push_back(fmt::format("team_10_97001_{}_{}_8_vector-add.cu", 1'234'100 + j, 7 + j));
  names.push_back("team_10_97001_1234110_vector-add.cu");
  owners(names);
  std::map<std::string, std::string> in_rows;  // of the honest groups: their files
  for (const Submission& s : handed_.submissions) {
    if (std::find(teams.begin(), teams.end(), s.owner.student) == teams.end()) continue;
    EXPECT_TRUE(in_rows.emplace(s.owner.student, s.label).second) << s.owner.student << " has also " << s.label;
  }
  EXPECT_EQ(in_rows.size(), 8u);
  for (const auto& [team, label] : in_rows) EXPECT_THAT(label, HasSubstr("/" + team + "_"));
  EXPECT_LE(handed_.students.size(), 8u + 5u);
  EXPECT_THAT(left_out(handed_), Contains(HasSubstr("_8_vector-add.cu: may be several people's")));
}

// However many files of one person are left out, there is a line about those of another.
TEST_F(CanvasZips, FilesOfOneThatAreLeftOutDisplaceNoLineOfAnother) {
  std::vector<std::string> names;
  for (const char* team : {"team_10_97001", "team_11_97002"}) {
    for (int i = 10; i < 50; ++i) names.push_back(fmt::format("{0}_12341{1}_{1}_8_vector-add.cu", team, i));
  }
  owners(names);
  EXPECT_THAT(left_out(handed_), Contains(HasSubstr("team_10_97001_")));
  EXPECT_THAT(left_out(handed_),
              Contains(AllOf(HasSubstr("team_11_97002_"), HasSubstr("more files with such a name"))));
}

// Each of these names has another reading right before its last one.
TEST_F(CanvasZips, AThousandNamesOfOneLeaveNobodyElseOut) {
  std::vector<std::string> names;
  for (int i = 10; i < 13; ++i)
    names.push_back(fmt::format("team_{0}_{1}_{2}_vector-add.cu", i, 98'000 + 3 * i, 1'234'000 + 7 * i));
  owners(names);
  const std::vector<std::string> teams = students(handed_);
  for (int j = 0; j < 1000; ++j)
    names.push_back(fmt::format("team_10_97001_{}_1234000_1234000_vector-add.cu", 1'235'000 + j));
  owners(names);
  for (const std::string& team : teams) EXPECT_THAT(students(handed_), Contains(team));
  EXPECT_LE(handed_.students.size(), 3u + 100u);
}

// A section's groups may have two numbers in their names, and there may be many of them.
TEST_F(CanvasZips, ManyGroupsWhoseNamesBeginAlikeHaveARowEach) {
  std::vector<std::string> names;
  for (int i = 1; i < 10; ++i)
    names.push_back(fmt::format("group_1_{0}_{1}_{2}_vector-add.cu", i, 98'000 + 3 * i, 1'234'000 + 7 * i));
  owners(names);
  EXPECT_EQ(handed_.students.size(), 9u);
  EXPECT_EQ(handed_.submissions.size(), 9u);
}

// The group's name ends where another group's number and its file's number would, and its own number is unusual or
// behind more numbers than are read.
TEST_F(CanvasZips, AGroupsNameEntersNoRowOfAnother) {
  for (const char* eves : {"team_10_98000_1234567_9700100000_12341001234_vector-add.cu",
                           "team_10_98000_1234567_01_02_03_04_05_06_07_08b_97001_1234100_vector-add.cu",
                           "team_10_98000_1234567_97001_1234100_vector-add.cu"}) {
    owners({"team_10_98000_1234000_vector-add.cu", "team_11_98003_1234007_vector-add.cu",
            "team_12_98006_1234014_vector-add.cu", eves});
    EXPECT_EQ(handed_.students.size(), 4u) << eves;
  }
  // The only certain name has far longer numbers than the team's.
  owners({"roe_56882180_369446310_vector-add.cu", "team_5_747608_7425847_vector-add.cu",
          "team_5_747608_1318953_x_277798_6460421_vector-add.cu"});
  EXPECT_THAT(students(handed_),
              ElementsAreArray({"roe (56882180)", "team_5_747608", "team_5_747608_1318953_x_277798"}));
}

TEST_F(CanvasZips, WhatMayBeLateIs) {
  EXPECT_THAT(
      owners({"doeeve_LATE_48103_7712393_48105_7712394_vector-add.cu",
              "doeeve_LATE_48103_7712394_5_7712393_tiled-gemm.cu", "sam_48200_7712300_vector-add.cu"}),
      ElementsAreArray({"doeeve (48103) 48103 late", "doeeve (48103) 48103 late", "sam (48200) 48200 on time"}));
  // Older releases of Canvas write `late` in lower case. One learner's file name does not prove which release named the
  // files.
  EXPECT_THAT(owners({"roe_jim_late_48200_7712300_vector-add.cu", "doe_sam_48201_7712301_vector-add.cu",
                      "doe_eve_late_48103_7712393_LATE_48105_7712395_vector-add.cu"}),
              ElementsAre(HasSubstr("late"), "doe_sam (48201) 48201 on time", "roe_jim (48200) 48200 late"));
}

// A name with text in Moodle's form, or with more numbers than the grader examines, does not hide the late mark behind
// it.
TEST_F(CanvasZips, NoNameHidesThatItIsLate) {
  EXPECT_THAT(owners({"janedoe_7_assignsubmission_file_LATE_48103_7712393_vector-add.cu",
                      "sam_48200_7712300_vector-add.cu", "roe_48201_7712301_vector-add.cu"}),
              ElementsAreArray({"janedoe_7_assignsubmission_file (48103) 48103 late", "roe (48201) 48201 on time",
                                "sam (48200) 48200 on time"}));
  EXPECT_THAT(owners({"eve_481_777_2_482_778_3_483_779_4_484_780_5_b_LATE_48103_7712393_vector-add.cu",
                      "sam_482_776_vector-add.cu", "roe_483_775_vector-add.cu"}),
              Contains(HasSubstr("  late")));
}

// Learners' file names often contain dates and numbers of course parts. The grader must not take these for Canvas'
// numbers.
TEST_F(CanvasZips, NumbersInFilesNamesAreNoPersons) {
  EXPECT_THAT(owners({"ada_481_77391_2026_11_20_vector-add.cu", "bob_482_77392_20261120_2_vector-add.cu",
                      "cem_483_77393_3_2_vector-add.cu", "dan_484_77394_vector-add.cu"}),
              ElementsAreArray({"ada (481) 481 on time", "bob (482) 482 on time", "cem (483) 483 on time",
                                "dan (484) 484 on time"}));
  EXPECT_THAT(handed_.told, IsEmpty());
}

// Numbers in learners' file names may be as long as Canvas' own. The grader tells them apart because Canvas' numbers
// are close to each other in one zip.
TEST_F(CanvasZips, LongNumbersInFilesNamesAreNoPersons) {
  std::vector<std::string> names = {"doeed_52117_71234600_vector-add.cu"}, expected = {"doeed (52117) 52117 on time"};
  const char* const rests[] = {"", "", "20261001_", "48001234_", "20261001235900_", "4800123_", "02_"};
  for (int i = 0; i < 7; ++i) {
    names.push_back(fmt::format("roe_48123{0}_712345{0}7_{1}vector-add.cu", i, rests[i]));
    expected.push_back(fmt::format("roe (48123{0}) 48123{0} on time", i));
  }
  EXPECT_THAT(owners(names), ::testing::ElementsAreArray(expected));
  EXPECT_THAT(handed_.told, IsEmpty());
}

// The course requires a number in each file name, so a name can be read in two ways. One name that can be read in only
// one way (after LATE) shows how to read all.
TEST_F(CanvasZips, OneLateFileTellsHowAllAreRead) {
  for (const char* number : {"12345{}", "23456{}", "20261001", "2026100{}_2359"}) {
    std::vector<std::string> names, expected;
    for (int i = 0; i < 5; ++i) {
      names.push_back(fmt::format("s{0}x{1}_4811{0}_991230{0}_{2}_vector-add.cu", i, i == 2 ? "_LATE" : "",
                                  fmt::format(fmt::runtime(number), i)));
      expected.push_back(fmt::format("s{0}x (4811{0}) 4811{0} {1}", i, i == 2 ? "late" : "on time"));
    }
    EXPECT_THAT(owners(names), ::testing::ElementsAreArray(expected)) << number;
    EXPECT_THAT(handed_.told, IsEmpty()) << number;
  }
}

// A file that was uploaded long before has a much smaller number. That must not make 20261001, in another name, look
// like a file's number.
TEST_F(CanvasZips, AnOldFileTellsNothingOfOthersNumbers) {
  std::vector<std::string> names = {"doejane_1048110_99123001_20261001_vector-add.cu",
                                    "smithbob_1048123_99123107_vector-add.cu",
                                    "liwei_1048136_99123214_vector-add.cu",
                                    "annax_1048149_99123321_vector-add.cu",
                                    "eve_1048200_12345678_old_vector-add.cu",
                                    "eve_1048200_9012345_older_vector-add.cu"};
  for (const bool has_new : {false, true}) {
    if (has_new) names.push_back("eve_1048200_99123400_vector-add.cu");
    EXPECT_THAT(owners(names), Contains("doejane (1048110) 1048110 on time"));
    EXPECT_THAT(handed_.told, IsEmpty());
  }
}

// The last file may be Eve's (11900) with the old number 900, or the file 12009 of person 11805. People's numbers may
// be as long as files', so the grader leaves it open.
TEST_F(CanvasZips, AnOldFileIsNoReasonToReadOn) {
  owners({"smithbob_11810_12007_vector-add.cu", "roe_11811_12008_vector-add.cu",
          "eve_11900_900_11805_12009_vector-add.cu"});
  ASSERT_EQ(handed_.students.size(), 3u);
  EXPECT_EQ(handed_.students.front().lms_id, "") << handed_.students.front().student;
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("so it has a row of its own")));
}

// Eve's account is so old or so new that its number has one digit less or more than the others, and so may her file's
// number. Her file must not become another student's.
TEST_F(CanvasZips, AnAccountsAgeMakesNoFileAnothers) {
  const auto expect_open = [&](int first_id, const std::string& eves) {
    std::vector<std::string> names;
    for (int i = 0; i < 5; ++i)
      names.push_back(
          fmt::format("s{}x{}_{}_{}_vector-add.cu", i, i == 2 ? "_LATE" : "", first_id + 13 * i, 219'912'300 + 7 * i));
    names.push_back(fmt::format("s1x_{}_{}_vector-add.cu", first_id + 13, eves));
    owners(names);
    EXPECT_EQ(handed_.students.size(), 6u) << eves;
    EXPECT_THAT(handed_.told, Contains(HasSubstr("so it has a row of its own"))) << eves;
  };
  for (const char* file : {"991234", "91234", "9912345"})
    expect_open(148'110, fmt::format("219912399_x_98177_{}", file));
  expect_open(98'110, "219912399_x_100177_1991234");
  expect_open(98'110, "219912399_x_1001779_21991234");
}

// The team has number 7, far fewer digits than the others have. Its file has the number that another student has as a
// person, and a name that begins with a number; the student, team_7 (4830), handed in nothing.
TEST_F(CanvasZips, AShortNumberIsNoReasonToReadOn) {
  const std::vector<std::string> others = {"ada_4811_71201_vector-add.cu", "bob_4815_71212_vector-add.cu",
                                           "carl_4820_71219_vector-add.cu"};
  const auto owners_with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> names = others;
    names.insert(names.end(), more.begin(), more.end());
    return owners(names);
  };
  EXPECT_THAT(owners_with({"team_7_4830_71230_vector-add.cu"}), Contains("team_7_4830  on time"));
  EXPECT_THAT(
      handed_.told,
      ElementsAreArray({"c.zip/team_7_4830_71230_vector-add.cu can be read as team (7)'s or as team_7 (4830)'s: "
                        "which one is unclear, so it has a row of its own"}));
  // Two files cannot both have the number 4830, and 7 cannot be a team's number if it is somebody else's.
  EXPECT_THAT(owners_with({"team_7_4830_71230_vector-add.cu", "team_7_4830_71231_tiled-gemm.cu"}),
              ::testing::IsSupersetOf({"team_7 (4830) 4830 on time", "team_7 (4830) 4830 on time"}));
  EXPECT_THAT(handed_.told, IsEmpty());
  EXPECT_THAT(owners_with({"team_7_4830_71230_vector-add.cu", "roe_7_71240_vector-add.cu"}),
              Contains("team_7 (4830) 4830 on time"));
  // A friend's group is called so that it begins as the team's file.
  EXPECT_THAT(owners_with({"team_7_4830_71230_vector-add.cu", "team_7_4830_x_4999_71232_vector-add.cu"}),
              Contains("team_7_4830  on time"));
  // The student is of another account, and the numbers of files are far from each other.
  EXPECT_THAT(owners({"ada_4811_51201_vector-add.cu", "bob_4815_71212_vector-add.cu", "carl_4820_99219_vector-add.cu",
                      "team_7_104800000004830_71230_vector-add.cu"}),
              Contains("team_7_104800000004830  on time"));
}

// Mallory, number 7, has a name that begins with Ada's name and number.
TEST_F(CanvasZips, AShortNumberBehindAnothersIsNoReasonToStop) {
  const std::vector<std::string> others = {"bob_4815_71212_vector-add.cu", "carl_4820_71219_vector-add.cu"};
  for (const bool is_ada_there : {false, true}) {
    std::vector<std::string> names = others;
    if (is_ada_there) names.push_back("ada_4811_71201_vector-add.cu");
    names.push_back("ada_4811_71203_b_7_71204_vector-add.cu");
    EXPECT_THAT(owners(names), Contains("ada_4811_71203_b_7  on time"));
    EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("so it has a row of its own")));
  }
  // Beside accounts with so many digits, 3 is a sheet's or an exercise's: Canvas takes the underscores around a number
  // from a name, so it never writes ada_48110_7120100_hw.
  EXPECT_THAT(
      owners({"ada_48110_7120100_hw_3_2_vector-add.cu", "bob_48150_7120101_lab_3_20261234_vector-add.cu",
              "carl_48200_7120102_vector-add.cu"}),
      ElementsAreArray({"ada (48110) 48110 on time", "bob (48150) 48150 on time", "carl (48200) 48200 on time"}));
  EXPECT_THAT(handed_.told, IsEmpty());
}

// Whoever has a short number has no more rows than others, whatever the names of the files.
TEST_F(CanvasZips, WhoeverHasAShortNumberHasFewRows) {
  std::vector<std::string> names = {"ada_4811_71201_vector-add.cu", "bob_4815_71212_vector-add.cu",
                                    "carl_4820_71219_vector-add.cu"};
  for (int i = 10; i < 40; ++i) names.push_back(fmt::format("team_7_48{0}_712{0}_48{0}_713{0}_vector-add.cu", i));
  owners(names);
  EXPECT_LE(handed_.students.size(), 3u + 4u);
}

// Canvas numbers files consecutively, so one day the numbers get another digit. A longer number may therefore be
// Canvas' own.
TEST_F(CanvasZips, ALongerFileNumberMayBeTheTrueOne) {
  for (const char* number : {"99999123", "100000123"}) {
    EXPECT_THAT(owners({"doeada_481234_99990000_vector-add.cu", "roebob_481301_99990037_vector-add.cu",
                        "foxcat_479990_99990074_vector-add.cu",
                        fmt::format("doeada_481234_99991234_LATE_4830_{}_vector-add.cu", number)}),
                ElementsAreArray({"doeada (481234) 481234 on time", "doeada_481234_99991234_4830  late",
                                  "foxcat (479990) 479990 on time", "roebob (481301) 481301 on time"}));
  }
}

TEST_F(CanvasZips, OneNumberJoinsNoTwoNames) {
  EXPECT_THAT(
      owners({"doejane_12_345_vector-add.cu", "roejim_12_346_vector-add.cu", "fay_13_347_vector-add.cu"}),
      ElementsAreArray({"doejane (12) Unproven 12 on time", "fay (13) 13 on time", "roejim (12) Unproven 12 on time"}));
  EXPECT_THAT(handed_.told,
              ElementsAreArray({"c.zip has the number 12 after 2 names (doejane, roejim): each name has a row "
                                "of its own, and the number identifies nobody"}));
}

// Canvas writes files into its zip one after the other, so their times differ although they were handed in together.
TEST_F(CanvasZips, FilesOfOneStudentHaveOneTime) {
  constexpr std::int64_t kDownload = 1'790'000'000;
  const std::vector<ArchiveFile> files = {{"doeada_1_11_vector-add.cu", "good", false, kDownload},
                                          {"doeada_1_12_old_vector-add.cu", "old", false, kDownload + 4},
                                          {"doeada_1_13_notes.cu", "?", false, kDownload + 2}};
  handed_ = collect_all(folder_.write("c.zip", zip_of(files)));
  ASSERT_EQ(handed_.submissions.size(), 2u);
  EXPECT_EQ(handed_.submissions[0].submitted_at_s, handed_.submissions[1].submitted_at_s);
  ASSERT_EQ(handed_.left_out.size(), 1u);
  EXPECT_EQ(handed_.left_out[0].handed_in_at_s, handed_.submissions[0].submitted_at_s);
}

TEST_F(CanvasZips, LateInSmallLetters) {
  EXPECT_THAT(owners({"doe_jane_late_12_345_vector-add.cu", "roe_jim_13_346_vector-add.cu"}),
              ElementsAreArray({"doe_jane (12) 12 late", "roe_jim (13) 13 on time"}));
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("treated as Canvas' late mark")));
  EXPECT_THAT(owners({"doe_jane_late_12_345_vector-add.cu", "roe_jim_LATE_13_346_vector-add.cu"}),
              ElementsAreArray({"doe_jane_late (12) 12 on time", "roe_jim (13) 13 late"}));
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("not as a mark")));
}

TEST_F(CanvasZips, ManyFilesOfOneTellNothingOfAllNames) {
  std::vector<std::string> names = {"doe_jane_late_12_345_vector-add.cu", "roe_jim_13_346_vector-add.cu"};
  for (int i = 0; i < 5; ++i) names.push_back(fmt::format("eve_14_35{}_vector-add.cu", i));
  EXPECT_THAT(owners({names.begin(), names.end()}), Contains("doe_jane (12) 12 late"));
}

// In a quiz's file name, the number after the name is the person's; the question's number is the same in all names.
TEST_F(CanvasZips, OfAQuizAreAPersonsEach) {
  EXPECT_THAT(owners({"doe_jane12_question_34_567_vector-add.cu", "roe_jim13_question_34_568_vector-add.cu",
                      "li14_question_34_569_vector-add.cu", "garcia-lopez_maria15_question_34_570_vector-add.cu"}),
              ElementsAreArray({"doe_jane (12) Unproven 12 -", "garcia-lopez_maria (15) Unproven 15 -",
                                "li (14) Unproven 14 -", "roe_jim (13) Unproven 13 -"}));
  EXPECT_EQ(handed_.students.size(), 4u);
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("they say when it was downloaded")));
  // A name may end with many digits, which then look like the start of the number.
  EXPECT_THAT(owners({"eve11111111111111111148_question_34_571_vector-add.cu", "li14_question_34_569_vector-add.cu"}),
              ElementsAre(HasSubstr("eve"), "li (14) Unproven 14 -"));
  // In an assignment's zip, "_question_" is part of a name.
  EXPECT_THAT(owners({"eve12_question_34_567_vector-add.cu", "doejane_12_568_vector-add.cu"}),
              ElementsAreArray({"doejane (12) 12 on time", "eve12_question (34) 34 on time"}));
}

// An assignment is anonymous for all students or for none.
TEST_F(CanvasZips, WhoIsCalledAnonIsSomebody) {
  EXPECT_THAT(owners({"adal_11344_344_vector-add.cu", "anon_LATE_12345_679_vector-add.cu"}),
              ElementsAreArray({"adal (11344) 11344 on time", "anon (12345) 12345 late"}));
  EXPECT_THAT(owners({"adal_11344_344_vector-add.cu", "anon_12345_678_vector-add.cu"}),
              ElementsAreArray({"adal (11344) 11344 on time", "anon (12345) 12345 on time"}));
  EXPECT_THAT(owners({"anon_Sb9Xk_344_vector-add.cu", "LATE_anon_12345_679_vector-add.cu"}),
              ElementsAreArray({"anon_12345  late", "anon_Sb9Xk  on time"}));
}

// If other students named their files themselves, this one may have done so, too: the late mark in a name of Canvas'
// form does not count, and its number is unproven.
TEST_F(CanvasZips, MarksAmongPlainNamesCountForNothing) {
  EXPECT_THAT(owners({"ada_vector-add.cu", "eve_12_9_vector-add.cu"}),
              ElementsAreArray({"ada  -", "eve (12) Unproven 12 -"}));
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("c.zip/ada_vector-add.cu is not named the way Canvas names files")));
  // The mark in a folder's name counts for nothing, either.
  for (const char* form : {"{}_vector-add.cu", "{}.cu"}) {
    const std::string ada = fmt::format(fmt::runtime(form), "ada"), bob = fmt::format(fmt::runtime(form), "bob");
    owners({ada, bob, "eve_LATE_48_1_x/vector-add.cu"});
    ASSERT_EQ(handed_.students.size(), 3u) << form;
    EXPECT_EQ(handed_.students.back().lms_id, "Unproven 48") << form;
    ASSERT_FALSE(handed_.submissions.empty()) << form;
    EXPECT_EQ(handed_.submissions.back().owner.student, "eve (48)") << form;
    EXPECT_EQ(handed_.submissions.back().owner.mark, LateMark::none) << form;
    EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("is not named the way Canvas names files"))) << form;
  }
  // The zip of the whole class belongs to no student, whatever its name.
  folder_.write("cs_101_2024_12_hw.zip", zip_of({{"ada/vector-add.cu", "A"}, {"bob/vector-add.cu", "B"}}));
  EXPECT_THAT(collect_all(folder_.path() / "cs_101_2024_12_hw.zip").told, IsEmpty());
  folder_.write("f/gil.zip", zip_of({{"vector-add.cu", "G"}}));
  folder_.write("f/eve_12_9_w.zip", zip_of({{"vector-add.cu", "E"}}));
  const auto several = collect_all({folder_.path() / "f/gil.zip", folder_.path() / "f/eve_12_9_w.zip"});
  ASSERT_EQ(several.submissions.size(), 2u);
  EXPECT_FALSE(is_persons(several.submissions[0].owner.lms_id));
  EXPECT_EQ(several.submissions[0].owner.mark, LateMark::none);
}

// Marks in names of Canvas' form do not count beside several students' folders with other names, nor beside a file or
// folder that Moodle named.
TEST_F(CanvasZips, MarksAmongFoldersCountForNothing) {
  EXPECT_THAT(
      owners({"ada/vector-add.cu", "bob/vector-add.cu", "eve_4830_1_vector-add.cu", "liz_LATE_4831_1_x/vector-add.cu",
              "mal/vector-add.cu"}),
      ElementsAreArray({"ada  -", "bob  -", "eve (4830) Unproven 4830 -", "liz (4831) Unproven 4831 -", "mal  -"}));
  EXPECT_THAT(handed_.told, ElementsAre(HasSubstr("c.zip/ada is not named the way Canvas names files")));
  EXPECT_THAT(owners({"ada/vector-add.cu", "bob/vector-add.cu", "liz_LATE_4831_1_x/vector-add.cu"}),
              ElementsAreArray({"ada  -", "bob  -", "liz (4831) Unproven 4831 -"}));
  EXPECT_THAT(owners({"A B_7_assignsubmission_file_/vector-add.cu", "eve_4830_1_vector-add.cu"}),
              ElementsAreArray({"A B (7) Participant 7 -", "eve (4830) Unproven 4830 -"}));
  EXPECT_THAT(owners({"A B_7_assignsubmission_file_vector-add.cu", "eve_4830_1_vector-add.cu"}),
              ElementsAreArray({"A B (7) Participant 7 -", "eve (4830) Unproven 4830 -"}));
  // The marks count for nothing even if one student has several files in Canvas' form.
  EXPECT_THAT(owners({"ada/vector-add.cu", "bob/vector-add.cu", "eve_4830_1_vector-add.cu", "eve_4830_2_vector-add.cu",
                      "eve_4830_3_tiled-gemm.cu"}),
              ::testing::IsSupersetOf({"eve (4830) Unproven 4830 -"}));
}

// `marked` also tells of chapters that are not graded now, because these, too, show which assignment the zip is of.
TEST_F(CanvasZips, OfChaptersThatAreNotGradedAreNoted) {
  folder_.write("c.zip", zip_of({{"ada_4811_91_vector-add.cu", "A"},
                                 {"bob_LATE_4812_92_w.zip", zip_of({{"my/tiled-gemm.cu", "B"}, {"my/x.cu", "?"}})}}));
  const Handed handed = collect_all(folder_.path() / "c.zip", {{"vector-add"}, {"tiled-gemm"}});
  std::vector<std::string> marked;
  for (const MarkedStudent& one : handed.marked) {
    if (!one.chapter.empty()) marked.push_back(one.zip + " " + one.owner.student + " " + one.chapter);
  }
  EXPECT_THAT(marked, ElementsAreArray({"c.zip ada (4811) vector-add", "c.zip bob (4812) tiled-gemm"}));
  EXPECT_EQ(handed.marked.back().owner.mark, LateMark::late);
}

// Somebody added a student's folder to the zip by hand, and there are folders without hand-ins. The files' marks still
// count.
TEST_F(CanvasZips, OneFolderAmongManyFilesCostsNoMarks) {
  std::vector<std::string> names = {"ada/vector-add.cu", "LATE/notes.txt", "my notes/notes.txt", "figures/a.png"};
  for (int i = 10; i < 13; ++i) names.push_back(fmt::format("roe_48{0}_77{0}_vector-add.cu", i));
  EXPECT_THAT(owners(names), ElementsAreArray({"ada  -", "roe (4810) 4810 on time", "roe (4811) 4811 on time",
                                               "roe (4812) 4812 on time"}));
  // The folders' names are as if somebody had unpacked the students' zips from Canvas. Their marks count, too.
  EXPECT_THAT(owners({"ada/vector-add.cu", "fay_4813_7713_w/vector-add.cu", "roe_LATE_4812_7712_w/vector-add.cu"}),
              Contains("roe (4812) 4812 late"));
}

// Students' zips from Canvas, unpacked. Eve's name contains Ada's name and a late mark, before the numbers that Canvas
// wrote. Her folder must not become Ada's.
TEST_F(CanvasZips, UnpackedAreNobodyElses) {
  folder_.write("c/lovelaceada_48101_7712391_w/vector-add.cu", "A");
  folder_.write("c/lovelaceada_late_48101_7712392_b_48103_7712393_w/vector-add.cu", "E");
  folder_.write("c/roebob_LATE_48102_7712394_w/vector-add.cu", "B");
  const Handed handed = collect_all(folder_.path() / "c");
  const std::vector<std::string> names = students(handed);
  EXPECT_EQ(names.size(), 3u);
  EXPECT_THAT(names, ::testing::IsSupersetOf({"lovelaceada_48101_7712391_w", "roebob (48102)"}));
  EXPECT_THAT(names, ::testing::Not(Contains("lovelaceada (48101)")));
  EXPECT_THAT(handed.told, ElementsAre(HasSubstr("and 2 more folders are named the way Canvas names files")));
}

}  // namespace
}  // namespace roofwalk
