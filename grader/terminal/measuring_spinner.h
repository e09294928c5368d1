// Tells a user at a terminal that a measurement takes a while, or which user has the GPU now.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "grader/terminal/spinner.h"

namespace roofwalk {

class MeasuringSpinner {
 public:
  // `what`: the work that takes a while, e.g. "measuring vector-add". `while_waiting`: the callback that reports a
  // wait for the GPU (Session::while_waiting); it must outlive this object.
  MeasuringSpinner(std::function<void(const std::string& line)>& while_waiting, std::string what)
      : while_waiting_(while_waiting), waiting_(std::move(what)) {
    while_waiting_ = [this](const std::string& line) { waiting_.say(line); };
  }
  ~MeasuringSpinner() { while_waiting_ = nullptr; }
  MeasuringSpinner(const MeasuringSpinner&) = delete;
  MeasuringSpinner& operator=(const MeasuringSpinner&) = delete;

 private:
  std::function<void(const std::string& line)>& while_waiting_;
  Spinner waiting_;
};

}  // namespace roofwalk
