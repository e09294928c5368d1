#include "common/exercise/exercise.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace roofwalk {
namespace {

// Returns a static inside a function, because exercises register during static initialization.
std::map<std::string, std::unique_ptr<Exercise>, std::less<>>& registry() {
  static std::map<std::string, std::unique_ptr<Exercise>, std::less<>> exercises;
  return exercises;
}

}  // namespace

std::int64_t Size::operator[](std::string_view name) const {
  const auto at = std::find_if(values_.begin(), values_.end(), [&](const auto& value) { return value.first == name; });
  ROOFWALK_CHECK(at != values_.end());
  return at->second;
}

std::string Size::text() const {
  std::string text;
  for (const auto& [name, value] : values_) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

const std::vector<float>& Problem::input(std::string_view name) const {
  for (const Parameter& parameter : parameters) {
    const auto* input = std::get_if<InputBuffer>(&parameter);
    if (input != nullptr && input->name == name) return input->values;
  }
  check_failed(__FILE__, __LINE__, "the problem has an input of that name");
}

bool register_exercise(std::string_view chapter, ExerciseFactory factory) {
  ROOFWALK_CHECK(registry().emplace(chapter, factory()).second);  // fails if two exercises have one name
  return true;
}

const Exercise* find_exercise(std::string_view chapter) {
  const auto at = registry().find(chapter);
  return at == registry().end() ? nullptr : at->second.get();
}

}  // namespace roofwalk
