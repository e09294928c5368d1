#include "grader/batch/submissions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "grader/batch/archive.h"
#include "grader/batch/hand_in.h"
#include "grader/batch/listing.h"
#include "grader/batch/lms_metadata.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNobodys = 20;  // lines at one path about files that are nobody's

constexpr const char* kTwoMarks = "two platforms' marks are in its name, so nobody can say whose it is";

using Records = std::map<std::string, LmsRecord>;

class Collector {
 public:
  Collector(const Wanted& wanted, const KeepSource& keep)
      : chapters_(wanted), known_students_(wanted.students), keep_(keep) {}

  Status add(const fs::path& path) {
    std::error_code error;
    const fs::path full = fs::absolute(path, error).lexically_normal();
    const std::string name = (full.has_filename() ? full : full.parent_path()).filename().string();
    top_ = plain_name(name);
    nobodys_ = 0;
    const fs::file_status status = fs::status(full, error);
    if (fs::is_directory(status)) {
      Listing listing = list_folder(full);
      if (!listing.trouble.empty()) leave_out(top_, listing.trouble);
      if (is_known_student(name) && !holds_known_students(listing)) {
        add_student(name, pile_of(std::move(listing)));
      } else {
        if (is_in_doubt(listing)) {
          leave_out(label_of(top_, {listing.folders.begin()->first}),
                    "is taken for a student, since no other folder is there; if it is the class, name it by itself");
        }
        add_class(std::move(listing), name);
      }
    } else if (!fs::is_regular_file(status)) {
      return Error{
          .message = "there is nothing to grade", .file = path.string(), .advice = "give a file, a folder or a zip"};
    } else if (is_zip(name)) {
      auto archive = Archive::open(full);
      if (!archive) return Error{.message = archive.error().message, .file = path.string()};
      ROOFWALK_TRY(const std::int64_t written_at_s, written_at(full));
      add_zip(std::make_shared<Archive>(*std::move(archive)), fs::path(name).stem().string(), written_at_s);
    } else {
      ROOFWALK_TRY(const std::int64_t written_at_s, written_at(full));
      Found one{{name}, written_at_s, reader_of(fs::canonical(full, error))};
      // `grade alice/vector-add.cu`: the folder's name is the student's.
      const std::string folder = full.parent_path().filename().string();
      Listing listing;
      listing.top.push_back(std::move(one));
      if (chapters_.is_chapter(name) || is_known_student(folder)) {
        add_student(folder, pile_of(std::move(listing)));
      } else {
        add_class(std::move(listing), name);
      }
    }
    return settle();
  }

  Result<Handed> take() {
    if (doubt_ && handed_.submissions.empty() && students_.empty()) return *doubt_;
    std::sort(handed_.submissions.begin(), handed_.submissions.end(), [](const Submission& a, const Submission& b) {
      return std::tie(a.owner.student, a.chapter, a.submitted_at_s, a.label) <
             std::tie(b.owner.student, b.chapter, b.submitted_at_s, b.label);
    });
    for (auto& [name, owner] : students_) handed_.students.push_back(owner);
    return std::move(handed_);
  }

 private:
  static Result<std::int64_t> written_at(const fs::path& path) {
    std::error_code error;
    const auto time = fs::last_write_time(path, error);
    if (error) return Error{.message = "cannot be read: " + error.message(), .file = path.string()};
    const auto since = std::chrono::file_clock::to_sys(time).time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(since).count();
  }

  bool is_known_student(const std::string& folder) const {
    const auto named = owner_of_folder(folder);
    return named && known_students_.contains(named->owner.student);
  }

  static bool is_platforms(const std::string& folder) {
    const auto named = owner_of_folder(folder);
    return !named || named->by == NamedBy::platform;
  }

  // A class whose folder is called as a student is.
  bool holds_known_students(const Listing& listing) const {
    return std::any_of(listing.folders.begin(), listing.folders.end(),
                       [&](const auto& one) { return is_known_student(one.first) || is_platforms(one.first); });
  }

  // A line about what nobody can place.
  void leave_out(const std::string& label, std::string reason) {
    if (++nobodys_ <= kMostNobodys) handed_.left_out.push_back({label, std::move(reason)});
  }

  HandIn& hand_in(const Owner& owner) {
    Owner& known = students_.try_emplace(owner.student, owner).first->second;
    if (known.lms_id.empty()) known.lms_id = owner.lms_id;
    known.mark = LateMark::none;  // of a file, not of a person
    return hand_ins_.try_emplace(owner.student, chapters_, known).first->second;
  }

  void add_named(const std::optional<NamedFile>& named, Pile pile, const std::string& label) {
    if (named) {
      hand_in(named->owner).add(std::move(pile), label, named->owner.mark);
    } else {
      leave_out(label, kTwoMarks);
    }
  }

  void add_student(const std::string& folder, Pile pile) { add_named(owner_of_folder(folder), std::move(pile), top_); }

  // A zip that somebody names is a class's, unless all that is in it is one student's.
  void add_zip(const std::shared_ptr<Archive>& zip, const std::string& stem, std::int64_t written_at_s) {
    Listing listing = list_class(zip);
    if (is_one_students(listing, {})) {
      add_student(stem, list_own(zip, written_at_s));
    } else if (is_in_doubt(listing)) {
      const std::string folder = plain_name(listing.folders.begin()->first);
      doubt_ =
          Error{.message = fmt::format("its only folder is `{}`, and nobody can tell whether that is the class or a "
                                       "student",
                                       folder),
                .file = top_,
                .advice = "unpack the zip and name the folder in which the students' folders lie"};
      leave_out(top_, doubt_->message + ": " + doubt_->advice);
    } else {
      add_class(std::move(listing), stem);
    }
  }

  // Whether something in it must be somebody's hand-in: it has a student's name or a platform's, or it would be graded.
  bool holds_hand_in(const std::string& folder, const Pile& pile, const Records& records) const {
    if (records.contains(folder) || is_known_student(folder) || is_platforms(folder)) return true;
    return std::any_of(pile.files.begin(), pile.files.end(), [&](const Found& file) {
      const std::string& name = file.parts.back();
      return is_zip(name) || chapters_.of_source(name, /*is_only=*/true);
    });
  }

  // With one chapter, a file a student may have any name.
  bool is_hand_in(const Found& file) const {
    const std::string& name = file.parts.front();
    if (chapters_.is_chapter(name)) return false;
    const auto named = owner_of_file(name, chapters_.known());
    if (is_zip(name) || !named || named->by == NamedBy::platform) return true;
    if (!is_source(name)) return false;
    const bool is_any = chapters_.of_source(name, /*is_only=*/true) && !chapters_.of_source(name, /*is_only=*/false);
    return is_any || named->by == NamedBy::student_and_chapter;
  }

  // Files that are called as chapters are, with nothing beside them that may be a student's.
  bool is_one_students(const Listing& listing, const Records& records) const {
    const bool has_chapter = std::any_of(listing.top.begin(), listing.top.end(), [&](const Found& file) {
      return (is_source(file.parts.front()) || is_zip(file.parts.front())) && chapters_.is_chapter(file.parts.front());
    });
    if (!has_chapter) return false;
    return std::none_of(listing.top.begin(), listing.top.end(), [&](const Found& file) { return is_hand_in(file); }) &&
           std::none_of(listing.folders.begin(), listing.folders.end(),
                        [&](const auto& one) { return holds_hand_in(one.first, one.second, records); });
  }

  // A zip whose only folder may be the class's, packed with it, as well as a student's: what is in it may name
  // students, or be one student's folders.
  bool is_in_doubt(const Listing& listing) const {
    if (listing.folders.size() != 1 || listing.has_wrapper || !listing.metadata.empty()) return false;
    const auto& [folder, pile] = *listing.folders.begin();
    if (is_known_student(folder) || is_platforms(folder)) return false;
    const auto is_gradable = [](const Found& file) {
      return is_source(file.parts.front()) || is_zip(file.parts.front());
    };
    if (std::any_of(listing.top.begin(), listing.top.end(), is_gradable)) return false;
    std::size_t named = 0;
    bool has_chapter = false;
    for (const Found& file : pile.files) {
      const std::string& name = file.parts.front();
      if (file.parts.size() > 1 || is_zip(name)) return true;
      has_chapter = has_chapter || chapters_.is_chapter(name);
      const auto owner = owner_of_file(name, chapters_.known());
      if (!owner || owner->by == NamedBy::platform) return true;
      named += owner->by == NamedBy::student_and_chapter && !chapters_.is_chapter(name) ? 1 : 0;
    }
    return !has_chapter && named > 1;
  }

  // Each entry of the class is a student's: a folder, a zip or a file.
  void add_class(Listing listing, const std::string& name) {
    const Records records = records_of(listing);
    if (is_one_students(listing, records)) {
      add_student(name, pile_of(std::move(listing)));
      return;
    }
    for (const std::string& entry : listing.leading_up)
      leave_out(top_ + "/" + plain_name(entry), "leads out of its folder (`..`), so nobody can say whose it is");
    for (Found& file : listing.top) add_file(std::move(file));
    for (auto& [folder, pile] : listing.folders) add_folder(folder, std::move(pile), records);
    for (const auto& [folder, record] : records) {  // whose files are not there
      if (listing.folders.contains(folder)) continue;
      for (const Owner& owner : record.owners) hand_in(owner);
    }
  }

  void add_file(Found file) {
    const std::string name = file.parts.front(), label = label_of(top_, file.parts);
    const bool is_gradable = is_source(name) || is_zip(name);
    if (is_gradable && chapters_.is_chapter(name)) {
      leave_out(label,
                "lies beside the students' hand-ins, so nobody can say whose it is: put it into a folder called as "
                "its student");
      return;
    }
    const auto named = owner_of_file(name, chapters_.known());
    if (!named) {
      leave_out(label, kTwoMarks);
      return;
    }
    constexpr const char* kUnknown = "is neither a .cu file nor a folder nor a zip";
    if (is_gradable) {
      hand_in(named->owner).add_file(std::move(file), top_, named->owner.mark, named->rest);
    } else if (named->by == NamedBy::platform) {
      hand_in(named->owner).tell(label, kUnknown);
    } else {
      leave_out(label, kUnknown);
    }
  }

  // A group's submission is each member's.
  void add_folder(const std::string& folder, Pile pile, const Records& records) {
    const std::string label = label_of(top_, {folder});
    const auto record = records.find(folder);
    if (record == records.end()) {
      if (is_gradescope_export(folder)) {
        leave_out(label, "is a whole export of Gradescope's: name it by itself");
      } else if (chapters_.is_chapter(folder) && !is_known_student(folder)) {
        leave_out(label, "is called as a chapter is, and tells no student");
      } else {
        add_named(owner_of_folder(folder), std::move(pile), label);
      }
      return;
    }
    if (record->second.created_at_s) {
      for (Found& file : pile.files) file.written_at_s = *record->second.created_at_s;
    }
    if (record->second.owners.empty()) add_named(owner_of_folder(folder), pile, label);
    for (const Owner& owner : record->second.owners) hand_in(owner).add(pile, label);
  }

  // What a platform says of the folders beside it. No student can write there.
  Records records_of(const Listing& listing) {
    Records records;
    if (listing.metadata.empty()) return records;
    const Found& file = listing.metadata.front();
    const std::string& name = file.parts.front();
    const auto read = [&]() -> Result<Records> {
      if (listing.metadata.size() > 1) return Error{"is there more than once"};
      std::size_t cost_bytes = 0;
      ROOFWALK_TRY(const std::string text, file.read(kMostFileBytes, cost_bytes));
      if (name == kGradescopeExport) return read_gradescope_export(text);
      ROOFWALK_TRY(const LmsRecord record, read_gradescope_container(text));
      return Records{{"submission", record}};
    };
    auto result = read();
    if (result) return *std::move(result);
    leave_out(label_of(top_, {name}), result.error().message + ", so nobody's name or time is read from it");
    return records;
  }

  Status settle() {
    while (!hand_ins_.empty()) {  // one by one, for the zips that each holds open
      ROOFWALK_TRY_STATUS(hand_ins_.begin()->second.settle(keep_, handed_));
      hand_ins_.erase(hand_ins_.begin());
    }
    if (nobodys_ > kMostNobodys) {
      handed_.left_out.push_back({top_, fmt::format("holds {} more that nobody can place", nobodys_ - kMostNobodys)});
    }
    return kOk;
  }

  const ChapterNames chapters_;
  const std::set<std::string>& known_students_;
  const KeepSource& keep_;
  std::string top_;  // what the path is called, for labels
  std::size_t nobodys_ = 0;
  std::map<std::string, Owner> students_;
  std::map<std::string, HandIn> hand_ins_;  // at this path, by student
  std::optional<Error> doubt_;
  Handed handed_;
};

}  // namespace

Result<Handed> collect(const std::vector<fs::path>& paths, const Wanted& wanted, const KeepSource& keep) {
  Collector collector(wanted, keep);
  for (const fs::path& path : paths) ROOFWALK_TRY_STATUS(collector.add(path));
  return collector.take();
}

}  // namespace roofwalk
