#include "common/base/pattern.h"

#include <regex>

namespace roofwalk {
namespace {

Pattern::Groups groups_of(const std::smatch& found) {
  Pattern::Groups groups;
  for (const auto& group : found) groups.push_back(group.str());
  return groups;
}

}  // namespace

struct Pattern::Compiled {
  std::regex regex;
};

Pattern::Pattern(const std::string& expression)
    : compiled_(std::make_shared<const Compiled>(Compiled{std::regex(expression)})) {}

std::optional<Pattern::Groups> Pattern::match(const std::string& text) const {
  std::smatch found;
  if (!std::regex_match(text, found, compiled_->regex)) return std::nullopt;
  return groups_of(found);
}

std::optional<Pattern::Groups> Pattern::search(const std::string& text) const {
  std::smatch found;
  if (!std::regex_search(text, found, compiled_->regex)) return std::nullopt;
  return groups_of(found);
}

std::string Pattern::replace_all(const std::string& text, const std::string& with) const {
  return std::regex_replace(text, compiled_->regex, with);
}

}  // namespace roofwalk
