#include "grader/class/hand_ins/hand_in.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "common/base/hash.h"
#include "grader/class/terms/course_file.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

// Limit on the bytes that are read from one student's sources. The zips have a separate limit of the same size.
constexpr std::size_t kMostReadBytes = 128u << 20;
constexpr std::size_t kMostFailedReads = 20;  // limit for one student's sources
constexpr std::size_t kMostZips = 10;
constexpr int kDeepestZip = 2;  // a zip in a zip

// The last part of a learner's file name, which may be a Windows path.
std::string last_name(const std::string& name) { return name.substr(name.find_last_of("/\\") + 1); }

// Clamps a time, because a file on disk may have any time.
std::int64_t time_of(std::int64_t written_at_s) { return std::clamp<std::int64_t>(written_at_s, 0, kLatestMoment); }

// Whether a file is in one of these folders, whose names end with a slash.
bool lies_in_one_of(const std::set<std::string>& folders, const std::string& label) {
  for (std::size_t slash = label.find('/'); slash != std::string::npos; slash = label.find('/', slash + 1)) {
    if (folders.contains(label.substr(0, slash + 1))) return true;
  }
  return false;
}

bool names_students(const Archive& zip) {
  std::set<std::string> students;
  for (const ArchiveEntry& entry : zip.entries()) {
    const std::string first = entry.name.substr(0, entry.name.find('/'));
    const NamedFile named = first == entry.name ? owner_of_file(first, {}) : owner_of_folder(first);
    if (named.by == NamedBy::platform) students.insert(named.owner.student);
    if (students.size() > 1) return true;
  }
  return false;
}

}  // namespace

ChapterNames::ChapterNames(const Wanted& wanted) : graded_(wanted.chapters), known_(wanted.chapters) {
  known_.insert(known_.end(), wanted.others.begin(), wanted.others.end());
}

bool ChapterNames::is_chapter(const std::string& name) const {
  const std::string stem = is_source(name) || is_zip(name) ? fs::path(name).stem().string() : name;
  return std::find(known_.begin(), known_.end(), stem) != known_.end();
}

bool ChapterNames::may_be_graded(const std::string& name) const {
  const auto chapter = chapter_of_file(name, known_);
  return !chapter || std::find(graded_.begin(), graded_.end(), *chapter) != graded_.end();
}

std::optional<std::string> ChapterNames::of_source(const std::string& name, bool is_only) const {
  if (!may_be_graded(name)) return std::nullopt;
  if (const auto chapter = chapter_of_file(name, graded_)) return chapter;
  if (is_only && graded_.size() == 1) return graded_.front();
  return std::nullopt;
}

std::string ChapterNames::why_none(const std::string& name) const {
  if (!may_be_graded(name)) return fmt::format("is of {}, which is not graded now", *chapter_of_file(name, known_));
  if (graded_.size() == 1) return fmt::format("{}, and it is not the only file: {}.cu", kTellsNoChapter, graded_[0]);
  return fmt::format("{}: {}.cu", kTellsNoChapter, fmt::join(graded_, ".cu, "));
}

std::optional<std::string> ChapterNames::named_by(const std::string& other) const {
  return may_be_graded(other) ? chapter_of_file(other, graded_) : std::nullopt;
}

std::string label_of(const std::string& folder, const std::vector<std::string>& parts) {
  std::string label = folder;
  for (const std::string& part : parts) label += "/" + plain_name(part);
  return label;
}

std::string HandIn::Candidate::full_label() const { return label_of(label, found.parts); }

std::optional<std::string> HandIn::Candidate::checkout() const {
  const std::vector<std::string>& parts = found.parts;
  if (parts.size() < 2 || parts[parts.size() - 2] != "my") return std::nullopt;
  return label_of(label, {parts.begin(), parts.end() - 2}) + "/";
}

void HandIn::add(Pile pile, const std::string& label, LateMark mark) {
  if (label_.empty()) label_ = label;
  take(std::move(pile), label, mark, 0);
}

void HandIn::add_file(Found file, const std::string& label, LateMark mark, const std::string& called) {
  if (label_.empty()) label_ = label_of(label, {owner_.student});
  newest_s_ = std::max(newest_s_, file.written_at_s);
  take({std::move(file), label, last_name(called), mark});
}

// All files of a hand-in together must not exceed kMostFiles. A hand-in may have several zips, each of which may
// contain as many files as a folder.
void HandIn::take(Candidate one) {
  if (sources_.size() + zips_.size() == kMostFiles) {
    ++more_files_;
    return;
  }
  auto& list = is_zip(one.found.parts.back()) ? zips_ : sources_;
  list.push_back(std::move(one));
}

void HandIn::tell(const std::string& label, std::string reason, std::int64_t handed_in_at_s) {
  if (left_out_.size() < kMostTold) {
    left_out_.push_back({label, std::move(reason), owner_.student, time_of(handed_in_at_s)});
  } else {
    ++more_left_out_;
    newest_left_out_s_ = std::max(newest_left_out_s_, time_of(handed_in_at_s));
  }
}

void HandIn::tell_of_all(std::string reason) {
  of_all_.push_back({label_, std::move(reason), owner_.student, time_of(newest_s_)});
}

void HandIn::take(Pile pile, const std::string& label, LateMark mark, int zips) {
  for (Found& found : pile.files) {
    std::string called = last_name(found.parts.back());
    newest_s_ = std::max(newest_s_, found.written_at_s);
    take({std::move(found), label, std::move(called), mark, zips});
  }
  newest_s_ = std::max(newest_s_, pile.newest_other_s);
  for (const Pile::Told& one : pile.told) tell(label_of(label, one.parts), one.reason, one.written_at_s);
  more_left_out_ += pile.more_told;
  newest_left_out_s_ = std::max(newest_left_out_s_, time_of(pile.newest_told_s));
  for (std::string& other : pile.others) {
    if (others_.size() < kMostNames) {
      others_.push_back(std::move(other));
    } else {
      ++more_others_;
    }
  }
  more_others_ += pile.more_others;
  more_files_ += pile.more_files;
}

// Opens zips, the newest first; a zip may add further zips.
void HandIn::open_zips() {
  std::size_t opened = 0, left = 0, cost_bytes = 0, entries = 0;
  while (!zips_.empty()) {
    std::vector<Candidate> zips;
    zips.swap(zips_);
    std::stable_sort(zips.begin(), zips.end(), [](const Candidate& a, const Candidate& b) {
      const std::int64_t a_s = a.found.written_at_s, b_s = b.found.written_at_s;
      return a_s != b_s ? is_before(b_s, a_s) : a.found.parts < b.found.parts;
    });
    for (const Candidate& zip : zips) {
      const std::string label = zip.full_label();
      if (zip.zips >= kDeepestZip) {
        tell(label, "is a zip in a zip in a zip, and is not opened", zip.found.written_at_s);
        continue;
      }
      if (opened == kMostZips || cost_bytes > kMostReadBytes || entries > kMostOwnEntries) {
        ++left;
        continue;
      }
      ++opened;
      auto bytes = zip.found.read(kMostFileBytes, cost_bytes);
      auto archive = bytes ? Archive::in_memory(*std::move(bytes)) : Result<Archive>(bytes.error());
      if (!archive) {
        tell(label, archive.error().message, zip.found.written_at_s);
        continue;
      }
      entries += archive->entries().size() + archive->too_long();
      ++zips_opened_;
      if (names_students(*archive))
        tell(label, "holds files named the way a platform names a class's: if it is a class, give it as the only path",
             zip.found.written_at_s);
      take(list_own(std::make_shared<Archive>(*std::move(archive)), zip.found.written_at_s), label, zip.mark,
           zip.zips + 1);
    }
  }
  if (left > 0) {
    tell_of_all(fmt::format("holds {} more zips than are opened: at most {} per hand-in, with {} MiB and {} entries",
                            left, kMostZips, kMostReadBytes >> 20, kMostOwnEntries));
  }
}

// If the hand-in contains a whole checkout, only the files in its my/ are the student's.
void HandIn::drop_checkout() {
  std::set<std::string> checkouts;
  for (const Candidate& one : sources_) {
    if (auto folder = one.checkout()) checkouts.insert(*std::move(folder));
  }
  std::erase_if(sources_, [&](const Candidate& one) {
    const std::string label = one.full_label();
    if (one.checkout() || !lies_in_one_of(checkouts, label)) return false;
    if (chapters_.is_chapter(one.called) || chapters_.of_source(one.called, /*is_only=*/false))
      tell(label, "is next to a my/ folder, so only what is in my/ counts", one.found.written_at_s);
    return true;
  });
}

// Records the chapters of files that a platform marked as late or on time. Includes files that are not graded now,
// because they, too, show which assignment a zip is from.
void HandIn::note_marks(Handed& handed) const {
  std::set<std::pair<std::string, std::string>> noted;
  for (const Candidate& one : sources_) {
    if (one.mark == LateMark::none) continue;
    const auto chapter = chapter_of_file(one.called, chapters_.known());
    const std::string zip = one.label.substr(0, one.label.find('/'));
    if (!chapter || !noted.emplace(zip, *chapter).second) continue;
    Owner owner = owner_;
    owner.mark = one.mark;
    handed.marked.push_back({zip, std::move(owner), *chapter});
  }
}

// If a chapter has more files than are graded, the newest files with a date count; of equally old ones, those whose
// names are most like the chapter's.
Status HandIn::settle_chapter(const std::string& chapter, std::vector<Candidate*>& files, const KeepSource& keep,
                              Handed& handed) {
  const auto order = [&](const Candidate* one) {
    const std::int64_t at_s = one->found.written_at_s;
    return std::make_tuple(!is_known_time(at_s), -at_s, one->called != chapter + ".cu", one->zips,
                           one->found.parts.size(), std::cref(one->label), std::cref(one->found.parts));
  };
  std::sort(files.begin(), files.end(), [&](const auto* a, const auto* b) { return order(a) < order(b); });
  std::vector<std::string> kept;
  std::size_t own = 0;
  std::size_t& graded = graded_ == nullptr ? own : (*graded_)[chapter];
  const auto is_full = [&] { return kept.size() == kMostGraded || (graded >= kMostGraded && !kept.empty()); };
  for (const Candidate* one : files) {
    if (is_full()) break;
    const std::string label = one->full_label();
    if (cost_bytes_ > kMostReadBytes || failed_reads_ == kMostFailedReads) {
      ++unread_;
      continue;
    }
    const auto bytes = one->found.read(kMostSourceBytes, cost_bytes_);
    if (!bytes) {
      ++failed_reads_;
      tell(label, bytes.error().message, one->found.written_at_s);
      continue;
    }
    Submission submission{owner_, chapter, label, sha256_hex(*bytes), time_of(one->found.written_at_s)};
    submission.owner.mark = one->mark;
    // If the copy cannot be saved, the file cannot be graded, and a line says so; but it counts as handed in.
    if (const Status stored = keep(submission.source_sha256, *bytes); !stored)
      tell(label, "its copy cannot be saved: " + stored.error().message, one->found.written_at_s);
    handed.submissions.push_back(std::move(submission));
    kept.push_back(plain_name(one->called));
    ++graded;
  }
  if (files.size() > kept.size() && is_full()) {
    tell_of_all(
        fmt::format("{}: of {} files of {} the {} newest: {}{}", kHoldsMore, files.size(), chapter, kept.size(),
                    fmt::join(kept, ", "),
                    kept.size() == kMostGraded ? "" : "; others that may be the same person's are graded, too"));
  }
  return kOk;
}

// The names of the hand-in's files in one text: "notes.txt, report.pdf and 3 more".
std::string HandIn::names() const {
  std::vector<std::string> shown;
  for (const Candidate& one : sources_) {
    if (shown.size() < kMostNames) shown.push_back(plain_name(one.called));
  }
  for (const std::string& other : others_) {
    if (shown.size() < kMostNames) shown.push_back(plain_name(other));
  }
  const std::size_t more = sources_.size() + others_.size() + more_others_ - shown.size();
  return fmt::format("{}{}", fmt::join(shown, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

// If a platform marks files as late, the time of a file is when the platform put it into the zip. Files of one hand-in
// may then be seconds apart, in an order that means nothing. So all files get the newest of these times.
bool HandIn::take_one_time() {
  const auto is_marked = [](const Candidate& one) { return one.mark != LateMark::none; };
  if (std::none_of(sources_.begin(), sources_.end(), is_marked) && std::none_of(zips_.begin(), zips_.end(), is_marked))
    return false;
  for (auto* list : {&sources_, &zips_}) {
    for (Candidate& one : *list) one.found.written_at_s = newest_s_;
  }
  return true;
}

// Adds a line about each file such as "vector-add.cu.txt" of which the hand-in has no source.
void HandIn::tell_of_wrong_forms(const std::map<std::string, std::vector<Candidate*>>& by_chapter) {
  for (const std::string& other : others_) {
    const auto chapter = chapters_.named_by(other);
    if (chapter && !by_chapter.contains(*chapter))
      tell(label_of(label_, {other}), fmt::format("is no .cu file and no zip: {}.cu is graded", *chapter), newest_s_);
  }
}

Status HandIn::settle(const KeepSource& keep, Handed& handed) {
  const std::size_t before = handed.submissions.size();
  const bool has_one_time = take_one_time();
  open_zips();
  drop_checkout();
  note_marks(handed);
  const bool is_only = sources_.size() == 1;
  std::map<std::string, std::vector<Candidate*>> by_chapter;
  for (Candidate& one : sources_) {
    if (const auto chapter = chapters_.of_source(one.called, is_only)) {
      by_chapter[*chapter].push_back(&one);
    } else if (chapters_.may_be_graded(one.called)) {
      tell(one.full_label(), chapters_.why_none(one.called), one.found.written_at_s);
    }
  }
  for (auto& [chapter, files] : by_chapter) ROOFWALK_TRY_STATUS(settle_chapter(chapter, files, keep, handed));
  if (handed.submissions.size() > before) tell_of_wrong_forms(by_chapter);
  if (unread_ > 0) {
    tell_of_all(fmt::format(
        "holds {} more files that are not read: reading stops at {} MiB, or after {} files that cannot be read",
        unread_, kMostReadBytes >> 20, kMostFailedReads));
  }
  if (more_files_ > 0)
    tell_of_all(fmt::format("holds {} more files than are looked at: at most {}", more_files_, kMostFiles));
  const bool is_silent = handed.submissions.size() == before && left_out_.empty() && of_all_.empty();
  if (is_silent && is_only && others_.empty()) {
    const Candidate& only = sources_.front();
    tell(only.full_label(), chapters_.why_none(only.called), only.found.written_at_s);
  } else if (is_silent && (!sources_.empty() || !others_.empty())) {
    tell(label_, fmt::format("holds {}: no .cu file of a chapter that is graded", names()), newest_s_);
  } else if (is_silent && zips_opened_ > 0) {
    tell(label_, "holds zips, and no file in them", newest_s_);
  }
  if (more_left_out_ > 0) {
    left_out_.push_back(
        {label_, fmt::format("holds {} more that are left out", more_left_out_), owner_.student, newest_left_out_s_});
  }
  for (const auto& lines : {of_all_, left_out_}) {
    for (LeftOut line : lines) {
      if (has_one_time) line.handed_in_at_s = time_of(newest_s_);
      handed.left_out.push_back(std::move(line));
    }
  }
  return kOk;
}

}  // namespace roofwalk
