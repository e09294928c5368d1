// Shows the progress of a batch on stderr: on a terminal a bar with the estimated time left, otherwise a line after
// each tenth of the submissions.
#pragma once

#include <string>

#include "grader/class/batch/grade_all.h"

namespace roofwalk {

// "[#########...............] 75 of 200, about 3 min left, 1 fault of ours".
std::string progress_line(const GradeProgress& progress);

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  // erases the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const GradeProgress& progress);

 private:
  bool on_terminal_ = false, shown_ = false;
  std::size_t last_tenth_ = 0;
};

}  // namespace roofwalk
