// The record of one attempt: what was run, what came of it. Its JSON, "roofwalk.attempt/1", is the stable interface of
// the program: always the same keys, null where something is not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/roofline/diagnosis.h"
#include "grader/attempt/gpu_times.h"
#include "grader/attempt/verdict.h"
#include "grader/course/prediction.h"

namespace roofwalk {

// What an attempt suffers from, and the line of the learner's file that moves most bytes.
struct Finding {
  std::vector<Diagnosis> diagnoses;  // the most costly first; empty where there is nothing to cure
  Diagnosis diagnosis;               // the first of them, or "none" and what can be said of the dot
  int traffic_line = 0;              // 0 unknown
  std::string traffic_source;        // that line's text, as the learner wrote it
};

struct Attempt {
  std::string chapter;
  std::string device;       // "virtual:classroom"
  std::string device_kind;  // "virtual" or "cuda"
  Size size;
  std::optional<std::uint64_t> seed;  // nothing where hidden seeds were used
  std::string file;                   // as the learner knows it: "my/vector-add.cu"
  std::string source_sha256;          // empty where the file did not compile
  bool is_starter = false;            // the file is the starter, unchanged
  bool sandboxed = false;             // the file was compiled, and its kernels run by the virtual GPU, in boxes

  Judgement judgement;
  std::vector<std::string> goals_left_out;  // the chapter's goals that make no sense on this machine, and why
  std::optional<bool> correct;
  std::optional<double> worst_error;
  std::string worst_place;  // "c[12], n=33"; empty where there is no error
  int cases = 0;            // correctness cases up to the first wrong one, the measured shape included
  int small_sizes = 0, wrong_small_sizes = 0;    // that ran: all of them, or up to one at which the kernel was stopped
  int hidden_cases = 0, wrong_hidden_cases = 0;  // the same of those that a class is graded on

  std::optional<Measurement> measurement;
  std::optional<GpuTimes> times;   // of a real GPU: the starter and the attempt
  std::vector<std::string> notes;  // what a reader of the figures must know, a sentence each
  bool time_is_modelled = false, bytes_are_modelled = false;
  std::string walk_level = "dram";  // whose axis the walk is drawn on
  std::optional<Movement> moved;    // against the starter, on that axis
  Roofs roofs;
  LevelPoints starter;
  std::vector<KernelRecord> kernels;
  std::optional<Finding> finding;
  std::optional<MeasuredBound> bound;
  std::optional<Fault> fault;
  std::vector<Fault> warnings;  // of the small sizes
  Printed printed;              // by the kernels, in the case that the card is about
  std::string printed_case;
  std::string plot;       // the picture's path; empty where nothing could be drawn
  Prediction prediction;  // what the learner said beforehand
};

Json to_json(const Attempt& attempt);

// The dot of a stored attempt; nothing where it was not measured or not graded.
std::optional<Point> stored_point(const Json& attempt, std::string_view level);

}  // namespace roofwalk
