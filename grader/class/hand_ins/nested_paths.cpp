#include "grader/class/hand_ins/nested_paths.h"

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
  explicit Nested(const std::vector<NamedOne>& all) : common_(common_folder(all)) {
    for (const NamedOne& one : all) {
      beside_.try_emplace(one.full.parent_path(), &one);
      if (one.is_folder) places_.insert(one.full);
      for (fs::path at = one.is_folder ? one.full : one.full.parent_path(); at != common_; at = at.parent_path())
        called_[owner_of_folder(at.filename().string()).owner.student].insert(at);
    }
  }

  // Refuses a path in a folder next to which another path is named for a student.
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

  Status refuse_alike(const NamedOne& one, const std::set<std::string>& known) const {
    const auto found = called_.find(one.student);
    if (found == called_.end() || one.has_number) return kOk;
    const fs::path folder = one.full.parent_path();
    for (const fs::path& other : found->second) {
      const bool is_own = other == one.full || holds(other, folder) || holds(folder, other);
      if (is_own || (known.contains(one.student) && places_.contains(other))) continue;
      return Error{.message = fmt::format("is named like {}: they may belong to several students", label(other)),
                   .file = label(one.full),
                   .advice = "give the students' folders, which are side by side; or each homework's folder by itself"};
    }
    return kOk;
  }

  Status refuse_nobodys(const NamedOne& one, const std::vector<std::string>& chapters) const {
    const std::string name = one.full.filename().string();
    const bool is_my = one.is_folder && name == "my";
    const bool is_chapters = one.is_by_files && std::find(chapters.begin(), chapters.end(), name) != chapters.end();
    if (places_.size() < 2 || !(is_my || is_chapters)) return kOk;
    return Error{.message = is_my ? "is named like the folder for a student's files in a checkout, and names no student"
                                  : "is named like a chapter, and names no student",
                 .file = label(one.full),
                 .advice = "give the student's folder that contains it"};
  }

 private:
  std::string label(const fs::path& path) const {
    const fs::path below = path.lexically_relative(common_);
    std::vector<std::string> parts;
    for (const fs::path& part : below) {
      if (part != ".") parts.push_back(part.string());
    }
    return label_of(plain_name(common_.filename().string()), parts);
  }

  const fs::path common_;
  std::map<fs::path, const NamedOne*> beside_;        // by folder: a named path in it
  std::map<std::string, std::set<fs::path>> called_;  // by student: folders with the student's name
  std::set<fs::path> places_;                         // folders that are named, or in which files are named
};

}  // namespace

Status refuse_nested(const std::vector<NamedOne>& all, const std::vector<std::string>& chapters,
                     const std::set<std::string>& known) {
  if (all.size() < 2) return kOk;
  const Nested nested(all);
  for (const NamedOne& one : all) {
    ROOFWALK_TRY_STATUS(nested.refuse_deeper(one));
    if (!known.contains(one.student)) ROOFWALK_TRY_STATUS(nested.refuse_nobodys(one, chapters));
    ROOFWALK_TRY_STATUS(nested.refuse_alike(one, known));
  }
  return kOk;
}

}  // namespace roofwalk
