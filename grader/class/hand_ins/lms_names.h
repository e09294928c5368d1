// Whose file is it, and of which chapter? From names alone, as people and learning platforms give them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/class/hand_ins/canvas_names.h"

namespace roofwalk {

// Whether the platform itself says so. Where it does, the times of its files are those of the download, and tell
// nothing.
enum class LateMark { none, on_time, late };

struct Owner {
  std::string student;  // never empty, printable UTF-8; with the platform's number behind it, where there is one
  std::string lms_id;   // the platform's number of the student; empty where the name has none
  LateMark mark = LateMark::none;
};

// Who says whose a file is: a platform, in a form that only it writes; a name and a chapter's; or nothing but a name.
enum class NamedBy { platform, student_and_chapter, name };

// Whether a platform's number stands for a person. Moodle numbers its participants anew in each assignment, groups
// among them, and its numbers ("Participant 4711") stand for nobody elsewhere. Nor does a number that somebody may have
// chosen ("Unproven 77"), as students of Gradescope type theirs: it is shown, and joins nobody.
bool is_persons(const std::string& lms_id);
bool is_participants(const std::string& lms_id);  // Moodle's

// The number as people know it.
std::string number_of(const std::string& lms_id);

// What one name says: "doejane_LATE_123_456_vector-add-1.cu" as Canvas names files, "Jane
// Doe_123_assignsubmission_file_vector-add.cu" as Moodle does without folders, else STUDENT.cu or STUDENT_CHAPTER.cu.
// `rest` is the learner's own file name, as platforms keep it at the end; else the whole name.
struct NamedFile {
  Owner owner;
  std::string rest;
  NamedBy by = NamedBy::name;
};

// The platform's mark is the first: a learner's own name may hold another.
NamedFile owner_of_file(const std::string& name, const std::vector<std::string>& chapters);

// The same of files that lie side by side in a class, which tell more together, and of the folders beside them in which
// hand-ins lie. Where somebody else than Canvas named some of the files, as where each student names one, or where as
// many students have a folder or a file of Moodle's as have one of Canvas', the others may be named so on purpose:
// nobody takes a number of Canvas' or escapes a deadline that way.
class ClassNames {
 public:
  ClassNames(const std::vector<std::string>& files, const std::vector<std::string>& chapters,
             const std::vector<std::string>& folders = {});

  NamedFile owner_of(const std::string& name) const;
  NamedFile owner_of_folder(const std::string& name) const;

  bool is_mixed() const { return is_mixed_; }

  // A file's name, or nothing, and a line about it.
  const std::vector<std::pair<std::string, std::string>>& told() const { return told_; }

 private:
  // What is not called as Canvas calls files, where that makes the others doubtful; else empty.
  std::string doubtful_beside(const std::vector<std::string>& files, const std::vector<std::string>& folders) const;
  NamedFile believed(NamedFile named) const;

  std::vector<std::string> chapters_;
  bool is_moodles_;  // a mark of Moodle's among names of Canvas' is in somebody's name
  CanvasNames canvas_;
  bool is_mixed_ = false;
  std::vector<std::pair<std::string, std::string>> told_;
};

// A folder's: "Jane Doe_123_assignsubmission_file_" as Moodle names them, "doejane_LATE_123_456_..." where a file of
// Canvas' was unpacked as one; else the student's own name.
NamedFile owner_of_folder(const std::string& name);

// The chapter that a file's name speaks of, whatever a platform or a browser made of it: "vector-add.cu",
// "vector_add (1).cu", "01-vector-add-2.cu", "hw1_vector-add.cu". Nothing where it speaks of none, or of several.
std::optional<std::string> chapter_of_file(const std::string& name, const std::vector<std::string>& chapters);

// What a file's name says besides the chapter's, without short numbers and what marks a version: "vector-add_ada
// (1).cu" says "ada", "vector-add_480012.cu" says "480012".
// `counted`: with those numbers.
enum class Versions : std::uint8_t { left_out, counted };
std::string beside_chapter(const std::string& name, const std::vector<std::string>& chapters,
                           Versions versions = Versions::left_out);

// Whether it is a chapter's name and nothing else, but for words that mark a version; no student's before it.
bool is_chapters_alone(const std::string& name, const std::vector<std::string>& chapters);

// A name and the platform's number behind it, since two people may have one name: "Jane Doe (7)". Other numbers give
// other texts, whatever is in a name. A number without a name stands alone: "(7)".
Owner owner_with_id(const std::string& name, const std::string& id);

// The same where somebody may have chosen the number.
Owner owner_with_unproven_id(const std::string& name, const std::string& id);

// All of a text in small letters, of whatever alphabet; bytes that are not UTF-8 stay.
std::string small_letters(const std::string& text);

// The letters and digits of a name, in small letters, Latin ones without their accents, however these are written: two
// spellings of one name have the same.
std::string name_letters(const std::string& name);

// For people to read: what could do more than be shown (characters.h) becomes "?", bytes that are not UTF-8 U+FFFD; at
// most 200 bytes, the rest as "...". Never empty.
std::string plain_name(const std::string& name);

// The same for whoever is graded. Names that differ stay apart: where the plain name says less than the name, a hash of
// all of it stands behind.
std::string student_name(const std::string& name);

}  // namespace roofwalk
