#include "grader/class/hand_ins/canvas/canvas_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "grader/class/hand_ins/canvas/canvas_readings.h"
#include "grader/class/hand_ins/lms_names.h"

namespace roofwalk {
namespace {

constexpr std::size_t kMostNamesTold = 3;  // limit for the names in one line of told()
constexpr std::size_t kMostOpenRows = 4;   // limit for the rows of open names that may all be one person's
constexpr std::size_t kMostAlike = 100;    // the same if they may just as well be those of many groups

// The usual lengths of numbers, from those that are certain. A person from another account that the class's account
// trusts has a longer number (Shard::IDS_PER_SHARD of the gem switchman: 13 digits after the account's number). Such
// numbers do not count towards the usual lengths, and are always allowed.
struct NumberLengths {
  static constexpr std::size_t kOfAnotherAccount = 14;
  std::size_t fewest = 0, most = 0;  // 0: unknown

  void add(const std::string& number) {
    if (number.size() >= kOfAnotherAccount) return;
    fewest = most == 0 ? number.size() : std::min(fewest, number.size());
    most = std::max(most, number.size());
  }
  bool allow(const std::string& number) const {
    return most == 0 || number.size() >= kOfAnotherAccount ||
           (number.size() + 1 >= fewest && number.size() <= most + 1);
  }
};

// The range of the file numbers that are certain. Numbers of one assignment's files are close to each other, except
// for files that were on Canvas before; these change the ends of the range, but not its middle half. Only the newest
// file of each person counts.
class NumberRange {
 public:
  void add(const std::string& person, const std::string& number) {
    if (number.size() >= NumberLengths::kOfAnotherAccount) return;
    std::uint64_t& newest = newest_[person];
    newest = std::max<std::uint64_t>(newest, std::stoull(number));
  }
  void close() {
    std::vector<std::uint64_t> values;
    for (const auto& [person, newest] : newest_) values.push_back(newest);
    std::sort(values.begin(), values.end());
    if (values.empty()) return;
    const std::size_t quarter = values.size() / 4;
    least_ = values[quarter];
    most_ = values[values.size() - 1 - quarter];
  }
  bool is_known() const { return most_ > 0; }
  std::uint64_t least() const { return least_; }
  std::uint64_t most() const { return most_; }
  std::uint64_t span() const { return most_ - least_; }
  // How far the number is outside the middle half.
  std::uint64_t distance_of(const std::string& number) const {
    const std::uint64_t value = std::stoull(number);
    return value < least_ ? least_ - value : value > most_ ? value - most_ : 0;
  }

 private:
  std::map<std::string, std::uint64_t> newest_;  // by person
  std::uint64_t least_ = 0, most_ = 0;           // ends of the middle half; 0: unknown
};

// Evidence from the names whose reading is certain. A name consists of what Canvas wrote and, behind it, the learner's
// own file name. The learner's part must never make us reject the reading with the true owner: a reading with another
// person would then win.
struct NameEvidence {
  // Whether the names are of answers to a quiz. In these, a person's number directly follows the name, which may itself
  // end with digits.
  bool is_quiz = false;
  std::map<std::string, std::set<std::string>> names_of;  // by number
  NumberLengths ids, files;
  NumberRange file_range;
  std::uint64_t largest_id = 0;  // of this account's people

  // Adds a name if it has only one reading, or only one that Canvas may have written. Ignores a name with more readings
  // than are examined.
  void add(const std::vector<CanvasMark>& readings) {
    const auto may_be = [&](const CanvasMark& mark) { return is_quiz || may_be_canvas(mark); };
    const auto first = std::find_if(readings.begin(), readings.end(), may_be);
    const bool is_only = first != readings.end() && std::find_if(first + 1, readings.end(), may_be) == readings.end();
    if (readings.size() == 1) {
      add(readings.front());
    } else if (is_only && readings.size() <= kMostReadings) {
      add(*first);
    }
  }

  void add(const CanvasMark& sure) {
    names_of[sure.id].insert(sure.name);
    ids.add(sure.id);
    if (sure.id.size() < NumberLengths::kOfAnotherAccount)
      largest_id = std::max<std::uint64_t>(largest_id, std::stoull(sure.id));
    if (sure.file.empty()) return;
    files.add(sure.file);
    file_range.add(sure.id, sure.file);
  }

  bool is_empty() const { return names_of.empty(); }

  bool allows(const CanvasMark& mark) const {
    const bool has_length = mark.file.empty() || (files.most == 0 ? is_hardly_shorter(mark) : files.allow(mark.file));
    if (is_quiz) return !has_large_letters(mark.name);
    return may_be_somebodys(mark) && has_length && ids.allow(mark.id);
  }

  // Whether the reading's person number has a usual length and belongs to no other name. The file number is not
  // tested, because a file that was on Canvas before may have any number.
  bool may_be_a_persons(const CanvasMark& mark) const {
    return !is_quiz && ids.most > 0 && ids.allow(mark.id) && may_be_canvas(mark) && is_nobody_elses(mark);
  }

  // The first reading whose person's or file's number is plausible; nullptr if there is none. It is at or before the
  // place of the true one, so the learner's part has no influence on it. A group's own numbers ("group_1_2") are short,
  // so groups whose names begin alike have different such readings. Old files may have shorter numbers than the others,
  // and old accounts, too.
  const CanvasMark* first_usual(const std::vector<CanvasMark>& readings) const {
    constexpr std::size_t kMoreThanAGroups = 4;
    if (is_quiz) return &readings.front();
    const auto at = std::find_if(readings.begin(), readings.end(), [&](const CanvasMark& mark) {
      const bool has_file = files.allow(mark.file) || mark.file.size() >= kMoreThanAGroups;
      const bool may_be_old = mark.id.size() >= kMoreThanAGroups && mark.file.size() >= mark.id.size();
      const bool is_usual =
          ids.allow(mark.id) && may_be_canvas(mark) && (mark.file.empty() || files.allow(mark.file) || may_be_old);
      return ids.most > 0 && (is_usual || (has_file && may_be_before(mark)));
    });
    return at == readings.end() ? nullptr : &*at;
  }

  // Whether Canvas may have written this reading even if its numbers have unusual lengths: the file may have been on
  // Canvas before, or the person's account may be far older or newer than the others. An honest learner's own file name
  // may contain dates and versions, but hardly two numbers like these.
  bool may_be_unusual(const CanvasMark& mark) const {
    if (mark.is_late) return may_be_canvas(mark) && is_nobody_elses(mark);
    if (is_quiz || !may_be_somebodys(mark) || mark.file.empty()) return false;
    // Canvas numbers accounts in the order of their creation, so the number of a newer account may be longer than the
    // others by any number of digits, and that of an older one shorter by one digit.
    const bool is_long_enough =
        mark.id.size() >= ids.fewest || (mark.id.size() + 1 >= ids.fewest && !may_be_a_date(mark.id));
    if (is_long_enough && mark.file.size() >= mark.id.size()) return true;
    // A number with far fewer digits may be that of one of the first accounts, or that of an exercise in the name of a
    // file, unless Canvas is young. It counts only beside a number that is like those of files.
    const bool is_far_shorter = 3 * mark.id.size() < ids.fewest && mark.id.size() + kYoungDigits <= ids.fewest;
    if (is_far_shorter) {
      return !has_inner_number(mark.name) && files.most > 0 && mark.file.size() + kMoreDigits >= files.fewest &&
             mark.file.size() <= files.most + 1 && !may_be_a_date(mark.file);
    }
    const bool has_usual_file = files.most > 0 && files.allow(mark.file);
    return has_usual_file || mark.file.size() >= mark.id.size() + kMoreDigits;
  }

  // Whether Canvas may have written this reading although its numbers have unusual lengths, if it is before one of
  // usual lengths. The learner's part of the name can make a usual one behind any true reading, so a length proves
  // nothing here.
  bool may_be_before(const CanvasMark& mark) const { return !is_quiz && !mark.file.empty() && may_be_somebodys(mark); }

 private:
  // A file's number of any length is plausible if it has at least this many digits more than the person's: Canvas has
  // far more files than people, so files' numbers are usually far longer.
  static constexpr std::size_t kMoreDigits = 2;

  // On a Canvas whose accounts' numbers have at most this many digits, students may have one of the first.
  static constexpr std::size_t kYoungDigits = 4;

  // Whether the name has a number between two underscores. Canvas removes these underscores from a person's or group's
  // name (canvas-lms, lib/content_zipper.rb, sanitize_user_name); only a name made for the purpose, with several in a
  // row, keeps some. The name of a learner's file keeps its own: lab_1_20261234.
  static bool has_inner_number(std::string_view name) {
    for (std::size_t at = name.find('_'); at != std::string_view::npos; at = name.find('_', at + 1)) {
      const std::size_t end = name.find_first_not_of("0123456789", at + 1);
      if (end != std::string_view::npos && end > at + 1 && name[end] == '_') return true;
    }
    return false;
  }

  // Whether the number may be a year, a month or a day.
  static bool may_be_a_date(const std::string& number) {
    constexpr std::size_t kDay = 2, kYear = 4;
    return number.size() <= kDay || (number.size() == kYear && (number.starts_with("19") || number.starts_with("20")));
  }

  static bool is_hardly_shorter(const CanvasMark& mark) {
    return mark.file.empty() || mark.id.size() >= NumberLengths::kOfAnotherAccount ||
           mark.file.size() + 1 >= mark.id.size();
  }

  bool is_nobody_elses(const CanvasMark& mark) const {
    const auto known = names_of.find(mark.id);
    return known == names_of.end() || known->second.contains(mark.name);
  }

  bool are_files_far_above_people() const {
    constexpr std::uint64_t kTimes = 10;
    return largest_id < file_range.least() / kTimes;
  }

  bool may_be_somebodys(const CanvasMark& mark) const {
    return may_be_canvas(mark) && is_nobody_elses(mark) && !is_file_with_own_number(mark);
  }

  // Whether the reading takes a file's number for the person's number, and the next number, a date or another one that
  // the learner chose, for the file's. This is never true of the right reading, because both of its numbers are from
  // Canvas, and false on a young Canvas, where files' numbers are not far above people's.
  bool is_file_with_own_number(const CanvasMark& mark) const {
    constexpr std::uint64_t kNearPart = 1000, kFarPart = 10, kNearSpans = 3, kFarSpans = 20;
    if (!file_range.is_known() || mark.file.empty() || !are_files_far_above_people()) return false;
    // If files' numbers are far apart, even a short number is near their range.
    if (!files.allow(mark.id)) return false;
    return file_range.distance_of(mark.id) <= std::max(kNearSpans * file_range.span(), file_range.most() / kNearPart) &&
           file_range.distance_of(mark.file) > std::max(kFarSpans * file_range.span(), file_range.most() / kFarPart);
  }
};

// Whether `mark`, followed by `_` and a number, occurs anywhere in the text.
bool holds_mark(const std::string& text, std::string_view mark) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const std::size_t behind = at + mark.size();
    if (behind < text.size() && text[behind] == '_' && digits_at(text, behind + 1) > 0) return true;
  }
  return false;
}

std::string called(const CanvasMark& mark) { return owner_with_id(mark.name, mark.id).student; }

std::string row_of(const CanvasMark& mark) { return mark.name + "_" + mark.id; }

// Returns the mark for a name that cannot be decided. `own` is one of its readings; its name and number together become
// the name of a separate row. The mark says "late" if any reading does, including readings that were not examined.
CanvasMark open_mark(const std::string& text, CanvasMark own) {
  own.name = row_of(own);
  own.id.clear();
  own.is_late = holds_mark(text, kLateMark);
  own.may_be_small_late = holds_mark(text, kSmallLate);
  return own;
}

bool is_open(const CanvasMark& mark) { return mark.id.empty(); }

// What the evidence says of the readings of one name.
struct Choice {
  std::vector<CanvasMark> left;  // the readings whose numbers are of usual lengths; all if there is only one
  bool is_only = false;          // whether the one in `left` has no rival behind it
  // The readings before it that may be the true one, each with it in one text. Numbers of files occur only once, so
  // such a text that two names share is of readings of which at most one is true. A name's own readings are all
  // different. So a group's two files prove where its name ends.
  std::vector<std::string> before = {};
};

Choice choice_of(const std::vector<CanvasMark>& marks, const NameEvidence& evidence) {
  Choice choice;
  std::vector<CanvasMark>& left = choice.left;
  std::copy_if(marks.begin(), marks.end(), std::back_inserter(left),
               [&](const CanvasMark& mark) { return marks.size() == 1 || evidence.allows(mark); });
  if (left.size() != 1 || marks.size() > kMostReadings) return choice;
  const std::string row = row_of(left.front());
  const bool may_be_first = row_of(marks.front()) != row && evidence.may_be_a_persons(marks.front());
  // The length of its number alone must not rule a reading out.
  bool is_behind = false;
  choice.is_only = !may_be_first;
  for (const CanvasMark& mark : marks) {
    is_behind = is_behind || row_of(mark) == row;
    if (!is_behind && (evidence.may_be_before(mark) || evidence.may_be_unusual(mark)))
      choice.before.push_back(fmt::format("{}_{} {}", row_of(mark), mark.file, row));
    // The length of its number alone must not rule a reading out.
    if (is_behind && row_of(mark) != row && evidence.may_be_unusual(mark)) choice.is_only = false;
  }
  if (!choice.is_only) choice.before.clear();
  return choice;
}

// The first readings of a download in which every name can be read in several ways, as in a course whose files all
// begin with their student's number: doejane_48110_7712391_20261234_vector-add.cu. The other reading would be that of a
// group whose name ends with a number, such as doejane_48110. Groups of one download are numbered from 1, or share the
// text before the number. So the first readings are certain if almost all people in them have a name and a long number
// of their own, with a file's number that is not shorter. Otherwise, returns nothing.
std::vector<const CanvasMark*> firsts_of_people(const std::map<std::string, std::vector<CanvasMark>>& readings) {
  constexpr std::size_t kFewest = 3, kLongNumber = 4;
  std::map<std::string, const CanvasMark*> people;  // one voice each, however many files they have
  for (const auto& [name, marks] : readings) people.try_emplace(row_of(marks.front()), &marks.front());
  std::map<std::string, std::size_t> names, ids;
  for (const auto& [row, first] : people) ++names[first->name], ++ids[first->id];
  std::vector<const CanvasMark*> firsts;
  for (const auto& [row, first] : people) {
    const bool has_long_numbers = first->id.size() >= kLongNumber && first->file.size() >= first->id.size();
    if (has_long_numbers && may_be_canvas(*first) && names[first->name] == 1 && ids[first->id] == 1)
      firsts.push_back(first);
  }
  const bool are_most = firsts.size() >= kFewest && 4 * firsts.size() >= 3 * people.size();
  return are_most ? firsts : std::vector<const CanvasMark*>();
}

// A name that cannot be decided, with the readings that may be what Canvas wrote. The last of them names its row.
struct OpenName {
  std::string name;
  std::vector<CanvasMark> possible;  // begins with the first reading, even if that is ruled out
  std::size_t before = 0;            // number of readings before the last possible one
  std::string alike = {};            // as in CanvasMark
  bool is_alike_one = false;
  std::string row() const { return row_of(possible.back()); }
};

// In all files of one row, the name is the same up to the row's number. So a file whose owner may be named further
// behind must not be in that row: no possible reading follows the last one, even if there are too many to examine.
OpenName open_name(const std::string& name, const std::vector<CanvasMark>& marks, const NameEvidence& evidence) {
  const CanvasMark* const usual = evidence.first_usual(marks);
  OpenName open{name, {marks.front()}, 0, called(usual != nullptr ? *usual : marks.front()), usual != nullptr};
  const bool has_more = marks.size() > kMostReadings;
  for (std::size_t i = 1; i < marks.size(); ++i) {
    const bool is_last = has_more && i + 1 == marks.size();
    if (!is_last && !evidence.allows(marks[i]) && !evidence.may_be_unusual(marks[i])) continue;
    open.possible.push_back(marks[i]);
    open.before = i;
  }
  if (open.possible.size() > 1) return open;
  // All others are ruled out, and yet the first is not sure, so the evidence may mislead: too few names are certain.
  for (std::size_t i = 1; i < marks.size(); ++i) {
    if (!may_be_canvas(marks[i])) continue;
    open.possible.push_back(marks[i]);
    open.before = i;
  }
  return open;
}

// The names that get no row. One person may hand in any number of open names, so there are only a few rows for names
// that may be one person's, and for one reading right before the last. Names with fewer readings get theirs first, so
// that only names with as few can take away their room.
std::set<std::string> without_room(std::vector<OpenName> open) {
  std::stable_sort(open.begin(), open.end(), [](const OpenName& a, const OpenName& b) { return a.before < b.before; });
  std::set<std::string> names;
  std::map<std::string, std::set<std::string>> near, alike;  // rows by the reading right before, and by person
  for (const OpenName& one : open) {
    const std::size_t count = one.possible.size();
    auto& of_near = near[row_of(one.possible[count - std::min<std::size_t>(count, 2)])];
    auto& of_alike = alike[one.alike];
    const std::size_t most_alike = one.is_alike_one ? kMostOpenRows : kMostAlike;
    const bool is_known = of_near.contains(one.row()) && of_alike.contains(one.row());
    if (is_known || (of_near.size() < kMostOpenRows && of_alike.size() < most_alike)) {
      of_near.insert(one.row());
      of_alike.insert(one.row());
    } else {
      names.insert(one.name);
    }
  }
  return names;
}

}  // namespace

std::optional<CanvasMark> canvas_mark(const std::string& text) {
  if (auto anonymous = anonymous_mark(text)) return anonymous;
  if (auto quiz = quiz_marks(text); !quiz.empty()) return quiz.front();
  auto marks = plain_marks(text, 1);
  if (marks.empty()) return std::nullopt;
  CanvasMark& mark = marks.front();
  if (mark.name.ends_with(kSmallLate)) {
    mark.name.resize(mark.name.size() - kSmallLate.size());
    mark.is_late = true;
  }
  return mark;
}

CanvasNames::CanvasNames(const std::vector<std::string>& names) {
  // Decides which form the names of this zip have. If one file of an assignment is anonymous, all are; and a zip is
  // from either an assignment or a quiz. Names of any other form were chosen by learners.
  Readings plain, quiz, anonymous;
  bool has_letters = false;
  for (const std::string& name : names) {
    auto marks = plain_marks(name, kMostReadings + 1), of_quiz = quiz_marks(name);
    const auto hidden = anonymous_mark(name);
    if (!marks.empty()) plain[name] = std::move(marks);
    if (!of_quiz.empty()) quiz[name] = std::move(of_quiz);
    if (hidden) anonymous[name] = {*hidden};
    has_letters = has_letters || (hidden && hidden->name.find_first_not_of("0123456789", 5) != std::string::npos);
  }
  const auto holds_all = [&](const Readings& some) {
    return !some.empty() && std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return some.contains(name) || !(plain.contains(name) || quiz.contains(name) || anonymous.contains(name));
    });
  };
  if (has_letters && holds_all(anonymous)) {
    for (auto& [name, marks] : anonymous) marks_[name] = std::move(marks.front());
    return;
  }
  const bool is_quiz = holds_all(quiz);
  decide(is_quiz ? quiz : plain, is_quiz);
  if (!is_quiz) settle_small_lates();
  part_numbers();
}

void CanvasNames::decide(const Readings& readings, bool is_quiz) {
  NameEvidence evidence;
  evidence.is_quiz = is_quiz;
  for (const auto& [name, marks] : readings) evidence.add(marks);
  if (!is_quiz && evidence.is_empty()) {
    for (const CanvasMark* first : firsts_of_people(readings)) evidence.add(*first);
  }
  evidence.file_range.close();
  std::map<std::string, Choice> choices;
  std::map<std::string, std::size_t> uses;
  for (const auto& [name, marks] : readings) {
    const Choice& choice = choices[name] = choice_of(marks, evidence);
    for (const std::string& use : choice.before) ++uses[use];
  }
  std::pair<std::string, std::string> first;
  std::vector<OpenName> open;
  for (const auto& [name, marks] : readings) {
    Choice& choice = choices[name];
    std::vector<CanvasMark>& left = choice.left;
    const bool may_be_before =
        std::any_of(choice.before.begin(), choice.before.end(), [&](const std::string& use) { return uses[use] == 1; });
    if (marks.size() == 1 || (choice.is_only && !may_be_before)) {
      marks_[name] = left.front();
      continue;
    }
    if (left.size() < 2) left = marks;
    if (open.empty())
      first = {name, fmt::format("can be read as {}'s or as {}'s", called(left.front()), called(left.back()))};
    open.push_back(open_name(name, marks, evidence));
    CanvasMark& mark = marks_[name] = open_mark(name, open.back().possible.back());
    mark.alike = open.back().alike;
    mark.is_alike_one = open.back().is_alike_one;
  }
  if (open.empty()) return;
  told_.emplace_back(
      first.first,
      fmt::format("{}{}: which one is unclear, so it has a row of its own", first.second,
                  open.size() > 1 ? fmt::format(", and {} more are ambiguous, too", open.size() - 1) : ""));
  left_out_ = without_room(std::move(open));
}

// Today's Canvas writes LATE in capitals and everything else in small letters, so "lab_late" may be a group's name.
// Older releases write the mark in small letters, too. So `_late` counts as the mark only if no name of this download
// has it in capitals.
void CanvasNames::settle_small_lates() {
  bool has_large = false;
  std::vector<std::map<std::string, CanvasMark>::iterator> small;
  for (auto at = marks_.begin(); at != marks_.end(); ++at) {
    if (is_open(at->second)) continue;
    const std::string& name = at->second.name;
    has_large = has_large || at->second.is_late;
    if (name.ends_with(kSmallLate)) small.push_back(at);
  }
  const bool are_late = !has_large;
  for (auto& [name, mark] : marks_) mark.is_late = mark.is_late || (are_late && mark.may_be_small_late);
  if (small.empty()) return;
  for (const auto& at : small) {
    if (!are_late) break;
    at->second.name.resize(at->second.name.size() - kSmallLate.size());
    at->second.is_late = true;
  }
  told_.emplace_back(
      small.front()->first,
      fmt::format("{} `late` in lower case after a name: treated as {}",
                  small.size() > 1 ? fmt::format("and {} more have", small.size() - 1) : "has",
                  are_late ? "Canvas' late mark, as older releases write it" : "part of the name, not as a mark"));
}

// Separates files with the same number and different names: the number was misread, or a learner put another person's
// number into the name. Each of these names then has a row of its own.
void CanvasNames::part_numbers() {
  std::map<std::string, std::set<std::string>> names_of;
  for (const auto& [name, mark] : marks_) {
    if (!mark.id.empty()) names_of[mark.id].insert(mark.name);
  }
  std::size_t shared = 0;
  std::string first;
  for (const auto& [id, names] : names_of) {
    if (names.size() < 2 || ++shared > 1) continue;
    std::vector<std::string> shown_names;
    for (const std::string& name : names) {
      if (shown_names.size() < kMostNamesTold) shown_names.push_back(plain_name(name));
    }
    first = fmt::format("has the number {} after {} names ({}{})", id, names.size(), fmt::join(shown_names, ", "),
                        names.size() > shown_names.size() ? ", ..." : "");
  }
  for (auto& [name, mark] : marks_) mark.is_persons = mark.is_persons && names_of[mark.id].size() == 1;
  if (shared == 0) return;
  told_.emplace_back("", fmt::format("{}{}: each name has a row of its own, and the number identifies nobody", first,
                                     shared > 1 ? fmt::format(", and {} more such numbers", shared - 1) : ""));
}

std::optional<CanvasMark> CanvasNames::of(const std::string& name) const {
  const auto at = marks_.find(name);
  return at == marks_.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace roofwalk
