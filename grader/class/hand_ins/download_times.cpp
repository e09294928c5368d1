#include "grader/class/hand_ins/download_times.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace roofwalk {

bool has_downloads_times(const Listing& listing, const ClassNames& names) {
  constexpr std::int64_t kNextFile_s = 600;
  std::set<std::string> owners;
  std::vector<std::int64_t> times_s;
  const auto look = [&](const NamedFile& named, const Found& file) {
    if (named.by != NamedBy::platform || named.owner.mark != LateMark::none) return;
    owners.insert(named.owner.student);
    times_s.push_back(file.written_at_s);
  };
  for (const Found& file : listing.top) look(names.owner_of(file.parts.front()), file);
  for (const auto& [folder, pile] : listing.folders) {
    for (const Found& file : pile.files) look(names.owner_of_folder(folder), file);
  }
  if (owners.size() < 2 || names.is_mixed()) return false;
  std::sort(times_s.begin(), times_s.end());
  return std::adjacent_find(times_s.begin(), times_s.end(),
                            [](std::int64_t a, std::int64_t b) { return b - a > kNextFile_s; }) == times_s.end();
}

}  // namespace roofwalk
