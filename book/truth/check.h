// Compares a page with the current output of its commands and the current files, and makes a corrected page.
#pragma once

#include "book/truth/runs.h"

namespace roofwalk::book {

struct Difference {
  int line = 0;
  std::string what;            // "the block of `list` is another one now; line 2: the page has ..., in truth it is ..."
  bool is_for_people = false;  // only a person can correct the page
};

struct Checked {
  std::vector<Difference> differences;
  std::string text;                             // the corrected page
  std::map<std::string, std::string> pictures;  // corrected pictures, by path: "images/name.svg"
};

// Compares a page with `outputs`. `text` is the page's text; `folder` contains the page and images/. Errors: a figure
// or drawing that does not exist, a mark that keeps lines that do not exist; a record that is not JSON or whose name is
// taken.
Result<Checked> check_page(const std::filesystem::path& folder, const std::string& text, const Page& page,
                           const Outputs& outputs);

// Returns "images/walk-dark.svg" for "images/walk.svg": the picture that the site shows on a dark page.
std::string dark_name(const std::string& image);

}  // namespace roofwalk::book
