// Lines about the files of one path that belong to no known student.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "grader/class/hand_ins/submissions.h"

namespace roofwalk {

inline constexpr const char* kIsUnknown = "is neither a .cu file nor a folder nor a zip";

class UnownedFiles {
 public:
  void add(const std::string& label, std::string reason);

  // Adds a file that is neither a source nor a zip. One that is an archive of another kind, or is named after a
  // chapter, may be a hand-in in the wrong form, so other files never crowd out its line. A file that a program adds to
  // folders has no line.
  void add_stray(const std::string& label, const std::string& name, const std::vector<std::string>& chapters);

  // Moves the lines to `left_out`; one more line counts those that have none. `top`: the path's label.
  void take(const std::string& top, std::vector<LeftOut>& left_out);

 private:
  void add(std::vector<LeftOut>& lines, std::size_t most, const std::string& label, std::string reason);

  std::vector<LeftOut> lines_, wrong_forms_, strays_;
  std::size_t more_ = 0;
};

}  // namespace roofwalk
