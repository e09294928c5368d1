// Links of Markdown pages: do their files and headings exist?
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

// Outside of code. Reference links and autolinks are not used in this project.
std::vector<Link> links_of(const std::string& text);

// The anchors of a page's headings, as forges and the site make them of their words.
std::set<std::string> anchors_of(const std::string& text);

// One line for each link of `page` (relative to `root`) that leads nowhere, image without words, and address of a
// picture or script outside of the project.
std::vector<std::string> broken_links(const std::filesystem::path& root, const std::filesystem::path& page);

}  // namespace roofwalk::book
