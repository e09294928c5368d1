#include "grader/rig/kept.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "common/base/json.h"
#include "grader/course/course.h"

namespace roofwalk {

namespace fs = std::filesystem;

Json kept_json(const fs::path& file) { return parse_json(file_text(file)); }

void keep_json(const Json& json, const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const fs::path fresh = file.string() + fmt::format(".new-{}", getpid());
  std::ofstream out(fresh, std::ios::binary);
  out << json_text(json) << '\n';
  out.close();
  if (out) fs::rename(fresh, file, error);
  fs::remove(fresh, error);
}

}  // namespace roofwalk
