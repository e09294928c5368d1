// Files that `grade` and `report` make from the grades, and that can be made again at any time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/class/batch/batch.h"
#include "grader/class/site/live_pages.h"

namespace roofwalk {

// Writes gradebook.json, gradebook.csv and junit.xml into the batch's folder. Returns their paths.
Result<std::vector<std::filesystem::path>> write_tables(const Batch& batch, const Gradebook& book);

inline constexpr const char* kSite = "report";
inline constexpr const char* kNamedSite = "report-with-names";
// After so many seconds, pages that a LiveSite keeps load themselves again.
inline constexpr int kReload_s = 5;

// Writes the site to report/ and, next to it, report-names.csv, which says whose each page is. With names, writes a
// separate site to report-with-names/, so that no name gets into report/. Returns the site's first page.
Result<std::filesystem::path> write_site(Batch& batch, const Rig& rig, const Gradebook& book, bool shows_names);

// A chapter's roofline, and its starter's dot on it.
struct ChapterChart {
  Chart chart;
  std::optional<Point> starter;
};

// The site of write_site(), kept as the record is while people look at it.
class LiveSite {
 public:
  // Errors: those of LivePages::open().
  static Result<LiveSite> open(const Batch& batch, bool shows_names);

  // Replaces the pages that differ from what the gradebook says, and returns how many. `reload_s` as in SiteInput.
  Result<std::size_t> update(Batch& batch, const Rig& rig, const Gradebook& book, int reload_s);

  // Whether `grade` has written the site since the last update().
  bool was_replaced() const { return pages_.was_replaced(); }

  // The course's terms have changed, so starters are measured anew.
  void forget_starters() { charts_.clear(); }

  std::filesystem::path page() const { return folder_ / "index.html"; }

 private:
  LiveSite(std::filesystem::path folder, bool shows_names, LivePages pages)
      : folder_(std::move(folder)), shows_names_(shows_names), pages_(std::move(pages)) {}

  std::filesystem::path folder_;
  bool shows_names_;
  LivePages pages_;
  std::string salt_;
  std::map<std::string, ChapterChart> charts_;  // by chapter
  std::map<std::string, std::int64_t> ids_;     // by key: the grade whose plot and profile are in the folder
};

}  // namespace roofwalk
