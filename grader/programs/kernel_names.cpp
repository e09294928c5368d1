#include "grader/programs/kernel_names.h"

#include <algorithm>
#include <exception>
#include <map>

#include <fmt/format.h>

#include "common/cudart/kernel_name.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

constexpr std::string_view kExpression = "regex:";
constexpr std::size_t kMostMatchedBytes = 2000;  // Pattern recurses once per character
constexpr std::string_view kLeftOut = "...";

std::string without_blanks(std::string_view text) {
  std::string out(text);
  std::erase(out, ' ');
  return out;
}

std::string without_arguments(std::string_view name) { return std::string(name.substr(0, name.find('<'))); }

// The last component of "ns::Class<int>::member", without what the arguments of the template may have of "::".
std::string last_component(std::string_view name) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(') ++depth;
    if (name[i] == '>' || name[i] == ')') --depth;
    if (depth == 0 && name[i] == ':' && name[i + 1] == ':') begin = i + 2;
  }
  return std::string(name.substr(begin));
}

// The name with the arguments of templates from this depth on (1: the kernel's own) replaced by "...".
std::string folded_from(std::string_view name, int deepest) {
  std::string out;
  int depth = 0;
  for (const char c : name) {
    if (c == '>') {
      if (depth == deepest) out += kLeftOut;
      --depth;
    }
    if (depth < deepest) out += c;
    if (c == '<') ++depth;
  }
  return out;
}

// "f<a, b, ...>" with as many arguments as fit, at least one; empty: there is no such form.
std::string with_first_arguments(std::string_view name, std::size_t columns) {
  std::string longest;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth != 1 || name[i] != ',') continue;
    std::string cut = fmt::format("{}, {}>", name.substr(0, i), kLeftOut);
    if (cut.size() > columns) break;
    longest = std::move(cut);
  }
  return longest;
}

}  // namespace

Result<KernelFilter> KernelFilter::read(const std::string& typed) {
  KernelFilter filter;
  filter.typed_ = typed;
  filter.plain_ = without_blanks(typed);
  if (filter.plain_.empty() || filter.plain_ == kExpression) return Error{.message = "there is no name of a kernel"};
  if (!typed.starts_with(kExpression)) return filter;
  try {
    filter.pattern_.emplace(typed.substr(kExpression.size()));
  } catch (const std::exception&) {
    return Error{.message = fmt::format("{} is no regular expression", typed.substr(kExpression.size()))};
  }
  return filter;
}

bool KernelFilter::matches(const std::string& name) const {
  if (pattern_) return pattern_->search(name.substr(0, kMostMatchedBytes)).has_value();
  const std::string whole = without_blanks(name), last = without_blanks(last_component(name));
  return plain_ == whole || plain_ == without_arguments(whole) || plain_ == last || plain_ == without_arguments(last) ||
         plain_ == cudart::short_kernel_name(name);
}

bool any_matches(const std::vector<KernelFilter>& filters, const std::string& name) {
  return filters.empty() ||
         std::any_of(filters.begin(), filters.end(), [&](const KernelFilter& each) { return each.matches(name); });
}

std::string without_namespaces(std::string_view name) {
  std::string out;
  std::vector<std::size_t> begins{0};  // of the component that is read, by depth
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (name.substr(i, 2) == "::") {
      out.resize(begins.back());
      ++i;
      continue;
    }
    if ((c == '>' || c == ')') && begins.size() > 1) begins.pop_back();
    if (c == '>' && out.ends_with("> ")) out.pop_back();
    out += c;
    if (c == '<' || c == '(') begins.push_back(out.size());
    if (c == ',' || c == ' ' || c == '*' || c == '&') begins.back() = out.size();
  }
  return out;
}

std::string shown_kernel_name(std::string_view name, std::size_t columns) {
  const std::string harmless = printable(cudart::short_kernel_name(name));
  const std::string whole = without_namespaces(harmless);
  if (whole.size() <= columns) return whole;
  const std::string folded = folded_from(whole, 2);
  if (folded.size() <= columns) return folded;
  if (std::string cut = with_first_arguments(folded, columns); !cut.empty()) return cut;
  return shortened(folded_from(whole, 1), columns);
}

std::vector<std::string> shown_kernel_names(const std::vector<std::string>& names, std::size_t columns) {
  std::vector<std::string> shown;
  std::map<std::string, int> seen;
  for (const std::string& name : names) {
    std::string text = shown_kernel_name(name, columns);
    if (const int number = ++seen[text]; number > 1) {
      const std::string ending = fmt::format(" ({})", number);
      text = shown_kernel_name(name, columns - std::min(columns, ending.size())) + ending;
    }
    shown.push_back(std::move(text));
  }
  return shown;
}

}  // namespace roofwalk
