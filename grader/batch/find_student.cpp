#include "grader/batch/find_student.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "grader/text.h"

namespace roofwalk {
namespace {

std::string small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

Result<const StudentRow*> find_student(const Gradebook& book, const std::string& typed) {
  std::vector<const StudentRow*> fits;
  std::vector<std::string> names, near;
  for (const StudentRow& row : book.rows) {
    if (row.owner.student == typed || (!row.owner.lms_id.empty() && row.owner.lms_id == typed)) return &row;
    if (small_letters(row.owner.student).find(small_letters(typed)) != std::string::npos) fits.push_back(&row);
    names.push_back(row.owner.student);
  }
  if (fits.size() == 1) return fits.front();
  for (const StudentRow* row : fits) near.push_back(row->owner.student);
  near.resize(std::min<std::size_t>(near.size(), 3));
  if (near.empty()) near = near_names(typed, names);
  return Error{
      .message =
          fmt::format("{} student `{}`", fits.empty() ? "there is no" : "there is more than one", printable(typed)),
      .advice = near.empty() ? "gradebook.csv has them all" : fmt::format("did you mean {}?", fmt::join(near, " or "))};
}

}  // namespace roofwalk
