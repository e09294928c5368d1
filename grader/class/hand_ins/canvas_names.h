// How Canvas calls the files in its zips (lib/content_zipper.rb, app/models/quizzes/quiz_submission_zipper.rb).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roofwalk {

struct CanvasMark {
  std::string name, id, file;  // of the person, or of a group; the person's number and the file's
  std::string rest;            // the learner's own file name
  bool is_late = false;
  bool tells_lateness = true;  // a quiz's file does not
  // Nobody else has this number with this name. A quiz's stands right behind a name that may end with digits itself.
  bool is_persons = true;
  bool may_be_small_late = false;  // one of several readings that are all possible has the mark of older releases
};

// How many digits begin at `at`; 0 for more than a platform's number has.
std::size_t digits_at(std::string_view text, std::size_t at);

// What one name says, read at the first place where it can be.
std::optional<CanvasMark> canvas_mark(const std::string& text);

// The files of one download. A name can often be read in two ways: people choose what their files and their groups are
// called, so numbers may stand before Canvas' own and behind them. All names together tell more: one number has one
// name, and all numbers are about as long. What can still be read in several ways belongs to none of these people.
class CanvasNames {
 public:
  explicit CanvasNames(const std::vector<std::string>& names);

  // Nothing where the name is none of Canvas'.
  std::optional<CanvasMark> of(const std::string& name) const;

  // A file's name, or nothing, and a line about it.
  const std::vector<std::pair<std::string, std::string>>& told() const { return told_; }

 private:
  using Readings = std::map<std::string, std::vector<CanvasMark>>;  // by name, in all the ways in which it can be read

  void decide(const Readings& readings, bool is_quiz);
  void settle_small_lates();
  void part_numbers();

  std::map<std::string, CanvasMark> marks_;
  std::vector<std::pair<std::string, std::string>> told_;
};

}  // namespace roofwalk
