// All that one student handed in at one path: which of it is graded, and what is left out.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/class/hand_ins/listing.h"
#include "grader/class/hand_ins/submissions.h"

namespace roofwalk {

// The chapters' names, against which files' names are held.
class ChapterNames {
 public:
  explicit ChapterNames(const Wanted& wanted);

  const std::vector<std::string>& known() const { return known_; }

  // "vector-add.cu", "vector-add.zip", "vector-add": a chapter's name, which tells no student.
  bool is_chapter(const std::string& name) const;

  // Whether its name leaves open that it is of a chapter that is graded now.
  bool may_be_graded(const std::string& name) const;

  // `is_only`: with one chapter, a student's only source may have any name.
  std::optional<std::string> of_source(const std::string& name, bool is_only) const;
  std::string why_none(const std::string& name) const;

 private:
  const std::vector<std::string>& graded_;
  std::vector<std::string> known_;
};

class HandIn {
 public:
  HandIn(const ChapterNames& chapters, Owner owner) : chapters_(chapters), owner_(std::move(owner)) {}

  // What lies in a folder, or one file. `label` is where it lies, for people; of a file, the folder's.
  void add(Pile pile, const std::string& label, LateMark mark = LateMark::none);

  // One file, by whatever name the platform gave it; `called` is the student's own.
  void add_file(Found file, const std::string& label, LateMark mark, const std::string& called);

  // A line about it, with the time at which it was handed in.
  void tell(const std::string& label, std::string reason, std::int64_t handed_in_at_s);

  // Opens the zips in it, chooses, reads and keeps.
  Status settle(const KeepSource& keep, Handed& handed);

 private:
  struct Candidate {
    Found found;
    std::string label;   // of the folder
    std::string called;  // the file
    LateMark mark = LateMark::none;
    int zips = 0;  // in which it lies
    std::string full_label() const;
    std::optional<std::string> checkout() const;  // where my/ lies in which it is
  };

  void tell_of_all(std::string reason);  // a line about all of it, which no other line displaces
  void take(Candidate one);
  void take(Pile pile, const std::string& label, LateMark mark, int zips);
  bool take_one_time();
  void open_zips();
  void drop_checkout();
  void note_marks(Handed& handed) const;
  Status settle_chapter(const std::string& chapter, std::vector<Candidate*>& files, const KeepSource& keep,
                        Handed& handed);
  std::string names() const;

  const ChapterNames& chapters_;
  const Owner owner_;
  std::string label_;  // of the first thing in it; of a file that lies among others', of its student
  std::vector<Candidate> sources_, zips_;
  std::vector<std::string> others_;
  std::size_t more_others_ = 0, more_files_ = 0;
  std::int64_t newest_s_ = 0;   // of all that is in it
  std::size_t cost_bytes_ = 0;  // of its sources
  std::size_t failed_reads_ = 0, unread_ = 0;
  std::size_t zips_opened_ = 0;
  std::vector<LeftOut> of_all_, left_out_;
  std::size_t more_left_out_ = 0;
  std::int64_t newest_left_out_s_ = 0;  // of those
};

// The names of a place, one below the other.
std::string label_of(const std::string& folder, const std::vector<std::string>& parts);

}  // namespace roofwalk
