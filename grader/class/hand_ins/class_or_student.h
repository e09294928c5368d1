// Decides whether a path is a class or one student's hand-in, from the names in it and the students on record.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grader/class/hand_ins/hand_in.h"
#include "grader/class/hand_ins/listing.h"
#include "grader/class/hand_ins/lms_metadata.h"

namespace roofwalk {

class ClassOrStudent {
 public:
  // Both must outlive this object. `known_students`: the students on record from earlier calls.
  ClassOrStudent(const ChapterNames& chapters, const std::set<std::string>& known_students)
      : chapters_(chapters), known_students_(known_students) {}

  bool is_known_student(const std::string& folder) const;

  // Whether a folder or zip is a link that is named like a known student. Whoever names a class chose the name of any
  // other link.
  bool is_students_link(const std::filesystem::path& full) const;

  const std::set<std::string>& known_students() const { return known_students_; }
  static bool is_platforms(const std::string& folder);
  static bool is_platforms_file(const std::string& name);

  // Whether the names in a listing have a platform's form. A platform may have written them, or a person who imitates
  // one.
  static bool looks_like_class(const Listing& listing);

  // Whether a pile may be of several students: its files are named like several people's hand-ins, one of its names has
  // a platform's form, or it has several folders, none of which is named like a chapter or a checkout's my/.
  bool may_hold_students(const std::string& called, const Pile& pile) const;

  // Whether a folder or zip with a known student's name may be a class nevertheless. A student who guessed the name of
  // the next class may have handed in under that name, so that it is now known as a student's. The class may lie
  // deeper, in a folder or several nested ones.
  bool may_be_class(const std::string& called, const Listing& listing) const;

  // Whether everything in a listing is one student's: there are files named like chapters, and no other file or folder
  // that may be a student's hand-in.
  bool is_one_students(const Listing& listing, const LmsRecords& records) const;

  // Whether a listing has only one folder, which no platform named, and no file outside it that may be a hand-in.
  bool is_only_folder(const Listing& listing) const;

  // Whether the only folder of a zip may be the class. If the folder has a known student's name, its contents decide,
  // because that student may have guessed the class's name in advance.
  bool is_doubtful(const std::pair<const std::string, Pile>& folder) const;

  // Whether a listing is like that of a file ada.zip that contains only the folder ada/, and cannot be a class that was
  // packed together with its folder.
  bool is_own_folder(const Listing& listing, const std::string& stem) const;

  // The words that may be students' names in the names of one folder's files: what is left of the names of sources and
  // zips without the chapters' names. If a name contains no chapter's name, only a source's counts.
  std::set<std::string> words_of(const std::vector<Found>& files) const;

  // The files whose names tell a chapter but no student: the chapter's name alone, or with parts that programs add. A
  // short number in a name is usually taken for a student's. It counts as added by a program only if the chapter has no
  // other file, and the number follows the chapter's name or there are files of other chapters, too; or if it is the
  // number in brackets that a browser adds, and the file without it is there.
  std::set<std::string> chapters_files_in(const std::vector<std::string>& names) const;

  // Those folders of a class that may be students' and contain files that may be graded.
  std::vector<std::string> students_folders(const Listing& listing) const;

  // Whether a file's name tells its student, independent of its folder's name.
  bool names_its_student(const std::string& name) const;

 private:
  bool holds_students(const Listing& listing) const;

  // Whether a pile may be the class whose name a student guessed (see may_be_class()): it has several files of one
  // chapter, or several files and folders whose names tell no chapter, and neither my/ nor a file with only a chapter's
  // name.
  bool may_be_next_class(const std::string& called, const Pile& pile) const;

  // If one folder contains the whole pile, and is neither a chapter's nor a checkout's, removes it from the files'
  // paths. False if there is no such folder.
  bool take_off_wrapper(Pile& pile) const;

  // Whether a file may be a hand-in. If there is only one chapter, the file may have any name.
  bool is_hand_in(const Found& file) const;

  // Whether files in a student's folder are named like other people's hand-ins: one of them has the name of a student,
  // or several have different names that may be students'.
  bool names_others(const std::string& folder, const std::vector<Found>& files) const;

  // Whether the folder counts as a hand-in: it has a student's or a platform's name, or a file in it would be graded.
  bool holds_hand_in(const std::string& folder, const Pile& pile, const LmsRecords& records) const;

  // Removes the chapter from the names of a folder's sources and zips, and returns the rests, which may be people's
  // names. Names that tell no chapter are ignored.
  std::set<std::string> people_in(const std::vector<Found>& files) const;

  // Adds the short numbers that stand beside a chapter's name in files' names, if a chapter has more than two such
  // files. Two may be versions of one student's file; more are taken for several students' numbers.
  void add_numbered(const std::vector<Found>& files, std::set<std::string>& words) const;

  const ChapterNames& chapters_;
  const std::set<std::string>& known_students_;
};

// Notices if all of several paths seem to be classes, although each of several paths is one student's hand-in.
class SeveralClasses {
 public:
  // Looks into one of the paths. One that is not a folder or a zip has no `listing`.
  void add(const std::string& label, const std::string& called, const Listing* listing, const ClassOrStudent& guess);

  // Refuses the paths if each holds hand-ins of several students on record. Otherwise, adds a line to `told` if each
  // may hold several students' hand-ins. Looks at all paths together, because a single student may have filled a folder
  // in any way.
  Status check(std::vector<std::string>& told) const;

 private:
  std::size_t paths_ = 0, with_known_ = 0, with_several_ = 0;
  std::string first_;  // label
};

}  // namespace roofwalk
