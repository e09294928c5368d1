// How Canvas names the files in its zips (lib/content_zipper.rb, app/models/quizzes/quiz_submission_zipper.rb).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roofwalk {

struct CanvasMark {
  std::string name, id, file;  // of the person or group; the person's number and the file's
  std::string rest;            // the learner's own file name
  bool is_late = false;
  bool tells_lateness = true;  // false for a quiz's file
  // The number is certain, and this person's alone. Not so in a quiz, where the name before it may end with digits.
  bool is_persons = true;
  bool may_be_small_late = false;  // one of several possible readings has the late mark of older releases
};

// The number of digits at `at`; 0 if there are more than in a platform's number.
std::size_t digits_at(std::string_view text, std::size_t at);

// Reads one name by itself, at the first place where that is possible.
std::optional<CanvasMark> canvas_mark(const std::string& text);

// The file names of one download. A name can often be read in two ways: people name their files and groups, so numbers
// may stand before and after Canvas' own. All names together tell more: one number has one name, and all numbers are
// about as long. A name that can still be read in several ways belongs to none of these people.
class CanvasNames {
 public:
  explicit CanvasNames(const std::vector<std::string>& names);

  // Nothing if the name is not one of Canvas'.
  std::optional<CanvasMark> of(const std::string& name) const;

  // A file's name, or nothing, and a line about it.
  const std::vector<std::pair<std::string, std::string>>& told() const { return told_; }

 private:
  using Readings = std::map<std::string, std::vector<CanvasMark>>;  // by name: all ways to read it

  void decide(const Readings& readings, bool is_quiz);
  void settle_small_lates();
  void part_numbers();

  std::map<std::string, CanvasMark> marks_;
  std::vector<std::pair<std::string, std::string>> told_;
};

}  // namespace roofwalk
