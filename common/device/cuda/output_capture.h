// Captures what kernels print. The driver writes printf to the process's stdout and failed asserts to its stderr; while
// this object exists, both go to files in memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/record/dim3.h"
#include "common/record/printed.h"

namespace roofwalk {

class OutputCapture {
 public:
  explicit OutputCapture(bool wanted);
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  void restart();                           // discards the output so far
  std::string out() { return text_of(0); }  // stdout, more of it than printed_of() keeps
  std::string err() { return text_of(1); }

 private:
  struct Stream {
    int number, file, original;  // -1: not captured
  };
  std::string text_of(int which);

  Stream streams_[2] = {{1, -1, -1}, {2, -1, -1}};
};

// Formats text as the virtual GPU keeps it: the first 64 KiB, in whole lines, with `?` for non-ASCII and for control
// characters other than tabs.
Printed printed_of(std::string_view text);

// Parsed from a line such as "kernel.cu:5: void k(float *): block: [0,0,0], thread: [31,0,0] Assertion `x > 0`
// failed.", the format in the CUDA C++ Programming Guide.
struct FailedAssertion {
  int line = 0;
  Dim3 block, thread;
  std::string condition;
};
std::optional<FailedAssertion> assertion_in(std::string_view text);

}  // namespace roofwalk
