// Folders of several students that are named one by one: whether each lies where its student's folder may lie.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

// What is named for a student.
struct NamedOne {
  std::filesystem::path full = {};
  std::string student = {};  // by its own name
  bool is_folder = false;    // else a file
  bool is_by_files = false;  // a folder whose files are named
  bool has_number = false;   // a platform's, of a person
};

// Errors: a path that lies in what may be another student's folder; two folders that are called alike, or a file that
// is called as the folder of others is; a folder whose name tells no student. Then a student's own folder could take
// another's row. `chapters` and `known`: what is no student's name, and who is known as a student, whose folders may
// lie in several places.
Status refuse_nested(const std::vector<NamedOne>& all, const std::vector<std::string>& chapters,
                     const std::set<std::string>& known);

}  // namespace roofwalk
