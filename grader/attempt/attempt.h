// The record of one attempt: what was run, and the result. Its JSON, "roofwalk.attempt/1", is the stable interface of
// the program: always the same keys, and null for unknown values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/record/run_record.h"
#include "common/roofline/diagnosis.h"
#include "grader/attempt/gpu_times.h"
#include "grader/attempt/verdict.h"
#include "grader/course/prediction.h"

namespace roofwalk {

// The diagnoses of an attempt, and the line of the learner's file that moves the most bytes.
struct Finding {
  std::vector<Diagnosis> diagnoses;          // most costly first; empty if nothing is worth curing
  Diagnosis diagnosis;                       // the first of them; if there is none: cause "none", with a remark
  std::vector<Diagnosis> of_bytes;           // what moves too many bytes, however little time a cure would save
  std::optional<Diagnosis> of_sectors = {};  // as diagnose_sectors
  std::vector<Diagnosis> of_counts = {};     // as diagnose_counts
  // How the kernel that takes longest fills the GPU, if SMs idle or are less than half full: "3 of 8 at work".
  std::string filling;
  int traffic_line = 0;        // 0: unknown
  std::string traffic_source;  // that line's text, as the learner wrote it
};

struct Attempt {
  std::string chapter;
  std::string device;              // "virtual:classroom"
  std::string device_kind;         // "virtual" or "cuda"
  std::string device_option = {};  // as in Rig, for commands that the card names; not in the JSON
  Size size;
  std::optional<std::uint64_t> seed;  // nullopt if hidden seeds were used
  std::string file;                   // the learner's name for it: "my/vector-add.cu"
  int ended_line = 0;                 // the line of the file to which the first reason points; 0: none
  std::string ended_source = {};      // that line's text, as the learner wrote it; not in the JSON
  std::string source_sha256;          // empty if the file did not compile
  bool is_starter = false;            // the file is the starter, unchanged
  std::string baseline = "starter";   // the kernel over which goals are: "reference" if the starter is a faulty one
  bool sandboxed = false;             // the file was compiled, and the virtual GPU ran its kernels, in boxes

  Judgement judgement;
  std::vector<std::string> goals_left_out;  // goals of the chapter that do not apply on this machine, with the reason
  std::optional<bool> correct;
  std::optional<double> worst_error;
  std::string worst_place;  // "c[12], n=33", or "n=33" if no element is wrong there; empty if nothing was compared
  int cases = 0;            // number of correctness cases run, up to the first wrong one, including the measured
                            // shape
  // Number of sizes that were run: all, or those up to the one at which the kernel was stopped.
  int small_sizes = 0, wrong_small_sizes = 0;
  int hidden_cases = 0, wrong_hidden_cases = 0;  // the same for the hidden cases that a class is graded on

  std::optional<Measurement> measurement;
  std::optional<GpuTimes> times;   // on a real GPU: times of the starter and the attempt
  std::vector<std::string> notes;  // facts that readers of the figures must know, one sentence each
  bool time_is_modelled = false, bytes_are_modelled = false;
  std::string walk_level = "dram";       // the memory level whose AI is on the axis of the walk
  std::optional<Movement> moved;         // relative to the starter, on that axis
  ChapterRoof roof = ChapterRoof::fp32;  // the one that the chapter names
  Roofs roofs;
  LevelPoints starter;                       // the baseline's dot
  std::optional<double> starter_sector_use;  // as Measurement::sector_use
  GoalCounts starter_counts = {};
  std::vector<KernelRecord> kernels;
  std::optional<Finding> finding;
  std::optional<MeasuredBound> bound;
  std::optional<Fault> fault;
  std::vector<Fault> warnings;  // of all runs, except those of hidden cases
  Printed printed;              // output of the kernels, in the case that the card shows
  std::string printed_case;
  std::string plot;       // path of the picture; empty if nothing could be drawn
  Prediction prediction;  // the learner's prediction, made beforehand
};

Json to_json(const Attempt& attempt);

// The dot of a stored attempt; nullopt if it was not measured or not graded.
std::optional<Point> stored_point(const Json& attempt, std::string_view level);

// The version of the model by which a stored attempt was measured; nullopt if nothing was modelled.
std::optional<std::int64_t> stored_model_version(const Json& attempt);

}  // namespace roofwalk
