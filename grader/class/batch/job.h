// One submission on its way to a worker process and back, as JSON.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/json_fwd.h"
#include "common/base/result.h"
#include "common/measure/roof_rates.h"
#include "grader/attempt/pipeline.h"
#include "grader/course/course.h"

namespace roofwalk {

// What all jobs of a chapter share; computed once, by the process that hands out the jobs.
struct JobTerms {
  Chapter chapter;  // with the instructor's thresholds
  HiddenCases hidden;
  std::string device;  // as --device
  RoofRates rates;
  StarterDot starter;
  Isolation isolation = Isolation::boxed;  // of compilers and of the virtual GPU
};

struct Job {
  JobTerms terms;
  std::filesystem::path folder;  // the worker's own, absolute; the submission is in it as file_name()

  std::string file_name() const { return terms.chapter.name + ".cu"; }
};

// The chapter is sent as its name and goals: the worker reads the rest from the course.
Json to_json(const Job& job);
Result<Job> job_from_json(const Json& json, const Course& course);

// Keeps the launches of a submission that took most time, and returns how many were left out: a kernel launched ten
// thousand times would fill the record, which every command of the class reads.
inline constexpr std::size_t kMostKernelsKept = 64;
std::size_t keep_longest(std::vector<KernelRecord>& kernels);

// Grades the job in this process and in job.folder, which becomes the working directory. Returns {"schema":
// "roofwalk.grade/1", "attempt": roofwalk.attempt/1, "kernels_left_out": how many, "scales": [...], "plot": SVG,
// "profile": page}. Errors are our own.
Result<Json> grade(const Job& job, const Course& course);

}  // namespace roofwalk
