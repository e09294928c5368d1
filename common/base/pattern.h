// Regular expressions. Only pattern.cpp includes <regex>, which adds five seconds to the compile time of a file that
// includes it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roofwalk {

class Pattern {
 public:
  // Compiles ECMAScript syntax. Throws std::regex_error if `expression` is invalid.
  explicit Pattern(const std::string& expression);

  // [0] is the whole match, [1] the first group and so on; a group that took no part in the match is empty.
  using Groups = std::vector<std::string>;

  // These recurse once per character of `text`: limit untrusted text to a few thousand bytes.
  std::optional<Groups> match(const std::string& text) const;   // the whole text
  std::optional<Groups> search(const std::string& text) const;  // the first match
  std::vector<Groups> search_all(const std::string& text) const;

  std::string replace_all(const std::string& text, const std::string& with) const;
  std::string replace_each(const std::string& text, const std::function<std::string(const Groups&)>& with) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace roofwalk
