#include "grader/rig/json_file.h"

#include "common/base/atomic_file.h"
#include "common/base/json.h"
#include "grader/course/course.h"

namespace roofwalk {

namespace fs = std::filesystem;

Json read_json_file(const fs::path& file) { return parse_json(file_text(file)); }

void write_json_file(const Json& json, const fs::path& file) { (void)replace_file(file, json_text(json) + "\n"); }

}  // namespace roofwalk
