#include "grader/class/hand_ins/late_marks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "grader/class/hand_ins/canvas/canvas_readings.h"

namespace roofwalk {
namespace {

using Students = std::set<std::string>;

// The student as one voice among the others of a zip. One person may have several rows under names of their choice.
const std::string& voice_of(const Owner& owner) { return owner.alike.empty() ? owner.student : owner.alike; }

// Whether the student is certainly one person: the platform wrote a number, or an undecided name has a text that all
// undecided names of its person share.
bool is_one_person(const Owner& owner) { return !owner.lms_id.empty() || !owner.alike.empty(); }

// Whether students without a number from the platform are ignored. Names without a number may be made up, several of
// them by one student, but hardly most of a zip's names. So they are not ignored if few students have a number.
bool do_numbers_count(const Students& with, const Students& without) { return 2 * with.size() >= without.size(); }

// Students and deadlines in the marked files of one zip or folder.
struct Marked {
  Students students, all;  // students with a file of a chapter; all students with marked files
  std::map<std::string, Students> by_chapter;
  std::map<std::int64_t, Students> by_deadline_s;
  std::set<std::string> own;           // the chapters of the assignment that the marks are about
  std::set<std::int64_t> deadlines_s;  // deadlines of those chapters
  bool has_late = false;               // whether a student whose number Canvas wrote is late
  std::int64_t newest_s = 0;           // the newest time of a file, which is that of the download
};

std::string zip_of(const Submission& submission) { return submission.label.substr(0, submission.label.find('/')); }

std::optional<std::int64_t> deadline_of(const CourseTerms& terms, const std::string& chapter) {
  const ChapterTerms* found = terms.find(chapter);
  return found == nullptr ? std::nullopt : found->deadline_s;
}

// A student with a marked file of a chapter; the chapter need not be graded now.
struct HandedIn {
  std::string zip, chapter;
  const Owner& owner;
};

std::vector<HandedIn> handed_in(const Handed& handed) {
  std::vector<HandedIn> all;
  for (const Submission& s : handed.submissions) {
    if (s.owner.mark != LateMark::none) all.push_back({zip_of(s), s.chapter, s.owner});
  }
  for (const MarkedStudent& each : handed.marked) {
    if (!each.chapter.empty()) all.push_back({each.zip, each.chapter, each.owner});
  }
  return all;
}

// Returns for each zip whether those are ignored of whom it is not certain that they are one person each.
std::map<std::string, bool> numbers_count_in(const std::vector<HandedIn>& all) {
  std::map<std::string, std::pair<Students, Students>> zips;  // by zip: those who are one person, and others
  for (const HandedIn& one : all) {
    auto& [with, without] = zips[one.zip];
    (is_one_person(one.owner) ? with : without).insert(voice_of(one.owner));
  }
  std::map<std::string, bool> out;
  for (const auto& [name, students] : zips) out[name] = do_numbers_count(students.first, students.second);
  return out;
}

// Finds the chapters and deadlines of the assignment that a zip's marks are about: those for which many of the zip's
// students handed in something. A chapter that only a few students handed in does not count, even if no chapter has
// more students because most files have no deadline or no known chapter.
void find_own(Marked& zip, const CourseTerms& terms) {
  constexpr std::size_t kPartOfAll = 3;
  std::size_t most = 0;
  Students without;
  for (const auto& [deadline_s, students] : zip.by_deadline_s) most = std::max(most, students.size());
  for (const auto& [chapter, students] : zip.by_chapter) {
    if (!deadline_of(terms, chapter)) without.insert(students.begin(), students.end());
  }
  most = std::max(most, without.size());
  const auto is_own = [&](const Students& students) {
    return (2 * students.size() >= zip.students.size() || students.size() == most) &&
           kPartOfAll * students.size() > zip.all.size();
  };
  for (const auto& [deadline_s, students] : zip.by_deadline_s) {
    if (is_own(students)) zip.deadlines_s.insert(deadline_s);
  }
  for (const auto& [chapter, students] : zip.by_chapter) {
    const auto deadline_s = deadline_of(terms, chapter);
    if (deadline_s ? zip.deadlines_s.contains(*deadline_s) : is_own(without)) zip.own.insert(chapter);
  }
}

// If a zip contains a late file, drops the deadlines that were still to come when the zip was made, because a file can
// only be late for a deadline that is over. Only a file with a number from Canvas counts as late here: in another name,
// the mark may be part of what a learner wrote.
void drop_deadlines_to_come(Marked& zip, const CourseTerms& terms) {
  if (!zip.has_late) return;
  const auto first = zip.deadlines_s.lower_bound(zip.newest_s);
  // If all deadlines were still to come, the late file was late for an unknown earlier one, so nothing is dropped.
  if (first == zip.deadlines_s.begin()) return;
  zip.deadlines_s.erase(first, zip.deadlines_s.end());
  std::erase_if(zip.own, [&](const std::string& chapter) {
    const auto deadline_s = deadline_of(terms, chapter);
    return deadline_s && !zip.deadlines_s.contains(*deadline_s);
  });
}

std::map<std::string, Marked> marked_in(const Handed& handed, const CourseTerms& terms) {
  std::map<std::string, Marked> zips;
  const std::vector<HandedIn> all = handed_in(handed);
  const std::map<std::string, bool> numbers_count = numbers_count_in(all);
  const auto counts = [&](const std::string& zip, const Owner& owner) {
    const auto found = numbers_count.find(zip);
    return is_one_person(owner) || found == numbers_count.end() || !found->second;
  };
  for (const MarkedStudent& each : handed.marked) {
    if (counts(each.zip, each.owner)) zips[each.zip].all.insert(voice_of(each.owner));
    const bool is_sure = each.owner.mark == LateMark::late && is_persons(each.owner.lms_id);
    if (is_sure) zips[each.zip].has_late = true;
  }
  for (const HandedIn& one : all) {
    Marked& zip = zips[one.zip];
    if (!counts(one.zip, one.owner)) continue;
    const std::string& voice = voice_of(one.owner);
    zip.students.insert(voice);
    zip.by_chapter[one.chapter].insert(voice);
    if (const auto deadline_s = deadline_of(terms, one.chapter)) zip.by_deadline_s[*deadline_s].insert(voice);
  }
  for (const Submission& s : handed.submissions) {
    if (s.owner.mark == LateMark::none) continue;
    Marked& zip = zips[zip_of(s)];
    zip.newest_s = std::max(zip.newest_s, s.submitted_at_s);
  }
  for (auto& [name, zip] : zips) {
    find_own(zip, terms);
    drop_deadlines_to_come(zip, terms);
  }
  return zips;
}

using Files = std::map<std::string, std::set<std::pair<std::string, std::string>>>;  // chapters and hashes by voice

// Whether most students of an earlier download have exactly the same files now. If so, both downloads are of the same
// assignment: for the next assignment, most students would hand in something else.
bool is_downloaded_again(const Files& before, const Files& now) {
  std::size_t same = 0;
  for (const auto& [student, files] : before) {
    const auto found = now.find(student);
    same += found != now.end() && found->second == files ? 1 : 0;
  }
  return 2 * same > before.size();
}

// The text without late marks before numbers.
std::string without_late_marks(std::string text) {
  for (const std::string_view mark : {"_LATE_", "_late_"}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      const std::size_t behind = at + mark.size();
      if (digits_at(text, behind) > 0) {
        text.erase(at, mark.size() - 1);
      } else {
        at = behind - 1;
      }
    }
  }
  return text;
}

// The student of a submission as one voice; nullopt if it is not certain that the student is one person. The record
// keeps no Owner::alike, but the first reading of a person's undecided names is the same, whether they are late or not.
// An undecided voice is none of a student whose number is certain: learners choose the rest of a name.
std::optional<std::string> recorded_voice(const Submission& submission) {
  if (!submission.owner.lms_id.empty()) return submission.owner.student;
  const auto marks = plain_marks(without_late_marks(submission.label.substr(submission.label.find('/') + 1)), 1);
  if (marks.empty()) return std::nullopt;
  return owner_with_id(marks.front().name, marks.front().id).student + " ?";
}

// The files of a time span; those of whom it is not certain that they are one person each only if `all`.
Files files_of(const std::vector<Submission>& submissions, std::int64_t first_s, std::int64_t last_s, bool all) {
  Files files;
  for (const Submission& s : submissions) {
    if (s.submitted_at_s < first_s || s.submitted_at_s > last_s) continue;
    const auto voice = recorded_voice(s);
    if (all || voice) files[voice.value_or(s.owner.student)].emplace(s.chapter, s.source_sha256);
  }
  return files;
}

// Returns for each chapter when its own assignment was first downloaded after the deadline; chapters for which this
// never happened are absent. A zip is of a chapter's own assignment if at least half of the zip's students handed in
// this chapter. An earlier download of the zip that is graded now does not count. Files with times close together
// belong to one zip, because the platform writes a zip's files one after the other.
std::map<std::string, std::int64_t> first_marked_s(const std::vector<Submission>& all_before, const Files& now,
                                                   const CourseTerms& terms) {
  constexpr std::int64_t kNextFile_s = 600;
  std::vector<Submission> before = all_before;
  std::erase_if(before, [](const Submission& s) { return s.owner.mark == LateMark::none; });
  std::sort(before.begin(), before.end(),
            [](const Submission& a, const Submission& b) { return a.submitted_at_s < b.submitted_at_s; });
  std::map<std::string, std::int64_t> first;
  for (std::size_t begin = 0, end = 0; begin < before.size(); begin = end) {
    Students with, without;
    for (end = begin; end < before.size(); ++end) {
      const Submission& s = before[end];
      if (end > begin && s.submitted_at_s - before[end - 1].submitted_at_s > kNextFile_s) break;
      const auto voice = recorded_voice(s);
      (voice ? with : without).insert(voice.value_or(s.owner.student));
    }
    const bool do_all = !do_numbers_count(with, without);
    Students all;
    std::map<std::string, Students> by_chapter;
    for (std::size_t i = begin; i < end; ++i) {
      const auto voice = recorded_voice(before[i]);
      if (!voice && !do_all) continue;
      const std::string student = voice.value_or(before[i].owner.student);
      all.insert(student);
      by_chapter[before[i].chapter].insert(student);
    }
    // Needs all submissions, because some marks of that zip may have been removed.
    const std::int64_t first_file_s = before[begin].submitted_at_s, last_file_s = before[end - 1].submitted_at_s;
    if (is_downloaded_again(files_of(all_before, first_file_s, last_file_s, do_all), now)) continue;
    for (const auto& [chapter, students] : by_chapter) {
      const auto deadline_s = deadline_of(terms, chapter);
      const bool is_own = deadline_s && before[begin].submitted_at_s > *deadline_s && 2 * students.size() >= all.size();
      if (is_own) first.try_emplace(chapter, before[end - 1].submitted_at_s);
    }
  }
  return first;
}

// What is on record of a file's chapter and of the file.
struct OnRecord {
  bool was_marked = false;                     // an earlier download was of the chapter's own assignment
  bool was_late = false, was_on_time = false;  // the marks that the same file had
  bool is_uploaded_again = false;              // whether the late one had another number on Canvas
};

// The marks on record, by student, chapter and hash. Names of students may change, so their numbers count, too.
class KnownMarks {
 public:
  explicit KnownMarks(const std::vector<Submission>& before) {
    for (const Submission& s : before) {
      if (s.owner.mark == LateMark::none) continue;
      for (File& file : files_of(s)) {
        if (s.owner.mark == LateMark::on_time) {
          on_time_.insert(std::move(file));
        } else {
          late_[std::move(file)].insert(upload_of(s));
        }
      }
    }
  }
  OnRecord of(const Submission& submission, bool was_marked) const {
    OnRecord known{was_marked};
    for (const File& file : files_of(submission)) {
      known.was_on_time = known.was_on_time || on_time_.contains(file);
      const auto late = late_.find(file);
      if (late == late_.end()) continue;
      known.was_late = true;
      known.is_uploaded_again = known.is_uploaded_again || !late->second.contains(upload_of(submission));
    }
    return known;
  }

 private:
  using File = std::tuple<std::string, std::string, std::string>;
  static std::vector<File> files_of(const Submission& s) {
    std::vector<File> files = {{s.owner.student, s.chapter, s.source_sha256}};
    if (is_persons(s.owner.lms_id)) files.emplace_back(s.owner.lms_id, s.chapter, s.source_sha256);
    return files;
  }
  // The number that Canvas gave the file when it was uploaded; empty if the name has none.
  static std::string upload_of(const Submission& s) {
    const auto mark = canvas_mark(s.label.substr(s.label.find('/') + 1));
    return mark ? mark->file : "";
  }
  std::set<File> on_time_;
  std::map<File, std::set<std::string>> late_;  // with the numbers of the uploads
};

// Whether the mark decides if the file came before its chapter's deadline.
bool says_enough(const Submission& submission, const Marked& zip, const OnRecord& known, const CourseTerms& terms) {
  const auto deadline_s = deadline_of(terms, submission.chapter);
  const bool is_late = submission.owner.mark == LateMark::late;
  if (!deadline_s) return !is_late || zip.deadlines_s.empty() || zip.own.contains(submission.chapter);
  if (zip.deadlines_s.empty()) return false;
  // All files of the zip came before the download.
  const bool is_in_time = submission.submitted_at_s <= *deadline_s;
  // A file that came before one deadline also came before any later one, but the zip may be of another assignment with
  // a later deadline.
  const bool is_own = zip.deadlines_s.contains(*deadline_s), is_known_late = known.was_late && !known.was_on_time;
  if (!is_own) return !is_late && *deadline_s > *zip.deadlines_s.rbegin() && (is_in_time || !is_known_late);
  const bool is_of_one = zip.deadlines_s.size() == 1;
  if (is_of_one && (is_late || is_in_time)) return true;
  if (is_in_time) return !is_late;
  // The marks may be about another assignment, for which files of this chapter were handed in again. It may have a
  // deadline that is not in the terms. Then "on time" says nothing of this chapter's deadline. If a file was late, only
  // a download of the chapter's assignment alone, with the same upload, tells that it no longer is.
  const bool is_alone = is_of_one && std::all_of(zip.own.begin(), zip.own.end(), [&](const std::string& chapter) {
                          return deadline_of(terms, chapter).has_value();
                        });
  if (!is_late)
    return known.was_on_time || (!known.was_marked && (!is_known_late || (is_alone && !known.is_uploaded_again)));
  // Several deadlines are the assignment's, and it is unknown which of them the mark is about.
  return *deadline_s == *zip.deadlines_s.rbegin() || !known.was_marked;
}

}  // namespace

std::vector<std::string> drop_foreign_marks(Handed& handed, const std::vector<Submission>& before,
                                            const CourseTerms& terms) {
  const std::map<std::string, Marked> zips = marked_in(handed, terms);
  const std::map<std::string, std::int64_t> first_s =
      first_marked_s(before, files_of(handed.submissions, 0, kLatestMoment, /*all=*/true), terms);
  const KnownMarks known(before);
  std::vector<std::string> lines;
  for (const auto& [name, zip] : zips) {
    if (zip.deadlines_s.size() > 1) {
      lines.push_back(
          fmt::format("{} holds {}, whose deadlines differ: the platform's marks refer to one of them, so late files "
                      "of the others may count as on time; give them one deadline, or an assignment each",
                      name, fmt::join(zip.own, ", ")));
    }
  }
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> foreign;  // labels by zip and chapter
  for (Submission& s : handed.submissions) {
    if (s.owner.mark == LateMark::none) continue;
    const auto first = first_s.find(s.chapter);
    const bool was_marked = first != first_s.end() && first->second < s.submitted_at_s;
    if (says_enough(s, zips.at(zip_of(s)), known.of(s, was_marked), terms)) continue;
    s.owner.mark = LateMark::none;
    foreign[{zip_of(s), s.chapter}].push_back(s.label);
  }
  for (const auto& [place, labels] : foreign) {
    const std::set<std::string>& own = zips.at(place.first).own;
    lines.push_back(fmt::format(
        "{}{} of {}: in a zip of {} the platform's mark does not refer to its deadline, so the time of the download "
        "counts",
        labels.front(), labels.size() > 1 ? fmt::format(" and {} more files are", labels.size() - 1) : " is",
        place.second, own.empty() ? "other files" : fmt::format("{}", fmt::join(own, ", "))));
  }
  return lines;
}

std::string unknown_times_text(const Handed& handed, const CourseTerms& terms) {
  std::vector<std::string> labels;
  for (const Submission& s : handed.submissions) {
    if (s.owner.mark == LateMark::none && !is_known_time(s.submitted_at_s) && deadline_of(terms, s.chapter))
      labels.push_back(s.label);
  }
  if (labels.empty()) return {};
  return fmt::format(
      "{} a date around 1970, 1980, 2038 or 2107, which is what programs write when they do not know the time: {} as "
      "on time; to count lateness, give {} the time of the hand-in (touch -d)",
      labels.size() > 1 ? fmt::format("{} and {} more files have", labels.front(), labels.size() - 1)
                        : labels.front() + " has",
      labels.size() > 1 ? "they count" : "it counts", labels.size() > 1 ? "them" : "it");
}

}  // namespace roofwalk
