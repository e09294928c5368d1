#include "grader/class/batch/batch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "common/base/atomic_file.h"
#include "common/base/hash.h"
#include "common/base/json.h"
#include "common/store/store.h"
#include "grader/attempt/goals.h"
#include "grader/class/batch/stored_grade.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

Json goals_json(const Chapter& chapter) {
  Json json = Json::array();
  for (const Goal& goal : chapter.goals) {
    json.push_back({goal_axis_name(goal.axis), goal.level, goal_what_name(goal.what),
                    goal.pass ? Json(*goal.pass) : Json(nullptr), goal.ace ? Json(*goal.ace) : Json(nullptr)});
  }
  return json;
}

std::string text_of(const HiddenCases& hidden) {
  std::string text;
  for (const std::uint64_t seed : hidden.seeds) text += fmt::format("{} ", seed);
  for (const Size& size : hidden.sizes) text += "\n" + size.text();
  return text;
}

}  // namespace

const std::string& this_programs_hash() {
  static const std::string kHash = sha256_hex(file_text("/proc/self/exe"));
  return kHash;
}

Result<Batch> Batch::open(const Course& course, const BatchPlaces& places) {
  Batch batch;
  batch.places_ = places;
  if (places.course_file.empty()) {
    batch.terms_ = plain_terms(course);
  } else {
    ROOFWALK_TRY(batch.terms_, read_terms(places.course_file, course, fs::current_path(), places.model_pin));
  }
  if (places.secrets) ROOFWALK_TRY_STATUS(use_secrets(*places.secrets, "the secrets", course, batch.terms_));
  for (const ChapterTerms& one : batch.terms_.chapters) {
    ROOFWALK_TRY(const Chapter* const chapter, course.find(one.chapter));
    ROOFWALK_TRY(Chapter changed, with_thresholds(*chapter, one));
    batch.chapters_.push_back(std::move(changed));
  }
  ROOFWALK_TRY(GradeStore store, GradeStore::open(places.folder / "grades.db", batch.told_));
  batch.store_.emplace(std::move(store));
  return batch;
}

Result<Descriptor> Batch::lock() const {
  const fs::path file = places_.folder / "lock";
  Descriptor held(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (held.get() < 0) return cannot_write(file);
  if (::flock(held.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{.message = "another roofwalk is grading into this folder",
                 .file = places_.folder.string(),
                 .advice = "wait for it to end, or name another folder with --grades"};
  }
  return held;
}

// A copy may be torn, or changed since it was made, without another size. An empty hand-in has one, too.
Status Batch::keep_source(const std::string& sha256, const std::string& bytes) const {
  const fs::path file = source(sha256);
  std::error_code error;
  if (fs::exists(file, error) && file_text(file) == bytes) return kOk;
  return replace_file(file, bytes);
}

void Batch::use_bench(const Rig& rig) {
  device_ = rig.device_name();
  for (Chapter& chapter : chapters_) {
    use_thresholds_of(rig.machine, chapter);
    terms_keys_[chapter.name] =
        sha256_hex(json_line(Json{device_, chapter.name, goals_json(chapter), text_of(terms_.hidden(chapter.name))}));
    const Json all = {this_programs_hash(),
                      rig.toolkit ? rig.toolkit->version : "",
                      folder_hash(rig.include),
                      json_line(to_json(rig.machine)),
                      device_,
                      chapter.name,
                      sha256_hex(file_text(chapter.folder / "exercise.toml")),
                      sha256_hex(file_text(chapter.starter())),
                      goals_json(chapter),
                      text_of(terms_.hidden(chapter.name))};
    chapter_keys_[chapter.name] = sha256_hex(json_line(all));
  }
}

std::string Batch::key(const Submission& submission) const {
  const auto chapter = chapter_keys_.find(submission.chapter);
  return chapter == chapter_keys_.end() ? "" : sha256_hex(chapter->second + submission.source_sha256);
}

std::string Batch::terms_key(const std::string& chapter) const {
  const auto at = terms_keys_.find(chapter);
  return at == terms_keys_.end() ? "" : at->second;
}

GradedBy Batch::graded_by(const Submission& submission, const StoredGrade& grade) const {
  if (grade.key == key(submission)) return GradedBy::these_terms;
  const Json* made_for = grade.result.member("terms_sha256");
  const bool is_same = made_for == nullptr || *made_for == terms_key(submission.chapter);
  return is_same ? GradedBy::another_grader : GradedBy::other_terms;
}

std::string stale_text(const Gradebook& book, const std::string& grade_command) {
  const auto grades = [](std::size_t count) {
    return fmt::format("{} grade{}", count, count == 1 ? " was" : "s were");
  };
  const std::size_t terms = book.graded_by(GradedBy::other_terms), grader = book.graded_by(GradedBy::another_grader);
  std::string text;
  if (terms > 0) text += grades(terms) + " made under other terms (goals, hidden cases or device)";
  if (grader > 0) text += (text.empty() ? "" : ", ") + grades(grader) + " made by another version of the grader";
  return text.empty() ? text : text + fmt::format(": `{}` makes them again", grade_command);
}

Result<Gradebook> Batch::gradebook(const GradeStore& graded) const {
  ROOFWALK_TRY(const auto students, store_->students());
  ROOFWALK_TRY(const auto submissions, store_->submissions());
  ROOFWALK_TRY(const auto grades, graded.grades());
  ROOFWALK_TRY(const auto faults, graded.faults());
  ROOFWALK_TRY(const auto left_out, store_->left_out());
  std::map<std::string, const StoredGrade*> by_key, by_bytes;
  for (const StoredGrade& grade : grades) {
    by_key[grade.key] = &grade;
    by_bytes[grade.chapter + " " + grade.source_sha256] = &grade;
  }
  std::map<std::string, std::string> why;
  for (const StoredFault& fault : faults) why[fault.key] = fault.reason;
  const auto find = [](const auto& map, const std::string& key) {
    const auto at = map.find(key);
    return at == map.end() ? nullptr : &at->second;
  };
  CourseTerms terms = terms_;
  std::vector<Chapter> chapters = chapters_;
  if (places_.course_file.empty()) {
    const auto is_unused = [&](const std::string& name) {
      return std::none_of(submissions.begin(), submissions.end(), [&](const auto& s) { return s.chapter == name; });
    };
    std::erase_if(terms.chapters, [&](const ChapterTerms& one) { return is_unused(one.chapter); });
    std::erase_if(chapters, [&](const Chapter& one) { return is_unused(one.name); });
  }
  return make_gradebook(
      {.terms = terms,
       .chapters = chapters,
       .device = device_,
       .students = students,
       .submissions = submissions,
       .grade = [&](const Submission& s) -> const StoredGrade* {
         const auto* grade = find(by_key, key(s));
         if (grade == nullptr) grade = find(by_bytes, s.chapter + " " + s.source_sha256);
         return grade != nullptr ? *grade : nullptr;
       },
       .trouble = [&](const Submission& s) -> std::string {
         const auto* reason = find(why, key(s));
         return reason != nullptr ? *reason : "";
       },
       .graded_by = [&](const Submission& s, const StoredGrade& grade) { return graded_by(s, grade); },
       .left_out = left_out,
       .now_s = std::time(nullptr)});
}

}  // namespace roofwalk
