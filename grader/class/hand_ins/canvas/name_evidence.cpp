#include "grader/class/hand_ins/canvas/name_evidence.h"

#include "grader/class/hand_ins/canvas/canvas_readings.h"

namespace roofwalk {

void NumberLengths::add(const std::string& number) {
  if (number.size() >= kOfAnotherAccount) return;
  fewest = most == 0 ? number.size() : std::min(fewest, number.size());
  most = std::max(most, number.size());
}

bool NumberLengths::allow(const std::string& number) const {
  return most == 0 || number.size() >= kOfAnotherAccount || (number.size() + 1 >= fewest && number.size() <= most + 1);
}

void NumberRange::add(const std::string& person, const std::string& number) {
  if (number.size() >= NumberLengths::kOfAnotherAccount) return;
  std::uint64_t& newest = newest_[person];
  newest = std::max<std::uint64_t>(newest, std::stoull(number));
}

void NumberRange::close() {
  std::vector<std::uint64_t> values;
  for (const auto& [person, newest] : newest_) values.push_back(newest);
  std::sort(values.begin(), values.end());
  if (values.empty()) return;
  const std::size_t quarter = values.size() / 4;
  least_ = values[quarter];
  most_ = values[values.size() - 1 - quarter];
}

std::uint64_t NumberRange::distance_of(const std::string& number) const {
  const std::uint64_t value = std::stoull(number);
  return value < least_ ? least_ - value : value > most_ ? value - most_ : 0;
}

void NameEvidence::add(const std::vector<CanvasMark>& readings) {
  const auto may_be = [&](const CanvasMark& mark) { return is_quiz || may_be_canvas(mark); };
  const auto first = std::find_if(readings.begin(), readings.end(), may_be);
  const bool is_only = first != readings.end() && std::find_if(first + 1, readings.end(), may_be) == readings.end();
  if (readings.size() == 1) {
    add(readings.front());
  } else if (is_only && readings.size() <= kMostReadings) {
    add(*first);
  }
}

void NameEvidence::add(const CanvasMark& sure) {
  names_of[sure.id].insert(sure.name);
  ids.add(sure.id);
  if (sure.id.size() < NumberLengths::kOfAnotherAccount)
    largest_id = std::max<std::uint64_t>(largest_id, std::stoull(sure.id));
  if (sure.file.empty()) return;
  files.add(sure.file);
  file_range.add(sure.id, sure.file);
}

bool NameEvidence::allows(const CanvasMark& mark) const {
  const bool has_length = mark.file.empty() || (files.most == 0 ? is_hardly_shorter(mark) : files.allow(mark.file));
  if (is_quiz) return !has_large_letters(mark.name);
  return may_be_somebodys(mark) && has_length && ids.allow(mark.id);
}

bool NameEvidence::may_be_a_persons(const CanvasMark& mark) const {
  return !is_quiz && ids.most > 0 && ids.allow(mark.id) && may_be_canvas(mark) && is_nobody_elses(mark);
}

const CanvasMark* NameEvidence::first_usual(const std::vector<CanvasMark>& readings) const {
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

bool NameEvidence::may_be_unusual(const CanvasMark& mark) const {
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

bool NameEvidence::has_inner_number(std::string_view name) {
  for (std::size_t at = name.find('_'); at != std::string_view::npos; at = name.find('_', at + 1)) {
    const std::size_t end = name.find_first_not_of("0123456789", at + 1);
    if (end != std::string_view::npos && end > at + 1 && name[end] == '_') return true;
  }
  return false;
}

bool NameEvidence::may_be_a_date(const std::string& number) {
  constexpr std::size_t kDay = 2, kYear = 4;
  return number.size() <= kDay || (number.size() == kYear && (number.starts_with("19") || number.starts_with("20")));
}

bool NameEvidence::is_hardly_shorter(const CanvasMark& mark) {
  return mark.file.empty() || mark.id.size() >= NumberLengths::kOfAnotherAccount ||
         mark.file.size() + 1 >= mark.id.size();
}

bool NameEvidence::is_nobody_elses(const CanvasMark& mark) const {
  const auto known = names_of.find(mark.id);
  return known == names_of.end() || known->second.contains(mark.name);
}

bool NameEvidence::are_files_far_above_people() const {
  constexpr std::uint64_t kTimes = 10;
  return largest_id < file_range.least() / kTimes;
}

bool NameEvidence::may_be_somebodys(const CanvasMark& mark) const {
  return may_be_canvas(mark) && is_nobody_elses(mark) && !is_file_with_own_number(mark);
}

bool NameEvidence::is_file_with_own_number(const CanvasMark& mark) const {
  constexpr std::uint64_t kNearPart = 1000, kFarPart = 10, kNearSpans = 3, kFarSpans = 20;
  if (!file_range.is_known() || mark.file.empty() || !are_files_far_above_people()) return false;
  // If files' numbers are far apart, even a short number is near their range.
  if (!files.allow(mark.id)) return false;
  return file_range.distance_of(mark.id) <= std::max(kNearSpans * file_range.span(), file_range.most() / kNearPart) &&
         file_range.distance_of(mark.file) > std::max(kFarSpans * file_range.span(), file_range.most() / kFarPart);
}

}  // namespace roofwalk
