#include "grader/kept.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "grader/course.h"

namespace roofwalk {

namespace fs = std::filesystem;

Json kept_json(const fs::path& file) { return Json::parse(file_text(file), nullptr, false); }

void keep_json(const Json& json, const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const fs::path fresh = file.string() + fmt::format(".new-{}", getpid());
  std::ofstream out(fresh, std::ios::binary);
  out << json.dump(2) << '\n';
  out.close();
  if (out) fs::rename(fresh, file, error);
  fs::remove(fresh, error);
}

}  // namespace roofwalk
