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

std::vector<Pattern::Groups> Pattern::search_all(const std::string& text) const {
  std::vector<Groups> places;
  for (std::sregex_iterator found(text.begin(), text.end(), compiled_->regex), none; found != none; ++found)
    places.push_back(groups_of(*found));
  return places;
}

std::string Pattern::replace_each(const std::string& text,
                                  const std::function<std::string(const Groups&)>& with) const {
  std::string out;
  auto rest = text.begin();
  for (std::sregex_iterator found(text.begin(), text.end(), compiled_->regex), none; found != none; ++found) {
    out.append(rest, (*found)[0].first);
    out += with(groups_of(*found));
    rest = (*found)[0].second;
  }
  return out.append(rest, text.end());
}

std::string Pattern::replace_all(const std::string& text, const std::string& with) const {
  return std::regex_replace(text, compiled_->regex, with);
}

}  // namespace roofwalk
