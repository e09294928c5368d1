#include "tests/e2e/transcript.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace roofwalk::e2e {
namespace {

constexpr const char* kAnyLines = "[...]";
constexpr const char* kAnyText = "[..]";

bool lines_match(const std::vector<std::string>& patterns, std::size_t p, const std::vector<std::string>& lines,
                 std::size_t l) {
  if (p == patterns.size()) return l == lines.size();
  if (patterns[p] == kAnyLines) {
    for (std::size_t rest = l; rest <= lines.size(); ++rest) {
      if (lines_match(patterns, p + 1, lines, rest)) return true;
    }
    return false;
  }
  return l < lines.size() && line_matches(patterns[p], lines[l]) && lines_match(patterns, p + 1, lines, l + 1);
}

// The text after "# KEY: ", where the line is such a one.
bool has_key(const std::string& line, const std::string& key, std::string& value) {
  const std::string start = "# " + key + ": ";
  if (!line.starts_with(start)) return false;
  value = line.substr(start.size());
  return true;
}

}  // namespace

std::vector<Step> read_transcript(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<Step> steps;
  Step next;
  bool in_output = false;
  for (std::string line, value; std::getline(in, line);) {
    if (has_key(line, "RUN", value)) {
      next.arguments = value;
      steps.push_back(std::move(next));
      next = {};
      in_output = true;
    } else if (has_key(line, "EXIT", value)) {
      steps.back().exit_code = std::stoi(value);
    } else if (has_key(line, "COPY", value)) {
      const auto parts = split(value, ' ');
      EXPECT_EQ(parts.size(), 2u) << file << ": # COPY: FROM TO";
      next.copies.emplace_back(parts.front(), parts.back());
      in_output = false;
    } else if (line.starts_with("# ")) {
      next.comments.push_back(line);
      in_output = false;
    } else if (in_output) {
      steps.back().output.push_back(line);
    }
  }
  EXPECT_FALSE(steps.empty()) << file << " runs nothing";
  return steps;
}

void write_transcript(const std::filesystem::path& file, const std::vector<Step>& steps) {
  std::ofstream out(file);
  for (const Step& step : steps) {
    for (const std::string& comment : step.comments) out << comment << "\n";
    for (const auto& [from, to] : step.copies) out << "# COPY: " << from << " " << to << "\n";
    out << "# RUN: " << step.arguments << "\n# EXIT: " << step.exit_code << "\n";
    for (const std::string& line : step.output) out << line << "\n";
  }
}

bool line_matches(const std::string& pattern, const std::string& line) {
  const std::string hole = kAnyText;
  std::size_t at = 0, from = 0;
  for (bool first = true;; first = false) {
    const std::size_t end = pattern.find(hole, from);
    const std::string piece = pattern.substr(from, end == std::string::npos ? std::string::npos : end - from);
    const bool last = end == std::string::npos;
    if (first && last) return line == pattern;
    if (last) return line.size() >= at + piece.size() && line.ends_with(piece);
    const std::size_t found = first ? (line.starts_with(piece) ? 0 : std::string::npos) : line.find(piece, at);
    if (found == std::string::npos) return false;
    at = found + piece.size();
    from = end + hole.size();
  }
}

bool output_matches(const std::vector<std::string>& patterns, const std::vector<std::string>& lines) {
  return lines_match(patterns, 0, lines, 0);
}

std::vector<std::string> rewritten(const std::vector<std::string>& patterns, const std::vector<std::string>& lines) {
  if (output_matches(patterns, lines)) return patterns;
  std::vector<std::string> out = lines;
  for (std::size_t i = 0; i < out.size() && i < patterns.size() && patterns[i] != kAnyLines; ++i) {
    if (line_matches(patterns[i], out[i])) out[i] = patterns[i];
  }
  return out;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

}  // namespace roofwalk::e2e
