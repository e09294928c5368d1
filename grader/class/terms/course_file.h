// course.toml: an instructor's decisions about a class. Secrets are in a separate file, outside the repository.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "grader/attempt/pipeline.h"
#include "grader/course/course.h"

namespace roofwalk {

// Different thresholds for one of a chapter's goals, which is identified by `what` and `level`.
struct Threshold {
  Goal::What what = Goal::What::share_of_roof;
  std::string level;
  std::optional<double> pass, ace;  // nullopt: the chapter's own
};

struct ChapterTerms {
  std::string chapter;
  double points = 10;                      // for full credit
  double weight = 10;                      // in the total, relative to the other chapters'
  double pass_share = 0.7;                 // of the points, for exactly meeting the pass threshold of every goal
  std::optional<std::int64_t> deadline_s;  // seconds since 1970, UTC
  int deadline_offset_min = 0;             // offset east of UTC that course.toml gives for the deadline
  std::vector<Threshold> thresholds;
};

// The penalty for a late submission: a share of its points for each day that has begun, and all points after
// `most_days` days.
struct LateTerms {
  double per_day = 0;
  double most_days = 1e9;
};

struct CourseTerms {
  std::string title;                                         // empty: none
  std::string device = "auto";                               // see --device
  std::optional<std::int64_t> model_version = std::nullopt;  // nullopt: the course names none
  enum class Counts { best, last } counts = Counts::best;
  LateTerms late;
  std::vector<ChapterTerms> chapters;  // in the order of the file
  std::filesystem::path secrets_file;  // empty: the file names none
  std::vector<std::uint64_t> hidden_seeds;
  std::map<std::string, std::vector<Size>> hidden_sizes;               // by chapter
  std::map<std::string, std::pair<std::string, int>> hidden_sizes_at;  // by chapter: file and line

  const ChapterTerms* find(std::string_view chapter) const;
  HiddenCases hidden(const std::string& chapter) const;
};

// The terms without a course.toml: every chapter of the course for 10 points, without deadlines or secrets.
CourseTerms plain_terms(const Course& course);

// Whether a course.toml that names another version of the model than kModelVersion is refused.
enum class ModelPin { binds, ignored };

// Reads course.toml and the secrets file that it names. Errors, each with the file and the line: not TOML; unknown
// keys; chapters or goals that the course does not have; values out of range; another version of the model, if its pin
// binds; a secrets file inside `repository`, or one with extents that a chapter does not have.
Result<CourseTerms> read_terms(const std::filesystem::path& file, const Course& course,
                               const std::filesystem::path& repository, ModelPin pin = ModelPin::binds);

// Replaces the secrets of the terms by those in `text`. Errors name the text by `what`.
Status use_secrets(const std::string& text, const std::string& what, const Course& course, CourseTerms& terms);

// Error if a hidden size does not fit into the device's memory, or is more work than the measured size, by which the
// time for it is bounded. It names the file and the line, but no size.
Status check_hidden_sizes(const CourseTerms& terms, const std::vector<Chapter>& chapters, const Machine& machine);

// The chapter with the instructor's thresholds in place of its own. Errors: `ace` requires less than `pass`.
Result<Chapter> with_thresholds(const Chapter& chapter, const ChapterTerms& terms);

// 9999-12-31 23:59:59 UTC, the limit for times, because a file may have any time.
inline constexpr std::int64_t kLatestMoment = 253'402'300'799;

// "2026-10-01 23:59 (UTC+02:00)" in a zone `offset_min` minutes east of UTC; "2026-10-01 21:59 UTC" for 0.
std::string moment_text(std::int64_t seconds, int offset_min = 0);

}  // namespace roofwalk
