// How Canvas names the files in its zips (lib/content_zipper.rb, app/models/quizzes/quiz_submission_zipper.rb).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roofwalk {

struct CanvasMark {
  std::string name, id, file;  // name of the person or group; numbers of the person and of the file
  std::string rest;            // the learner's own file name
  bool is_late = false;
  bool tells_lateness = true;  // false for a quiz's file
  // Whether the number is certain and belongs only to this person. False in a quiz, where the name before the number
  // may end with digits.
  bool is_persons = true;
  bool may_be_small_late = false;  // whether one of several possible readings has the late mark of older releases
  std::string alike = {};          // of an undecided name: the same text for all undecided names of one person
  bool is_alike_one = false;       // whether names with this text are hardly those of several honest people
};

// The number of digits that begin at `at`; 0 if there are more than a platform's number can have.
std::size_t digits_at(std::string_view text, std::size_t at);

// Reads one name by itself, without the evidence of other names. If there are several readings of the same form,
// returns the first.
std::optional<CanvasMark> canvas_mark(const std::string& text);

// The file names of one download. A name can often be read in two ways: people name their files and groups, so other
// numbers may precede or follow Canvas' own. All names together give more evidence: one number has one name, and all
// numbers have similar lengths. A name that can still be read in several ways is not assigned to any of the people in
// these readings.
class CanvasNames {
 public:
  explicit CanvasNames(const std::vector<std::string>& names);

  // Returns the reading of a name; nullopt if the name does not have Canvas' form.
  std::optional<CanvasMark> of(const std::string& name) const;

  // Whether the file is left out: its name can be read in several ways, and too many such names may be one person's.
  bool is_left_out(const std::string& name) const { return left_out_.contains(name); }

  // Pairs of a file's name, which may be empty, and a line about it.
  const std::vector<std::pair<std::string, std::string>>& told() const { return told_; }

 private:
  using Readings = std::map<std::string, std::vector<CanvasMark>>;  // by name: all readings

  void decide(const Readings& readings, bool is_quiz);
  void settle_small_lates();
  void part_numbers();

  std::map<std::string, CanvasMark> marks_;
  std::set<std::string> left_out_;
  std::vector<std::pair<std::string, std::string>> told_;
};

}  // namespace roofwalk
