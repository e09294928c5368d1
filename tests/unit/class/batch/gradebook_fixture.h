// The fixture for gradebooks that are made of a few hand-ins.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "common/base/json.h"
#include "grader/class/batch/gradebook.h"
#include "grader/class/batch/stored_grade.h"
#include "tests/support/small_class.h"

namespace roofwalk::test {

inline constexpr std::int64_t kDay = 86400, kDue = 100 * kDay;

class Book : public ::testing::Test {
 protected:
  Book() {
    terms_ = plain_terms(course_);
    terms_.chapters.resize(2);
    chapters_ = {course_.chapters[0], course_.chapters[1]};
    terms_.chapters[0].deadline_s = kDue;
  }

  void hand_in(const std::string& student, const std::string& sha256, std::int64_t at = 0, LateMark mark = {}) {
    submissions_.push_back({{student, "", mark}, "vector-add", student + "/" + sha256, sha256, at});
  }
  // Records a grade with one goal, whose credit is 0.7 at 4 and 1 at 16.
  void graded(const std::string& sha256, const std::string& verdict, double reached = 0) {
    const Json scales = to_json(std::vector<GoalScale>{{"up", "dram", "flops_over_starter", 1, 4, 16, reached}});
    const std::string grade = verdict != "pass" ? "none" : reached >= 16 ? "ace" : "pass";
    grades_[sha256] = {
        .key = "key " + sha256,
        .chapter = "vector-add",
        .source_sha256 = sha256,
        .result = {
            {"attempt", {{"verdict", verdict}, {"grade", grade}, {"reasons", Json::array()}, {"sandboxed", true}}},
            {"scales", scales}}};
  }
  // Records a submission by ann and its grade.
  void hand_in_graded(const std::string& sha256, std::int64_t at, double reached) {
    hand_in("ann", sha256, at);
    graded(sha256, reached >= 4 ? "pass" : "fail", reached);
  }
  // Returns the hash of ann's submission that counts.
  std::string counting() { return make().rows[0].cells[0].counting()->source_sha256; }
  Gradebook make() {
    return make_gradebook({.terms = terms_,
                           .chapters = chapters_,
                           .device = "virtual:classroom",
                           .students = students_,
                           .submissions = submissions_,
                           .grade =
                               [&](const Submission& s) {
                                 return grades_.count(s.source_sha256) > 0 ? &grades_[s.source_sha256] : nullptr;
                               },
                           .trouble = [](const Submission&) { return std::string("the worker died"); },
                           .graded_by = {},
                           .left_out = left_out_,
                           .now_s = now_s_});
  }

  const Course course_ = *open_course(TEST_SOURCE_DIR);
  CourseTerms terms_;
  std::vector<Chapter> chapters_;
  std::vector<Owner> students_{{"ann", "", {}}, {"bob", "", {}}, {"cid", "", {}}};
  std::vector<Submission> submissions_;
  std::map<std::string, StoredGrade> grades_;
  std::vector<LeftOut> left_out_;
  std::int64_t now_s_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace roofwalk::test
