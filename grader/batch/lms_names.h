// Whose file is it, and of which chapter? From names alone, as people and learning platforms give them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace roofwalk {

// Whether the platform itself says so. Where it does, the times of its files are those of the download, and tell
// nothing.
enum class LateMark { none, on_time, late };

struct Owner {
  std::string student;  // never empty, printable UTF-8; with the platform's number behind it, where there is one
  std::string lms_id;   // the platform's number of the student; empty where the name has none
  LateMark mark = LateMark::none;
};

// What one name says: "doejane_LATE_123_456_vector-add-1.cu" as Canvas names files, else STUDENT.cu or
// STUDENT_CHAPTER.cu. `rest` is the learner's own file name, as Canvas keeps it at the end; else the whole name.
struct NamedFile {
  Owner owner;
  std::string rest;
};
NamedFile owner_of_file(const std::string& name, const std::vector<std::string>& chapters);

// A folder's: "Jane Doe_123_assignsubmission_file_" as Moodle names them; else the student's own name.
Owner owner_of_folder(const std::string& name);

// The chapter that a file's name speaks of, whatever a platform or a browser made of it: "vector-add.cu",
// "vector_add (1).cu", "01-vector-add-2.cu", "hw1_vector-add.cu". Nothing where it speaks of none, or of several.
std::optional<std::string> chapter_of_file(const std::string& name, const std::vector<std::string>& chapters);

// A name and the platform's number behind it, since two people may have one name: "Jane Doe (7)".
Owner owner_with_id(const std::string& name, const std::string& id);

// Control characters and bytes that are not UTF-8 become "?"; at most 200 bytes, the rest as "...". Never empty.
std::string plain_name(const std::string& name);

}  // namespace roofwalk
