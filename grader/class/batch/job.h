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

// What all jobs of a chapter share; found out once, by the process that hands out the jobs.
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
  std::filesystem::path folder;  // the worker's own, absolute; the submission lies there as file_name()

  std::string file_name() const { return terms.chapter.name + ".cu"; }
};

// The chapter travels by its name and goals: the worker reads the rest of it from the course.
Json to_json(const Job& job);
Result<Job> job_from_json(const Json& json, const Course& course);

// Of a submission's launches, the record keeps those that took most time: a kernel launched ten thousand times would
// fill it, and each command of the class reads all of it. Leaves out the others, and returns how many they are.
inline constexpr std::size_t kMostKernelsKept = 64;
std::size_t keep_longest(std::vector<KernelRecord>& kernels);

// Grades it, in this process, in job.folder, which becomes the working directory. {"schema": "roofwalk.grade/1",
// "attempt": roofwalk.attempt/1, "kernels_left_out": of its launches, "scales": [...], "plot": SVG, "profile": page}.
// Errors are our own.
Result<Json> grade(const Job& job, const Course& course);

}  // namespace roofwalk
