// One call of the program: its options, and objects that several verbs use, each opened when it is first needed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/store/store.h"
#include "grader/attempt/pipeline.h"
#include "grader/cmd/exit_code.h"
#include "grader/course/prediction.h"
#include "grader/rig/rig.h"
#include "grader/text/text.h"
#include "grader/walk/walk.h"

namespace roofwalk {

struct Options {
  std::string device = "auto";
  std::uint64_t seed = kPublicSeed;
  int threads = 1;
  bool json = false;
  bool no_ask = false;
  bool as_graded = false;                 // run large sizes as `grade` does (Request::sanitizes_measured)
  Isolation isolation = Isolation::none;  // boxed if the program judges files of other people
};

// The reason why a verb failed, and the exit code that tells whose fault it is.
struct Failure {
  Error error;
  ExitCode exit_code = kOurFault;
};

// The progress in a chapter on a device, over all walks, so a reset does not reduce it.
struct Progress {
  std::string state;  // "not started", "started", "passed", "not offered"
  Grade grade = Grade::none;
  std::optional<Point> best;   // at the chapter's level
  std::size_t attempts = 0;    // number of dots
  std::int64_t last_pass = 0;  // id of the latest attempt that passed; 0: none
};

// An attempt, and how it changed the walk.
struct Outcome {
  Attempt attempt;
  WalkNews news;
};

class Session {
 public:
  // `caller_folder`: the folder in which the user typed the command; relative paths start there.
  explicit Session(std::filesystem::path caller_folder) : caller_folder_(std::move(caller_folder)) {}

  Options options;
  Phases* phases = nullptr;  // phases of this call, if requested; set it before anything else

  // Reports that this process waits for others who time on the same GPU: a line while it waits, and an empty one at
  // the end. May be empty.
  std::function<void(const std::string& line)> while_waiting;

  // All functions below throw a Failure on error; main turns it into a message and an exit code.
  const Course& course();
  const Chapter& chapter(const std::string& name);
  // An empty name means the next chapter; the chapter must be offered on this machine.
  const Chapter& chapter_or_next(const std::string& name);
  Store& store();
  // From now on, where the record of attempts cannot be written, an attempt is measured and shown all the same, and its
  // card says that it is not kept.
  void go_on_unrecorded() { goes_on_unrecorded_ = true; }
  const Rig& rig();
  const Rig& measured_bench();  // with measured roofs, for all code that judges or draws

  std::vector<Dot> dots(const Chapter& chapter);
  Progress progress(const Chapter& chapter);
  // The first chapter that is not passed, from behind the one that was passed last, and then from the beginning;
  // nullptr if all are passed.
  const Chapter* next_chapter();

  // Where a chapter's lesson and file are, and what to type: lines for the terminal.
  std::string places(const Chapter& chapter);

  // Runs a file and records it. `measured` may serve several calls for one chapter.
  Outcome check(const Chapter& chapter, const std::filesystem::path& file, bool joins,
                std::shared_ptr<const Measured> measured = nullptr);

  // The prediction for a chapter on this device; nullopt if the learner was not asked. Skipped questions are absent.
  std::optional<Prediction> prediction(const Chapter& chapter);
  void keep_prediction(const Chapter& chapter, const Prediction& prediction);

  // Creates my/NAME.cu if it does not exist, and prints that.
  void provide_file(const Chapter& chapter);

  // Restores the starter, begins a new walk, and makes the hints begin again. Returns the path of the old file.
  std::optional<std::filesystem::path> reset(const Chapter& chapter);

  // Asks for predictions on the terminal, before the first measurement of a chapter on this device. Does not ask
  // without a terminal or with --format json, --no-ask or --yes.
  void predict_first(const Chapter& chapter);

  // A typed path, made relative to the course's root if it is inside.
  std::filesystem::path from_caller(const std::filesystem::path& typed) const;

  // A typed machine: a name is unchanged, a path FILE.toml is converted by from_caller().
  std::string machine_name(const std::string& typed) const;

 private:
  std::filesystem::path caller_folder_;
  std::optional<Course> course_;
  std::optional<Store> store_;
  std::optional<Rig> rig_;
  bool has_measured_roofs_ = false;
  bool goes_on_unrecorded_ = false;
  std::string record_trouble_;  // why the record cannot be written; empty if it can
};

// Returns the value, or throws the error as a Failure.
template <class T>
T value_or_fail(Result<T> result, ExitCode exit_code = kOurFault) {
  if (!result) throw Failure{result.error(), exit_code};
  return std::move(*result);
}

Colors colors_for(const Options& options);
void print(const std::string& text);  // to stdout, unchanged
void print_json(const Json& json);

}  // namespace roofwalk
