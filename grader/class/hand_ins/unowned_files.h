// Lines about the files of one path that belong to no known student.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "grader/class/hand_ins/submissions.h"

namespace roofwalk {

inline constexpr const char* kIsUnknown = "is neither a .cu file nor a folder nor a zip";

class UnownedFiles {
 public:
  void add(const std::string& label, std::string reason);

  // Adds a file whose name may be any of several people's. `alike`: as in Owner. Files with the same text have one line
  // together, which counts them, so one person's files crowd out nobody else's line.
  void add_undecided(const std::string& label, const std::string& alike, std::string reason);

  // Adds a file that is neither a source nor a zip. One that is an archive of another kind, or is named after a
  // chapter, may be a hand-in in the wrong form, so other files, which are none, never crowd out its line. A file that
  // a program adds to folders has no line.
  void add_stray(const std::string& label, const std::string& name, const std::vector<std::string>& chapters);

  // Moves the lines to `left_out`; one more line counts those that have none. `top`: the label of `path`.
  void take(const std::string& top, const std::string& path, std::vector<LeftOut>& left_out);

 private:
  struct Undecided {
    LeftOut first;
    std::size_t more = 0;
  };

  std::vector<LeftOut> lines_, wrong_forms_, strays_;
  std::map<std::string, Undecided> undecided_;  // by Owner::alike
  std::size_t more_ = 0, more_strays_ = 0;
};

}  // namespace roofwalk
