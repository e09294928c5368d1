#include "grader/batch/late_marks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

namespace roofwalk {
namespace {

// What is marked in one zip or folder.
struct Marked {
  std::set<std::string> students;
  std::map<std::string, std::set<std::string>> by_chapter;  // its students
  std::set<std::string> own;                                // chapters
  std::set<std::int64_t> deadlines_s;                       // of those
};

std::string zip_of(const Submission& submission) { return submission.label.substr(0, submission.label.find('/')); }

std::optional<std::int64_t> deadline_of(const CourseTerms& terms, const std::string& chapter) {
  const ChapterTerms* found = terms.find(chapter);
  return found == nullptr ? std::nullopt : found->deadline_s;
}

std::map<std::string, Marked> marked_in(const Handed& handed, const CourseTerms& terms) {
  std::map<std::string, Marked> zips;
  // Those whose number the platform wrote, where there are any: one student may be behind several other names.
  std::set<std::string> with_numbers;  // zips
  for (const Submission& s : handed.submissions) {
    if (s.owner.mark != LateMark::none && !s.owner.lms_id.empty()) with_numbers.insert(zip_of(s));
  }
  for (const Submission& s : handed.submissions) {
    if (s.owner.mark == LateMark::none) continue;
    Marked& zip = zips[zip_of(s)];
    if (s.owner.lms_id.empty() && with_numbers.contains(zip_of(s))) continue;
    zip.students.insert(s.owner.student);
    zip.by_chapter[s.chapter].insert(s.owner.student);
  }
  for (auto& [name, zip] : zips) {
    for (const auto& [chapter, students] : zip.by_chapter) {
      if (2 * students.size() < zip.students.size()) continue;
      zip.own.insert(chapter);
      if (const auto deadline_s = deadline_of(terms, chapter)) zip.deadlines_s.insert(*deadline_s);
    }
  }
  return zips;
}

// Whether its mark tells if it came before its chapter's deadline. What came before one came before any later one.
bool says_enough(const Submission& submission, const Marked& zip, const CourseTerms& terms) {
  const auto deadline_s = deadline_of(terms, submission.chapter);
  if (!deadline_s || zip.own.contains(submission.chapter) || zip.deadlines_s.contains(*deadline_s)) return true;
  return submission.owner.mark == LateMark::on_time && !zip.deadlines_s.empty() &&
         *deadline_s > *zip.deadlines_s.rbegin();
}

}  // namespace

std::vector<std::string> drop_foreign_marks(Handed& handed, const CourseTerms& terms) {
  const std::map<std::string, Marked> zips = marked_in(handed, terms);
  std::vector<std::string> lines;
  for (const auto& [name, zip] : zips) {
    if (zip.deadlines_s.size() > 1) {
      lines.push_back(
          fmt::format("{} holds {}, whose deadlines differ: the platform's marks are of one of them, so files of the "
                      "others may be late and count as on time; give them one deadline, or each its own assignment",
                      name, fmt::join(zip.own, ", ")));
    }
  }
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> foreign;  // labels by zip and chapter
  for (Submission& s : handed.submissions) {
    if (s.owner.mark == LateMark::none || says_enough(s, zips.at(zip_of(s)), terms)) continue;
    s.owner.mark = LateMark::none;
    foreign[{zip_of(s), s.chapter}].push_back(s.label);
  }
  for (const auto& [place, labels] : foreign) {
    lines.push_back(
        fmt::format("{} and {} more files are of {}, and most beside them of {}: the platform's mark says "
                    "nothing of its deadline, so their time counts, which is that of the download",
                    labels.front(), labels.size() - 1, place.second, fmt::join(zips.at(place.first).own, ", ")));
  }
  return lines;
}

}  // namespace roofwalk
