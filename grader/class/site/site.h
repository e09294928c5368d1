// A class's results as pages: one for the class, one per student, one per profile. They show students' names only on
// request.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/plot/plot.h"
#include "grader/attempt/verdict.h"
#include "grader/class/batch/gradebook.h"

namespace roofwalk {

struct SiteInput {
  const Gradebook& book;
  std::string salt;  // used to hide names; with the same salt, a class's students have the same numbers every time
  bool shows_names = false;
  // Per column of the book: the roofline of the chapter's level, and the starter's dot on it.
  std::vector<Chart> charts;
  std::vector<std::optional<Point>> starters;
  // Plot and profile of a graded entry; empty if it has none.
  std::function<Result<GradePages>(const std::string& key)> pages;
  int reload_s = 0;  // > 0: pages load themselves again after so many seconds
  // Whether the plot or the profile of the entry with this key is at `path` already; then it is not read and written
  // again. Empty: nothing is.
  std::function<bool(const std::string& key, const std::string& path)> is_there = {};
};

// Writes a page; its path is relative to the site's folder.
using WritePage = std::function<Status(const std::string& path, const std::string& text)>;

// The owner of each page, for the instructor only: (student, the name on the pages, path of the page).
using PageNames = std::vector<std::array<std::string, 3>>;

// Writes the pages one by one, each after those to which it links, because all pages of a large class would not fit
// into memory. Fails only if `write` or `pages` fails.
Result<PageNames> make_site(const SiteInput& input, const WritePage& write);

}  // namespace roofwalk
