// What is made from the grades after every call, and can be made again at any time.
#pragma once

#include <filesystem>
#include <vector>

#include "grader/class/batch/batch.h"

namespace roofwalk {

// gradebook.json, gradebook.csv and junit.xml in the batch's folder. The paths.
Result<std::vector<std::filesystem::path>> write_tables(const Batch& batch, const Gradebook& book);

inline constexpr const char* kSite = "report";
inline constexpr const char* kNamedSite = "report-with-names";

// The site in report/, and report-names.csv beside it, which tells whose page is whose; with names, a site of its own
// in report-with-names/, so that nobody's name gets to where the other one lies. The site's first page.
Result<std::filesystem::path> write_site(Batch& batch, const Bench& bench, const Gradebook& book, bool shows_names);

}  // namespace roofwalk
