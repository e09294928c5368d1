// The terminal at standard error: its width, its colours, and a line that says what a long run is at.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "grader/programs/launch_log.h"
#include "grader/text/text.h"

namespace roofwalk {

// Of the terminal; without one, COLUMNS if set, otherwise 120. From 60 to 240.
std::size_t columns_of_stderr();
Colors colors_of_stderr();

// "gemm<128>: launch 3 (12 of all kernels), 8 s in it; 97 % of the modelled time until now"
std::string progress_text(const Progress& now, std::size_t columns);

// From one second on, shows on the terminal at standard error which launch runs. The line stands below the cursor,
// which keeps its place, and is gone before the program goes on, so that it never mixes with what the program prints.
// Without a terminal, nothing is shown.
class ProgressLine {
 public:
  explicit ProgressLine(LaunchLog& log);
  ~ProgressLine() { stop(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void erase();  // before something else is written to the terminal
  void stop();   // shows nothing any more

 private:
  void show();

  LaunchLog& log_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_drawn_ = false, has_ended_ = false;
  bool is_beside_output_ = false;  // whether standard output is a terminal, too
  std::thread thread_;
};

}  // namespace roofwalk
