// A class's results as pages: one of the class, one a student, one a profile. Nobody's name is on them unless asked
// for.
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
  std::string salt;  // what names are hidden with: the same class has the same numbers every time
  bool shows_names = false;
  // By the book's columns: the roofline of each chapter's level, and the starter's dot on it.
  std::vector<Chart> charts;
  std::vector<std::optional<Point>> starters;
  // Plot and profile of a graded entry; empty where there is none.
  std::function<Result<GradePages>(const std::string& key)> pages;
};

// Takes a page; its path is below the site's folder.
using WritePage = std::function<Status(const std::string& path, const std::string& text)>;

// Whose page is whose, for the instructor alone: (student, what the pages call them, path of the page).
using PageNames = std::vector<std::array<std::string, 3>>;

// Page by page: those of a large class would not fit into memory. Errors: those of `write` and of `pages`.
Result<PageNames> make_site(const SiteInput& input, const WritePage& write);

}  // namespace roofwalk
