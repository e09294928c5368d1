// Checks folders of several students that are named one by one: each must be in a place where a student's folder may
// be.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

// A path that is named for a student.
struct NamedOne {
  std::filesystem::path full = {};
  std::string student = {};  // the student as the path's own name tells
  bool is_folder = false;    // else a file
  bool is_by_files = false;  // a folder of which files are named
  bool has_number = false;   // whether the name has a platform's number of a person
};

// Errors: a path inside a folder that may be another student's; two folders with the same name, or a file with the
// name of other students' folder; a folder whose name tells no student. In these cases a student's own folder could
// get another student's row. `chapters`: names that are no student's. `known`: known students, whose folders may be
// in several places.
Status refuse_nested(const std::vector<NamedOne>& all, const std::vector<std::string>& chapters,
                     const std::set<std::string>& known);

}  // namespace roofwalk
