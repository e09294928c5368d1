#include "grader/class/hand_ins/unowned_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace roofwalk {
namespace {

constexpr std::size_t kMostLines = 20;  // limit of lines about files that may be hand-ins; again for the wrong forms
constexpr std::size_t kMostStrays = 5;  // limit of lines about other files
constexpr std::size_t kMostUndecided = 500;  // limit of people with a line about names that may be several people's

// Whether a program or a course adds such files, so that they are nobody's hand-in.
bool is_junk(const std::string& small) {
  return small.starts_with("readme") || small == "thumbs.db" || small == "desktop.ini";
}

bool is_other_archive(const std::string& small) {
  constexpr std::array<std::string_view, 8> kEnds = {".rar", ".7z", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst"};
  return std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return small.ends_with(end); });
}

// Adds a line unless there are `most`; then counts it in `more`.
void add_line(std::vector<LeftOut>& lines, std::size_t most, std::size_t& more, LeftOut line) {
  if (lines.size() < most) {
    lines.push_back(std::move(line));
  } else {
    ++more;
  }
}

}  // namespace

void UnownedFiles::add(const std::string& label, std::string reason) {
  add_line(lines_, kMostLines, more_, {label, std::move(reason)});
}

void UnownedFiles::add_undecided(const std::string& label, const std::string& alike, std::string reason) {
  if (const auto known = undecided_.find(alike); known != undecided_.end()) {
    ++known->second.more;
  } else if (undecided_.size() < kMostUndecided) {
    undecided_.emplace(alike, Undecided{{label, std::move(reason)}});
  } else {
    ++more_;
  }
}

void UnownedFiles::add_stray(const std::string& label, const std::string& name,
                             const std::vector<std::string>& chapters) {
  const std::string small = small_letters(name);
  if (is_other_archive(small) || (!is_junk(small) && chapter_of_file(name, chapters))) {
    add_line(wrong_forms_, kMostLines, more_, {label, kIsUnknown});
  } else {
    add_line(strays_, is_junk(small) ? 0 : kMostStrays, more_strays_, {label, kIsUnknown});
  }
}

void UnownedFiles::take(const std::string& top, const std::string& path, std::vector<LeftOut>& left_out) {
  const std::size_t before = left_out.size();
  for (LeftOut& line : strays_) line.may_be_hand_in = false;
  for (auto* lines : {&lines_, &wrong_forms_, &strays_}) {
    for (LeftOut& line : *lines) left_out.push_back(std::move(line));
  }
  for (auto& [alike, one] : undecided_) {
    if (one.more > 0) one.first.reason += fmt::format(" ({} more files with such a name are left out, too)", one.more);
    left_out.push_back(std::move(one.first));
  }
  if (const std::size_t more = more_ + more_strays_; more > 0) {
    left_out.push_back({top, fmt::format("holds {} more that belong to no known student", more)});
    left_out.back().may_be_hand_in = more_ > 0;
  }
  for (std::size_t i = before; i < left_out.size(); ++i) left_out[i].path = path;
}

}  // namespace roofwalk
