#include "grader/text/text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <sstream>

#include "common/roofline/si.h"
#include "grader/text/characters.h"

namespace roofwalk {
namespace {

// The Levenshtein distance of two texts.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j] ? 1 : 0);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

// The length of the escape sequence at the start of the text, if it has the form that Colors and the text plot write;
// otherwise 0.
std::size_t color_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const Character one = character_at(text, i);
    if (one.code == U'\t') {
      out += ' ';
    } else if (one.code && is_harmless(*one.code)) {
      out += text.substr(i, one.bytes);
    } else {
      const std::uint32_t code = one.code ? *one.code : static_cast<unsigned char>(text[i]);
      out += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
    }
    i += one.bytes;
  }
  return out;
}

std::string grouped(double count) {
  const std::string digits = fmt::format("{:.0f}", count);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool after_digit = i > 0 && digits[i - 1] != '-';
    if (after_digit && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string factor(double value) { return fmt::format("x{}", number_text(value)); }

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t more = shown_columns(word);
    if (!line.empty() && used + 1 + more > columns) {
      lines.push_back(std::move(line));
      line.clear();
      used = 0;
    }
    if (!line.empty()) line += ' ';
    used += more + (line.empty() ? 0 : 1);
    line += word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> paragraphs(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines;
  std::string paragraph;
  const auto end_paragraph = [&] {
    for (std::string& line : wrapped(paragraph, columns)) lines.push_back(std::move(line));
    paragraph.clear();
  };
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(' ')) {
      end_paragraph();
      lines.push_back(printable(line));
    } else {
      paragraph += printable(line) + ' ';
    }
  }
  end_paragraph();
  return lines;
}

std::size_t shown_columns(std::string_view line) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (const std::size_t length = color_length(line.substr(i)); length > 0) {
      i += length - 1;
    } else if ((static_cast<unsigned char>(line[i]) & 0xc0) != 0x80) {  // first byte of a UTF-8 character
      ++columns;
    }
  }
  return columns;
}

std::string cut_to(std::string_view line, std::size_t columns) {
  std::string out;
  std::size_t used = 0;
  bool colored = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (const std::size_t length = color_length(line.substr(i)); length > 0) {
      out += line.substr(i, length);
      colored = true;
      i += length - 1;
      continue;
    }
    if ((static_cast<unsigned char>(line[i]) & 0xc0) != 0x80 && ++used > columns) {
      return colored ? out + "\x1b[0m" : out;
    }
    out += line[i];
  }
  return out;
}

std::string padded(std::string_view text, std::size_t columns) {
  return std::string(text) + std::string(columns - std::min(columns, shown_columns(text)), ' ');
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (text.size() <= columns) return std::string(text);
  return fmt::format("{}...", text.substr(0, columns - 3));
}

std::vector<std::string> near_names(std::string_view typed, const std::vector<std::string>& candidates) {
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& candidate : candidates) {
    const bool inside = typed.size() >= 3 && candidate.find(typed) != std::string::npos;
    const std::size_t away = inside ? 0 : distance(typed, candidate);
    if (away <= std::max<std::size_t>(2, candidate.size() / 3)) near.emplace_back(away, candidate);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < near.size() && i < 3; ++i) names.push_back(near[i].second);
  return names;
}

std::string Colors::paint(std::string_view code, std::string_view text) const {
  return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

bool wants_color() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace roofwalk
