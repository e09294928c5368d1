#include "grader/class/hand_ins/paths/nested_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "grader/class/hand_ins/hand_in.h"
#include "grader/class/hand_ins/lms_names.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

// Whether `folder` is the path itself or contains it.
bool holds(const fs::path& folder, const fs::path& path) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// The innermost folder that contains all of them.
fs::path common_folder(const std::vector<NamedOne>& all) {
  fs::path common = all.front().full.parent_path();
  for (const NamedOne& one : all) {
    while (!holds(common, one.full.parent_path())) common = common.parent_path();
  }
  return common;
}

class Nested {
 public:
  Nested(const std::vector<NamedOne>& all, const std::vector<std::string>& chapters, const std::set<std::string>& known)
      : chapters_(chapters), known_(known), common_(common_folder(all)) {
    for (const NamedOne& one : all) {
      if (!one.is_chapters) beside_.try_emplace(one.full.parent_path(), &one);
      if (one.is_folder) places_.insert(one.full);
      for (fs::path at = one.is_folder ? one.full : one.full.parent_path(); at != common_; at = at.parent_path()) {
        called_[owner_of_folder(at.filename().string()).owner.student].insert(at);
        if (!one.is_chapters) certain_.insert(at);
      }
    }
  }

  // Refuses a path that is inside a folder, if a path next to that folder is given as a student's.
  Status refuse_deeper(const NamedOne& one) const {
    for (fs::path at = one.full.parent_path(); at != common_; at = at.parent_path()) {
      const auto found = beside_.find(at.parent_path());
      if (found == beside_.end()) continue;
      const bool is_in_named = found->second->full == at;
      return Error{
          .message =
              is_in_named
                  ? fmt::format("is in {}, which is given as a student's, too", label(at))
                  : fmt::format(
                        "is in {}, and {} next to it is given as a student's: its owner may not be the one in its name",
                        label(at), label(found->second->full)),
          .file = label(one.full),
          .advice = fmt::format("give the students' folders, which are side by side, or the class's folder, {}",
                                label(at.parent_path()))};
    }
    return kOk;
  }

  // Looks for another folder with the name of this path's student: the two may belong to different students. A file is
  // then left out, because any student may have given a file that name. A folder is refused, but only left out if
  // nothing is known about the other folder's owner because all files given in it have only chapters' names.
  Status look_for_alike(const NamedOne& one) {
    const auto found = called_.find(one.student);
    if (found == called_.end() || one.has_number) return kOk;
    const fs::path folder = one.full.parent_path();
    for (const fs::path& other : found->second) {
      const bool is_own = other == one.full || holds(other, folder) || holds(folder, other);
      if (is_own || (known_.contains(one.student) && places_.contains(other))) continue;
      const std::string why = fmt::format("is named like {}: they may belong to several students", label(other));
      constexpr const char* kAdvice =
          "give the students' folders, which are side by side; or each homework's folder by itself";
      if (one.is_folder && certain_.contains(other))
        return Error{.message = why, .file = label(one.full), .advice = kAdvice};
      left_out_.emplace(one.full, fmt::format("{}, so it is left out ({})", why, kAdvice));
      return kOk;
    }
    return kOk;
  }

  // Leaves out a folder whose name is no student's, because a single student may have named a folder so. Refuses it if
  // no student's folder is next to it, because then all given paths are one level too deep.
  Status look_for_unowned(const NamedOne& one) {
    if (places_.size() < 2 || known_.contains(one.student) || !is_unowned(one.full, one.is_by_files)) return kOk;
    const bool is_beside = std::any_of(places_.begin(), places_.end(), [&](const fs::path& place) {
      return place.parent_path() == one.full.parent_path() && !is_unowned(place, true);
    });
    const std::string why = one.full.filename() == "my"
                                ? "is named like the folder for a student's files in a checkout, and names no student"
                                : "is named like a chapter, and names no student";
    if (!is_beside)
      return Error{.message = why, .file = label(one.full), .advice = "give the student's folder that contains it"};
    left_out_.emplace(one.full, why + ", so it is left out: rename it after its student");
    return kOk;
  }

  std::map<fs::path, std::string> take_left_out() { return std::move(left_out_); }

 private:
  bool is_unowned(const fs::path& folder, bool is_by_files) const {
    const std::string name = folder.filename().string();
    return name == "my" || (is_by_files && std::find(chapters_.begin(), chapters_.end(), name) != chapters_.end());
  }

  std::string label(const fs::path& path) const {
    const fs::path below = path.lexically_relative(common_);
    std::vector<std::string> parts;
    for (const fs::path& part : below) {
      if (part != ".") parts.push_back(part.string());
    }
    return label_of(plain_name(common_.filename().string()), parts);
  }

  const std::vector<std::string>& chapters_;
  const std::set<std::string>& known_;
  const fs::path common_;
  std::map<fs::path, const NamedOne*> beside_;        // by folder: a path in it that is given
  std::map<std::string, std::set<fs::path>> called_;  // by student: folders with the student's name
  std::set<fs::path> places_;                         // folders that are given, or in which files are given
  std::set<fs::path> certain_;                        // folders of called_ that are given, or in which a file is
                                                      // given whose name is not only a chapter's
  std::map<fs::path, std::string> left_out_;          // with the reason
};

}  // namespace

Result<std::map<fs::path, std::string>> check_nested(const std::vector<NamedOne>& all,
                                                     const std::vector<std::string>& chapters,
                                                     const std::set<std::string>& known) {
  if (all.size() < 2) return std::map<fs::path, std::string>();
  Nested nested(all, chapters, known);
  for (const NamedOne& one : all) {
    if (one.is_chapters) continue;
    ROOFWALK_TRY_STATUS(nested.refuse_deeper(one));
    if (one.is_folder) ROOFWALK_TRY_STATUS(nested.look_for_unowned(one));
    ROOFWALK_TRY_STATUS(nested.look_for_alike(one));
  }
  return nested.take_left_out();
}

}  // namespace roofwalk
