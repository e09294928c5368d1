// Tests how file names give the student and the chapter.
#include "grader/class/hand_ins/lms_names.h"

#include <gtest/gtest.h>

#include <set>

#include "grader/class/hand_ins/canvas/canvas_names.h"
#include "grader/text/characters.h"

namespace roofwalk {
namespace {

const std::vector<std::string> kChapters = {"vector-add", "naive-gemm", "tiled-gemm"};

TEST(LmsNames, CanvasFiles) {
  const NamedFile plain = owner_of_file("doejane_12_345_vector-add.cu", kChapters);
  EXPECT_EQ(plain.owner.student, "doejane (12)");
  EXPECT_EQ(plain.owner.lms_id, "12");
  EXPECT_EQ(plain.owner.mark, LateMark::on_time);
  EXPECT_EQ(plain.rest, "vector-add.cu");
  const NamedFile late = owner_of_file("doejane_LATE_12_345_my_kernel_v2-1.cu", kChapters);
  EXPECT_EQ(late.owner.mark, LateMark::late);
  EXPECT_EQ(late.rest, "my_kernel_v2-1.cu");
}

// A late mark is found however long the learner's own part of the file name is, and whatever it contains.
TEST(LmsNames, CanvasFilesKeepTheirMark) {
  for (const std::string& rest : {std::string(400, 'x') + ".cu", std::string("a\\b.cu"), std::string("a\nb.cu")}) {
    const NamedFile file = owner_of_file("doejane_LATE_12_345_" + rest, kChapters);
    EXPECT_EQ(file.owner.student, "doejane (12)") << rest;
    EXPECT_EQ(file.owner.mark, LateMark::late) << rest;
    EXPECT_EQ(file.rest, rest);
  }
}

// The names follow lib/content_zipper.rb of Canvas: a name keeps its dashes and may be empty; an assignment may be
// anonymous; submitted text is not a file; older releases write everything in lower case.
TEST(LmsNames, CanvasNamesAsCanvasMakesThem) {
  struct Case {
    const char* name;
    const char* student;
    LateMark mark;
    const char* rest;
  };
  for (const Case& one :
       std::initializer_list<Case>{{"eve_adams_103_93_v.cu", "eve_adams (103)", LateMark::on_time, "v.cu"},
                                   {"eve_adams_LATE_103_93_v.cu", "eve_adams (103)", LateMark::late, "v.cu"},
                                   {"eve_late_103_93_v.cu", "eve (103)", LateMark::late, "v.cu"},
                                   {"_LATE_125_126_v.cu", "(125)", LateMark::late, "v.cu"},
                                   {"_125_126_v.cu", "(125)", LateMark::on_time, "v.cu"},
                                   {"\xc3\xa9va_103_93_1_2_v.cu", "\xc3\xa9va (103)", LateMark::on_time, "1_2_v.cu"},
                                   {"anon_Sb9Xk_459_v.cu", "anon_Sb9Xk", LateMark::on_time, "v.cu"},
                                   {"anon_Sb9Xk_459_101_93_v.cu", "anon_Sb9Xk", LateMark::on_time, "101_93_v.cu"},
                                   {"LATE_anon_Sb9Xk_459_v.cu", "anon_Sb9Xk", LateMark::late, "v.cu"},
                                   {"roejim_126_text.html", "roejim (126)", LateMark::on_time, "text.html"},
                                   {"roejim_LATE_126_link.html", "roejim (126)", LateMark::late, "link.html"}}) {
    const NamedFile named = owner_of_file(one.name, kChapters);
    EXPECT_EQ(named.owner.student, one.student) << one.name;
    EXPECT_EQ(named.owner.mark, one.mark) << one.name;
    EXPECT_EQ(named.rest, one.rest) << one.name;
    EXPECT_EQ(named.by, NamedBy::platform) << one.name;
  }
  for (const char* name : {"van der Berg_1_2_v.cu", "hw-1_2_3_v.cu", "a\\x_101_93_v.cu", "x_1_v.cu", "x_1_2v.cu"})
    EXPECT_NE(owner_of_file(name, kChapters).by, NamedBy::platform) << name;
}

// Once a platform has named a file, the learner's part of the name cannot give it another owner, or none. That part may
// itself be a name from the platform, of a file that the learner downloaded.
TEST(LmsNames, TheFirstMarkIsThePlatforms) {
  struct Case {
    const char* name;
    const char* student;
    const char* rest;
  };
  for (const Case& one : std::initializer_list<Case>{
           {"eve_adams_103_93_101_assignsubmission_file_v.cu", "eve_adams (103)", "101_assignsubmission_file_v.cu"},
           {"eve_late_103_93_101_assignsubmission_file_v.cu", "eve (103)", "101_assignsubmission_file_v.cu"},
           {"_LATE_125_126_101_assignsubmission_file_v.cu", "(125)", "101_assignsubmission_file_v.cu"},
           {"anon_Sb9Xk_459_101_assignsubmission_file_v.cu", "anon_Sb9Xk", "101_assignsubmission_file_v.cu"},
           {"doe_12_345_Jane Doe_4711_assignsubmission_file_v.cu", "doe (12)",
            "Jane Doe_4711_assignsubmission_file_v.cu"},
           {"Ada_7_1_x_8_assignsubmission_file_v.cu", "Ada (7)", "x_8_assignsubmission_file_v.cu"},
           {"Eve_8_assignsubmission_file_ada_7_1_v.cu", "Eve (8)", "ada_7_1_v.cu"},
           {"Eve_8_assignsubmission_file_Ada_7_assignsubmission_file_v.cu", "Eve (8)",
            "Ada_7_assignsubmission_file_v.cu"},
           {"Eve_8_assignsubmission_file_A_7_assignsubmission_onlinetext_v.cu", "Eve (8)",
            "A_7_assignsubmission_onlinetext_v.cu"}}) {
    const NamedFile named = owner_of_file(one.name, kChapters);
    EXPECT_EQ(named.owner.student, one.student) << one.name;
    EXPECT_EQ(named.rest, one.rest) << one.name;
    EXPECT_EQ(named.by, NamedBy::platform) << one.name;
  }
  EXPECT_EQ(owner_of_folder("eve_LATE_8_55_Ada_7_assignsubmission_file_").owner.student, "eve (8)");
  EXPECT_EQ(owner_of_folder("Ada_7_assignsubmission_file_x_8_assignsubmission_file_").owner.student, "Ada (7)");
  // Moodle leaves no backslash and no `_` in a person's name, so learners, not Moodle, wrote these names.
  EXPECT_NE(owner_of_file("eve\\ada_7_assignsubmission_file_v.cu", kChapters).by, NamedBy::platform);
  EXPECT_NE(owner_of_file("my_ada_7_assignsubmission_file_v.cu", kChapters).by, NamedBy::platform);
  EXPECT_NE(owner_of_folder("eve_103_93_101_assignsubmission_file_").by, NamedBy::platform);
}

// Moodle's numbers are per assignment, Canvas' numbers per person.
TEST(LmsNames, NumbersOfPersons) {
  EXPECT_TRUE(is_persons(owner_of_file("doejane_12_345_v.cu", kChapters).owner.lms_id));
  EXPECT_FALSE(is_persons(owner_of_file("Jane Doe_12_assignsubmission_file_v.cu", kChapters).owner.lms_id));
  EXPECT_FALSE(is_persons(""));
}

// A zip entry's name has at most 65,535 bytes.
TEST(LmsNames, OfAnyLengthAreReadAtOnce) {
  std::string moodle, canvas;
  while (moodle.size() < 65'000) moodle += "_1_assignsubmission_file";
  while (canvas.size() < 65'000) canvas += "_1";
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(owner_of_file("x" + moodle + "_", kChapters).owner.lms_id, "Participant 1");
    EXPECT_EQ(owner_of_file(std::string(30'000, 'a') + '\\' + moodle, kChapters).by, NamedBy::name);
    EXPECT_EQ(owner_of_file("x" + canvas + "-", kChapters).by, NamedBy::platform);
  }
}

TEST(LmsNames, MoodleFilesWithoutFolders) {
  const NamedFile file = owner_of_file("Jane Doe_4711_assignsubmission_file_vector-add.cu", kChapters);
  EXPECT_EQ(file.owner.student, "Jane Doe (4711)");
  EXPECT_EQ(file.owner.lms_id, "Participant 4711");
  EXPECT_EQ(file.rest, "vector-add.cu");
  EXPECT_EQ(file.by, NamedBy::platform);
}

TEST(LmsNames, StudentsNameTheirFiles) {
  EXPECT_EQ(owner_of_file("alice.cu", kChapters).owner.student, "alice");
  EXPECT_EQ(owner_of_file("alice_vector-add.cu", kChapters).owner.student, "alice");
  EXPECT_EQ(owner_of_file("van der Berg, Jan-tiled-gemm.cu", kChapters).owner.student, "van der Berg, Jan");
  EXPECT_EQ(owner_of_file("x_vector-add.cu", kChapters).rest, "x_vector-add.cu");
}

TEST(LmsNames, MoodleFolders) {
  const Owner owner = owner_of_folder("Jane Doe_4711_assignsubmission_file_").owner;
  EXPECT_EQ(owner.student, "Jane Doe (4711)");
  EXPECT_EQ(owner.lms_id, "Participant 4711");
  EXPECT_EQ(owner.mark, LateMark::none);
  EXPECT_EQ(owner_of_folder("Jane Doe_4711_assignsubmission_file_a").owner.lms_id, "Participant 4711");
  EXPECT_EQ(owner_of_folder("alice").owner.student, "alice");
  EXPECT_EQ(owner_of_folder("alice").owner.lms_id, "");
}

TEST(LmsNames, ChaptersWhateverAPlatformMadeOfThem) {
  for (const char* name : {"vector-add.cu", "vector_add.cu", "Vector-Add.CU", "vector-add (1).cu", "vector-add-2.cu",
                           "01-vector-add.cu", "hw1 vector add final.cu"}) {
    EXPECT_EQ(chapter_of_file(name, kChapters), "vector-add") << name;
  }
  for (const char* name : {"kernel.cu", "vector-addition.cu", "vector-add-naive-gemm.cu", "", ".cu"}) {
    EXPECT_EQ(chapter_of_file(name, kChapters), std::nullopt) << name;
  }
}

TEST(LmsNames, BesideAChapterMayStandAPerson) {
  for (const char* name : {"vector-add_ada.cu", "Ada_vector-add (1).cu", "01-vector-add_ada_v2.cu"})
    EXPECT_EQ(beside_chapter(name, kChapters), "ada") << name;
  EXPECT_EQ(beside_chapter("vector-add-ada-lovelace.zip", kChapters), "ada-lovelace");
  EXPECT_EQ(beside_chapter("vector-add_480012 (1).cu", kChapters), "480012");
  for (const char* name : {"vector-add.cu", "vector-add-2.cu", "vector-add - Copy (3).cu", "02_vector_add_v2_final.cu"})
    EXPECT_EQ(beside_chapter(name, kChapters), "") << name;
}

TEST(LmsNames, AreMadePlain) {
  EXPECT_EQ(plain_name("a\nb\x1b[31m"), "a?b?[31m");
  EXPECT_EQ(plain_name(""), "?");
  EXPECT_EQ(plain_name("\xc3\x85ngstr\xc3\xb6m"), "\xc3\x85ngstr\xc3\xb6m");
  EXPECT_EQ(plain_name("\xff"), "\xef\xbf\xbd");
  EXPECT_LE(plain_name(std::string(1000, 'x')).size(), 203u);
  EXPECT_EQ(plain_name(std::string(199, 'x') + "\xc3\x85").size(), 202u);  // no character is cut in two
}

TEST(LmsNames, CannotTurnOrHideText) {
  EXPECT_EQ(plain_name("a\xc2\x9b"
                       "31mb\xc2\x85"),
            "a?31mb?");  // C1
  EXPECT_EQ(plain_name("a\xe2\x80\xae"
                       "b\xe2\x81\xa6"
                       "c\xd8\x9c\xe2\x80\x8b"),
            "a?b?c??");                                             // bidirectional marks and characters without width
  EXPECT_EQ(plain_name("\u115fa\u1160b\u3164c\uffa0"), "?a?b?c?");  // Hangul's fillers
  EXPECT_EQ(plain_name("a\u034fb\u17b4c\u2800"), "a?b?c?");         // a joiner, a vowel and a blank, all invisible
  EXPECT_EQ(plain_name("\u845b\U000e0100"), "\u845b\U000e0100");    // a variation selector
  EXPECT_EQ(plain_name("\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae"), "\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae");
}

TEST(LmsNames, OfStudentsStayApart) {
  const std::vector<std::string> names = {"a?b",
                                          "a\nb",
                                          "a\tb",
                                          "\xff",
                                          "\xfe",
                                          std::string(300, 'x'),
                                          std::string(301, 'x'),
                                          student_name("a\nb"),
                                          std::string(200, 'x') + "..."};
  std::set<std::string> shown;
  for (const std::string& name : names) shown.insert(student_name(name));
  EXPECT_EQ(shown.size(), names.size());
  EXPECT_EQ(student_name("Jane ~Doe"), "Jane ~Doe");
  // The number is in the last parentheses, whatever the name or the number contains, so two students never become one.
  std::set<std::string> owners;
  for (const auto& [name, id] : std::vector<std::pair<std::string, std::string>>{
           {"A (1)", "2"}, {"A", "1) (2"}, {"A", "1] [2"}, {"A (1) (2", "3"}, {"", "2"}, {"2", "2"}}) {
    owners.insert(owner_with_id(name, id).student);
  }
  EXPECT_EQ(owners.size(), 6u);
  EXPECT_EQ(owner_with_id("", "77").student, "(77)");
}

// Users of another, trusted Canvas account have numbers of 17 digits. The grader must not take such a number for too
// long to be Canvas', because it would then look for the number in the learner's part of the name.
TEST(LmsNames, NumbersOfAnotherAccountAreCanvasOwn) {
  const std::string eves = "doeeve_10480000000048103_10480000007712393_x_48101_7712999_v.cu";
  const CanvasNames with_ada({"lovelaceada_48101_7712391_v.cu", "sam_48200_7712900_v.cu", eves});
  EXPECT_EQ(with_ada.of(eves)->id, "10480000000048103");
  const CanvasNames without_ada({"sam_48200_7712900_v.cu", eves});
  EXPECT_EQ(without_ada.of(eves)->id, "");  // the number identifies nobody
  // A team's name that ends with a digit is still read correctly, if the team has two files.
  const std::string teams = "team_1_48105_7712395_v.cu", teams_next = "team_1_48105_7712396_w.cu";
  EXPECT_EQ(CanvasNames({"lovelaceada_48101_7712391_v.cu", teams, teams_next, eves}).of(teams)->id, "48105");
  EXPECT_EQ(CanvasNames({"lovelaceada_48101_7712391_v.cu", teams, eves}).of(teams)->id, "");
}

TEST(Names, OfTwoSpellingsHaveTheSameLetters) {
  EXPECT_EQ(name_letters("Jos\u00e9 O'N\u00fa\u00f1ez-\u017b\u00f3\u0142\u0107"), "joseonunezzolc");
  EXPECT_EQ(name_letters("Jose\u0301 O'Nu\u0301n\u0303ez-Z\u0307o\u0301\u0142c\u0301"), "joseonunezzolc");
  EXPECT_EQ(name_letters("\u674e \u5c0f\u9f99 2"), "\u674e\u5c0f\u9f992");
  EXPECT_EQ(name_letters("\u0179\u017f"), "zs");
  // Canvas writes file names in lower case, in every script.
  EXPECT_EQ(name_letters("\u0418\u0412\u0410\u041d\u041e\u0412"), "\u0438\u0432\u0430\u043d\u043e\u0432");
  EXPECT_EQ(name_letters("\u03a3\u03bf\u03c6\u03af\u03b1 \u03a0\u03b1\u03c0\u03ac\u03c2"),
            name_letters("\u03a3\u039f\u03a6\u038a\u0391 \u03a0\u0391\u03a0\u0386\u03a3"));
  // Characters that do not show.
  EXPECT_EQ(name_letters("a\u200dd\u200ca\ufe0f\u00a0"), "ada");
  for (const char32_t code :
       {0x1680, 0x180b, 0x180f, 0x2000, 0x200a, 0x2060, 0x3000, 0x1d173, 0x1d17a, 0xe0100, 0xe01ef})
    EXPECT_EQ(name_letters("a" + utf8_of(code) + "da"), "ada") << static_cast<std::uint32_t>(code);
  EXPECT_NE(name_letters("a\u180ada"), "ada");
  EXPECT_EQ(small_letters("\U00010400 \u1e9e A\xff"), "\U00010428 \u00df a\xff");
}

}  // namespace
}  // namespace roofwalk
