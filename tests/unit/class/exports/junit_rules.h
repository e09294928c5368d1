// The rules of JUnit XML that Jenkins' and Ant's schemas share.
#pragma once

#include <map>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/base/pattern.h"

namespace roofwalk::test {

inline std::vector<std::string> missing_attributes(const pugi::xml_node& node,
                                                   std::initializer_list<const char*> names) {
  std::vector<std::string> broken;
  for (const char* name : names) {
    if (!node.attribute(name)) broken.push_back(std::string(node.name()) + " has " + name);
  }
  return broken;
}

inline void add(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

inline void check_case(const pugi::xml_node& one, std::vector<std::string>& broken,
                       std::map<std::string, int>& counts) {
  static const std::set<std::string> outcomes = {"skipped", "error", "failure"};
  add(broken, missing_attributes(one, {"name", "classname", "time"}));
  int seen = 0;
  bool after = false;
  for (const pugi::xml_node& part : one.children()) {
    const std::string name = part.name();
    if (outcomes.contains(name)) {
      ++seen;
      ++counts[name];
      after = true;
      if (name != "skipped") add(broken, missing_attributes(part, {"message", "type"}));
    } else if (name == "properties") {
      if (after) broken.emplace_back("properties come first");
      for (const pugi::xml_node& property : part.children())
        add(broken, missing_attributes(property, {"name", "value"}));
    } else if (name != "system-out" && name != "system-err") {
      broken.push_back("a testcase holds no " + name);
    }
  }
  if (seen > 1) broken.emplace_back("a testcase has one outcome");
  ++counts["tests"];
}

// Whether the text lacks the errors that the XML reader tolerates: a bare "<" in an attribute, a bare "&" anywhere.
inline bool is_strict(const std::string& text) {
  static const Pattern bare_ampersand("&(?!(amp|lt|gt|quot|apos|#\\d+|#x[0-9a-fA-F]+);)");
  bool in_tag = false;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == '<') return false;
      if (c == quote) quote = 0;
    } else if (in_tag && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == '<' || c == '>') {
      in_tag = c == '<';
    }
  }
  return !bare_ampersand.search(text);
}

inline std::vector<std::string> junit_rules_broken_by(const std::string& text) {
  std::vector<std::string> broken;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' && c != '\r') return {"no control characters"};
  }
  static const Pattern reference("&#(x?)([0-9a-fA-F]+);");
  for (const Pattern::Groups& match : reference.search_all(text)) {
    const auto code = std::stoul(match[2], nullptr, match[1].empty() ? 10 : 16);
    if (code < 32 && code != 9 && code != 10 && code != 13) return {"no control characters"};
  }
  pugi::xml_document document;
  if (!document.load_string(text.c_str(), pugi::parse_full) || !is_strict(text)) return {"well-formed"};
  if (!text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")) broken.emplace_back("says its encoding");
  const pugi::xml_node root = document.document_element();
  if (std::string(root.name()) != "testsuites") return {"the root is testsuites"};
  static const Pattern time("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d");
  for (const pugi::xml_node& suite : root.children()) {
    add(broken, missing_attributes(suite, {"name", "package", "id", "timestamp", "hostname", "tests", "failures",
                                           "errors", "skipped", "time"}));
    if (!time.match(suite.attribute("timestamp").value())) broken.emplace_back("a timestamp without a zone");
    std::map<std::string, int> counts;
    for (const pugi::xml_node& one : suite.children("testcase")) check_case(one, broken, counts);
    for (const auto& [attribute, what] :
         {std::pair("tests", "tests"), {"failures", "failure"}, {"errors", "error"}, {"skipped", "skipped"}}) {
      if (suite.attribute(attribute).as_int() != counts[what])
        broken.push_back(std::string(attribute) + " are counted");
    }
  }
  return broken;
}

}  // namespace roofwalk::test
