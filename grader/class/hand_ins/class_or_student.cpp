#include "grader/class/hand_ins/class_or_student.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/class/hand_ins/lms_names.h"

namespace roofwalk {
namespace {

// The name that a browser gave the file before it numbered it as a copy: "vector-add.cu" for "vector-add (1).cu" and,
// in Firefox, for "vector-add(1).cu".
std::string without_copy_number(const std::string& name) {
  constexpr std::size_t kMostDigits = 4;
  const std::size_t bracket = name.rfind('('), end = name.rfind(").");
  if (bracket == std::string::npos || end == std::string::npos || end < bracket + 2) return {};
  const std::string number = name.substr(bracket + 1, end - bracket - 1);
  const bool is_number = number.size() <= kMostDigits && number.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) return {};
  const bool has_space = bracket > 0 && name[bracket - 1] == ' ';
  return name.substr(0, has_space ? bracket - 1 : bracket) + name.substr(end + 1);
}

}  // namespace

bool ClassOrStudent::is_known_student(const std::string& folder) const {
  return known_students_.contains(owner_of_folder(folder).owner.student);
}

bool ClassOrStudent::is_students_link(const std::filesystem::path& full) const {
  std::error_code error;
  const std::string name = full.filename().string();
  return std::filesystem::is_symlink(full, error) && is_known_student(is_zip(name) ? full.stem().string() : name);
}

bool ClassOrStudent::is_platforms(const std::string& folder) { return owner_of_folder(folder).by == NamedBy::platform; }

bool ClassOrStudent::looks_like_class(const Listing& listing) {
  return !listing.metadata.empty() || !listing.unproven.empty() || listing.has_wrapper ||
         std::any_of(listing.top.begin(), listing.top.end(),
                     [](const Found& file) { return is_platforms_file(file.parts.front()); }) ||
         std::any_of(listing.folders.begin(), listing.folders.end(),
                     [](const auto& one) { return is_platforms(one.first) || is_gradescope_export(one.first); });
}

bool ClassOrStudent::holds_students(const Listing& listing) const {
  return std::any_of(listing.folders.begin(), listing.folders.end(),
                     [&](const auto& one) { return is_known_student(one.first) || is_platforms(one.first); });
}

bool ClassOrStudent::may_hold_students(const std::string& called, const Pile& pile) const {
  if (names_others(called, pile.files)) return true;
  std::set<std::string> folders;
  for (const Found& file : pile.files) {
    const std::string& first = file.parts.front();
    if (file.parts.size() == 1 ? is_platforms_file(first) : is_platforms(first)) return true;
    if (file.parts.size() == 1) continue;
    if (first == "my" || chapter_of_file(first, chapters_.known())) return false;
    folders.insert(first);
  }
  return folders.size() > 1;
}

bool ClassOrStudent::may_be_next_class(const std::string& called, const Pile& pile) const {
  const std::string own = owner_of_folder(called).owner.student;
  std::map<std::string, std::set<std::string>> others;  // by chapter
  for (const Found& file : pile.files) {
    const std::string& first = file.parts.front();
    const bool is_folder = file.parts.size() > 1;
    // A my/ means that this is a student's checkout, and a file whose name is only a chapter's is this student's own.
    if (is_folder ? first == "my" : chapters_.is_chapter(first)) return false;
    const auto chapter = chapter_of_file(first, chapters_.known());
    const bool may_be_others = is_folder ? !chapter : owner_of_file(first, chapters_.known()).owner.student != own;
    if (may_be_others) others[chapter.value_or("")].insert(first);
  }
  const auto unnamed = others.find("");
  return std::any_of(others.begin(), others.end(), [&](const auto& one) {
    return one.second.size() + (unnamed != others.end() && !one.first.empty() ? unnamed->second.size() : 0) > 1;
  });
}

bool ClassOrStudent::take_off_wrapper(Pile& pile) const {
  if (pile.files.empty()) return false;
  const std::string wrapper = pile.files.front().parts.front();
  const bool holds_all = std::all_of(pile.files.begin(), pile.files.end(), [&](const Found& file) {
    return file.parts.size() > 1 && file.parts.front() == wrapper;
  });
  if (!holds_all || wrapper == "my" || chapter_of_file(wrapper, chapters_.known())) return false;
  for (Found& file : pile.files) file.parts.erase(file.parts.begin());
  return true;
}

bool ClassOrStudent::may_be_class(const std::string& called, const Listing& listing) const {
  if (holds_students(listing) || looks_like_class(listing)) return true;
  const std::string own = owner_of_folder(called).owner.student;
  Pile pile = pile_of(listing);
  do {
    const bool holds_known = std::any_of(pile.files.begin(), pile.files.end(), [&](const Found& file) {
      const std::string& first = file.parts.front();
      return file.parts.size() > 1 && first != own && is_known_student(first);
    });
    if (holds_known || may_hold_students(called, pile) || may_be_next_class(called, pile)) return true;
  } while (take_off_wrapper(pile));
  return false;
}

bool ClassOrStudent::is_one_students(const Listing& listing, const LmsRecords& records) const {
  const std::set<std::string> chapters_files = chapters_files_in(names_in(listing.top));
  if (chapters_files.empty()) return false;
  return std::none_of(
             listing.top.begin(), listing.top.end(),
             [&](const Found& file) { return !chapters_files.contains(file.parts.front()) && is_hand_in(file); }) &&
         std::none_of(listing.folders.begin(), listing.folders.end(),
                      [&](const auto& one) { return holds_hand_in(one.first, one.second, records); });
}

bool ClassOrStudent::is_only_folder(const Listing& listing) const {
  return listing.folders.size() == 1 && !listing.has_wrapper && listing.metadata.empty() &&
         !is_platforms(listing.folders.begin()->first) &&
         std::none_of(listing.top.begin(), listing.top.end(),
                      [](const Found& file) { return is_source(file.parts.front()) || is_zip(file.parts.front()); });
}

bool ClassOrStudent::is_doubtful(const std::pair<const std::string, Pile>& folder) const {
  return !is_known_student(folder.first) || may_hold_students(folder.first, folder.second);
}

bool ClassOrStudent::is_own_folder(const Listing& listing, const std::string& stem) const {
  if (!is_only_folder(listing) || is_known_student(stem) || listing.folders.begin()->first != stem) return false;
  const Pile& pile = listing.folders.begin()->second;
  std::size_t named = 0;
  bool has_chapter = false;
  for (const Found& file : pile.files) {
    const std::string& name = file.parts.front();
    if (file.parts.size() > 1 || is_zip(name)) return false;
    has_chapter = has_chapter || chapters_.is_chapter(name);
    const NamedFile owner = owner_of_file(name, chapters_.known());
    if (owner.by == NamedBy::platform) return false;
    named += owner.by == NamedBy::student_and_chapter && !chapters_.is_chapter(name) ? 1 : 0;
  }
  if (pile.files.size() > 1 && (names_others(stem, pile.files) || words_of(pile.files).size() > 1)) return false;
  return has_chapter || named <= 1;
}

std::set<std::string> ClassOrStudent::words_of(const std::vector<Found>& files) const {
  std::set<std::string> words = people_in(files);
  for (const Found& file : files) {
    const std::string& name = file.parts.front();
    if (file.parts.size() == 1 && is_source(name) && !chapter_of_file(name, chapters_.known()))
      words.insert(beside_chapter(name, chapters_.known()));
  }
  words.erase("");
  add_numbered(files, words);
  return words;
}

std::set<std::string> ClassOrStudent::chapters_files_in(const std::vector<std::string>& names) const {
  std::map<std::string, std::set<std::string>> by_chapter;
  for (const std::string& name : names) {
    if (!(is_source(name) || is_zip(name))) continue;
    if (const auto chapter = chapter_of_file(name, chapters_.known())) by_chapter[*chapter].insert(name);
  }
  std::set<std::string> all;
  for (const auto& [chapter, files] : by_chapter) {
    for (const std::string& name : files) {
      const NamedFile named = owner_of_file(name, chapters_.known());
      const bool may_be_numbered = named.by == NamedBy::name || by_chapter.size() > 1;
      const bool is_only = files.size() == 1 && may_be_numbered && named.by != NamedBy::platform &&
                           beside_chapter(name, chapters_.known()).empty() &&
                           !beside_chapter(name, chapters_.known(), Versions::counted).empty();
      const bool is_chapters = is_chapters_alone(name, chapters_.known()) || is_only;
      if (chapters_.is_chapter(name) || (is_chapters && !known_students_.contains(named.owner.student)))
        all.insert(name);
    }
    // Also if a student of that name is on record: an earlier version made one of such a copy.
    for (const std::string& name : files) {
      if (all.contains(without_copy_number(name))) all.insert(name);
    }
  }
  return all;
}

std::vector<std::string> ClassOrStudent::students_folders(const Listing& listing) const {
  std::vector<std::string> folders;
  for (const auto& [folder, pile] : listing.folders) {
    const bool is_unowned = is_gradescope_export(folder) || (chapters_.is_chapter(folder) && !is_known_student(folder));
    if (!pile.files.empty() && !is_unowned) folders.push_back(folder);
  }
  return folders;
}

bool ClassOrStudent::is_platforms_file(const std::string& name) {
  return owner_of_file(name, {}).by == NamedBy::platform;
}

bool ClassOrStudent::names_its_student(const std::string& name) const {
  const NamedFile named = owner_of_file(name, chapters_.known());
  return named.by != NamedBy::name || known_students_.contains(named.owner.student);
}

bool ClassOrStudent::is_hand_in(const Found& file) const {
  const std::string& name = file.parts.front();
  if (chapters_.is_chapter(name)) return false;
  const NamedFile named = owner_of_file(name, chapters_.known());
  if (is_zip(name) || named.by == NamedBy::platform) return true;
  if (!is_source(name)) return false;
  const bool is_any = chapters_.of_source(name, /*is_only=*/true) && !chapters_.of_source(name, /*is_only=*/false);
  return is_any || named.by == NamedBy::student_and_chapter;
}

bool ClassOrStudent::names_others(const std::string& folder, const std::vector<Found>& files) const {
  const std::string own = owner_of_folder(folder).owner.student;
  std::set<std::string> others;
  for (const Found& file : files) {
    const std::string& name = file.parts.front();
    if (file.parts.size() > 1 || chapters_.is_chapter(name)) continue;
    const std::string student = owner_of_file(name, chapters_.known()).owner.student;
    if (student == own) continue;
    if (names_its_student(name)) return true;
    if (is_hand_in(file)) others.insert(student);
  }
  return others.size() > 1 || people_in(files).size() > 1;
}

bool ClassOrStudent::holds_hand_in(const std::string& folder, const Pile& pile, const LmsRecords& records) const {
  if (records.contains(folder) || is_known_student(folder) || is_platforms(folder)) return true;
  return std::any_of(pile.files.begin(), pile.files.end(), [&](const Found& file) {
    const std::string& name = file.parts.back();
    return is_zip(name) || chapters_.of_source(name, /*is_only=*/true);
  });
}

std::set<std::string> ClassOrStudent::people_in(const std::vector<Found>& files) const {
  std::set<std::string> words;
  for (const Found& file : files) {
    const std::string& name = file.parts.front();
    if (file.parts.size() == 1 && (is_source(name) || is_zip(name)) && chapter_of_file(name, chapters_.known()))
      words.insert(beside_chapter(name, chapters_.known()));
  }
  words.erase("");
  return words;
}

void ClassOrStudent::add_numbered(const std::vector<Found>& files, std::set<std::string>& words) const {
  constexpr std::size_t kMostVersions = 2;
  std::map<std::string, std::set<std::string>> numbered;  // by chapter
  for (const Found& file : files) {
    const std::string& name = file.parts.front();
    const auto chapter = chapter_of_file(name, chapters_.known());
    if (file.parts.size() > 1 || !(is_source(name) || is_zip(name)) || !chapter) continue;
    const std::string whole = beside_chapter(name, chapters_.known(), Versions::counted);
    if (whole != beside_chapter(name, chapters_.known())) numbered[*chapter].insert(whole);
  }
  for (auto& [chapter, names] : numbered) {
    if (names.size() > kMostVersions) words.merge(names);
  }
}

void SeveralClasses::add(const std::string& label, const std::string& called, const Listing* listing,
                         const ClassOrStudent& guess) {
  if (++paths_ == 1) first_ = label;
  if (listing == nullptr || guess.is_known_student(called)) return;
  std::set<std::string> known;
  for (const auto& [folder, pile] : listing->folders) {
    if (guess.is_known_student(folder)) known.insert(folder);
  }
  with_known_ += known.size() > 1 ? 1 : 0;
  const bool has_several = listing->folders.size() + listing->top.size() > 1;
  with_several_ += has_several && guess.may_hold_students(called, pile_of(*listing)) ? 1 : 0;
}

Status SeveralClasses::check(std::vector<std::string>& told) const {
  if (paths_ < 2) return kOk;
  if (with_known_ == paths_) {
    return Error{.message =
                     "holds the folders of several students on record, as each of the paths does: each path "
                     "counts as one student's hand-in",
                 .file = first_,
                 .advice = "grade each class by itself; add --each if each path is one student's"};
  }
  if (with_several_ == paths_) {
    told.push_back(
        fmt::format("{} and the other paths hold what may be several students' hand-ins, but each path "
                    "counts as one student's: if they are classes, grade each by itself",
                    first_));
  }
  return kOk;
}

}  // namespace roofwalk
