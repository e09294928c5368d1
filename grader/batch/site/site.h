// A class's results as pages: one of the class, one a student, one a profile. Nobody's name is on them unless asked
// for.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/plot/plot.h"
#include "grader/batch/gradebook.h"
#include "grader/verdict.h"

namespace roofwalk {

struct SiteInput {
  const Gradebook& book;
  std::string salt;  // what names are hidden with: the same class has the same numbers every time
  bool shows_names = false;
  // By the book's columns: the roofline of each chapter's level, and the starter's dot on it.
  std::vector<Chart> charts;
  std::vector<std::optional<Point>> starters;
  // Plot and profile of a graded entry; empty where there is none.
  std::function<StoredGrade(const std::string& key)> pages;
};

struct Site {
  std::map<std::string, std::string> files;  // by their path below the site's folder
  // Whose page is whose, for the instructor alone: (student, what the pages call them, path of the page).
  std::vector<std::array<std::string, 3>> names;
};
Site make_site(const SiteInput& input);

}  // namespace roofwalk
