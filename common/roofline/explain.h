// Texts and lookups that the explanations of several causes use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/roofline/diagnosis.h"

namespace roofwalk {

// Returns the source line with the largest amount; nullptr if all amounts are 0.
template <class Amount>
const DiagnosisInput::Line* worst_line(const std::vector<DiagnosisInput::Line>& lines, Amount amount) {
  const DiagnosisInput::Line* worst = nullptr;
  for (const auto& line : lines) {
    if (line.line > 0 && amount(line) > (worst ? amount(*worst) : 0)) worst = &line;
  }
  return worst;
}

// Returns the line's number; 0 for nullptr.
int number_of(const DiagnosisInput::Line* line);

// Returns "46 %" for 0.456.
std::string percent_text(double share);

// Returns " (line 12)", or empty if the line is 0.
std::string place_text(int line);
// Returns ", most at line 12", or empty for nullptr.
std::string most_at_text(const DiagnosisInput::Line* line);

// Returns the wait with this id; nullptr if unknown.
const DiagnosisInput::Waiting* wait_of(const DiagnosisInput& input, std::string_view id);
// Returns the longest wait for memory; nullptr if unknown.
const DiagnosisInput::Waiting* wait_for_memory(const DiagnosisInput& input);

}  // namespace roofwalk
