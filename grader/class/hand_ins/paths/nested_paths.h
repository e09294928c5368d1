// Checks folders of several students that are given one by one: each must be in a place where a student's folder may
// be.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

// A path that is given as a student's hand-in.
struct NamedOne {
  std::filesystem::path full = {};
  std::string student = {};  // the student whom the path's own name tells
  bool is_folder = false;    // else a file
  bool is_by_files = false;  // a folder that is not given itself, but some of its files are
  bool has_number = false;   // whether the name has a platform's number that identifies a person
  bool is_chapters = false;  // a file that is named like a chapter and so is nobody's; only its folder's name counts
};

// Returns the paths that are left out, and why: a file with the name of another student's folder; a folder whose name
// tells no student, next to students' folders. Errors: a path inside a folder that may be another student's; two
// folders with the same name; a folder whose name tells no student, if no student's folder is next to it. In all these
// cases, a student could get another student's row. `chapters`: names that are no student's. `known`: known students,
// whose folders may be in several places.
Result<std::map<std::filesystem::path, std::string>> check_nested(const std::vector<NamedOne>& all,
                                                                  const std::vector<std::string>& chapters,
                                                                  const std::set<std::string>& known);

}  // namespace roofwalk
