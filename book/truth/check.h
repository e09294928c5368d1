// Compares a page with what its commands and files say now, and can write it anew.
#pragma once

#include "book/truth/runs.h"

namespace roofwalk::book {

struct Difference {
  int line = 0;
  std::string what;            // "the output of `./roofwalk list` is another one", with the first line that differs
  bool is_for_people = false;  // no rewriting mends it
};

struct Checked {
  std::vector<Difference> differences;
  std::string text;                             // the page as it should be
  std::map<std::string, std::string> pictures;  // those that should be other ones, by "images/name.svg"
};

// `folder`: the page's own, in which images/ lies. Errors: a figure or a drawing that cannot be had.
Result<Checked> check_page(const std::filesystem::path& folder, const std::string& text, const Page& page,
                           const Outputs& outputs);

// "images/walk.svg" -> "images/walk-dark.svg"; the site shows it on a dark page.
std::string dark_name(const std::string& image);

}  // namespace roofwalk::book
