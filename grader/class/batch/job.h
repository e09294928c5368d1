// One submission, and its grade, as JSON messages to and from a worker process.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/json_fwd.h"
#include "common/base/result.h"
#include "common/measure/roof_rates.h"
#include "grader/attempt/pipeline.h"
#include "grader/course/course.h"

namespace roofwalk {

// The part that all jobs of a chapter have in common. It is computed once, by the process that distributes the jobs.
struct JobTerms {
  Chapter chapter;  // with the instructor's thresholds
  HiddenCases hidden;
  std::string device;  // the value of --device
  RoofRates rates;
  StarterDot starter;
  Isolation isolation = Isolation::boxed;  // isolation of compilers and of the virtual GPU
  std::string toolkit = {};                // its version, with which all of the class is compiled
};

struct Job {
  JobTerms terms;
  std::filesystem::path folder;  // the worker's own folder, absolute; it contains the submission as file_name()

  std::string file_name() const { return terms.chapter.name + ".cu"; }
};

// Of the chapter, the JSON contains only the name and the goals' thresholds; the worker reads the rest from the course.
Json to_json(const Job& job);
Result<Job> job_from_json(const Json& json, const Course& course);

// The hidden cases with other seeds, derived from the source: what a kernel finds out about its inputs is of no use to
// the next hand-in. Equal sources get equal seeds.
HiddenCases with_seeds_of(HiddenCases hidden, std::string_view source);

// Removes all but the launches that took the most time, and returns how many it removed. Otherwise, a kernel that is
// launched ten thousand times would fill the record, which every command for the class reads.
inline constexpr std::size_t kMostKernelsKept = 64;
std::size_t keep_longest(std::vector<KernelRecord>& kernels);

// Grades the job in this process and in job.folder, which becomes the working directory. Returns {"schema":
// "roofwalk.grade/1", "file_sha256": of the submission, "attempt": roofwalk.attempt/1, "kernels_left_out": how many,
// "scales": [...], "plot": SVG, "profile": page}. Errors are faults of this program, not of the submission.
Result<Json> grade(const Job& job, const Course& course);

}  // namespace roofwalk
