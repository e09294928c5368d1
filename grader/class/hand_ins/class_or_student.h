// Whether what somebody named is a class or one student's hand-in, by the names in it and by who handed in before.
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
  // Both must outlive this. `known_students`: by the record of earlier calls.
  ClassOrStudent(const ChapterNames& chapters, const std::set<std::string>& known_students)
      : chapters_(chapters), known_students_(known_students) {}

  bool is_known_student(const std::string& folder) const;
  static bool is_platforms(const std::string& folder);
  static bool is_platforms_file(const std::string& name);

  // A platform wrote it, by the names in it, or somebody who wants that to be believed.
  static bool looks_like_class(const Listing& listing);

  bool holds_students(const Listing& listing) const;

  // Whether files in it are called as others' are, or there are folders side by side in it, none of them a chapter's or
  // a checkout's.
  bool may_hold_students(const std::string& called, const Pile& pile) const;

  // Whether what is called as a student of before holds several files of a chapter, or of none, or several folders, and
  // nothing that is called as a chapter: that student may have known what the next class will be called.
  bool may_be_next_class(const std::string& called, const Pile& pile) const;

  // Files that are called as chapters are, with nothing beside them that may be a student's.
  bool is_one_students(const Listing& listing, const LmsRecords& records) const;

  // Nothing but one folder may be somebody's, and its name is no platform's.
  bool is_only_folder(const Listing& listing) const;

  // Whether a zip's only folder may be the class: who was called so once may have known what the class will be called.
  bool is_doubtful(const std::pair<const std::string, Pile>& folder) const;

  // ada.zip with nothing in it but ada/, which can be no class packed with its folder.
  bool is_own_folder(const Listing& listing, const std::string& stem) const;

  // What sources and zips that lie side by side say besides a chapter's name, and sources that tell no chapter: others
  // of the class may have called theirs so.
  std::set<std::string> words_of(const std::vector<Found>& files) const;

  // Those that are called as chapters are, and tell nobody: by that name alone, or with what programs add to it. A
  // short number may be a student's where others have one, or stands before the chapter's name.
  std::set<std::string> chapters_files_in(const std::vector<std::string>& names) const;

  // Those of a class that may be students', with something in them that may be graded.
  std::vector<std::string> students_folders(const Listing& listing) const;

  // Whether a file's name says whose it is, whatever the folder is called in which it lies.
  bool names_its_student(const std::string& name) const;

 private:
  // With one chapter, a file a student may have any name.
  bool is_hand_in(const Found& file) const;

  // Whether files that lie side by side in a student's folder are called as others' hand-ins are: one that names
  // somebody else, or several that may be anybody's.
  bool names_others(const std::string& folder, const std::vector<Found>& files) const;

  // Whether something in it must be somebody's hand-in: it has a student's name or a platform's, or it would be graded.
  bool holds_hand_in(const std::string& folder, const Pile& pile, const LmsRecords& records) const;

  // What sources and zips that lie side by side say besides a chapter's name, which may be whose they are.
  std::set<std::string> people_in(const std::vector<Found>& files) const;

  // Two short numbers may be versions of one student's file; more are others of the class who call theirs so.
  void add_numbered(const std::vector<Found>& files, std::set<std::string>& words) const;

  const ChapterNames& chapters_;
  const std::set<std::string>& known_students_;
};

}  // namespace roofwalk
