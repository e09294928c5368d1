#include "common/roofline/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/roofline/facts.h"

namespace roofwalk {

int number_of(const DiagnosisInput::Line* line) { return line ? line->line : 0; }

std::string percent_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string place_text(int line) { return line > 0 ? fmt::format(" (line {})", line) : std::string(); }

std::string most_at_text(const DiagnosisInput::Line* line) {
  return line ? fmt::format(", most at line {}", line->line) : std::string();
}

const DiagnosisInput::Waiting* wait_of(const DiagnosisInput& in, std::string_view id) {
  const auto found = std::find_if(in.waiting.begin(), in.waiting.end(), [&](const auto& w) { return w.id == id; });
  return found == in.waiting.end() ? nullptr : &*found;
}

const DiagnosisInput::Waiting* wait_for_memory(const DiagnosisInput& in) {
  for (const auto& waiting : in.waiting) {
    if (is_memory_wait(waiting.id)) return &waiting;
  }
  return nullptr;
}

}  // namespace roofwalk
