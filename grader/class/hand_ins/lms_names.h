// The owner and the chapter of a file, from names alone, as people and learning platforms write them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grader/class/hand_ins/canvas/canvas_names.h"
#include "grader/class/hand_ins/name_letters.h"

namespace roofwalk {

// The platform's own mark for lateness. If the platform marks files, their times are those of the download and tell
// nothing about lateness.
enum class LateMark { none, on_time, late };

struct Owner {
  std::string student;  // never empty, printable UTF-8; if there is a platform's number, it follows in parentheses
  std::string lms_id;   // the platform's number for the student; empty if the name has none
  LateMark mark = LateMark::none;
  std::string alike = {};  // if the name can be read in several ways: the same text for all rows that may be this
                           // person's, which is the student of a row with a number if the person has one
};

// How an owner is known: from a form that only a platform writes; from a student's and a chapter's name; or from a
// name alone.
enum class NamedBy { platform, student_and_chapter, name };

// Whether a platform's number identifies a person. Moodle numbers the participants, groups included, anew in each
// assignment, so their numbers ("Participant 4711") identify nobody outside that assignment. A number that a student
// may have typed ("Unproven 77"), as on Gradescope, does not identify a person either: it is shown, but does not join
// rows.
bool is_persons(const std::string& lms_id);
bool is_participants(const std::string& lms_id);  // whether the number is a participant's of Moodle

// The number without our prefix, as people know it.
std::string number_of(const std::string& lms_id);

// The same, safe to show (see plain_name()).
std::string plain_number_of(const std::string& lms_id);

// What one file name tells. Canvas' form is "doejane_LATE_123_456_vector-add-1.cu", Moodle's without folders "Jane
// Doe_123_assignsubmission_file_vector-add.cu"; other names are STUDENT.cu or STUDENT_CHAPTER.cu. `rest` is the
// learner's own file name, which platforms keep at the end; for other names, the whole name.
struct NamedFile {
  Owner owner;
  std::string rest;
  NamedBy by = NamedBy::name;
  bool has_one_limit = false;  // whether all rows that may be this person's (Owner::alike) are graded as one's
};

// If there are several marks, the first is the platform's, because a learner's own name may contain another.
NamedFile owner_of_file(const std::string& name, const std::vector<std::string>& chapters);

// The names of files in one folder of a class, and of the folders next to them that contain hand-ins. Together they
// give more evidence than each alone. Names in Canvas' form are suspected of being forged if Canvas did not name all
// files and students chose the other names, or if at least as many students have a folder or a Moodle file as have a
// Canvas file. Suspected names prove no number, and do not show that a file was on time.
class ClassNames {
 public:
  ClassNames(const std::vector<std::string>& files, const std::vector<std::string>& chapters,
             const std::vector<std::string>& folders = {});

  NamedFile owner_of(const std::string& name) const;
  NamedFile owner_of_folder(const std::string& name) const;

  bool is_mixed() const { return is_mixed_; }

  // Whether a file is left out, because its name may be any of several people's (CanvasNames::is_left_out).
  bool is_left_out(const std::string& file) const { return canvas_.is_left_out(file); }

  // Gives an unproven number a row of its own, "smithbob (4812?)", if one of these students has that number on record.
  void keep_apart(const std::set<std::string>& proven) { proven_ = proven; }

  // Handles the case that all files and folders are one student's, who may have chosen their names. Then a mark that
  // says "on time" is doubted, and so is the number unless it is on record. `proven`: students with numbers on record.
  void doubt_alone(const std::vector<std::string>& files, const std::vector<std::string>& folders,
                   const std::set<std::string>& proven);

  // The same for the files of a zip that has the name of a student with a file in it, who may have made the zip. If
  // the student is alone in it, its names are doubted, and the times in the zip are that student's own, too. If it is
  // one of a few students, nothing is doubted yet: neither may the student choose the others' marks and times, nor may
  // the student's name take them away.
  enum class Namesake : std::uint8_t { none, alone, among_few };
  Namesake doubt_namesake(const std::string& stem, const std::vector<std::string>& files,
                          const std::set<std::string>& proven);

  // What doubt_namesake() found, as part of a sentence about the zip; empty if the zip has no such name.
  const std::string& namesake() const { return namesake_; }

  // Pairs of a file's name, which may be empty, and a line about it.
  const std::vector<std::pair<std::string, std::string>>& told() const { return told_; }

 private:
  // If names in Canvas' form are suspected of being forged (see above), returns the name of a file or folder that
  // Canvas did not name; otherwise an empty text.
  std::string doubtful_beside(const std::vector<std::string>& files, const std::vector<std::string>& folders) const;
  NamedFile believed(NamedFile named) const;
  void tell_of_otherwise(const std::vector<std::string>& files);
  void tell_of_beside(const std::vector<std::string>& files, const std::vector<std::string>& folders);
  void tell_of_blackboard(const std::vector<std::string>& files);
  void tell_of_few(const std::string& first, std::size_t people);

  std::vector<std::string> chapters_;
  bool is_moodles_;  // if false, Moodle's mark in a name is part of a person's name, because Canvas wrote the names
  CanvasNames canvas_;
  bool is_mixed_ = false;
  std::set<std::string> proven_;  // students whose unproven numbers have rows of their own
  enum class Alone : std::uint8_t { no, proven, unproven };
  std::string namesake_;
  Alone alone_ = Alone::no;  // whether everything is one student's, whose number is on record (proven) or is not
  std::vector<std::pair<std::string, std::string>> told_;
};

// The owner of a folder in a class. The name may have Moodle's form, "Jane Doe_123_assignsubmission_file_", or that of
// a Canvas file that was unpacked into the folder, "doejane_LATE_123_456_..."; otherwise it is the student's name.
NamedFile owner_of_folder(const std::string& name);

// The chapter in a file's name, in any form that a platform or a browser made of it: "vector-add.cu", "vector_add
// (1).cu", "01-vector-add-2.cu", "hw1_vector-add.cu". nullopt if the name has none, or several.
std::optional<std::string> chapter_of_file(const std::string& name, const std::vector<std::string>& chapters);

// beside_chapter() returns the part of a file's name beside the chapter's name: "ada" for "vector-add_ada (1).cu",
// "480012" for "vector-add_480012.cu". It leaves out words for versions, and short numbers unless they are `counted`.
enum class Versions : std::uint8_t { left_out, counted };
std::string beside_chapter(const std::string& name, const std::vector<std::string>& chapters,
                           Versions versions = Versions::left_out);

// Whether the name is only a chapter's name, perhaps with words for versions, and no student's name precedes it.
bool is_chapters_alone(const std::string& name, const std::vector<std::string>& chapters);

// A name followed by the platform's number, because two people may have the same name: "Jane Doe (7)". Different
// numbers give different texts, for any name. Without a name, only the number: "(7)".
Owner owner_with_id(const std::string& name, const std::string& id);

// Like owner_with_id(), for a number that a student may have typed.
Owner owner_with_unproven_id(const std::string& name, const std::string& id);

// A text that is safe to show: characters that are not harmless (characters.h) become "?", invalid UTF-8 becomes
// U+FFFD; at most 200 bytes, then "...". Never empty.
std::string plain_name(const std::string& name);

// Like plain_name(), but different names give different texts: if the conversion changes the name, a hash of the full
// name is appended.
std::string student_name(const std::string& name);

// A student without the hash that student_name() appended, if the hash stands for characters that do not show. It stays
// if it stands for a part of the name that is lost: the end of a long one, or what is no UTF-8.
std::string without_hash(const std::string& student);

}  // namespace roofwalk
