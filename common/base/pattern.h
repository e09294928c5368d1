// Regular expressions. std::regex does the work in pattern.cpp alone: each file that uses it takes five seconds longer
// to compile.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roofwalk {

class Pattern {
 public:
  // ECMAScript's syntax. Throws std::regex_error where `expression` is none.
  explicit Pattern(const std::string& expression);

  // [0] the whole match, [1] the first group...; empty where a group took no part.
  using Groups = std::vector<std::string>;

  // These recurse for each character of `text`: keep what strangers wrote to a few thousand bytes.
  std::optional<Groups> match(const std::string& text) const;   // all of it
  std::optional<Groups> search(const std::string& text) const;  // the first place
  std::vector<Groups> search_all(const std::string& text) const;

  std::string replace_all(const std::string& text, const std::string& with) const;
  std::string replace_each(const std::string& text, const std::function<std::string(const Groups&)>& with) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace roofwalk
