#include "grader/class/hand_ins/listing.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "common/base/pattern.h"
#include "grader/class/hand_ins/hand_in.h"
#include "grader/class/hand_ins/lms_metadata.h"
#include "grader/class/hand_ins/lms_names.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDeepest = 12;  // levels of folders

decltype(Found::read) refusal(std::string reason) {
  return [reason = std::move(reason)](std::size_t, std::size_t&) -> Result<std::string> {
    return Error{.message = reason};
  };
}

// The parts after the first folder.
std::vector<std::string> below(const std::vector<std::string>& parts) { return {parts.begin() + 1, parts.end()}; }

// Whether macOS added the file beside another one, and a platform named both ("..._file_._vector-add.cu").
bool is_named_debris(const std::string& name) {
  const NamedFile named = owner_of_file(name, {});
  return named.by == NamedBy::platform && is_debris(named.rest);
}

void put(Listing& listing, Found found) {
  if (found.parts.size() == 1) {
    if (is_named_debris(found.parts.front())) return listing.named_debris.push_back(found.parts.front());
    listing.top.push_back(std::move(found));
  } else {
    Pile& pile = listing.folders[found.parts.front()];
    found.parts = below(found.parts);
    pile.add(std::move(found));
  }
}

// The names in a folder, sorted, so that their order is the same on every file system. Not whole paths, which may be 4
// KB long each. nullopt if the folder cannot be read.
std::optional<std::vector<std::string>> names_in_folder(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (!is_debris(name)) names.push_back(std::move(name));
  }
  if (error) return std::nullopt;
  std::sort(names.begin(), names.end());
  return names;
}

struct Walk {
  Listing& listing;
  const fs::path& skipped;
};

void walk(const fs::path& folder, const std::vector<std::string>& parts, const Walk& all);

void walk_entry(const fs::path& path, const std::vector<std::string>& parts, const Walk& all) {
  Listing& listing = all.listing;
  std::vector<std::string> here = parts;
  here.push_back(path.filename().string());
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (fs::is_directory(status) && !all.skipped.empty() && fs::equivalent(path, all.skipped, error)) return;
  if (fs::is_directory(status)) {
    Pile& pile = listing.folders[here.front()];  // an empty folder is a student, too
    if (here.size() > kDeepest) {
      pile.tell({below(here), "folders nested too deep", written_at(path)});
    } else {
      walk(path, here, all);
    }
  } else if (fs::is_regular_file(status) || is_source(here.back()) || is_zip(here.back())) {
    put(listing, file_at(path, std::move(here)));
  } else if (fs::is_symlink(status) && fs::is_directory(path, error)) {
    // This line stands in place of the folder's contents.
    listing.folders[here.front()].tell({below(here), kIsLink, written_at(path)});
  }
}

void walk(const fs::path& folder, const std::vector<std::string>& parts, const Walk& all) {
  Listing& listing = all.listing;
  const auto names = names_in_folder(folder);
  if (!names && parts.empty()) listing.trouble = "the folder cannot be read";
  if (!names && !parts.empty())
    listing.folders[parts.front()].tell({below(parts), "the folder cannot be read", written_at(folder)});
  if (!names) return;
  for (const std::string& name : *names) walk_entry(folder / name, parts, all);
}

Found found_in(const std::shared_ptr<Archive>& zip, const ArchiveEntry& entry, std::vector<std::string> parts) {
  Found found{std::move(parts), entry.written_at_s, nullptr};
  if (entry.kind == ArchiveEntry::Kind::link) {
    found.read = refusal(kIsLink);
  } else if (found.parts.size() > kDeepest + 1) {
    found.read = refusal("is nested too deep");
    // Assigns a new vector instead of erasing parts: the long one would keep its memory, and there may be thousands of
    // such files.
    found.parts = std::vector<std::string>{found.parts.front(), "...", found.parts.back()};
  } else {
    found.read = [zip, entry](std::size_t most_bytes, std::size_t& cost_bytes) {
      return zip->read(entry, most_bytes, cost_bytes);
    };
  }
  return found;
}

// Splits an entry's name in a class's zip. A backslash stands for a slash only in zips without any slash; in a name
// from a platform, it is part of the learner's file name even then.
EntryPlace place_in_class(const std::string& name, bool is_utf8, bool has_slashes) {
  const bool is_text = has_slashes || (name.find('\\') != std::string::npos && name.find('/') == std::string::npos &&
                                       owner_of_file(name, {}).by == NamedBy::platform);
  return place_of_entry(name, is_text   ? Backslash::is_text
                              : is_utf8 ? Backslash::separates
                                        : Backslash::separates_behind_ascii);
}

// Whether a file may be a hand-in, judged by its name. A name that is only a chapter's does not count, because it tells
// no student.
bool is_hand_in(const std::string& name, const ChapterNames& chapters) {
  return !is_debris(name) && (is_zip(name) || is_source(name)) && !chapters.is_chapter(name);
}

// Some programs begin every name in a zip with "./". Returns "./" for such a zip; otherwise an empty text: if only some
// names begin so, it is a part of them.
std::string dot_of(const Archive& zip) {
  constexpr const char* kDot = "./";
  const bool has_all = std::all_of(zip.entries().begin(), zip.entries().end(),
                                   [](const ArchiveEntry& entry) { return entry.name.starts_with(kDot); });
  return has_all ? kDot : "";
}

// The name of the zip's only folder if it is named like Gradescope's. Empty if there is no such folder, or if there is
// a hand-in next to it, because then the folder may be a student's.
std::string wrapper_of(const Archive& zip, const std::string& dot, const ChapterNames& chapters) {
  std::string wrapper;
  for (const ArchiveEntry& entry : zip.entries()) {
    const std::string name = entry.name.substr(dot.size());
    const std::size_t slash = name.find('/');
    const std::string first = name.substr(0, slash);
    if (first == wrapper || is_debris(first) || place_of_entry(name).leads_up) continue;
    if (slash == std::string::npos && is_hand_in(first, chapters)) return {};
    if (slash == std::string::npos) continue;
    if (!wrapper.empty() || !is_gradescope_export(first)) return {};
    wrapper = first;
  }
  return wrapper.empty() ? wrapper : wrapper + "/";
}

// The path of the only folder in a folder on disk, if it is named like Gradescope's and has no hand-in next to it. It
// must not be a link, because a link may lead anywhere.
std::optional<fs::path> wrapper_of(const Listing& listing, const fs::path& folder, const ChapterNames& chapters) {
  if (listing.folders.size() != 1 || !is_gradescope_export(listing.folders.begin()->first)) return std::nullopt;
  const auto is_somebodys = [&](const Found& found) { return is_hand_in(found.parts.front(), chapters); };
  if (std::any_of(listing.top.begin(), listing.top.end(), is_somebodys)) return std::nullopt;
  const fs::path wrapper = folder / listing.folders.begin()->first;
  std::error_code error;
  return fs::is_directory(fs::symlink_status(wrapper, error)) ? std::optional(wrapper) : std::nullopt;
}

// Whether Gradescope chose all names in this folder. If students chose some, one of them may have chosen the name of
// Gradescope's metadata.
bool is_all_gradescopes(const Listing& listing, const ChapterNames& chapters) {
  return std::all_of(listing.folders.begin(), listing.folders.end(),
                     [](const auto& one) { return is_gradescope_submission(one.first); }) &&
         std::none_of(listing.top.begin(), listing.top.end(),
                      [&](const Found& file) { return is_hand_in(file.parts.front(), chapters); });
}

// Moves Gradescope's metadata out of the listing's files. `is_export`: Gradescope made the folder, or the instructor
// gave it a name like that of Gradescope's export.
void take_metadata(Listing& listing, const ChapterNames& chapters, bool is_export) {
  const bool is_believed = is_export || is_all_gradescopes(listing, chapters);
  // An autograder's container holds one submission, its metadata and nothing else.
  const bool is_container = listing.folders.size() == 1 && listing.folders.contains("submission");
  const bool is_alone = listing.top.size() == 1;
  for (auto at = listing.top.begin(); at != listing.top.end();) {
    const std::string& name = at->parts.front();
    const bool is_containers = is_container && name == kGradescopeContainer;
    const bool is_metadata = name == kGradescopeExport || is_containers;
    if (is_metadata) {
      const bool counts = is_containers ? is_alone : is_believed;
      (counts ? listing.metadata : listing.unproven).push_back(std::move(*at));
    }
    at = is_metadata ? listing.top.erase(at) : at + 1;
  }
}

}  // namespace

bool is_gradescope_export(const std::string& folder) {
  // Browsers and file managers number copies: "assignment_12_export (1)", "assignment_12_export 2".
  static const Pattern form(R"(assignment_\d{1,18}_export(?: \(\d{1,3}\)| \d{1,3})?)");
  constexpr std::size_t kMostBytes = 60;
  return folder.size() <= kMostBytes && form.match(folder).has_value();
}

bool is_gradescope_submission(const std::string& folder) {
  static const Pattern form(R"(submission_\d{1,18})");
  constexpr std::size_t kMostBytes = 40;
  return folder.size() <= kMostBytes && form.match(folder).has_value();
}

void Pile::add(Found found) {
  const std::string& name = found.parts.back();
  if (is_source(name) || is_zip(name)) {
    if (files.size() < kMostFiles) {
      files.push_back(std::move(found));
    } else {
      ++more_files;
    }
    return;
  }
  newest_other_s = std::max(newest_other_s, found.written_at_s);
  if (others.size() < kMostNames) {
    others.push_back(name);
  } else {
    ++more_others;
  }
}

void Pile::tell(Told one) {
  if (told.size() < kMostTold) {
    told.push_back(std::move(one));
  } else {
    ++more_told;
    newest_told_s = std::max(newest_told_s, one.written_at_s);
  }
}

void Pile::take_counts(const Pile& other) {
  more_files += other.more_files;
  more_others += other.more_others;
  newest_other_s = std::max(newest_other_s, other.newest_other_s);
  more_told += other.more_told;
  newest_told_s = std::max(newest_told_s, other.newest_told_s);
}

void Pile::set_time(std::int64_t handed_in_at_s) {
  for (Found& file : files) file.written_at_s = handed_in_at_s;
  for (Told& one : told) one.written_at_s = handed_in_at_s;
  if (!others.empty()) newest_other_s = handed_in_at_s;
  if (more_told > 0) newest_told_s = handed_in_at_s;
}

std::int64_t written_at(const fs::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? static_cast<std::int64_t>(info.st_mtime) : 0;
}

Found file_at(const fs::path& path, std::vector<std::string> parts) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  const std::size_t own_parts = parts.size();
  if (fs::is_regular_file(status)) return {std::move(parts), written_at(path), reader_of(path, own_parts)};
  return {std::move(parts), written_at(path), refusal(fs::is_symlink(status) ? kIsLink : "is not a regular file")};
}

Listing list_folder(const fs::path& folder, const ChapterNames& chapters, const fs::path& skipped) {
  Listing listing;
  walk(folder, {}, {listing, skipped});
  take_metadata(listing, chapters, is_gradescope_export(folder.filename().string()));
  return listing;
}

Listing list_class_folder(const fs::path& folder, const ChapterNames& chapters, const fs::path& skipped) {
  Listing listing;
  const Walk all{listing, skipped};
  walk(folder, {}, all);
  if (const auto wrapper = wrapper_of(listing, folder, chapters)) {
    listing.folders.clear();
    listing.has_wrapper = true;
    walk(*wrapper, {}, all);
  }
  take_metadata(listing, chapters, listing.has_wrapper || is_gradescope_export(folder.filename().string()));
  return listing;
}

Listing list_class(const std::shared_ptr<Archive>& zip, const ChapterNames& chapters) {
  Listing listing;
  const std::string dot = dot_of(*zip), wrapper = wrapper_of(*zip, dot, chapters), prefix = dot + wrapper;
  listing.has_wrapper = !wrapper.empty();
  listing.too_long = zip->too_long();
  const bool has_slashes = std::any_of(zip->entries().begin(), zip->entries().end(), [](const ArchiveEntry& entry) {
    return entry.name.find('/') != std::string::npos;
  });
  for (const ArchiveEntry& entry : zip->entries()) {
    const std::string name = entry.name.substr(entry.name.starts_with(prefix) ? prefix.size() : dot.size());
    EntryPlace place = place_in_class(name, entry.is_utf8, has_slashes);
    if (place.parts.empty() || is_debris(place.parts.front())) continue;
    if (place.leads_up) {
      listing.leading_up.push_back(entry.name);
      continue;
    }
    if (!entry.is_utf8) listing.not_utf8.push_back(name);
    const bool is_folder = entry.kind == ArchiveEntry::Kind::folder;
    if (is_folder || place.parts.size() > 1) listing.folders[place.parts.front()];  // an empty folder is a student, too
    if (is_folder || std::any_of(place.parts.begin(), place.parts.end(), is_debris)) continue;
    Found found = found_in(zip, entry, std::move(place.parts));
    if (name == kGradescopeExport) {
      listing.metadata.push_back(std::move(found));
    } else {
      put(listing, std::move(found));
    }
  }
  if (!listing.has_wrapper && !is_all_gradescopes(listing, chapters)) listing.metadata.swap(listing.unproven);
  return listing;
}

Pile list_own(const std::shared_ptr<Archive>& zip, std::int64_t handed_in_s) {
  Pile pile;
  for (const ArchiveEntry& entry : zip->entries()) {
    auto parts = place_of_entry(entry.name).parts;
    const bool is_folder = entry.kind == ArchiveEntry::Kind::folder;
    if (is_folder || parts.empty() || std::any_of(parts.begin(), parts.end(), is_debris)) continue;
    pile.add(found_in(zip, entry, std::move(parts)));
  }
  if (zip->too_long() > 0) pile.tell({{}, too_long_words(zip->too_long())});
  pile.set_time(handed_in_s);
  return pile;
}

Pile pile_of(Listing listing) {
  Pile all;
  for (Found& found : listing.top) all.add(std::move(found));
  for (auto& [folder, pile] : listing.folders) {
    for (Found& found : pile.files) {
      found.parts.insert(found.parts.begin(), folder);
      all.add(std::move(found));
    }
    for (Pile::Told& told : pile.told) {
      told.parts.insert(told.parts.begin(), folder);
      all.tell(std::move(told));
    }
    for (std::string& other : pile.others) {
      if (all.others.size() < kMostNames) {
        all.others.push_back(std::move(other));
      } else {
        ++all.more_others;
      }
    }
    all.take_counts(pile);
  }
  return all;
}

std::string too_long_words(std::size_t count) {
  return fmt::format("{} files in it have names longer than {} bytes, and are not looked at", count, kLongestName);
}

std::vector<std::string> names_in(const std::vector<Found>& files) {
  std::vector<std::string> names;
  for (const Found& file : files) names.push_back(file.parts.front());
  return names;
}

}  // namespace roofwalk
