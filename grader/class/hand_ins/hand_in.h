// All files that one student handed in at one path, or as one submission (group_hand_in.h): which are graded, and which
// are left out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/class/hand_ins/listing.h"
#include "grader/class/hand_ins/submissions.h"

namespace roofwalk {

// The names of the chapters, for comparison with file names.
class ChapterNames {
 public:
  explicit ChapterNames(const Wanted& wanted);

  const std::vector<std::string>& known() const { return known_; }

  // Whether the name is only a chapter's, which tells no student: "vector-add.cu", "vector-add.zip", "vector-add".
  bool is_chapter(const std::string& name) const;

  // Whether the file may be of a chapter that is graded now, judged by its name.
  bool may_be_graded(const std::string& name) const;

  // The chapter of a source. `is_only`: it is the student's only source, which may have any name if there is only one
  // chapter.
  std::optional<std::string> of_source(const std::string& name, bool is_only) const;
  std::string why_none(const std::string& name) const;

  // The chapter that a file which is neither a source nor a zip is named after, if it is graded now.
  std::optional<std::string> named_by(const std::string& other) const;

 private:
  const std::vector<std::string>& graded_;
  std::vector<std::string> known_;
};

class HandIn {
 public:
  HandIn(const ChapterNames& chapters, Owner owner) : chapters_(chapters), owner_(std::move(owner)) {}

  // Adds a folder's contents, or one file. `label` names a place for people: the folder itself, or the folder that the
  // file is in.
  void add(Pile pile, const std::string& label, LateMark mark = LateMark::none);

  // Adds one file that a platform may have renamed; `called` is the student's own name for it.
  void add_file(Found file, const std::string& label, LateMark mark, const std::string& called);

  // What was graded so far of one person, by chapter.
  using Graded = std::map<std::string, std::size_t>;

  // Counts with the person's other hand-ins towards the limit of graded files. Of each hand-in, one file per chapter is
  // graded even beyond the limit, because it may be somebody else's.
  void share_limit(Graded& graded) { graded_ = &graded; }
  bool may_be_anothers() const { return !owner_.alike.empty(); }

  // Adds a line about a file, with the time of hand-in.
  void tell(const std::string& label, std::string reason, std::int64_t handed_in_at_s);

  // Opens the zips, then chooses, reads and stores the files that are graded.
  Status settle(const KeepSource& keep, Handed& handed);

 private:
  struct Candidate {
    Found found;
    std::string label;   // label of the folder
    std::string called;  // the file's name
    LateMark mark = LateMark::none;
    int zips = 0;  // number of zips around it
    std::string full_label() const;
    std::optional<std::string> checkout() const;  // the folder that contains the file's my/ folder
  };

  void tell_of_all(std::string reason);  // Adds a line about the whole hand-in, which other lines never crowd out.
  void take(Candidate one);
  void take(Pile pile, const std::string& label, LateMark mark, int zips);
  bool take_one_time();
  void tell_of_wrong_forms(const std::map<std::string, std::vector<Candidate*>>& by_chapter);
  void open_zips();
  void drop_checkout();
  void note_marks(Handed& handed) const;
  Status settle_chapter(const std::string& chapter, std::vector<Candidate*>& files, const KeepSource& keep,
                        Handed& handed);
  std::string names() const;

  const ChapterNames& chapters_;
  const Owner owner_;
  Graded* graded_ = nullptr;
  std::string label_;  // label of the folder that was added first; if a file came first: FOLDER/STUDENT, where FOLDER
                       // is the label of the folder with the file
  std::vector<Candidate> sources_, zips_;
  std::vector<std::string> others_;
  std::size_t more_others_ = 0, more_files_ = 0;
  std::int64_t newest_s_ = 0;   // time of the newest file
  std::size_t cost_bytes_ = 0;  // cost of reading its sources
  std::size_t failed_reads_ = 0, unread_ = 0;
  std::size_t zips_opened_ = 0;
  std::vector<LeftOut> of_all_, left_out_;
  std::size_t more_left_out_ = 0;
  std::int64_t newest_left_out_s_ = 0;  // time of the newest line that is only counted
};

// Joins a folder's label and the names below it with slashes; the names go through plain_name().
std::string label_of(const std::string& folder, const std::vector<std::string>& parts);

}  // namespace roofwalk
