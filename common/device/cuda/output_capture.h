// What kernels print. The driver writes printf to the process's stdout and a failed assert to its stderr; while this
// lives, both go to files in memory instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/record/run_record.h"

namespace roofwalk {

class OutputCapture {
 public:
  explicit OutputCapture(bool wanted);
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  void restart();                           // forgets what came so far
  std::string out() { return text_of(0); }  // of stdout, at most a little more than is kept
  std::string err() { return text_of(1); }

 private:
  struct Stream {
    int number, file, original;  // -1: not caught
  };
  std::string text_of(int which);

  Stream streams_[2] = {{1, -1, -1}, {2, -1, -1}};
};

// As the virtual GPU keeps it: the first 64 KiB, whole lines, without control characters. What is not ASCII is a `?`.
Printed printed_of(std::string_view text);

// "kernel.cu:5: void k(float *): block: [0,0,0], thread: [31,0,0] Assertion `x > 0` failed.", as the CUDA C++
// Programming Guide shows it.
struct FailedAssertion {
  int line = 0;
  Dim3 block, thread;
  std::string condition;
};
std::optional<FailedAssertion> assertion_in(std::string_view text);

}  // namespace roofwalk
