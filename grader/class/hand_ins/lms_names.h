// Whose a file is, and of which chapter: from names alone, as people and learning platforms give them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grader/class/hand_ins/canvas_names.h"

namespace roofwalk {

// Whether the platform itself marks lateness. If it does, the times of its files are those of the download, and mean
// nothing.
enum class LateMark { none, on_time, late };

struct Owner {
  std::string student;  // never empty, printable UTF-8; followed by the platform's number, if there is one
  std::string lms_id;   // the platform's number of the student; empty if the name has none
  LateMark mark = LateMark::none;
};

// What tells whose a file is: a form that only a platform writes; a student's and a chapter's name; or only a name.
enum class NamedBy { platform, student_and_chapter, name };

// Whether a platform's number identifies a person. Moodle numbers its participants, groups included, anew in each
// assignment, so its numbers ("Participant 4711") identify nobody elsewhere. Nor does a number that somebody may have
// chosen ("Unproven 77"), as students of Gradescope type theirs: it is shown, but joins no rows.
bool is_persons(const std::string& lms_id);
bool is_participants(const std::string& lms_id);  // Moodle's

// The number as people know it.
std::string number_of(const std::string& lms_id);

// What one name says: "doejane_LATE_123_456_vector-add-1.cu" as Canvas names files, "Jane
// Doe_123_assignsubmission_file_vector-add.cu" as Moodle does without folders, else STUDENT.cu or STUDENT_CHAPTER.cu.
// `rest` is the learner's own file name, which platforms keep at the end; else the whole name.
struct NamedFile {
  Owner owner;
  std::string rest;
  NamedBy by = NamedBy::name;
};

// The first mark is the platform's: a learner's own name may hold another.
NamedFile owner_of_file(const std::string& name, const std::vector<std::string>& chapters);

// Names of files side by side in a class, which together tell more, and of the folders beside them that hold hand-ins.
// If somebody other than Canvas named some of the files, as students do, or if at least as many students have a folder
// or a Moodle file as have a Canvas file, names like Canvas' may be forged: then they give nobody a number of Canvas',
// and they excuse no lateness.
class ClassNames {
 public:
  ClassNames(const std::vector<std::string>& files, const std::vector<std::string>& chapters,
             const std::vector<std::string>& folders = {});

  NamedFile owner_of(const std::string& name) const;
  NamedFile owner_of_folder(const std::string& name) const;

  bool is_mixed() const { return is_mixed_; }

  // Doubts the names of files and folders that are all of one student, who may have chosen them: a mark that says "on
  // time", and the number unless the record has it. `proven`: students with such numbers.
  void doubt_alone(const std::vector<std::string>& files, const std::vector<std::string>& folders,
                   const std::set<std::string>& proven);

  // A file's name, or nothing, and a line about it.
  const std::vector<std::pair<std::string, std::string>>& told() const { return told_; }

 private:
  // A name outside of Canvas' pattern, beside which the names that match the pattern may match by chance. Empty: none.
  std::string doubtful_beside(const std::vector<std::string>& files, const std::vector<std::string>& folders) const;
  NamedFile believed(NamedFile named) const;
  void tell_of_otherwise(const std::vector<std::string>& files);

  std::vector<std::string> chapters_;
  bool is_moodles_;  // else Moodle's mark is part of somebody's name, among names of Canvas'
  CanvasNames canvas_;
  bool is_mixed_ = false;
  enum class Alone : std::uint8_t { no, proven, unproven };
  Alone alone_ = Alone::no;  // all is of one student, with a number in the record or without
  std::vector<std::pair<std::string, std::string>> told_;
};

// The owner of a folder: "Jane Doe_123_assignsubmission_file_" as Moodle names folders, "doejane_LATE_123_456_..." if a
// Canvas file was unpacked into one; else the student's own name.
NamedFile owner_of_folder(const std::string& name);

// The chapter that a file's name tells, whatever a platform or a browser made of it: "vector-add.cu", "vector_add
// (1).cu", "01-vector-add-2.cu", "hw1_vector-add.cu". Nothing if it tells none, or several.
std::optional<std::string> chapter_of_file(const std::string& name, const std::vector<std::string>& chapters);

// What a file's name says besides the chapter's, without short numbers and words for versions: "vector-add_ada (1).cu"
// says "ada", "vector-add_480012.cu" says "480012".
// `counted`: with the short numbers.
enum class Versions : std::uint8_t { left_out, counted };
std::string beside_chapter(const std::string& name, const std::vector<std::string>& chapters,
                           Versions versions = Versions::left_out);

// Whether the name is only a chapter's, apart from words for versions, and has no student's before it.
bool is_chapters_alone(const std::string& name, const std::vector<std::string>& chapters);

// A name followed by the platform's number, since two people may have one name: "Jane Doe (7)". Different numbers give
// different texts, whatever the name is. Without a name, only the number: "(7)".
Owner owner_with_id(const std::string& name, const std::string& id);

// The same for a number that somebody may have chosen.
Owner owner_with_unproven_id(const std::string& name, const std::string& id);

// The text in small letters, in all alphabets; bytes that are not UTF-8 stay.
std::string small_letters(const std::string& text);

// The letters and digits of a name in small letters, Latin ones without accents: the same for all spellings of a name.
std::string name_letters(const std::string& name);

// Safe to show: characters that are not harmless (characters.h) become "?", bytes that are not UTF-8 become U+FFFD; at
// most 200 bytes, then "...". Never empty.
std::string plain_name(const std::string& name);

// The same for a student's name. Different names stay different: if the plain name loses anything, a hash of the full
// name follows it.
std::string student_name(const std::string& name);

}  // namespace roofwalk
