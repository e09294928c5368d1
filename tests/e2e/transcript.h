// An end-to-end test as text: commands, their exit codes, and what they print.
//
//   # WHY: a missing bounds guard must be a fault with a place, not a crash
//   # COPY: tests/grader/wrong/01-vector-add/no_guard.cu my/vector-add.cu
//   # RUN: run vector-add
//   # EXIT: 1
//   vector-add on [..]
//   [...]
//
// Output is stdout and stderr together. `[..]` stands for any characters of a line, a line `[...]` for any lines.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roofwalk::e2e {

struct Step {
  std::vector<std::string> comments;                        // lines before # RUN other than COPY; rewriting keeps them
  std::vector<std::pair<std::string, std::string>> copies;  // from and to, both inside the course
  std::string arguments;                                    // split at spaces
  int exit_code = 0;
  std::vector<std::string> output;
};

// Fails the running test if the file is no valid transcript.
std::vector<Step> read_transcript(const std::filesystem::path& file);
void write_transcript(const std::filesystem::path& file, const std::vector<Step>& steps);

bool line_matches(const std::string& pattern, const std::string& line);
bool output_matches(const std::vector<std::string>& patterns, const std::vector<std::string>& lines);

// Returns `lines` with as many of the patterns as possible in place of the lines that they match.
std::vector<std::string> rewritten(const std::vector<std::string>& patterns, const std::vector<std::string>& lines);

std::vector<std::string> split(const std::string& text, char separator);

}  // namespace roofwalk::e2e
