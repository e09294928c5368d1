// What `grade --compare` lists: submissions whose grade differs, students whose total differs, and what has no grade.
#include "grader/class/batch/compare.h"

#include <gtest/gtest.h>

#include "common/base/json.h"

namespace roofwalk {
namespace {

Entry entry(const std::string& sha256, const std::string& grade, std::optional<double> points, int model_version) {
  Entry one;
  one.label = "class/" + sha256 + ".cu";
  one.source_sha256 = sha256;
  one.verdict = !points ? "" : *points < 5 ? "fail" : "pass";
  one.grade = points ? grade : "";
  one.points = points;
  one.model_version = model_version;
  if (grade == "none") one.reasons = {"up by 1.2x, and the goal is 2x\nmore"};
  return one;
}

Cell cell(std::vector<Entry> entries, std::size_t counts) {
  Cell one;
  one.state = entries.empty() ? Cell::State::nothing : Cell::State::graded;
  one.entries = std::move(entries);
  one.counts = counts;
  return one;
}

Gradebook book(std::vector<StudentRow> rows) {
  Gradebook made;
  for (const char* chapter : {"vector-add", "tiled-gemm"}) {
    made.columns.emplace_back();
    made.columns.back().chapter = chapter;
  }
  made.rows = std::move(rows);
  return made;
}

StudentRow row(const std::string& student, Cell first, Cell second, std::optional<double> total_percent) {
  return {{student, "", {}}, {std::move(first), std::move(second)}, total_percent};
}

const std::vector<std::string> kBoth = {"vector-add", "tiled-gemm"};

TEST(Compare, ListsWhatDiffers) {
  const Gradebook on_record = book({
      row("ann", cell({entry("a1", "ace", 10, 2), entry("a2", "pass", 8, 2)}, 0), {}, 50),
      row("bob", cell({entry("b1", "pass", 8, 2)}, 0), cell({entry("b2", "pass", 7, 2)}, 0), 75),
  });
  const Gradebook now = book({
      row("ann", cell({entry("a1", "none", 3, 3), entry("a2", "pass", 8, 3)}, 1), {}, 40),
      row("bob", cell({entry("b1", "pass", 8, 3)}, 0), cell({entry("b2", "pass", 7.5, 3)}, 0), 77.5),
  });
  EXPECT_EQ(text_of(compare(on_record, now, kBoth)),
            "ann, vector-add (class/a1.cu)\n"
            "  ace, 10 points (model 2) -> goal missed, 3 points (model 3)\n"
            "      up by 1.2x, and the goal is 2x\n"
            "bob, tiled-gemm (class/b2.cu)\n"
            "  pass, 7 points (model 2) -> pass, 7.5 points (model 3)\n"
            "ann, total: 50 % -> 40 %\n"
            "bob, total: 75 % -> 77.5 %\n"
            "\n"
            "4 submissions compared: 1 would get another verdict, 1 only other points; the total of 2 students would "
            "change\n");
  const Json json = to_json(compare(on_record, now, kBoth));
  EXPECT_EQ(json["changed_verdicts"], 1);
  EXPECT_EQ(json["submissions"][0]["on_record"]["counts"], true);
  EXPECT_EQ(json["submissions"][0]["now"]["counts"], false);
  EXPECT_EQ(json["totals"][0]["now_percent"], 40);
  // One chapter alone has no total.
  EXPECT_EQ(text_of(compare(on_record, now, {"tiled-gemm"})),
            "bob, tiled-gemm (class/b2.cu)\n"
            "  pass, 7 points (model 2) -> pass, 7.5 points (model 3)\n"
            "\n"
            "1 submission compared: 0 would get another verdict, 1 only other points; the total of 0 students would "
            "change\n");
}

TEST(Compare, OnlyNewGradesOfThisProgramCount) {
  Entry of_another = entry("c1", "ace", 10, 2);
  of_another.graded_by = GradedBy::another_grader;
  const Gradebook on_record = book({
      row("ann", cell({entry("a1", "", std::nullopt, 2)}, 0), {}, std::nullopt),
      row("cid", cell({of_another}, 0), {}, 50),
  });
  const Gradebook now = book({
      row("ann", cell({entry("a1", "", std::nullopt, 3)}, 0), {}, std::nullopt),
      row("cid", cell({of_another}, 0), {}, 50),
  });
  const Comparison comparison = compare(on_record, now, kBoth);
  EXPECT_TRUE(comparison.grades.empty());
  EXPECT_TRUE(comparison.totals.empty());
  EXPECT_EQ(comparison.without_record, 1u);
  EXPECT_EQ(comparison.without_new, 1u);
}

}  // namespace
}  // namespace roofwalk
