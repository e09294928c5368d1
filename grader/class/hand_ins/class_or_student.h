// Decides whether a path is a class or one student's hand-in, from the names in it and the students on record.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grader/class/hand_ins/hand_in.h"
#include "grader/class/hand_ins/listing.h"
#include "grader/class/hand_ins/lms_metadata.h"

namespace roofwalk {

using LmsRecords = std::map<std::string, LmsRecord>;  // by folder

class ClassOrStudent {
 public:
  // Both must outlive this object. `known_students`: the students on record from earlier calls.
  ClassOrStudent(const ChapterNames& chapters, const std::set<std::string>& known_students)
      : chapters_(chapters), known_students_(known_students) {}

  bool is_known_student(const std::string& folder) const;
  const std::set<std::string>& known_students() const { return known_students_; }
  static bool is_platforms(const std::string& folder);
  static bool is_platforms_file(const std::string& name);

  // Whether the names in a listing have a platform's form: a platform wrote them, or a person who imitates it.
  static bool looks_like_class(const Listing& listing);

  // Whether the files in a pile are named like several people's hand-ins, or the pile has several folders and none of
  // them is named like a chapter or a checkout's my/.
  bool may_hold_students(const std::string& called, const Pile& pile) const;

  // For a folder or zip that has a known student's name: whether it may be the next class, because the student may have
  // guessed the class's name in advance. The class may lie deeper, in a folder or several nested ones.
  bool may_be_class(const std::string& called, const Listing& listing) const;

  // Whether a listing has files that are named like chapters, and no other file or folder that can be a student's.
  bool is_one_students(const Listing& listing, const LmsRecords& records) const;

  // Whether all that can be hand-ins in a listing is one folder, whose name is not a platform's.
  bool is_only_folder(const Listing& listing) const;

  // Whether a zip's only folder may be the class. It may be even if it has a known student's name, because that student
  // may have guessed the class's name in advance; then its contents decide.
  bool is_doubtful(const std::pair<const std::string, Pile>& folder) const;

  // Whether a listing is like that of an ada.zip with only ada/ inside, and cannot be a class packed with its folder.
  bool is_own_folder(const Listing& listing, const std::string& stem) const;

  // What is left of the names of sources and zips in one folder without the chapters' names; of names that tell no
  // chapter, only those of sources. These words may be the names of several students.
  std::set<std::string> words_of(const std::vector<Found>& files) const;

  // The files that are named like a chapter and whose names tell no student: they consist of the chapter's name alone,
  // or with parts that programs add. A short number is such a part only in a chapter's only file, and only behind the
  // chapter's name unless there are other chapters' files; otherwise it may be a student's.
  std::set<std::string> chapters_files_in(const std::vector<std::string>& names) const;

  // Those folders of a class that may be students' and contain files that may be graded.
  std::vector<std::string> students_folders(const Listing& listing) const;

  // Whether a file's name tells its student, independent of its folder's name.
  bool names_its_student(const std::string& name) const;

 private:
  bool holds_students(const Listing& listing) const;

  // Whether a pile contains several files of one chapter, or several files and folders that tell no chapter, and
  // neither my/ nor a file with only a chapter's name.
  bool may_be_next_class(const std::string& called, const Pile& pile) const;

  // Takes away the one folder that contains everything; false if there is none, or if it is a chapter's or a
  // checkout's.
  bool take_off_wrapper(Pile& pile) const;

  // Whether a file may be a hand-in. If there is only one chapter, the file may have any name.
  bool is_hand_in(const Found& file) const;

  // Whether files in a student's folder are named like hand-ins of other people: one has another student's name, or
  // several may have.
  bool names_others(const std::string& folder, const std::vector<Found>& files) const;

  // Whether the folder counts as a hand-in: it has a student's or a platform's name, or a file in it would be graded.
  bool holds_hand_in(const std::string& folder, const Pile& pile, const LmsRecords& records) const;

  // The parts of names other than a chapter's name, for sources and zips in one folder. They may be names of people.
  std::set<std::string> people_in(const std::vector<Found>& files) const;

  // Adds short numbers from names that tell a chapter. Up to two of a chapter may be versions of one student's file;
  // more are taken for the names of several students.
  void add_numbered(const std::vector<Found>& files, std::set<std::string>& words) const;

  const ChapterNames& chapters_;
  const std::set<std::string>& known_students_;
};

}  // namespace roofwalk
