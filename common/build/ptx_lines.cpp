#include "common/build/ptx_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace roofwalk {
namespace {

// Removes the first line of the text and returns it.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view trimmed(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t");
  return start == std::string_view::npos ? std::string_view() : line.substr(start);
}

// Removes a decimal number from the front of the text; 0 if there is none.
int take_number(std::string_view& text) {
  text = trimmed(text);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() ? value : 0;
}

// Returns the number that `.file` assigns to the learner's file; 0 if there is none.
int source_file_number(std::string_view ptx) {
  const std::string ending = fmt::format("/{}\"", kSourceName);
  while (!ptx.empty()) {
    std::string_view line = trimmed(take_line(ptx));
    if (!line.starts_with(".file")) continue;
    line.remove_prefix(5);
    const int number = take_number(line);
    if (line.find(ending) != std::string_view::npos) return number;
  }
  return 0;
}

// Returns the line of a `.loc` if it is in the learner's file, else the line of that file where the code was inlined; 0
// if there is neither.
int line_of_loc(std::string_view loc, int file_number) {
  constexpr std::string_view kLoc = ".loc", kInlined = "inlined_at";
  loc.remove_prefix(kLoc.size());
  if (take_number(loc) == file_number) return take_number(loc);
  const std::size_t inlined = loc.find(kInlined);
  if (inlined == std::string_view::npos) return 0;
  loc.remove_prefix(inlined + kInlined.size());
  return take_number(loc) == file_number ? take_number(loc) : 0;
}

}  // namespace

int source_line_of_ptx_line(std::string_view ptx, int ptx_line) {
  const int file_number = source_file_number(ptx);
  int found = 0;
  for (int number = 1; number <= ptx_line && !ptx.empty(); ++number) {
    const std::string_view line = trimmed(take_line(ptx));
    if (line.find(".entry ") != std::string_view::npos || line.find(".func ") != std::string_view::npos) found = 0;
    if (!line.starts_with(".loc")) continue;
    if (const int loc = line_of_loc(line, file_number); loc > 0) found = loc;
  }
  return found;
}

int source_line_of_kernel(std::string_view ptx, std::string_view mangled_name) {
  const int file_number = source_file_number(ptx);
  bool inside = false;
  while (!ptx.empty()) {
    const std::string_view line = trimmed(take_line(ptx));
    const std::size_t entry = line.find(".entry ");
    // Each function's header sets `inside` anew, because the kernel may be declared, without a body, before it is
    // defined.
    if (entry != std::string_view::npos) {
      inside = line.substr(entry + 7).starts_with(mangled_name) &&
               line.substr(entry + 7 + mangled_name.size()).find_first_not_of("( \t\r") == std::string_view::npos;
    } else if (line.find(".func ") != std::string_view::npos) {
      inside = false;
    } else if (inside && line.starts_with(".loc")) {
      if (const int loc = line_of_loc(line, file_number); loc > 0) return loc;
    }
  }
  return 0;
}

std::string one_instruction_a_line(std::string_view ptx) {
  std::string out;
  out.reserve(ptx.size());
  bool statement_ended = false;  // whether a statement has ended on this line; if so, the next token starts a new
                                 // line
  for (std::size_t at = 0; at < ptx.size();) {
    const std::string_view rest = ptx.substr(at);
    std::size_t size = 1;
    if (rest.starts_with("//")) {
      size = std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      size = std::min(rest.find("*/", 2), rest.size() - 2) + 2;
    } else if (rest[0] == '"') {
      size = std::min(rest.find('"', 1), rest.size() - 1) + 1;
    }
    const std::string_view token = rest.substr(0, size);
    const bool is_blank = size == 1 && std::string_view(" \t\r\f\v").find(token[0]) != std::string_view::npos;
    if (token == "\n") {
      statement_ended = false;
    } else if (statement_ended && !is_blank && !token.starts_with("//")) {
      out += '\n';
      statement_ended = false;
    }
    out += token;
    statement_ended = statement_ended || token == ";";
    at += size;
  }
  return out;
}

}  // namespace roofwalk
