// Checks that the files and headings to which Markdown pages link exist.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace roofwalk::book {

struct Link {
  int line = 0;
  bool is_image = false;
  std::string text;    // the alternative text of an image
  std::string target;  // as written: "gaps.md#the-vertical-gap"
};

// Returns the links outside code. Ignores reference links and autolinks, which this project does not use.
std::vector<Link> links_of(const std::string& text);

// Returns the anchors of a page's headings, as Git forges and the site generate them.
std::set<std::string> anchors_of(const std::string& text);

// Returns one line for each fault of `page` (a path below `root`): a link whose target does not exist, an image without
// alternative text, an image outside the project.
std::vector<std::string> broken_links(const std::filesystem::path& root, const std::filesystem::path& page);

}  // namespace roofwalk::book
