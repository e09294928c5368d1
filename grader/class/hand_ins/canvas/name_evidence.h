// What the names of a download whose reading is certain tell of the others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grader/class/hand_ins/canvas/canvas_names.h"

namespace roofwalk {

// The usual lengths of numbers, from those that are certain. A person from another account that the class's account
// trusts has a longer number (Shard::IDS_PER_SHARD of the gem switchman: 13 digits after the account's number). Such
// numbers do not count towards the usual lengths, and are always allowed.
struct NumberLengths {
  static constexpr std::size_t kOfAnotherAccount = 14;
  std::size_t fewest = 0, most = 0;  // 0: unknown

  void add(const std::string& number);
  bool allow(const std::string& number) const;
};

// The range of the file numbers that are certain. Numbers of one assignment's files are close to each other, except
// for files that were on Canvas before; these change the ends of the range, but not its middle half. Only the newest
// file of each person counts.
class NumberRange {
 public:
  void add(const std::string& person, const std::string& number);
  void close();
  bool is_known() const { return most_ > 0; }
  std::uint64_t least() const { return least_; }
  std::uint64_t most() const { return most_; }
  std::uint64_t span() const { return most_ - least_; }
  // How far the number is outside the middle half.
  std::uint64_t distance_of(const std::string& number) const;

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
  void add(const std::vector<CanvasMark>& readings);

  void add(const CanvasMark& sure);

  bool allows(const CanvasMark& mark) const;

  // Whether the reading's person number has a usual length and belongs to no other name. The file number is not
  // tested, because a file that was on Canvas before may have any number.
  bool may_be_a_persons(const CanvasMark& mark) const;

  // The first reading whose person's or file's number is plausible; nullptr if there is none. It is at or before the
  // place of the true one, so the learner's part has no influence on it. A group's own numbers ("group_1_2") are short,
  // so groups whose names begin alike have different such readings. Old files may have shorter numbers than the others,
  // and old accounts, too.
  const CanvasMark* first_usual(const std::vector<CanvasMark>& readings) const;

  // Whether Canvas may have written this reading even if its numbers have unusual lengths: the file may have been on
  // Canvas before, or the person's account may be far older or newer than the others. An honest learner's own file name
  // may contain dates and versions, but hardly two numbers like these.
  bool may_be_unusual(const CanvasMark& mark) const;

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
  static bool has_inner_number(std::string_view name);

  // Whether the number may be a year, a month or a day.
  static bool may_be_a_date(const std::string& number);

  static bool is_hardly_shorter(const CanvasMark& mark);

  bool is_nobody_elses(const CanvasMark& mark) const;

  bool are_files_far_above_people() const;

  bool may_be_somebodys(const CanvasMark& mark) const;

  // Whether the reading takes a file's number for the person's number, and the next number, a date or another one that
  // the learner chose, for the file's. This is never true of the right reading, because both of its numbers are from
  // Canvas, and false on a young Canvas, where files' numbers are not far above people's.
  bool is_file_with_own_number(const CanvasMark& mark) const;
};

}  // namespace roofwalk
