#include "grader/class/hand_ins/paths/named_paths.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/class/hand_ins/found_file.h"
#include "grader/class/hand_ins/listing.h"
#include "grader/class/hand_ins/lms_metadata.h"
#include "grader/class/hand_ins/paths/nested_paths.h"

namespace roofwalk {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostAlikeTold = 5;

std::string label_in(const fs::path& folder, const std::string& name) {
  return label_of(plain_name(folder.filename().string()), {name});
}

// Gradescope's metadata and submissions cannot be graded one by one, so refuses both if they are given in the same
// folder. Metadata without a submission next to it, or with paths in other folders, counts as a student's file.
Status refuse_export(const std::vector<fs::path>& paths) {
  std::set<fs::path> folders;
  bool has_metadata = false, has_submission = false;
  for (const fs::path& path : paths) {
    const fs::path full = NamedPaths::full_path(path);
    folders.insert(full.parent_path());
    has_metadata = has_metadata || full.filename() == kGradescopeExport;
    has_submission = has_submission || is_gradescope_submission(full.filename().string());
  }
  if (folders.size() > 1 || !has_metadata || !has_submission) return kOk;
  return Error{.message = "says whose the folders next to it are, so they cannot be graded one by one",
               .file = label_of(plain_name(folders.begin()->filename().string()), {kGradescopeExport}),
               .advice = "give the folder that contains it"};
}

}  // namespace

fs::path NamedPaths::full_path(const fs::path& path) {
  std::error_code error;
  const fs::path full = fs::absolute(path, error).lexically_normal();
  return full.has_filename() ? full : full.parent_path();
}

Status NamedPaths::expect(const std::vector<fs::path>& paths) {
  ROOFWALK_TRY_STATUS(refuse_export(paths));
  std::vector<std::string> folders;
  std::vector<fs::path> named_folders;
  Beside beside;
  for (const fs::path& path : paths) {
    const fs::path full = full_path(path);
    const std::string name = full.filename().string();
    const fs::path folder = full.parent_path();
    std::error_code error;
    if (is_debris(name)) continue;
    parents_.insert(folder);
    if (is_source(name) || is_zip(name)) {
      named_files_[folder].push_back(name);
    } else {
      beside.others.insert(folder);
      if (!fs::is_directory(full, error)) continue;
      if (!grades_.empty() && fs::equivalent(full, grades_, error)) continue;
      folders.push_back(name);
      named_folders.push_back(full);
      beside.folders.insert(folder);
    }
    tops_.emplace(name, plain_name(folder.filename().string()));
  }
  read_by_folder(beside, paths.size() == 1);
  std::vector<std::string> files;
  for (const auto& [folder, names] : named_files_) {
    const std::string called = folder.filename().string();
    if (by_folder_.contains(folder)) {
      folders.push_back(called);
      tops_.emplace(called, plain_name(folder.parent_path().filename().string()));
    } else {
      files.insert(files.end(), names.begin(), names.end());
    }
  }
  names_.emplace(files, chapters_.known(), folders);
  names_->keep_apart(proven_);
  names_->doubt_alone(files, folders, proven_);
  ROOFWALK_TRY_STATUS(check_known_folders());
  ROOFWALK_TRY_STATUS(check_alike_owners());
  tell_of_alike();
  return check_nested_ones(named_folders);
}

// Refuses a file with one student's name in the folder of another student on record: anybody may have named the file.
// If the folder has the files of several students, it is probably a homework's that has a student's name, and a line
// says how the file is treated.
Status NamedPaths::check_known_folders() {
  for (const auto& [folder, names] : named_files_) {
    const std::string called = folder.filename().string();
    if (by_folder_.contains(folder) || guess_.is_platforms(called) || !guess_.is_known_student(called)) continue;
    const std::string own = names_->owner_of_folder(called).owner.student;
    const auto is_anothers = [&](const std::string& name) {
      const NamedFile named = names_->owner_of(name);
      return !chapters_files_.at(folder).contains(name) && name_letters(named.owner.student) != name_letters(own) &&
             (named.by == NamedBy::student_and_chapter || guess_.known_students().contains(named.owner.student));
    };
    const auto name = std::find_if(names.begin(), names.end(), is_anothers);
    if (name == names.end()) continue;
    const std::string student = names_->owner_of(*name).owner.student, label = label_in(folder, *name);
    if (holds_several(folder, names)) {
      told_.push_back(
          fmt::format("{} is treated as a hand-in of `{}`, although it is in the folder of `{}`, who is on "
                      "record: if it is `{}`'s, give the folder, with --each",
                      label, student, own, own));
      continue;
    }
    return Error{
        .message = fmt::format("is named like a file of `{}`, but is in the folder of `{}`, who is on record: it is "
                               "unclear whose it is",
                               student, own),
        .file = label,
        .advice =
            fmt::format("give the folder, with --each, if it is `{}`'s hand-in; otherwise rename the folder", own)};
  }
  return kOk;
}

// Whether the files that are given in a folder, and what else is in it, are named like several students' hand-ins.
bool NamedPaths::holds_several(const fs::path& folder, const std::vector<std::string>& names) const {
  constexpr std::size_t kMostLooks = 1000;
  std::set<std::string> students;
  const auto look = [&](const std::string& name) {
    const bool is_file = is_source(name) || is_zip(name);
    if (is_file && !is_debris(name) && !is_chapters_alone(name, chapters_.known()) && !chapters_.is_chapter(name))
      students.insert(names_->owner_of(name).owner.student);
  };
  for (const std::string& name : names) look(name);
  std::error_code error;
  std::size_t looks = 0;
  for (fs::directory_iterator at(folder, error), end; !error && at != end && looks < kMostLooks; at.increment(error)) {
    const std::string name = at->path().filename().string();
    ++looks;
    look(name);
    const bool is_somebodys = fs::is_directory(at->symlink_status(error)) && !is_debris(name) && name != "my" &&
                              !chapter_of_file(name, chapters_.known());
    if (is_somebodys) students.insert(names_->owner_of_folder(name).owner.student);
  }
  return students.size() > 1;
}

// Looks for folders side by side with files of one student. If most of these folders have the files of only one student
// each, they are probably students' folders, and somebody may have chosen another student's name for a file: then the
// paths are refused. Otherwise they are homeworks', and a student may have a file in each.
Status NamedPaths::check_alike_owners() {
  struct Owned {
    std::map<fs::path, std::string> files;                 // by folder: the first file
    std::map<std::string, std::set<fs::path>> by_chapter;  // folders
    bool has_chapter = false;                              // a name consists of a student's and a chapter's
  };
  std::map<fs::path, std::map<std::string, Owned>> sides;            // by parent and student
  std::map<fs::path, std::map<fs::path, std::set<std::string>>> in;  // by parent and folder: students
  for (const auto& [folder, names] : named_files_) {
    if (by_folder_.contains(folder)) continue;
    for (const std::string& name : names) {
      if (chapters_files_.at(folder).contains(name)) continue;
      const NamedFile named = names_->owner_of(name);
      in[folder.parent_path()][folder].insert(named.owner.student);
      Owned& one = sides[folder.parent_path()][named.owner.student];
      one.files.emplace(folder, name);
      one.by_chapter[chapter_of_file(name, chapters_.known()).value_or("")].insert(folder);
      one.has_chapter = one.has_chapter || named.by != NamedBy::name;
    }
  }
  for (const auto& [parent, students] : sides) {
    const auto& folders = in.at(parent);
    const auto singles = static_cast<std::size_t>(
        std::count_if(folders.begin(), folders.end(), [](const auto& one) { return one.second.size() == 1; }));
    for (const auto& [student, owned] : students) {
      const bool is_repeated = std::any_of(owned.by_chapter.begin(), owned.by_chapter.end(),
                                           [](const auto& one) { return one.second.size() > 1; });
      const bool is_doubtful = students.size() > 1 || (is_repeated && owned.has_chapter);
      if (owned.files.size() < 2 || singles == 0 || !is_doubtful) continue;
      const auto &first = *owned.files.begin(), &second = *std::next(owned.files.begin());
      const std::string label = label_in(second.first, second.second), other = label_in(first.first, first.second);
      if (2 * singles > folders.size()) {
        return Error{
            .message = fmt::format("names the same student as {}, `{}`: it is unclear whether the folders or "
                                   "the files' names tell the students",
                                   other, student),
            .file = label,
            .advice = "give the students' folders, which are side by side; or each homework's folder by itself"};
      }
      if (is_repeated) {
        told_.push_back(
            fmt::format("{} and {} are treated as one student's, `{}`; if the folders are students', give "
                        "the folders instead",
                        other, label, student));
      }
    }
  }
  return kOk;
}

Status NamedPaths::check_nested_ones(const std::vector<fs::path>& folders) {
  std::vector<NamedOne> all;
  std::set<fs::path> seen;
  const auto add = [&](const fs::path& full, const NamedFile& named, NamedOne one) {
    if (!seen.insert(full).second) return;
    one.full = full;
    one.student = named.owner.student;
    one.has_number = is_persons(named.owner.lms_id);
    all.push_back(std::move(one));
  };
  const auto add_folder = [&](const fs::path& full, bool is_by_files) {
    add(full, names_->owner_of_folder(full.filename().string()), {.is_folder = true, .is_by_files = is_by_files});
  };
  for (const fs::path& folder : folders) add_folder(folder, false);
  for (const auto& [folder, names] : named_files_) {
    if (by_folder_.contains(folder)) {
      add_folder(folder, true);
      continue;
    }
    const std::set<std::string>& unowned = chapters_files_.at(folder);
    for (const std::string& name : names) {
      add(folder / name, names_->owner_of(name), {.is_chapters = unowned.contains(name)});
    }
  }
  ROOFWALK_TRY(left_out_, check_nested(all, chapters_.known(), guess_.known_students()));
  return kOk;
}

const std::string* NamedPaths::why_left_out(const fs::path& full) const {
  const auto found = left_out_.find(is_folders(full) ? full.parent_path() : full);
  return found == left_out_.end() ? nullptr : &found->second;
}

// Adds a line about files with the same name in several folders, such as work.zip: they may belong to different
// students, or to one student and different homeworks.
void NamedPaths::tell_of_alike() {
  std::map<std::string, std::set<fs::path>> folders;  // by the file's name
  for (const auto& [folder, names] : named_files_) {
    if (by_folder_.contains(folder)) continue;
    for (const std::string& name : names) {
      const NamedFile named = names_->owner_of(name);
      const bool is_unowned = chapters_files_[folder].contains(name) || guess_.is_known_student(named.owner.student);
      if (named.by == NamedBy::name && !is_unowned) folders[name].insert(folder);
    }
  }
  std::size_t count = 0;
  for (const auto& [name, in] : folders) {
    if (in.size() < 2 || ++count > kMostAlikeTold) continue;
    told_.push_back(
        fmt::format("{} and {} more files of that name are treated as one student's, `{}`; if they belong to several "
                    "students, give the students' folders instead",
                    label_of(plain_name(in.begin()->filename().string()), {name}), in.size() - 1,
                    plain_name(names_->owner_of(name).owner.student)));
  }
  if (count > kMostAlikeTold) {
    told_.push_back(
        fmt::format("{} more file names are in several folders, too: the files of each are treated as one "
                    "student's",
                    count - kMostAlikeTold));
  }
}

bool NamedPaths::is_folders(const fs::path& full) const {
  const std::string name = full.filename().string();
  return by_folder_.contains(full.parent_path()) && (is_source(name) || is_zip(name));
}

bool NamedPaths::is_behind_link(const fs::path& full) const {
  std::error_code error;
  return (are_in_several_folders() || is_folders(full)) && fs::is_symlink(full.parent_path(), error);
}

std::vector<std::string> NamedPaths::told_of_names(const std::string& top) const {
  std::vector<std::string> lines;
  for (const auto& [name, line] : names_->told()) {
    const auto lies_in = tops_.find(name);
    lines.push_back((lies_in == tops_.end() ? top : label_of(lies_in->second, {name})) + " " + line);
  }
  return lines;
}

// Whether a folder's files are named after it: at least one has the folder's name, as in ada/ada_vector-add.cu, and
// each of the others has that name, too, or only a chapter's.
bool NamedPaths::names_its_files(const std::string& folder, const std::vector<std::string>& files) const {
  const std::string own = name_letters(folder);
  std::size_t called_so = 0;
  for (const std::string& name : files) {
    const NamedFile named = owner_of_file(name, chapters_.known());
    if (is_chapters_alone(name, chapters_.known())) continue;
    if (named.by == NamedBy::platform || own.empty() || name_letters(named.owner.student) != own) return false;
    ++called_so;
  }
  return called_so > 0;
}

// Decides which folders are students'. In `grade alice/vector-add.cu alice/naive-gemm.cu`, the folder's name is the
// student's; in `grade hw1/*`, it is not. If files in several neighbouring folders are given, and the files of one
// folder are named after chapters or after the folder, then each of these folders is a student's, and the student chose
// the names of the files in it.
void NamedPaths::read_by_folder(const Beside& beside, bool is_single) {
  std::set<fs::path> above;
  for (const auto& [folder, names] : named_files_) {
    const std::string called = folder.filename().string();
    const std::set<std::string>& chapters_files = chapters_files_[folder] = guess_.chapters_files_in(names);
    const bool is_students = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      if (chapters_files.contains(name)) return true;
      return is_single && !guess_.is_platforms_file(name) && guess_.is_known_student(called) &&
             !guess_.names_its_student(name);
    });
    // If subfolders of this folder are given, too, it is the class's folder, and a student may have named a file after
    // it.
    const bool is_named_so = !is_single && !beside.folders.contains(folder) && names_its_files(called, names);
    if (is_named_so || (is_students && !beside.others.contains(folder))) by_folder_.insert(folder);
    if (by_folder_.contains(folder) || guess_.is_platforms(called)) above.insert(folder.parent_path());
  }
  if (named_files_.size() == 1) return;
  std::set<std::string> all_called;
  for (const auto& [folder, names] : named_files_) all_called.insert(folder.filename().string());
  std::vector<std::string> other_names;  // labels of files that have another student's name
  for (const auto& [folder, names] : named_files_) {
    const bool is_new = above.contains(folder.parent_path()) && by_folder_.insert(folder).second;
    for (const std::string& name : names) {
      const bool is_anothers = all_called.contains(owner_of_file(name, chapters_.known()).owner.student);
      if (is_new && (is_anothers || guess_.names_its_student(name)))
        other_names.push_back(label_of(plain_name(folder.filename()), {name}));
    }
  }
  if (other_names.empty()) return;
  const bool are_several = other_names.size() > 1;
  told_.push_back(fmt::format(
      "{} {} treated as a hand-in of the student whose folder {} in, whatever its name, like those of other folders; "
      "if it is somebody else's, grade it by itself",
      other_names.front(), are_several ? fmt::format("and {} more files are", other_names.size() - 1) : "is",
      are_several ? "each is" : "it is"));
}

}  // namespace roofwalk
