// course.toml: the values that are read, and a one-line message for each mistake.
#include "grader/class/terms/course_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/record/model_version.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CourseFile : public ::testing::Test {
 protected:
  Result<CourseTerms> read(const std::string& text) {
    return read_terms(folder_.write("class/course.toml", text), course_, folder_.path() / "repository");
  }
  // Returns the error message without the file's name: it begins with the line's number, as in ":2: ...".
  std::string trouble(const std::string& text) {
    const auto terms = read(text);
    if (terms) return "";
    const std::string line = terms.error().text();
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    const auto at = line.find(".toml:");
    return at == std::string::npos ? line : line.substr(at + 5);
  }

  const test::ScratchFolder folder_;
  const Course course_ = *open_course(TEST_SOURCE_DIR);
};

constexpr const char* kChapter = "[[chapter]]\nname = \"vector-add\"\n";

TEST_F(CourseFile, ReadsAllThatItKnows) {
  folder_.write("class/secret.toml",
                "seeds = [99, 12345678901]\n[sizes.tiled-gemm]\nm = [5, 6]\nn = [7, 8]\nk = [9, 10]\n");
  const auto terms = read(R"(
title = "CS 1"
device = "virtual:h100-sxm"
counts = "last"
pass_share = 0.6
deadline = 2026-10-01T23:59:00+02:00
secrets = "secret.toml"
[late]
per_day = 0.25
most_days = 2
[[chapter]]
name = "vector-add"
[[chapter]]
name = "tiled-gemm"
points = 20
weight = 1
pass_share = 0.5
deadline = 1970-01-02T00:00:00Z
thresholds = [{ what = "flops_over_starter", level = "l1", pass = 0.9 }]
)");
  ASSERT_TRUE(terms) << terms.error().text();
  EXPECT_EQ(terms->title, "CS 1");
  EXPECT_EQ(terms->device, "virtual:h100-sxm");
  EXPECT_EQ(terms->counts, CourseTerms::Counts::last);
  EXPECT_EQ(terms->late.per_day, 0.25);
  EXPECT_EQ(terms->late.most_days, 2);
  ASSERT_EQ(terms->chapters.size(), 2u);
  EXPECT_EQ(terms->chapters[0].points, 10);
  EXPECT_EQ(terms->chapters[0].weight, 10);
  EXPECT_EQ(terms->chapters[0].pass_share, 0.6);
  EXPECT_EQ(terms->chapters[0].deadline_s, 1790891940);  // date -d 2026-10-01T21:59Z +%s
  EXPECT_EQ(terms->chapters[1].weight, 1);
  EXPECT_EQ(terms->chapters[1].deadline_s, 86400);
  const HiddenCases hidden = terms->hidden("tiled-gemm");
  EXPECT_THAT(hidden.seeds, ElementsAre(99u, 12345678901u));
  ASSERT_EQ(hidden.sizes.size(), 2u);
  EXPECT_EQ(hidden.sizes[1].text(), "m=6 n=8 k=10");
  EXPECT_TRUE(terms->hidden("vector-add").sizes.empty());

  const auto changed = with_thresholds(**course_.find("tiled-gemm"), terms->chapters[1]);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->goals[2].pass, 0.9);
  EXPECT_EQ(changed->goals[2].ace, 2.0);
  EXPECT_EQ(changed->goals[0].pass, 8.0);
}

// What a course asks for holds on every machine; what it does not name stays a machine's own.
TEST_F(CourseFile, ItsThresholdsReplaceThoseOfAMachine) {
  Chapter chapter = **course_.find("tiled-gemm");
  for (Goal& goal : chapter.goals) goal.on["a100-80"] = {.pass = 0.1, .ace = 6.0};
  ChapterTerms terms;
  chapter.goals[0].pass = 8.0;
  chapter.goals[0].ace = 30.0;
  terms.thresholds = {
      {.what = chapter.goals[0].what, .level = chapter.goals[0].level, .pass = 5.0, .ace = std::nullopt}};
  const auto changed = with_thresholds(chapter, terms);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->goals[0].pass, 5.0);
  EXPECT_EQ(changed->goals[0].on.at("a100-80").pass, std::nullopt);
  EXPECT_EQ(changed->goals[0].on.at("a100-80").ace, 6.0);
  EXPECT_EQ(changed->goals[1].on.at("a100-80").pass, 0.1);
  terms.thresholds[0].pass = 7.0;  // less than the ace on classroom, more than that on an A100
  const auto refused = with_thresholds(chapter, terms);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("asks for 6, less than `pass`, 7, on a100-80"));
}

TEST_F(CourseFile, ItsThresholdsOfACountAreUpperBounds) {
  Chapter chapter = **course_.find("tiled-gemm");
  chapter.goals = {{Goal::Axis::up, "", Goal::What::shared_wavefronts_over_least, 1.5, 1.05}};
  ChapterTerms terms;
  terms.thresholds = {{.what = chapter.goals[0].what, .level = "", .pass = 1.2, .ace = std::nullopt}};
  const auto changed = with_thresholds(chapter, terms);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->goals[0].pass, 1.2);
  terms.thresholds[0].pass = 1.01;
  const auto refused = with_thresholds(chapter, terms);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "`ace` of shared_wavefronts_over_least allows 1.05, more than `pass`, 1.01");
}

TEST_F(CourseFile, MayNameTheVersionOfTheModel) {
  const auto with = [](const std::string& device, const std::string& version) {
    return "device = \"" + device + "\"\nmodel_version = " + version + "\n[[chapter]]\nname = \"vector-add\"\n";
  };
  const std::string present = std::to_string(kModelVersion), other = std::to_string(kModelVersion - 1);
  EXPECT_EQ(trouble(with("virtual:classroom", present)), "");
  EXPECT_THAT(trouble(with("virtual:classroom", other)),
              AllOf(HasSubstr(":2: the course is graded by version " + other), HasSubstr("or set " + present)));
  EXPECT_EQ(trouble(with("cuda:0", other)), "");
  EXPECT_THAT(trouble(with("virtual:classroom", "0")), HasSubstr(":2: `model_version` must be a whole number"));
  EXPECT_THAT(trouble(with("virtual:classroom", "\"2\"")), HasSubstr(":2: `model_version` must be a whole number"));
}

TEST_F(CourseFile, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(trouble("title = "), HasSubstr(":1: is not TOML"));
  EXPECT_THAT(trouble("tilte = \"x\"\n[[chapter]]\nname = \"vector-add\"\n"),
              HasSubstr(":1: unknown key `tilte` (known here: title,"));
  EXPECT_THAT(trouble(""), HasSubstr("there is no [[chapter]]"));
  const std::string advice = " lists no chapter (write [[chapter]], and below it name = \"vector-add\")";
  EXPECT_EQ(trouble("title = \"x\"\n[chapters.vector-add]\npoints = 3\n"), ":2: `[chapters.vector-add]`" + advice);
  EXPECT_EQ(trouble("\n[chapter.vector-add]\npoints = 3\n"), ":2: `[chapter.vector-add]`" + advice);
  EXPECT_EQ(trouble("\n[chapter]\nname = \"vector-add\"\n"), ":2: `[chapter]`" + advice);
  EXPECT_EQ(trouble("\n[[chapters]]\nname = \"vector-add\"\n"), ":2: `[[chapters]]`" + advice);
  EXPECT_EQ(trouble("chapters = [\"vector-add\"]\n"), ":1: `chapters`" + advice);
  EXPECT_THAT(trouble("[[chapter]]\nname = \"vector-ad\"\n"),
              HasSubstr(":2: there is no chapter `vector-ad` (did you mean vector-add?)"));
  EXPECT_THAT(trouble("[[chapter]]\npoints = 3\n"), HasSubstr(":1: a [[chapter]] needs a `name`"));
  EXPECT_THAT(trouble(std::string(kChapter) + kChapter), HasSubstr(":3: `vector-add` is listed twice"));
  EXPECT_THAT(trouble(std::string(kChapter) + "points = -1\n"), HasSubstr(":3: `points` must be a number from 0 to"));
  EXPECT_THAT(trouble(std::string(kChapter) + "points = \"ten\"\n"), HasSubstr(":3: `points` must be a number"));
  EXPECT_THAT(trouble(std::string(kChapter) + "points = nan\n"), HasSubstr(":3: `points` must be a number"));
  EXPECT_THAT(trouble(std::string(kChapter) + "pass_share = 1.5\n"),
              HasSubstr(":3: `pass_share` must be a number from 0 to 1"));
  EXPECT_THAT(trouble(std::string(kChapter) + "weight = 0\n"), HasSubstr("every weight is 0"));
  EXPECT_THAT(trouble(std::string(kChapter) + "deadline = \"2026-10-01\"\n"),
              HasSubstr(":3: `deadline` must be a date, a time and an offset (such as"));
  EXPECT_THAT(trouble(std::string(kChapter) + "deadline = 2026-10-01T23:59:00\n"), HasSubstr(":3: `deadline` must be"));
  EXPECT_THAT(trouble(std::string("counts = \"first\"\n") + kChapter),
              HasSubstr(":1: `counts` must be \"best\" or \"last\""));
  EXPECT_THAT(trouble(std::string("[late]\nper_week = 1\n") + kChapter), HasSubstr(":2: unknown key `per_week`"));
  EXPECT_THAT(
      trouble(std::string(kChapter) + "thresholds = [{ what = \"share_of_roof\", level = \"l2\", pass = 0.5 }]\n"),
      HasSubstr(":3: `vector-add` has no goal `share_of_roof` at `l2` (it has: share_of_roof at dram,"));
  EXPECT_THAT(
      trouble(std::string(kChapter) + "thresholds = [{ what = \"share_of_roof\", level = \"dram\", pass = 0.95 }]\n"),
      HasSubstr(":3: `ace` of share_of_roof at dram asks for 0.92, less than `pass`, 0.95"));
}

TEST_F(CourseFile, SecretsLieElsewhereAndFit) {
  const auto with = [&](const std::string& secrets) {
    folder_.write("class/s.toml", secrets);
    return trouble(std::string("secrets = \"s.toml\"\n") + kChapter);
  };
  EXPECT_EQ(with("seeds = [7]\n"), "");
  EXPECT_THAT(with("seeds = []\n"), HasSubstr(":1: `seeds` must be a list of 1 to 16"));
  EXPECT_THAT(with("seeds = [1]\n"), HasSubstr(":1: this is the public seed"));
  EXPECT_THAT(with("seeds = [-4]\n"), HasSubstr("a seed must be a whole number"));
  EXPECT_THAT(with("[sizes.vector-add]\nm = [1]\n"), HasSubstr("the extent `n` of vector-add is missing"));
  EXPECT_THAT(with("[sizes.vector-add]\nn = [1]\nm = [1]\n"), HasSubstr("vector-add has no extent `m`"));
  EXPECT_THAT(with("[sizes.vector-add]\nn = [0]\n"), HasSubstr("must be whole numbers from 1"));
  EXPECT_THAT(with("[sizes.naive-gemm]\nm = [1]\nn = [1, 2]\nk = [1]\n"),
              HasSubstr("`n` has 2 values, but the extent before it has 1"));
  EXPECT_THAT(with("sizes = 3\n"), HasSubstr("[sizes.NAME]"));

  folder_.write("repository/s.toml", "seeds = [7]\n");
  EXPECT_THAT(trouble(std::string("secrets = \"../repository/s.toml\"\n") + kChapter),
              HasSubstr(":1: the secrets are inside the repository"));
  std::filesystem::create_symlink(folder_.path() / "repository/s.toml", folder_.path() / "class/link.toml");
  EXPECT_THAT(trouble(std::string("secrets = \"link.toml\"\n") + kChapter),
              HasSubstr("the secrets are inside the repository"));
  EXPECT_THAT(trouble(std::string("secrets = \"none.toml\"\n") + kChapter), HasSubstr(":1: there is no file"));
}

// A size that no device holds would cost minutes for each submission, and end in a fault of the grader. One larger than
// the measured size has no bounded time.
TEST_F(CourseFile, HiddenSizesFitTheDeviceAndTheTime) {
  const auto with = [&](const std::string& secrets) {
    folder_.write("class/secrets.toml", secrets);
    return read(std::string("secrets = \"secrets.toml\"\n") + kChapter);
  };
  for (const char* sizes : {"[sizes.vector-add]\nn = [1, 2147483648]\n",
                            "[sizes.naive-gemm]\nm = [3, 65536]\nn = [3, 3]\nk = [3, 65536]\n"}) {
    const auto terms = with(sizes);
    ASSERT_FALSE(terms) << sizes;
    EXPECT_EQ(terms.error().text().find("65536"), std::string::npos);
  }
  Machine machine;
  machine.name = "classroom";
  machine.memory_bytes = std::int64_t{1} << 30;
  const auto check = [&](const std::string& sizes) {
    const auto terms = with("seeds = [5]\n\n" + sizes);
    EXPECT_TRUE(terms) << terms.error().text();
    const Status status = check_hidden_sizes(*terms, course_.chapters, machine);
    return status ? "" : status.error().text();
  };
  EXPECT_THAT(check("[sizes.vector-add]\nn = [77, 300000000]\n"),
              AllOf(HasSubstr("secrets.toml:3: hidden size 2 of vector-add does not fit into the memory"),
                    ::testing::Not(HasSubstr("300000000"))));
  EXPECT_THAT(check("[sizes.vector-add]\nn = [1048577]\n"),
              HasSubstr("secrets.toml:3: hidden size 1 of vector-add needs more work than the size that is measured on "
                        "classroom (n=1048576)"));
  EXPECT_THAT(check("[sizes.tiled-gemm]\nm = [512]\nn = [512]\nk = [513]\n"),
              HasSubstr("needs more work than the size"));
  EXPECT_THAT(check("[sizes.tiled-gemm]\nm = [3, 100000]\nn = [3, 1]\nk = [3, 100]\n"), HasSubstr("hidden size 2"));
  EXPECT_EQ(check("[sizes.vector-add]\nn = [77, 1048576]\n[sizes.tiled-gemm]\nm = [512]\nn = [512]\nk = [512]\n"), "");
}

TEST_F(CourseFile, NoWeightWithoutPoints) {
  EXPECT_THAT(trouble(std::string(kChapter) + "points = 0\nweight = 5\n[[chapter]]\nname = \"tiled-gemm\"\n"),
              ::testing::StartsWith(":4: a chapter without points has a weight"));
  EXPECT_EQ(trouble(std::string(kChapter) + "points = 0\n[[chapter]]\nname = \"tiled-gemm\"\n"), "");
}

TEST_F(CourseFile, WithoutOneEveryChapterIsGraded) {
  const CourseTerms terms = plain_terms(course_);
  EXPECT_EQ(terms.chapters.size(), course_.chapters.size());
  EXPECT_TRUE(terms.hidden("vector-add").empty());
}

}  // namespace
}  // namespace roofwalk
