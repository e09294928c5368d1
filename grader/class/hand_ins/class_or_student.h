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

  // Whether its names have a platform's form. A platform wrote them, or a person who imitates them.
  static bool looks_like_class(const Listing& listing);

  // Whether its files are named like several people's hand-ins, or it has several folders that are not named like a
  // chapter or a checkout's folder.
  bool may_hold_students(const std::string& called, const Pile& pile) const;

  // For a folder or zip that has a known student's name: whether it may be the next class, whose name the student
  // guessed in advance. The class may be in a folder of its own inside, or in several.
  bool may_be_class(const std::string& called, const Listing& listing) const;

  // Whether its files are named like chapters, and none of its other files and folders can be a student's.
  bool is_one_students(const Listing& listing, const LmsRecords& records) const;

  // Whether only one folder in it can be a student's, and that folder's name is not a platform's.
  bool is_only_folder(const Listing& listing) const;

  // Whether a zip's only folder may be the class, in spite of its name: a student with this name may have guessed the
  // class's name in advance.
  bool is_doubtful(const std::pair<const std::string, Pile>& folder) const;

  // Whether it is like ada.zip with only ada/ inside, which cannot be a class that was packed with its folder.
  bool is_own_folder(const Listing& listing, const std::string& stem) const;

  // The parts of names other than a chapter's name, for sources and zips in one folder, and for sources whose names
  // tell no chapter: these parts may be the names of several students.
  std::set<std::string> words_of(const std::vector<Found>& files) const;

  // The files that are named like a chapter and whose names tell no student: they consist of the chapter's name alone,
  // or with parts that programs add. A short number may be a student's if other files have one, or if it precedes the
  // chapter's name.
  std::set<std::string> chapters_files_in(const std::vector<std::string>& names) const;

  // Those folders of a class that may be students' and contain files that may be graded.
  std::vector<std::string> students_folders(const Listing& listing) const;

  // Whether a file's name tells its student, independent of its folder's name.
  bool names_its_student(const std::string& name) const;

 private:
  bool holds_students(const Listing& listing) const;

  // Whether it contains several files of one chapter or of none, or several folders, and nothing that is named like a
  // chapter.
  bool may_be_next_class(const std::string& called, const Pile& pile) const;

  // Removes the folder that contains everything; false if there is none, or if it is a chapter's or a checkout's.
  bool take_off_wrapper(Pile& pile) const;

  // Whether a file may be a hand-in. If there is only one chapter, the file may have any name.
  bool is_hand_in(const Found& file) const;

  // Whether files in a student's folder are named like hand-ins of other people: one has another student's name, or
  // several may have.
  bool names_others(const std::string& folder, const std::vector<Found>& files) const;

  // Whether the folder must contain a hand-in: it has a student's or a platform's name, or a file in it would be
  // graded.
  bool holds_hand_in(const std::string& folder, const Pile& pile, const LmsRecords& records) const;

  // The parts of names other than a chapter's name, for sources and zips in one folder. They may be names of people.
  std::set<std::string> people_in(const std::vector<Found>& files) const;

  // Adds short numbers, by chapter. Up to two may be versions of one student's file; more are the names of several
  // students.
  void add_numbered(const std::vector<Found>& files, std::set<std::string>& words) const;

  const ChapterNames& chapters_;
  const std::set<std::string>& known_students_;
};

}  // namespace roofwalk
