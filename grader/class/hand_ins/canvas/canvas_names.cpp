#include "grader/class/hand_ins/canvas/canvas_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "common/base/hash.h"
#include "grader/class/hand_ins/canvas/canvas_readings.h"
#include "grader/class/hand_ins/canvas/name_evidence.h"
#include "grader/class/hand_ins/lms_names.h"

namespace roofwalk {
namespace {

constexpr std::size_t kMostNamesTold = 3;  // limit for the names in one line of told()
constexpr std::size_t kMostOpenRows = 4;   // limit for the rows of open names that may all be one person's
constexpr std::size_t kMostAlike = 100;    // the same if they may just as well be those of many groups

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
  std::vector<const CanvasMark*> left;  // the readings whose numbers are of usual lengths; all if there is only one
  bool is_only = false;                 // whether the one in `left` has no rival behind it
  // The readings before it that may be the true one, each with it in one hash, because names may be long. Numbers of
  // files occur only once, so such a hash that two names share is of readings of which at most one is true. A name's
  // own readings are all different. So a group's two files prove where its name ends.
  std::vector<std::string> before = {};
};

Choice choice_of(const std::vector<CanvasMark>& marks, const NameEvidence& evidence) {
  Choice choice;
  std::vector<const CanvasMark*>& left = choice.left;
  for (const CanvasMark& mark : marks) {
    if (marks.size() == 1 || evidence.allows(mark)) left.push_back(&mark);
  }
  if (left.size() != 1 || marks.size() > kMostReadings) return choice;
  const std::string row = row_of(*left.front());
  const bool may_be_first = row_of(marks.front()) != row && evidence.may_be_a_persons(marks.front());
  // The length of its number alone must not rule a reading out.
  bool is_behind = false;
  choice.is_only = !may_be_first;
  for (const CanvasMark& mark : marks) {
    is_behind = is_behind || row_of(mark) == row;
    if (!is_behind && (evidence.may_be_before(mark) || evidence.may_be_unusual(mark)))
      choice.before.push_back(sha256_hex(fmt::format("{}_{} {}", row_of(mark), mark.file, row)));
    // The length of its number alone must not rule a reading out.
    if (is_behind && row_of(mark) != row && evidence.may_be_unusual(mark)) choice.is_only = false;
  }
  if (!choice.is_only) choice.before.clear();
  return choice;
}

// A name that cannot be decided, with the readings that may be what Canvas wrote. The last of them names its row.
struct OpenName {
  std::string name;
  std::vector<const CanvasMark*> possible;  // begins with the first reading, even if that is ruled out
  std::size_t before = 0;                   // number of readings before the last possible one
  std::string alike = {};                   // as in CanvasMark
  bool is_alike_one = false;
  std::string row() const { return row_of(*possible.back()); }
};

// In all files of one row, the name is the same up to the row's number. So a file whose owner may be named further
// behind must not be in that row: no possible reading follows the last one, even if there are too many to examine.
OpenName open_name(const std::string& name, const std::vector<CanvasMark>& marks, const NameEvidence& evidence) {
  const CanvasMark* const usual = evidence.first_usual(marks);
  OpenName open{name, {&marks.front()}, 0, called(usual != nullptr ? *usual : marks.front()), usual != nullptr};
  const bool has_more = marks.size() > kMostReadings;
  for (std::size_t i = 1; i < marks.size(); ++i) {
    const bool is_last = has_more && i + 1 == marks.size();
    if (!is_last && !evidence.allows(marks[i]) && !evidence.may_be_unusual(marks[i])) continue;
    open.possible.push_back(&marks[i]);
    open.before = i;
  }
  if (open.possible.size() > 1) return open;
  // All others are ruled out, and yet the first is not sure, so the evidence may mislead: too few names are certain.
  for (std::size_t i = 1; i < marks.size(); ++i) {
    if (!may_be_canvas(marks[i])) continue;
    open.possible.push_back(&marks[i]);
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
    auto& of_near = near[row_of(*one.possible[count - std::min<std::size_t>(count, 2)])];
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
    const std::vector<const CanvasMark*>& left = choice.left;
    const bool may_be_before =
        std::any_of(choice.before.begin(), choice.before.end(), [&](const std::string& use) { return uses[use] == 1; });
    if (marks.size() == 1 || (choice.is_only && !may_be_before)) {
      marks_[name] = *left.front();
      continue;
    }
    if (open.empty()) {
      const bool have_rivals = left.size() > 1;
      first = {name, fmt::format("can be read as {}'s or as {}'s", called(have_rivals ? *left.front() : marks.front()),
                                 called(have_rivals ? *left.back() : marks.back()))};
    }
    open.push_back(open_name(name, marks, evidence));
    CanvasMark& mark = marks_[name] = open_mark(name, *open.back().possible.back());
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
