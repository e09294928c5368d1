#include "grader/batch/submissions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/hash.h"
#include "grader/batch/archive.h"
#include "grader/batch/found_file.h"
#include "grader/batch/lms_metadata.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostStudentBytes = 128u << 20;  // of all that one student's zip unpacks to
constexpr int kDeepest = 12;                           // folders in folders

class Collector {
 public:
  Collector(const Wanted& wanted, const KeepSource& keep)
      : chapters_(wanted.chapters), known_(wanted.chapters), known_students_(wanted.students), keep_(keep) {
    known_.insert(known_.end(), wanted.others.begin(), wanted.others.end());
  }

  Status add(const fs::path& path) {
    std::error_code error;
    const fs::path full = fs::absolute(path, error).lexically_normal();
    top_ = plain_name((full.has_filename() ? full : full.parent_path()).filename().string());
    const fs::file_status status = fs::status(full, error);
    if (fs::is_directory(status)) {
      std::vector<Found> found;
      walk(full, {}, found);
      if (is_known_student(top_)) return add_student(owner_of_folder(top_), std::move(found));
      return add_class(std::move(found), top_);
    }
    if (!fs::is_regular_file(status)) {
      return Error{
          .message = "there is nothing to grade", .file = path.string(), .advice = "give a file, a folder or a zip"};
    }
    if (is_zip(path.string())) {
      auto archive = Archive::open(full);
      if (!archive) return Error{.message = archive.error().message, .file = path.string()};
      const auto shared = std::make_shared<Archive>(std::move(*archive));
      return add_class(without_common_folder(files_of(shared)), fs::path(top_).stem().string());
    }
    const std::string name = full.filename().string();
    const Found one{{name}, written_at(full), [full] { return read_plain_file(fs::canonical(full)); }};
    // `grade alice/vector-add.cu`: the folder's name is the student's.
    const std::string folder = full.parent_path().filename().string();
    if (is_chapter_name(name) || is_known_student(folder)) return add_student(owner_of_folder(folder), {one});
    return add_class({one}, top_);
  }

  Handed take() {
    std::sort(handed_.submissions.begin(), handed_.submissions.end(), [](const Submission& a, const Submission& b) {
      return std::tie(a.owner.student, a.chapter, a.submitted_at_s, a.label) <
             std::tie(b.owner.student, b.chapter, b.submitted_at_s, b.label);
    });
    for (auto& [name, owner] : students_) handed_.students.push_back(owner);
    return std::move(handed_);
  }

 private:
  bool is_known_student(const std::string& folder) const {
    return known_students_.contains(owner_of_folder(folder).student);
  }

  static std::int64_t written_at(const fs::path& path) {
    struct stat info {};
    return ::lstat(path.c_str(), &info) == 0 ? static_cast<std::int64_t>(info.st_mtime) : 0;
  }

  void leave_out(const std::vector<std::string>& parts, std::string reason, const std::string& student = "") {
    std::string label = top_;
    for (const std::string& part : parts) label += "/" + plain_name(part);
    handed_.left_out.push_back({label, std::move(reason), student});
  }

  // All files below a folder, by name, so that the order is the same on every file system.
  void walk(const fs::path& folder, const std::vector<std::string>& parts, std::vector<Found>& found) {
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    for (const auto& entry : fs::directory_iterator(folder, error)) entries.push_back(entry);
    if (error) leave_out(parts, "the folder cannot be read");
    std::sort(entries.begin(), entries.end());
    for (const auto& entry : entries) {
      const fs::path path = entry.path();
      const std::string name = path.filename().string();
      if (is_debris(name)) continue;
      std::vector<std::string> here = parts;
      here.push_back(name);
      const fs::file_status status = entry.symlink_status(error);
      if (fs::is_directory(status)) {
        if (parts.size() < kDeepest) {
          found.push_back({here, 0, nullptr});  // so that an empty folder is a student, too
          walk(path, here, found);
        } else {
          leave_out(here, "too many folders in folders");
        }
      } else if (fs::is_regular_file(status)) {
        found.push_back({here, written_at(path), [path] { return read_plain_file(path); }});
      } else if (is_source(name) || is_zip(name)) {
        leave_out(here, fs::is_symlink(status) ? "is a link, and links are not followed" : "is no plain file");
        found.push_back({here, 0, nullptr});
      }
    }
  }

  static std::vector<Found> files_of(const std::shared_ptr<Archive>& archive) {
    std::vector<Found> found;
    for (const ArchiveEntry& entry : archive->entries()) {
      auto parts = parts_of(entry.name);
      const bool debris = std::any_of(parts.begin(), parts.end(), is_debris);
      if (parts.empty() || debris || parts.size() > kDeepest) continue;
      found.push_back(
          {std::move(parts), entry.written_at_s, [archive, entry] { return archive->read(entry, kMostFileBytes); }});
    }
    return found;
  }

  // A zip of one folder means what is in it, unless that folder is a student's own.
  std::vector<Found> without_common_folder(std::vector<Found> found) const {
    while (!found.empty()) {
      const std::string first = found.front().parts.front();
      const bool common = std::all_of(found.begin(), found.end(), [&](const Found& f) {
        return f.parts.size() > 1 && f.parts.front() == first && !(f.parts.size() == 2 && is_chapter_name(f.parts[1]));
      });
      if (!common) break;
      for (Found& f : found) f.parts.erase(f.parts.begin());
    }
    return found;
  }

  bool is_chapter_name(const std::string& name) const {
    if (!is_source(name)) return false;
    const std::string stem = fs::path(name).stem().string();
    return std::find(known_.begin(), known_.end(), stem) != known_.end();
  }

  // Each entry of the class is a student's: a folder, a zip or a file. Files called like chapters make it one
  // student's.
  Status add_class(std::vector<Found> found, const std::string& name) {
    const auto is_own = [&](const Found& f) { return f.parts.size() == 1 && is_chapter_name(f.parts[0]); };
    if (std::any_of(found.begin(), found.end(), is_own)) return add_student(owner_of_folder(name), std::move(found));
    const std::map<std::string, LmsRecord> records = take_metadata(found);
    std::map<std::string, std::vector<Found>> folders;
    for (Found& f : found) {
      const std::string first = f.parts.front();
      if (f.parts.size() > 1 || f.read == nullptr) {
        if (f.read == nullptr && (is_source(first) || is_zip(first))) continue;  // left out before
        auto& files = folders[first];
        f.parts.erase(f.parts.begin());
        if (!f.parts.empty()) files.push_back(std::move(f));
        continue;
      }
      if (is_zip(first)) {
        ROOFWALK_TRY_STATUS(add_student_zip(f));
      } else if (is_source(first)) {
        const NamedFile named = owner_of_file(first, known_);
        know(named.owner);
        const auto chapter = chapter_of(named.rest, /*is_only=*/true);
        if (!chapter) {
          leave_out(f.parts, why_no_chapter(named.rest), named.owner.student);
          continue;
        }
        ROOFWALK_TRY_STATUS(keep(named.owner, *chapter, f, f.parts));
      } else {
        leave_out(f.parts, "is neither a .cu file nor a folder nor a zip");
      }
    }
    for (auto& [folder, files] : folders) {
      prefix_ = {folder};
      ROOFWALK_TRY_STATUS(add_folder(folder, std::move(files), records));
      prefix_.clear();
    }
    return kOk;
  }

  // A group's submission is each member's.
  Status add_folder(const std::string& folder, std::vector<Found> files,
                    const std::map<std::string, LmsRecord>& records) {
    const auto record = records.find(folder);
    if (record == records.end()) return add_student(owner_of_folder(folder), std::move(files));
    if (record->second.created_at_s) {
      for (Found& file : files) file.written_at_s = *record->second.created_at_s;
    }
    if (record->second.owners.empty()) return add_student(owner_of_folder(folder), std::move(files));
    for (const Owner& owner : record->second.owners) ROOFWALK_TRY_STATUS(add_student(owner, files));
    return kOk;
  }

  // What Gradescope says of the folders beside it. No student can write there.
  std::map<std::string, LmsRecord> take_metadata(std::vector<Found>& found) {
    std::map<std::string, LmsRecord> records;
    const auto take = [&](const char* name, const auto& read) {
      const auto at = std::find_if(found.begin(), found.end(), [&](const Found& f) {
        return f.parts.size() == 1 && f.parts.front() == name && f.read != nullptr;
      });
      if (at == found.end()) return;
      const auto text = at->read();
      const Status done = text ? read(*text) : Status(text.error());
      if (!done) leave_out(at->parts, done.error().message + ", so nobody's name or time is read from it");
      found.erase(at);
    };
    take(kGradescopeExport, [&](const std::string& text) -> Status {
      ROOFWALK_TRY(records, read_gradescope_export(text));
      return kOk;
    });
    take(kGradescopeContainer, [&](const std::string& text) -> Status {
      ROOFWALK_TRY(records["submission"], read_gradescope_container(text));
      return kOk;
    });
    return records;
  }

  Status add_student_zip(const Found& f) {
    const NamedFile named = owner_of_file(f.parts.back(), known_);
    know(named.owner);
    const auto bytes = f.read();
    if (!bytes) {
      leave_out(f.parts, bytes.error().message, named.owner.student);
      return kOk;
    }
    auto archive = Archive::in_memory(*bytes);
    if (!archive) {
      leave_out(f.parts, archive.error().message, named.owner.student);
      return kOk;
    }
    std::vector<Found> files = files_of(std::make_shared<Archive>(std::move(*archive)));
    for (Found& file : files) {
      if (file.written_at_s < f.written_at_s) file.written_at_s = f.written_at_s;  // handed in when the zip was
    }
    prefix_ = f.parts;
    const Status added = add_student(named.owner, std::move(files));
    prefix_.clear();
    return added;
  }

  // All that one student handed in. Of a whole checkout only what stands in my/ is theirs.
  Status add_student(const Owner& owner, std::vector<Found> files, bool from_zip = false) {
    know(owner);
    const auto in_my = [](const Found& f) { return f.parts.size() > 1 && f.parts[f.parts.size() - 2] == "my"; };
    const bool is_checkout =
        std::any_of(files.begin(), files.end(), [&](const Found& f) { return in_my(f) && is_source(f.parts.back()); });
    if (is_checkout) std::erase_if(files, [&](const Found& f) { return !in_my(f); });
    std::erase_if(files, [](const Found& f) { return f.read == nullptr; });
    const auto sources = static_cast<std::size_t>(
        std::count_if(files.begin(), files.end(), [](const Found& f) { return is_source(f.parts.back()); }));
    std::size_t student_bytes = 0;
    const std::size_t told = handed_.submissions.size() + handed_.left_out.size();
    for (const Found& f : files) {
      std::vector<std::string> place = prefix_;
      place.insert(place.end(), f.parts.begin(), f.parts.end());
      const std::string& name = f.parts.back();
      if (is_zip(name) && f.parts.size() == 1 && !from_zip) {  // a zip in a student's folder, as some platforms keep it
        const auto bytes = f.read();
        auto archive = bytes ? Archive::in_memory(*bytes) : Result<Archive>(bytes.error());
        if (!archive) {
          leave_out(place, archive.error().message, owner.student);
          continue;
        }
        const std::vector<std::string> before = std::exchange(prefix_, place);
        const Status added = add_student(owner, files_of(std::make_shared<Archive>(std::move(*archive))), true);
        prefix_ = before;
        ROOFWALK_TRY_STATUS(added);
        continue;
      }
      if (!is_source(name)) continue;
      const auto chapter = chapter_of(name, sources == 1);
      if (!chapter) {
        if (is_wanted(name)) leave_out(place, why_no_chapter(name), owner.student);
        continue;
      }
      ROOFWALK_TRY_STATUS(keep(owner, *chapter, f, place, &student_bytes));
    }
    const bool is_silent = told == handed_.submissions.size() + handed_.left_out.size();
    if (is_silent && !files.empty()) leave_out(prefix_, names_of(files), owner.student);
    return kOk;
  }

  // Whether its name leaves open that it is of a chapter that is graded now.
  bool is_wanted(const std::string& name) const {
    const auto chapter = chapter_of_file(name, known_);
    return !chapter || std::find(chapters_.begin(), chapters_.end(), *chapter) != chapters_.end();
  }

  std::optional<std::string> chapter_of(const std::string& name, bool is_only) const {
    if (!is_wanted(name)) return std::nullopt;
    if (const auto chapter = chapter_of_file(name, chapters_)) return chapter;
    if (is_only && chapters_.size() == 1) return chapters_.front();
    return std::nullopt;
  }

  std::string why_no_chapter(const std::string& name) const {
    if (!is_wanted(name)) return fmt::format("is of {}, which is not graded now", *chapter_of_file(name, known_));
    if (chapters_.size() == 1)
      return fmt::format("{}, and it is not the only file: {}.cu", kTellsNoChapter, chapters_[0]);
    return fmt::format("{}: {}.cu", kTellsNoChapter, fmt::join(chapters_, ".cu, "));
  }

  // "holds notes.txt, report.pdf: no .cu file of a chapter that is graded".
  static std::string names_of(const std::vector<Found>& files) {
    constexpr std::size_t kMostNames = 5;
    std::vector<std::string> names;
    for (const Found& f : files) {
      if (names.size() < kMostNames) names.push_back(plain_name(f.parts.back()));
    }
    const std::size_t more = files.size() - names.size();
    return fmt::format("holds {}{}: no .cu file of a chapter that is graded", fmt::join(names, ", "),
                       more > 0 ? fmt::format(" and {} more", more) : "");
  }

  void know(const Owner& owner) {
    Owner& known = students_.try_emplace(owner.student, owner).first->second;
    if (known.lms_id.empty()) known.lms_id = owner.lms_id;
    known.mark = LateMark::none;  // of a file, not of a person
  }

  Status keep(const Owner& owner, const std::string& chapter, const Found& f, const std::vector<std::string>& place,
              std::size_t* student_bytes = nullptr) {
    const auto bytes = f.read();
    if (!bytes) {
      leave_out(place, bytes.error().message, owner.student);
      return kOk;
    }
    if (student_bytes != nullptr && (*student_bytes += bytes->size()) > kMostStudentBytes) {
      leave_out(place, fmt::format("one student's files have more than {} bytes", kMostStudentBytes), owner.student);
      return kOk;
    }
    Submission submission{owner, chapter, top_, sha256_hex(*bytes), f.written_at_s};
    for (const std::string& part : place) submission.label += "/" + plain_name(part);
    // Without its copy it cannot be graded, and will be told so; it is handed in all the same.
    if (const Status kept = keep_(submission.source_sha256, *bytes); !kept) {
      leave_out(place, "its copy cannot be kept: " + kept.error().message, owner.student);
    }
    handed_.submissions.push_back(std::move(submission));
    return kOk;
  }

  const std::vector<std::string>& chapters_;  // that are graded now
  std::vector<std::string> known_;            // these and all others
  const std::set<std::string>& known_students_;
  const KeepSource& keep_;
  std::string top_;                  // what the path is called, for labels
  std::vector<std::string> prefix_;  // of labels, where a student's files are being added
  std::map<std::string, Owner> students_;
  Handed handed_;
};

}  // namespace

Result<Handed> collect(const std::vector<fs::path>& paths, const Wanted& wanted, const KeepSource& keep) {
  Collector collector(wanted, keep);
  for (const fs::path& path : paths) ROOFWALK_TRY_STATUS(collector.add(path));
  return collector.take();
}

}  // namespace roofwalk
