#include "grader/class/hand_ins/class_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/class/hand_ins/hand_in.h"

namespace roofwalk {

std::string line_about_encoding(const std::string& top, const Listing& listing) {
  if (listing.not_utf8.empty()) return "";
  return fmt::format(
      "{} and {} more names in the zip are in an encoding that it does not tell, so students' names may be wrong: pack "
      "the class with UTF-8 names, or unpack it and give the folder",
      label_of(top, {listing.not_utf8.front()}), listing.not_utf8.size() - 1);
}

std::string line_about_unpacked(const std::string& top, const Listing& listing) {
  std::vector<std::string> called;
  for (const auto& [folder, pile] : listing.folders) {
    if (canvas_mark(folder)) called.push_back(folder);
  }
  if (called.empty() || 2 * called.size() < listing.folders.size()) return "";
  return fmt::format(
      "{} and {} more folders are named the way Canvas names files, but only those marked late count as late: for the "
      "others the times of the files in them count, which a student can choose; if Canvas named them, grade its zip as "
      "downloaded",
      label_of(top, {called.front()}), called.size() - 1);
}

std::string line_about_times(const std::string& top, const Listing& listing, const LmsRecords& records) {
  const auto has_none = [&](const auto& one) {
    return !one.second.created_at_s && listing.folders.contains(one.first);
  };
  const auto first = std::find_if(records.begin(), records.end(), has_none);
  if (first == records.end()) return "";
  return fmt::format(
      "{} and {} more submissions have no readable time in {}: the times of their files count, which a student can "
      "choose",
      label_of(top, {first->first}), std::count_if(records.begin(), records.end(), has_none) - 1,
      listing.metadata.front().parts.front());
}

std::string line_about_class(const std::string& top, std::size_t count, std::size_t known,
                             const std::string& namesake) {
  return fmt::format(
      "{} is treated as a class of {} student{}{}{}; if it is one student's, add --each", top, count,
      count == 1 ? "" : "s", namesake,
      2 * count <= known ? fmt::format(", but the record has {}: check that a platform made it", known) : "");
}

}  // namespace roofwalk
