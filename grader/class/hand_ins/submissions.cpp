#include "grader/class/hand_ins/submissions.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "grader/class/hand_ins/archive.h"
#include "grader/class/hand_ins/class_lines.h"
#include "grader/class/hand_ins/class_or_student.h"
#include "grader/class/hand_ins/download_times.h"
#include "grader/class/hand_ins/group_hand_in.h"
#include "grader/class/hand_ins/hand_in.h"
#include "grader/class/hand_ins/listing.h"
#include "grader/class/hand_ins/lms_metadata.h"
#include "grader/class/hand_ins/paths/named_paths.h"
#include "grader/class/hand_ins/unowned_files.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLooks = 10;  // limit per folder of zips that are opened to see whether they are classes

constexpr std::size_t kMostWaysUp = 3;  // limit of lines about zip entries with a ".."

constexpr const char* kMayBeSeverals =
    "may be several people's, and other files that may be one of theirs have rows already: if it counts, put it into a "
    "folder named after its student and grade that folder with --each";

constexpr const char* kIsUnproven =
    "is not read, since a student may have written it: Gradescope's own is next to Gradescope's folders only; if this "
    "one is Gradescope's, move everything else away";

class Collector {
 public:
  Collector(const Wanted& wanted, const KeepSource& keep)
      : chapters_(wanted),
        guess_(chapters_, wanted.students),
        grades_(wanted.grades),
        proven_(wanted.proven),
        each_is_one_(wanted.each_is_one),
        keep_(keep),
        named_(chapters_, guess_, grades_, wanted.proven) {}

  // Takes all paths that are going to be added. Must be called first.
  Status expect(const std::vector<fs::path>& paths) {
    ROOFWALK_TRY_STATUS(named_.expect(paths));
    handed_.told = named_.told();
    return kOk;
  }

  // `is_one`: the path is one student's hand-in, and names and times inside it do not count.
  Status add(const fs::path& path, bool is_one) {
    std::error_code error;
    const fs::path full = NamedPaths::full_path(path);
    const std::string name = full.filename().string();
    const fs::file_status status = is_one ? fs::symlink_status(full, error) : fs::status(full, error);
    unowned_ = UnownedFiles();
    if (!fs::exists(status)) {
      return Error{
          .message = "there is nothing to grade", .file = path.string(), .advice = "give a file, a folder or a zip"};
    }
    if (fs::is_directory(status) && !grades_.empty() && fs::equivalent(full, grades_, error)) return kOk;
    if (is_one && is_debris(name)) return kOk;
    if (is_one || !(fs::is_directory(status) || is_zip(name))) {
      add_one(full, name, status);
    } else if (guess_.is_students_link(full)) {
      add_one(full, name, fs::symlink_status(full, error));
    } else {
      top_ = plain_name(name);
      ROOFWALK_TRY_STATUS(fs::is_directory(status) ? add_class_folder(full, name) : add_class_zip(full, path));
    }
    // The name itself may be a link, which may lead to another place when the path is given again.
    handed_.paths.push_back((fs::weakly_canonical(full.parent_path(), error) / name).string());
    unowned_.take(top_, handed_.paths.back(), handed_.left_out);
    return kOk;
  }

  Result<Handed> take() {
    if (!each_is_one_) ROOFWALK_TRY_STATUS(classes_.check(handed_.told));
    ROOFWALK_TRY_STATUS(settle());
    if (doubt_ && handed_.submissions.empty() && students_.empty()) return *doubt_;
    std::sort(handed_.submissions.begin(), handed_.submissions.end(), [](const Submission& a, const Submission& b) {
      return std::tie(a.owner.student, a.chapter, a.submitted_at_s, a.label) <
             std::tie(b.owner.student, b.chapter, b.submitted_at_s, b.label);
    });
    for (auto& [name, owner] : students_) handed_.students.push_back(owner);
    if (is_class_ && !students_.empty()) tell_of_class();
    return std::move(handed_);
  }

 private:
  // Adds the line about a file in a folder that is a link. What is behind the link is not even looked at, because it
  // may be anything that the caller can read.
  void add_behind_link(const fs::path& full) {
    const fs::path folder = full.parent_path();
    const std::string called = folder.filename().string(), name = full.filename().string();
    // A link whose name a student may have chosen gets no row.
    if (!named_.is_folders(full) || guess_.is_platforms(called))
      return leave_out(label_of(top_, {name}), kIsBehindLink);
    Pile pile;
    pile.tell({{name}, kIsBehindLink, written_at(folder)});
    add_named(names().owner_of_folder(called), std::move(pile), top_);
  }

  // Adds a path as if it were in the class's folder.
  void add_one(const fs::path& full, const std::string& name, const fs::file_status& status) {
    constexpr const char* kIsNoClass =
        "is treated as one student's hand-in, since it is given as one; if it is a class, give it as the only path";
    top_ = plain_name(full.parent_path().filename().string());
    const std::string label = label_of(top_, {name});
    if (const std::string* why = named_.why_left_out(full)) return leave_out(label, *why);
    if (named_.is_behind_link(full)) return add_behind_link(full);
    const bool is_folders = named_.is_folders(full);
    if (fs::is_directory(status)) {
      Listing listing = list_folder(full, chapters_, grades_);
      classes_.add(label, name, &listing, guess_);
      if (guess_.looks_like_class(listing)) tell(label, kIsNoClass);
      Pile pile = pile_of(std::move(listing));
      if (!listing.trouble.empty()) pile.tell({{}, listing.trouble, written_at(full)});
      if (is_folders) {
        add_named(names().owner_of_folder(full.parent_path().filename().string()), std::move(pile), label);
      } else {
        add_folder(name, std::move(pile), {}, names());
      }
      return;
    }
    const bool may_be_class = is_zip(name) && fs::is_regular_file(status);
    const auto zipped = may_be_class ? list_of_zip(full) : std::nullopt;
    classes_.add(label, full.stem().string(), zipped ? &*zipped : nullptr, guess_);
    if (fs::is_symlink(status) && !is_source(name) && !is_zip(name)) {
      // A link whose name a student may have chosen gets no row.
      if (guess_.is_platforms(name) || named_.is_students(full.parent_path())) return leave_out(label, kIsLink);
      Pile pile;
      pile.tell({{}, kIsLink, written_at(full)});
      add_folder(name, std::move(pile), {}, names());
      return;
    }
    if (name == kGradescopeExport) return leave_out(label, kIsUnproven);
    const bool is_other = !is_source(name) && !is_zip(name);
    if (is_other && named_.are_in_several_folders()) return leave_out(label, kIsUnknown);
    if (is_other) return unowned_.add_stray(label, name, chapters_.known());
    Listing listing;
    listing.top.push_back(file_at(full, {name}));
    const fs::path folder = full.parent_path();
    if (!is_folders && zipped && guess_.looks_like_class(*zipped)) tell(label, kIsNoClass);
    if (is_folders) {
      add_named(names().owner_of_folder(folder.filename().string()), pile_of(std::move(listing)), top_);
    } else {
      add_file(std::move(listing.top.front()), names(), named_.chapters_files(folder));
    }
  }

  // The contents of a zip that was given as one student's, to see whether it may be a class. Opens only the first few
  // zips of a folder, because a student may have put any number of them there.
  std::optional<Listing> list_of_zip(const fs::path& full) {
    auto& [zips, entries] = looked_at_[full.parent_path()];
    if (zips == kMostLooks || entries > kMostOwnEntries) return std::nullopt;
    ++zips;
    // In memory, because a file that its owner cuts while it is mapped would end this program.
    auto bytes = read_plain_file(full, kMostFileBytes);
    auto archive = bytes ? Archive::in_memory(*std::move(bytes)) : Result<Archive>(bytes.error());
    if (!archive) return std::nullopt;
    entries += archive->entries().size() + archive->too_long();
    return list_class(std::make_shared<Archive>(*std::move(archive)), chapters_);
  }

  // The names of all paths that were given.
  const ClassNames& names() {
    if (!has_told_names_) {
      for (std::string& line : named_.told_of_names(top_)) handed_.told.push_back(std::move(line));
    }
    has_told_names_ = true;
    return named_.names();
  }

  void tell_of_names(const std::string& top, const ClassNames& names) {
    for (const auto& [name, line] : names.told()) tell(name.empty() ? top : label_of(top, {name}), line);
  }

  Status add_class_folder(const fs::path& full, const std::string& name) {
    Listing listing = list_class_folder(full, chapters_, grades_);
    if (!listing.trouble.empty()) leave_out(top_, listing.trouble);
    if (guess_.is_known_student(name)) {
      if (guess_.may_be_class(name, listing)) return doubtful_student();
      add_student(name, pile_of(std::move(listing)));
      return kOk;
    }
    if (guess_.is_only_folder(listing)) {
      const auto& [folder, pile] = *listing.folders.begin();
      if (guess_.may_hold_students(folder, pile)) {
        return Error{.message = fmt::format("its only folder is `{}`, with others' folders or files in it: it is "
                                            "unclear whether that is the class or a student",
                                            plain_name(folder)),
                     .file = top_,
                     .advice = "give that folder if it is the class; add --each if all of it is one student's"};
      }
      if (!guess_.is_known_student(folder)) {
        tell(label_of(top_, {folder}),
             "is treated as a student's, since there is no other folder; if it is the class, give it as the path; if "
             "the path you gave is one student's, add --each");
      }
    }
    return add_class(std::move(listing), name, Packing::folder, 0);
  }

  Status add_class_zip(const fs::path& full, const fs::path& path) {
    auto archive = Archive::open(full);
    if (!archive)
      return Error{.message = archive.error().message, .file = path.string(), .advice = archive.error().advice};
    std::error_code error;
    return add_zip(std::make_shared<Archive>(*std::move(archive)), full.stem().string(),
                   written_at(fs::canonical(full, error)));
  }

  // The Error for a path that has a student's name and contains files that may be other students' hand-ins.
  Status doubtful_student(const char* form = "folder") const {
    return Error{.message =
                     "is named like a student, and holds what may be others' hand-ins: it is unclear whether that is "
                     "the class or a student",
                 .file = top_,
                 .advice = fmt::format("add --each if it is the student's; otherwise rename the class's {}", form)};
  }

  void tell(std::string line) {
    if (!line.empty()) handed_.told.push_back(std::move(line));
  }
  void tell(const std::string& label, const std::string& line) { tell(label + " " + line); }

  // Says that the only path is taken for a class, because it may be one student's: then its owner chose all names.
  void tell_of_class() {
    handed_.told_class = line_about_class(top_, students_.size(), guess_.known_students().size(), namesake_);
  }

  void leave_out(const std::string& label, std::string reason) { unowned_.add(label, std::move(reason)); }

  const Owner& student(const Owner& owner) {
    Owner& known = students_.try_emplace(owner.student, owner).first->second;
    if (known.lms_id.empty()) known.lms_id = owner.lms_id;
    known.mark = LateMark::none;  // a mark belongs to a file, not to a person
    return known;
  }

  HandIn& hand_in(const Owner& owner) {
    const Owner& known = student(owner);
    const auto [found, is_new] = hand_ins_.try_emplace(owner.student, chapters_, known);
    if (is_new) found->second.share_limit(graded_[owner.student]);
    return found->second;
  }

  void note_mark(const Owner& owner) {
    if (owner.mark != LateMark::none) handed_.marked.push_back({top_, owner});
  }

  void add_named(const NamedFile& named, Pile pile, const std::string& label) {
    note_mark(named.owner);
    hand_in(named.owner).add(std::move(pile), label, named.owner.mark);
  }

  void add_student(const std::string& folder, Pile pile) {
    add_named(names().owner_of_folder(folder), std::move(pile), top_);
  }

  // Adds a zip that was given: it is a class's, unless everything in it is one student's.
  Status add_zip(const std::shared_ptr<Archive>& zip, const std::string& stem, std::int64_t written_at_s) {
    Listing listing = list_class(zip, chapters_);
    const bool is_known = guess_.is_known_student(stem);
    if (is_known && guess_.may_be_class(stem, listing)) return doubtful_student("zip");
    const bool is_one = guess_.is_one_students(listing, {});
    if (!is_known && is_one) ROOFWALK_TRY_STATUS(ask_of_others(listing));
    const bool is_own = guess_.is_own_folder(listing, stem);
    if (!is_known && is_own && !guess_.words_of(listing.folders.begin()->second.files).empty()) {
      tell(top_,
           "is treated as one student's, since its only folder has the same name; if it is the class, unpack it and "
           "give the folder");
    }
    if (is_known || is_one || is_own) {
      add_student(stem, list_own(zip, written_at_s));
    } else if (guess_.is_only_folder(listing) && guess_.is_doubtful(*listing.folders.begin())) {
      const std::string folder = plain_name(listing.folders.begin()->first);
      doubt_ = Error{.message = fmt::format(
                         "its only folder is `{}`, and it is unclear whether that is the class or a student", folder),
                     .file = top_,
                     .advice =
                         "unpack the zip and give the folder that holds the students' folders; or add --each if all of "
                         "it is one student's"};
      leave_out(top_, doubt_->message + ": " + doubt_->advice);
    } else {
      return add_class(std::move(listing), stem, Packing::zip, written_at_s);
    }
    return kOk;
  }

  // Checks a listing that seems to be one student's because it has files with only a chapter's name. Errors: several
  // other files in it are named after people, such as "vector-add_ada.cu" and "vector-add_bob.cu". If there is only one
  // such name, it may mark a version, so there is no Error but a line that says how the listing is treated.
  Status ask_of_others(const Listing& listing) {
    std::set<std::string> people = guess_.words_of(listing.top);
    for (const auto& [folder, pile] : listing.folders) {
      if (folder != "my" && !pile.files.empty() && !chapter_of_file(folder, chapters_.known())) people.insert(folder);
    }
    if (people.empty()) return kOk;
    const auto plain = std::find_if(listing.top.begin(), listing.top.end(),
                                    [&](const Found& file) { return chapters_.is_chapter(file.parts.front()); });
    const std::string chapters_own = plain == listing.top.end() ? "a file" : plain_name(plain->parts.front());
    if (people.size() == 1) {
      tell(top_, fmt::format("is treated as one student's, since {} in it is named after a chapter only; if it is the "
                             "class, put that file into a folder named after its student",
                             chapters_own));
      return kOk;
    }
    return Error{.message = fmt::format("holds {} next to names that seem to be several people's: it is unclear "
                                        "whether that is the class or a student",
                                        chapters_own),
                 .file = top_,
                 .advice =
                     "add --each if all of it is one student's; if it is the class, put that file into a folder named "
                     "after its student"};
  }

  enum class Packing : std::uint8_t { zip, folder };

  // Adds a class: each folder, zip or file in it belongs to a student. `written_at_s`: the time of a zip.
  Status add_class(Listing listing, const std::string& name, Packing packing, std::int64_t written_at_s) {
    auto read = read_records(listing.metadata, top_);
    if (guess_.is_one_students(listing, read ? *read : LmsRecords())) {
      ROOFWALK_TRY_STATUS(ask_of_others(listing));
      add_student(name, pile_of(std::move(listing)));
      return kOk;
    }
    ROOFWALK_TRY(const LmsRecords records, std::move(read));
    if (!records.empty() && listing.metadata.front().parts.front() == kGradescopeExport &&
        !is_gradescope_export(name)) {
      tell(top_, fmt::format("names its students, and when they handed in, in its own {}, as Gradescope's export does; "
                             "if it is one student's hand-in, add --each",
                             kGradescopeExport));
    }
    tell(line_about_times(top_, listing, records));
    for (const std::string& doubt : doubts_about(records)) tell(top_, doubt);
    tell_of_classes(listing);
    tell(line_about_encoding(top_, listing));
    for (const Found& file : listing.unproven) leave_out(label_of(top_, file.parts), kIsUnproven);
    const std::vector<std::string> files = names_in(listing.top);
    const std::vector<std::string> folders = guess_.students_folders(listing);
    ClassNames names(files, chapters_.known(), folders);
    // If only one student has files in a folder, the files may have come by mail, and the student may have made up
    // their names in Canvas' form.
    names.keep_apart(proven_);
    using Namesake = ClassNames::Namesake;
    const auto namesake = packing == Packing::zip ? names.doubt_namesake(name, files, proven_) : Namesake::none;
    if (namesake == Namesake::among_few) return doubtful_student("zip");
    const bool is_namesakes = namesake == Namesake::alone;
    is_class_ = true;
    namesake_ = names.namesake();
    if (packing == Packing::folder) names.doubt_alone(files, folders, proven_);
    if (is_namesakes) {  // all times in the zip are the student's own
      for (Found& file : listing.top) file.written_at_s = written_at_s;
      for (auto& [folder, pile] : listing.folders) pile.set_time(written_at_s);
    }
    tell_of_names(top_, names);
    if (!names.is_mixed()) tell(line_about_unpacked(top_, listing));
    if (!is_namesakes && has_downloads_times(listing, names)) {
      tell(top_,
           "has all its file times within minutes of each other, as in a zip that a platform has just made: they say "
           "when it was downloaded, not when anybody handed in, so download it at the deadline or set no deadline");
    }
    const std::size_t ways_up = std::min(listing.leading_up.size(), kMostWaysUp);
    for (std::size_t i = 0; i < ways_up; ++i) {
      leave_out(top_ + "/" + plain_name(listing.leading_up[i]),
                "leads out of its folder (`..`), so its owner is unclear");
    }
    if (const std::size_t more = listing.leading_up.size() - ways_up; more > 0)
      leave_out(top_, fmt::format("holds {} more entries that lead out of their folders (`..`)", more));
    if (listing.too_long > 0) leave_out(top_, too_long_words(listing.too_long));
    const std::set<std::string> chapters_files = guess_.chapters_files_in(files);
    for (Found& file : listing.top) add_file(std::move(file), names, chapters_files);
    for (auto& [folder, pile] : listing.folders) add_folder(folder, std::move(pile), records, names);
    for (const std::string& file : listing.named_debris) {
      if (!students_.contains(owner_of_file(file, {}).owner.student))
        leave_out(label_of(top_, {file}), "is named like a file that macOS adds, and is its student's only one");
    }
    for (const auto& [folder, record] : records) {  // records whose folders are missing
      if (listing.folders.contains(folder)) continue;
      for (const Owner& owner : record.owners) student(owner);
    }
    return kOk;
  }

  // Adds a line about a folder whose folders may be classes.
  void tell_of_classes(const Listing& listing) {
    const bool all_may_be =
        listing.folders.size() > 1 && std::all_of(listing.folders.begin(), listing.folders.end(), [&](const auto& one) {
          return !guess_.is_platforms(one.first) && guess_.may_hold_students(one.first, one.second);
        });
    if (all_may_be)
      tell(top_, "has others' folders or files in each of its folders: if they are classes, grade each by itself");
  }

  void add_file(Found file, const ClassNames& names, const std::set<std::string>& chapters_files) {
    const std::string name = file.parts.front(), label = label_of(top_, file.parts);
    const bool is_gradable = is_source(name) || is_zip(name);
    if (chapters_files.contains(name)) {
      leave_out(
          label,
          "is next to the students' hand-ins, so its owner is unclear: put it into a folder named after its student");
      return;
    }
    const NamedFile named = names.owner_of(name);
    if (names.is_left_out(name)) return unowned_.add_undecided(label, named.owner.alike, kMayBeSeverals);
    if (is_gradable) {
      note_mark(named.owner);
      HandIn& one = hand_in(named.owner);
      if (named.has_one_limit) one.share_limit(graded_[named.owner.alike]);
      one.add_file(std::move(file), top_, named.owner.mark, named.rest);
    } else if (named.by == NamedBy::platform) {
      note_mark(named.owner);  // tells, as a gradable file's does, whose assignment the zip is of
      hand_in(named.owner).tell(label, kIsUnknown, file.written_at_s);
    } else {
      unowned_.add_stray(label, name, chapters_.known());
    }
  }

  // Adds a folder. A group's submission belongs to each member.
  void add_folder(const std::string& folder, Pile pile, const LmsRecords& records, const ClassNames& names) {
    const std::string label = label_of(top_, {folder});
    const auto record = records.find(folder);
    if (record == records.end()) {
      if (is_gradescope_export(folder)) {
        leave_out(label, "is a whole Gradescope export: grade it by itself");
      } else if (chapters_.is_chapter(folder) && !guess_.is_known_student(folder)) {
        leave_out(label, "is named like a chapter, and names no student");
      } else {
        add_named(names.owner_of_folder(folder), std::move(pile), label);
      }
      return;
    }
    if (record->second.created_at_s) pile.set_time(*record->second.created_at_s);
    if (record->second.owners.empty()) return add_named(names.owner_of_folder(folder), std::move(pile), label);
    std::vector<Owner> owners;
    for (const Owner& owner : record->second.owners) owners.push_back(student(owner));
    of_groups_.emplace_back(chapters_, owners).add(std::move(pile), label);
  }

  Status settle() {
    for (; !of_groups_.empty(); of_groups_.pop_front()) ROOFWALK_TRY_STATUS(of_groups_.front().settle(keep_, handed_));
    // Those whose owner is clear come first, so that no other takes their part of a limit. Each is removed at once,
    // because it keeps zips open.
    for (const bool may_be_anothers : {false, true}) {
      for (auto at = hand_ins_.begin(); at != hand_ins_.end();) {
        if (at->second.may_be_anothers() != may_be_anothers) {
          ++at;
          continue;
        }
        ROOFWALK_TRY_STATUS(at->second.settle(keep_, handed_));
        at = hand_ins_.erase(at);
      }
    }
    return kOk;
  }

  const ChapterNames chapters_;
  const ClassOrStudent guess_;  // tells a class from a student
  const fs::path& grades_;
  const std::set<std::string>& proven_;
  const bool each_is_one_;
  const KeepSource& keep_;
  NamedPaths named_;
  std::string top_;  // name of the path, for labels
  UnownedFiles unowned_;
  SeveralClasses classes_;
  bool is_class_ = false;
  std::string namesake_;  // what is said of a class that is named like a student in it
  std::map<std::string, Owner> students_;
  std::map<std::string, HandIn> hand_ins_;        // by student
  std::deque<GroupHandIn> of_groups_;             // those of which the platform says whose they are
  std::map<std::string, HandIn::Graded> graded_;  // by student or Owner::alike
  std::map<fs::path, std::pair<std::size_t, std::size_t>> looked_at_;  // by folder: zips opened, and their entries
  bool has_told_names_ = false;
  std::optional<Error> doubt_;
  Handed handed_;
};

}  // namespace

Result<Handed> collect(const std::vector<fs::path>& paths, const Wanted& wanted, const KeepSource& keep) {
  Collector collector(wanted, keep);
  const bool is_one = wanted.each_is_one || paths.size() > 1;
  ROOFWALK_TRY_STATUS(collector.expect(paths));
  for (const fs::path& path : paths) ROOFWALK_TRY_STATUS(collector.add(path, is_one));
  return collector.take();
}

}  // namespace roofwalk
