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

}  // namespace

void UnownedFiles::add(std::vector<LeftOut>& lines, std::size_t most, const std::string& label, std::string reason) {
  if (lines.size() < most) {
    lines.push_back({label, std::move(reason)});
  } else {
    ++more_;
  }
}

void UnownedFiles::add(const std::string& label, std::string reason) {
  add(lines_, kMostLines, label, std::move(reason));
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
    add(wrong_forms_, kMostLines, label, kIsUnknown);
  } else {
    add(strays_, is_junk(small) ? 0 : kMostStrays, label, kIsUnknown);
  }
}

void UnownedFiles::take(const std::string& top, std::vector<LeftOut>& left_out) {
  for (auto* lines : {&lines_, &wrong_forms_, &strays_}) {
    for (LeftOut& line : *lines) left_out.push_back(std::move(line));
  }
  for (auto& [alike, one] : undecided_) {
    if (one.more > 0) one.first.reason += fmt::format(" ({} more files with such a name are left out, too)", one.more);
    left_out.push_back(std::move(one.first));
  }
  if (more_ > 0) left_out.push_back({top, fmt::format("holds {} more that belong to no known student", more_)});
}

}  // namespace roofwalk
