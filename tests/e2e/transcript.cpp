#include "tests/e2e/transcript.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// Whether the line is "# KEY: text"; if so, sets `value` to the text.
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

// Finds the alignment that keeps most patterns. score[p][l] is the best score of patterns from p on against lines from
// l on. A kept pattern scores most, a replaced one less, a line covered by `[...]` least.
std::vector<std::string> rewritten(const std::vector<std::string>& patterns, const std::vector<std::string>& lines) {
  constexpr int kKept = 1'000'000, kReplaced = 1'000, kCovered = 1;
  const std::size_t count = patterns.size(), length = lines.size();
  std::vector<std::vector<int>> score(count + 1, std::vector<int>(length + 1));
  const auto kept = [&](std::size_t p, std::size_t l) {
    return l < length && patterns[p] != kAnyLines && line_matches(patterns[p], lines[l]) ? kKept + score[p + 1][l + 1]
                                                                                         : -1;
  };
  const auto covered = [&](std::size_t p, std::size_t l) {
    return l < length && patterns[p] == kAnyLines ? kCovered + score[p][l + 1] : -1;
  };
  const auto replaced = [&](std::size_t p, std::size_t l) {
    return l < length && patterns[p] != kAnyLines ? kReplaced + score[p + 1][l + 1] : -1;
  };
  for (std::size_t p = count; p-- > 0;) {
    for (std::size_t l = length + 1; l-- > 0;) {
      score[p][l] =
          std::max({score[p + 1][l], l < length ? score[p][l + 1] : 0, kept(p, l), replaced(p, l), covered(p, l)});
    }
  }
  std::vector<std::string> out;
  std::size_t p = 0, l = 0;
  for (bool in_hole = false; p < count || l < length;) {
    if (p < count && kept(p, l) == score[p][l]) {
      out.push_back(patterns[p++]);
      ++l;
    } else if (p < count && replaced(p, l) == score[p][l]) {
      out.push_back(lines[l++]);
      ++p;
    } else if (p < count && covered(p, l) == score[p][l]) {
      if (!in_hole) out.push_back(kAnyLines);
      in_hole = true;
      ++l;
      continue;
    } else if (p < count && score[p + 1][l] == score[p][l]) {
      ++p;
    } else {
      out.push_back(lines[l++]);
    }
    in_hole = false;
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
