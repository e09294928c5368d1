#include "grader/class/hand_ins/canvas/canvas_readings.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace roofwalk {
namespace {

constexpr std::size_t kMostDigits = 18;  // of a number that a platform assigns

// The length of the leading letters, digits and `_`: Canvas keeps only these characters of a name. Bytes of non-ASCII
// characters count as letters.
std::size_t word_bytes(std::string_view text, std::string_view more = "_") {
  const auto end = std::find_if(text.begin(), text.end(), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) == 0 && byte < 0x80 && more.find(c) == std::string_view::npos;
  });
  return static_cast<std::size_t>(end - text.begin());
}

// Reads FILE_REST, beginning at `at`; false if the text does not have this form.
bool take_file(const std::string& text, std::size_t at, CanvasMark& mark) {
  const std::size_t digits = digits_at(text, at), rest = at + digits + 1;
  if (digits == 0 || rest > text.size() || text[rest - 1] != '_') return false;
  mark.file = text.substr(at, digits);
  mark.rest = text.substr(rest);
  return true;
}

}  // namespace

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t count = 0;
  while (at + count < text.size() && text[at + count] >= '0' && text[at + count] <= '9') ++count;
  return count <= kMostDigits ? count : 0;
}

std::optional<CanvasMark> anonymous_mark(const std::string& text) {
  constexpr std::string_view kLateAnonymous = "LATE_", kAnonymous = "anon_";
  constexpr std::size_t kIdBytes = 5;
  CanvasMark mark;
  mark.is_late = text.starts_with(kLateAnonymous);
  const std::size_t begin = mark.is_late ? kLateAnonymous.size() : 0, end = begin + kAnonymous.size() + kIdBytes;
  mark.name = text.substr(begin, end - begin);
  if (!mark.name.starts_with(kAnonymous) || text.size() <= end || text[end] != '_') return std::nullopt;
  const std::string_view id = std::string_view(mark.name).substr(kAnonymous.size());
  const bool is_id = word_bytes(id, "") == kIdBytes;
  return is_id && take_file(text, end + 1, mark) ? std::optional(mark) : std::nullopt;
}

std::vector<CanvasMark> quiz_marks(const std::string& text) {
  constexpr std::string_view kQuestion = "_question_";
  std::vector<CanvasMark> marks;
  const std::size_t name_end = word_bytes(text, "_-");
  for (std::size_t at = text.find(kQuestion); at < name_end; at = text.find(kQuestion, at + 1)) {
    std::size_t begin = at;  // begin of the digits; some of them may be part of the name
    while (begin > 0 && at - begin < kMostDigits && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
    const std::size_t question = at + kQuestion.size(), digits = digits_at(text, question);
    CanvasMark mark{"", "", "", "", false, false, false};
    const bool is_one = begin < at && digits > 0 && question + digits < text.size() && text[question + digits] == '_' &&
                        take_file(text, question + digits + 1, mark);
    if (!is_one) continue;  // checked before the name is copied, because a long name has thousands of such places
    mark.name = text.substr(0, begin);
    mark.id = text.substr(begin, at - begin);
    marks.push_back(std::move(mark));
    if (marks.size() > kMostReadings) break;
  }
  return marks;
}

std::vector<CanvasMark> plain_marks(const std::string& text, std::size_t most) {
  std::vector<CanvasMark> marks;
  const std::size_t name_end = word_bytes(text);
  for (std::size_t at = text.find('_'); at < name_end && marks.size() < most; at = text.find('_', at + 1)) {
    const std::size_t digits = digits_at(text, at + 1), second = at + 1 + digits;
    if (digits == 0 || second >= text.size() || text[second] != '_') continue;
    CanvasMark mark;
    const std::string_view behind = std::string_view(text).substr(second);
    if (behind == "_text.html" || behind == "_link.html") {
      mark.rest = behind.substr(1);
    } else if (!take_file(text, second + 1, mark)) {
      continue;  // another form, such as a quiz's
    }
    mark.name = text.substr(0, at);
    mark.id = text.substr(at + 1, digits);
    mark.is_late = mark.name.ends_with(kLateMark);
    if (mark.is_late) mark.name.resize(mark.name.size() - kLateMark.size());
    marks.push_back(std::move(mark));
  }
  return marks;
}

bool has_large_letters(const std::string& name) {
  return std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool may_be_canvas(const CanvasMark& mark) {
  return !has_large_letters(mark.name) && !mark.id.starts_with('0') && !mark.file.starts_with('0');
}

}  // namespace roofwalk
