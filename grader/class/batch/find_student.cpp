#include "grader/class/batch/find_student.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "grader/class/hand_ins/lms_names.h"
#include "grader/text/text.h"

namespace roofwalk {

Result<const StudentRow*> find_student(const Gradebook& book, const std::string& typed) {
  const auto all_that = [&](const auto& fits) {
    std::vector<const StudentRow*> rows;
    for (const StudentRow& row : book.rows) {
      if (fits(row.owner)) rows.push_back(&row);
    }
    return rows;
  };
  const std::string small = small_letters(typed);
  auto fits = all_that([&](const Owner& owner) { return owner.student == typed; });
  if (fits.empty())
    fits = all_that([&](const Owner& owner) { return !typed.empty() && number_of(owner.lms_id) == typed; });
  if (fits.empty())
    fits = all_that([&](const Owner& owner) { return small_letters(owner.student).find(small) != std::string::npos; });
  if (fits.size() == 1) return fits.front();
  std::vector<std::string> near, names;
  for (const StudentRow& row : book.rows) names.push_back(printable(row.owner.student));
  for (const StudentRow* row : fits) near.push_back(printable(row->owner.student));
  near.resize(std::min<std::size_t>(near.size(), 3));
  if (near.empty()) near = near_names(typed, names);
  return Error{
      .message =
          fmt::format("{} student `{}`", fits.empty() ? "there is no" : "there is more than one", printable(typed)),
      .advice = near.empty() ? "gradebook.csv has them all" : fmt::format("did you mean {}?", fmt::join(near, " or "))};
}

}  // namespace roofwalk
