// Tells whether a path is a class or one student's hand-in, by the names in it and by who handed in before.
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
  // Both must outlive this. `known_students`: those on record from earlier calls.
  ClassOrStudent(const ChapterNames& chapters, const std::set<std::string>& known_students)
      : chapters_(chapters), known_students_(known_students) {}

  bool is_known_student(const std::string& folder) const;
  const std::set<std::string>& known_students() const { return known_students_; }
  static bool is_platforms(const std::string& folder);
  static bool is_platforms_file(const std::string& name);

  // By the names in it, a platform wrote it, or somebody who wants it to look so.
  static bool looks_like_class(const Listing& listing);

  bool holds_students(const Listing& listing) const;

  // Whether files in it are named like others' hand-ins, or it holds several folders, none of them a chapter's or a
  // checkout's.
  bool may_hold_students(const std::string& called, const Pile& pile) const;

  // Whether something with a known student's name holds several files of one chapter or of none, or several folders,
  // and nothing named like a chapter: that student may have foreseen what the next class would be called.
  bool may_be_next_class(const std::string& called, const Pile& pile) const;

  // Its files are named like chapters, and nothing beside them can be a student's.
  bool is_one_students(const Listing& listing, const LmsRecords& records) const;

  // Only one folder in it can be somebody's, and its name is not a platform's.
  bool is_only_folder(const Listing& listing) const;

  // Whether a zip's only folder may be the class: a student of that name may have foreseen the class's name.
  bool is_doubtful(const std::pair<const std::string, Pile>& folder) const;

  // ada.zip with nothing in it but ada/, which cannot be a class packed with its folder.
  bool is_own_folder(const Listing& listing, const std::string& stem) const;

  // What the names of sources and zips side by side say besides a chapter's name, and those of sources that tell no
  // chapter: these may be the names of several students.
  std::set<std::string> words_of(const std::vector<Found>& files) const;

  // The files that are named like a chapter and tell no student: the chapter's name alone, or with what programs add to
  // it. A short number may be a student's if other files have one, or if it precedes the chapter's name.
  std::set<std::string> chapters_files_in(const std::vector<std::string>& names) const;

  // Those folders of a class that may be students', with something in them that may be graded.
  std::vector<std::string> students_folders(const Listing& listing) const;

  // Whether a file's name tells its student, whatever its folder is called.
  bool names_its_student(const std::string& name) const;

 private:
  // Whether a file may be a hand-in. With one chapter, it may have any name.
  bool is_hand_in(const Found& file) const;

  // Whether files side by side in a student's folder are named like others' hand-ins: one names somebody else, or
  // several may be anybody's.
  bool names_others(const std::string& folder, const std::vector<Found>& files) const;

  // Whether it must hold a hand-in: it has a student's or a platform's name, or something in it would be graded.
  bool holds_hand_in(const std::string& folder, const Pile& pile, const LmsRecords& records) const;

  // What the names of sources and zips side by side say besides a chapter's name: possibly whose they are.
  std::set<std::string> people_in(const std::vector<Found>& files) const;

  // Two short numbers may be versions of one student's file; more than two are the names of several students.
  void add_numbered(const std::vector<Found>& files, std::set<std::string>& words) const;

  const ChapterNames& chapters_;
  const std::set<std::string>& known_students_;
};

}  // namespace roofwalk
