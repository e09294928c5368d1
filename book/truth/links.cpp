#include "book/truth/links.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "book/truth/page.h"
#include "common/base/pattern.h"

namespace roofwalk::book {
namespace {

namespace fs = std::filesystem;

// Calls `visit(line, number)` for each line outside code blocks.
template <class Visit>
void each_line_of_prose(const std::string& text, Visit visit) {
  std::istringstream in(text);
  bool in_block = false, after_blank = true;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.starts_with("```")) {
      in_block = !in_block;
      continue;
    }
    const bool indented = line.starts_with("    ") && after_blank;
    if (!indented) after_blank = line.empty();
    if (!in_block && !indented) visit(line, number);
  }
}

std::string without_code(const std::string& line) {
  static const Pattern kCode("`[^`]*`");
  return kCode.replace_all(line, "");
}

// Returns the anchor "where-the-model-misleads" for "Where the model misleads".
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '_' || c == '-' || byte >= 0x80) {
      anchor += static_cast<char>(std::tolower(byte));
    } else if (c == ' ') {
      anchor += '-';
    }
  }
  return anchor;
}

}  // namespace

std::vector<Link> links_of(const std::string& text) {
  static const Pattern kLink(R"((!?)\[([^\]]*)\]\(([^)\s]+)\))");
  std::vector<Link> links;
  each_line_of_prose(text, [&](const std::string& line, int number) {
    const std::string prose = without_code(line);
    for (const Pattern::Groups& link : kLink.search_all(prose))
      links.push_back({number, !link[1].empty(), link[2], link[3]});
  });
  return links;
}

std::set<std::string> anchors_of(const std::string& text) {
  std::set<std::string> anchors;
  each_line_of_prose(text, [&](const std::string& line, int) {
    static const Pattern kHeading(R"(#{1,6} (.*))");
    const auto heading = kHeading.match(line);
    if (!heading) return;
    const std::string anchor = anchor_of((*heading)[1]);
    std::string name = anchor;
    for (int again = 1; !anchors.insert(name).second; ++again) name = fmt::format("{}-{}", anchor, again);
  });
  return anchors;
}

std::vector<std::string> broken_links(const fs::path& root, const fs::path& page) {
  std::vector<std::string> broken;
  for (const Link& link : links_of(text_of(root / page))) {
    const auto complain = [&](const std::string& why) {
      broken.push_back(fmt::format("{}:{}: {} ({})", page.string(), link.line, why, link.target));
    };
    if (link.is_image && link.text.empty()) complain("an image needs words that say what it shows");
    if (link.target.find("://") != std::string::npos) {
      if (link.is_image) complain("an image lies in this project");
      continue;
    }
    const std::size_t hash = link.target.find('#');
    const std::string path = link.target.substr(0, hash);
    const fs::path file = path.empty() ? root / page : root / page.parent_path() / path;
    if (!fs::exists(file)) {
      complain("there is no such file");
    } else if (hash != std::string::npos && !anchors_of(text_of(file)).contains(link.target.substr(hash + 1))) {
      complain("that page has no such heading");
    }
  }
  return broken;
}

}  // namespace roofwalk::book
