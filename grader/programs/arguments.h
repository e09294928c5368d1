// The command line of `profile` and `build`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "grader/programs/conditions.h"
#include "grader/programs/launch_log.h"

namespace roofwalk {

enum class Format { text, json, csv };

struct Arguments {
  std::string verb;  // "profile" or "build"
  bool asks_for_help = false;
  std::string device = "virtual:classroom";
  std::string json, csv, plot, output, junit;  // files; empty: none
  Format format = Format::text;
  std::string lines;    // the kernel whose lines are shown; empty: none
  std::string against;  // the file of an earlier run; empty: none
  std::vector<Condition> fail_if;
  Selection selection;
  bool sanitize = false;
  int threads = 1;
  std::uint64_t work = 1'000'000'000'000, counted_launches = 0;
  std::vector<std::string> command;

  bool is_check() const { return sanitize || selection.check_only; }
};

extern const char* const kUsageOfPrograms;

// Error: one line on what is wrong.
Result<Arguments> read_arguments(const std::vector<std::string>& words);

}  // namespace roofwalk
