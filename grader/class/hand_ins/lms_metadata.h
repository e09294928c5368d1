// The owners and times of submissions, as Gradescope writes them next to the files: submission_metadata.yml in an
// export of all submissions, submission_metadata.json in an autograder's container. Gradescope names the folders
// submission_331.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "grader/class/hand_ins/found_file.h"
#include "grader/class/hand_ins/lms_names.h"

namespace roofwalk {

inline constexpr const char* kGradescopeExport = "submission_metadata.yml";
inline constexpr const char* kGradescopeContainer = "submission_metadata.json";

struct LmsRecord {
  std::vector<Owner> owners;  // for a group's submission, all members; empty if none is named
  std::optional<std::int64_t> created_at_s;
};
using LmsRecords = std::map<std::string, LmsRecord>;  // by folder

// Limit for an export's file, which also contains the output of every autograder.
inline constexpr std::size_t kMostExportBytes = 256u << 20;

// Errors: not YAML, no list of submissions, or too large even without the keys that are
// not read.
Result<LmsRecords> read_gradescope_export(const std::string& yaml);

// The one submission in an autograder's container. The container gives one result, so a group counts as a single owner
// here. Errors: the text is not such a file.
Result<LmsRecord> read_gradescope_container(const std::string& json);

// The platform's records about the folders next to its metadata; students cannot write there. `top`: the class's label.
// If the metadata cannot be read, that is an Error: names and times that learners chose would otherwise count.
Result<LmsRecords> read_records(const std::vector<Found>& metadata, const std::string& top);

// "2026-10-01T21:59:00.365935-07:00" or "2026-10-01 21:59:00.0 Z" as seconds since 1970. nullopt for any other text.
std::optional<std::int64_t> moment_of(const std::string& text);

// Lines about students who typed the same number, of whom one may have typed another's, and about several submissions
// of one who has no address.
std::vector<std::string> doubts_about(const LmsRecords& records);

}  // namespace roofwalk
