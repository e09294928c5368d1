#include "grader/class/batch/doubts.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "grader/class/hand_ins/lms_names.h"

namespace roofwalk {
namespace {

// Adds a doubt about each row whose name is spelt like that of a row before it, with or without the platform's number,
// unless their numbers prove that they are two persons. A name that could not be decided ends with the number:
// group_3_123567 for group_3 (123567).
void add_namesakes(const std::vector<StudentRow>& rows, std::vector<RowDoubt>& doubts) {
  std::map<std::string, const StudentRow*> by_letters, with_number;
  for (const StudentRow& row : rows) {
    const std::string& student = row.owner.student;
    const std::string name = without_number(student), shown = without_hash(name);
    const std::string letters = look_of_letters(shown);
    if (letters.empty()) continue;
    auto [first, is_new] = by_letters.try_emplace(letters, &row);
    const auto [same, is_first] = with_number.try_emplace(look_of_letters(shown + student.substr(name.size())), &row);
    if (is_new) std::tie(first, is_new) = std::pair(same, is_first);
    if (is_new || (is_persons(row.owner.lms_id) && is_persons(first->second->owner.lms_id))) continue;
    const bool is_moodles = is_participants(row.owner.lms_id);
    doubts.push_back(
        {student,
         fmt::format(
             "has a row next to that of {}{}", first->second->owner.student,
             is_moodles
                 ? ": Moodle gives people new numbers in each assignment, so give each assignment its own --grades"
                 : ", who has a similar name: are they one person?")});
  }
}

// Adds a doubt if rows have a participant's number in common: Moodle writes a group's name before a person's if a
// download is filtered by groups.
void add_shared_numbers(const std::vector<StudentRow>& rows, std::vector<RowDoubt>& doubts) {
  std::map<std::string, std::string> first;  // students by number
  std::vector<std::pair<std::string, std::string>> shared;
  for (const StudentRow& row : rows) {
    if (!is_participants(row.owner.lms_id)) continue;
    const auto [known, is_new] = first.try_emplace(row.owner.lms_id, row.owner.student);
    if (!is_new) shared.emplace_back(row.owner.student, known->second);
  }
  if (shared.empty()) return;
  const std::size_t more = shared.size() - 1;
  const auto& [student, other] = shared.front();
  doubts.push_back(
      {student,
       fmt::format("has the same participant number as {}{}: give each assignment its own --grades, and download it "
                   "always with the groups' names or always without",
                   other,
                   more == 0   ? ""
                   : more == 1 ? ", and 1 more row shares its number, too"
                               : fmt::format(", and {} more rows share their numbers, too", more))});
}

}  // namespace

std::string without_number(const std::string& student) {
  const std::size_t bracket = student.rfind(" (");
  return student.ends_with(')') && bracket != std::string::npos ? student.substr(0, bracket) : student;
}

std::vector<RowDoubt> doubts_about(const std::vector<StudentRow>& rows) {
  std::vector<RowDoubt> doubts;
  add_namesakes(rows, doubts);
  add_shared_numbers(rows, doubts);
  return doubts;
}

}  // namespace roofwalk
