#include "grader/batch/lms_names.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "common/base/json.h"
#include "common/base/pattern.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

// A Pattern recurses for each character: longer names are none of a platform's making.
constexpr std::size_t kMostMatched = 300;

// Small letters, with each run of what is neither letter nor digit as one dash.
std::string normal(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || byte >= 0x80) {
      out += static_cast<char>(std::tolower(byte));
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

// Whether `name` stands in `text` with dashes, or the ends, around it; the place.
std::size_t place_of(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == '-',
               ends = at + name.size() == text.size() || text[at + name.size()] == '-';
    if (begins && ends) return at;
  }
  return std::string::npos;
}

}  // namespace

Owner owner_with_id(const std::string& name, const std::string& id) {
  return {plain_name(name) + " (" + plain_name(id) + ")", id, {}};
}

std::optional<std::string> chapter_of_file(const std::string& name, const std::vector<std::string>& chapters) {
  const std::string stem = normal(fs::path(name).stem().string());
  std::optional<std::string> found;
  for (const std::string& chapter : chapters) {
    if (stem == chapter) return chapter;
    if (place_of(stem, chapter) == std::string::npos) continue;
    if (found) return std::nullopt;
    found = chapter;
  }
  return found;
}

NamedFile owner_of_file(const std::string& name, const std::vector<std::string>& chapters) {
  static const Pattern canvas(R"(([^_]+)(_LATE)?_(\d{1,18})_(\d{1,18})_(.+))");
  if (const auto groups = name.size() <= kMostMatched ? canvas.match(name) : std::nullopt) {
    Owner owner = owner_with_id((*groups)[1], (*groups)[3]);
    owner.mark = (*groups)[2].empty() ? LateMark::on_time : LateMark::late;
    return {owner, (*groups)[5]};
  }
  // STUDENT_CHAPTER.cu: what stands before the chapter's name, without the separator.
  const std::string stem = fs::path(name).stem().string();
  for (const std::string& chapter : chapters) {
    if (stem.size() <= chapter.size() || !stem.ends_with(chapter)) continue;
    const std::size_t before = stem.size() - chapter.size();
    if (std::string_view("_-. ").find(stem[before - 1]) == std::string_view::npos) continue;
    const std::string student = stem.substr(0, before - 1);
    if (!student.empty()) return {{plain_name(student), "", {}}, name};
  }
  return {{plain_name(stem), "", {}}, name};
}

Owner owner_of_folder(const std::string& name) {
  static const Pattern moodle(R"((.+)_(\d{1,18})_assignsubmission_(file|onlinetext)_?)");
  if (const auto groups = name.size() <= kMostMatched ? moodle.match(name) : std::nullopt)
    return owner_with_id((*groups)[1], (*groups)[2]);
  return {plain_name(name), "", {}};
}

std::string plain_name(const std::string& name) {
  constexpr std::size_t kMostBytes = 200;
  std::string text = valid_utf8(name);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }, '?');
  if (text.size() > kMostBytes) {
    std::size_t end = kMostBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    text = text.substr(0, end) + "...";
  }
  return text.empty() ? "?" : text;
}

}  // namespace roofwalk
