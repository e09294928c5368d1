// Files that `grade` and `report` make from the grades, and that can be made again at any time.
#pragma once

#include <filesystem>
#include <vector>

#include "grader/class/batch/batch.h"

namespace roofwalk {

// Writes gradebook.json, gradebook.csv and junit.xml into the batch's folder. Returns their paths.
Result<std::vector<std::filesystem::path>> write_tables(const Batch& batch, const Gradebook& book);

inline constexpr const char* kSite = "report";
inline constexpr const char* kNamedSite = "report-with-names";

// Writes the site to report/ and, next to it, report-names.csv, which says whose each page is. With names, writes a
// separate site to report-with-names/, so that no name gets into report/. Returns the site's first page.
Result<std::filesystem::path> write_site(Batch& batch, const Rig& rig, const Gradebook& book, bool shows_names);

}  // namespace roofwalk
