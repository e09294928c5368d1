#include "grader/class/batch/collected.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "common/base/json.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInsert = "INSERT INTO collected (path, unowned) VALUES (?, ?)";
constexpr const char* kSelect = "SELECT path, unowned FROM collected ORDER BY id";

// Whether a recorded path is `path` or lies in it. An older schema recorded no paths, so a label stands for one: it
// begins with the name of the class, which is either the path or the folder in which the path lies.
bool is_in(const std::string& recorded, const std::string& path) {
  if (recorded == path || recorded.starts_with(path + "/")) return true;
  if (recorded.starts_with('/')) return false;
  for (std::size_t end = recorded.find('/');; end = recorded.find('/', end + 1)) {
    if (path.ends_with("/" + recorded.substr(0, end))) return true;
    if (end == std::string::npos) return false;
  }
}

// Removes a path and everything in it. Returns the lines that were removed.
std::vector<std::string> drop_in(const std::string& path, std::map<std::string, std::string>& by_path) {
  std::vector<std::string> dropped;
  std::erase_if(by_path, [&](const auto& one) {
    const bool is_dropped = is_in(one.first, path);
    if (is_dropped) dropped.push_back(one.second);
    return is_dropped;
  });
  return dropped;
}

// Whether the lines are about the path itself, which is no longer in its folder. A class's zip may be deleted once it
// is graded, and its lines stay: their labels begin with the zip's name.
bool is_moved_away(const std::string& path, const Json& lines) {
  const fs::path full = path;
  const std::string end = "/" + plain_name(full.filename().string());
  const bool is_itself = std::all_of(lines.begin(), lines.end(),
                                     [&](const Json& line) { return line.at(0).get<std::string>().ends_with(end); });
  std::error_code error;
  return full.is_absolute() && is_itself && fs::symlink_status(full, error).type() == fs::file_type::not_found &&
         fs::is_directory(full.parent_path(), error);
}

}  // namespace

bool Collected::insert(const std::string& path, const std::string& unowned) {
  Statement insert(database_, kInsert);
  insert.bind(path).bind(unowned);
  return !insert.step() && insert.done();
}

std::map<std::string, std::string> Collected::by_path() const {
  std::map<std::string, std::string> all;
  for (Statement row(database_, kSelect); row.step();) {
    drop_in(row.text(0), all);
    all[row.text(0)] = row.text(1);
  }
  return all;
}

std::vector<LeftOut> Collected::left_out() const {
  std::vector<LeftOut> all;
  for (const auto& [path, lines] : by_path()) {
    for (const Json& line : parse_json(lines))
      all.push_back({line.at(0).get<std::string>(), line.at(1).get<std::string>()});
  }
  return all;
}

// A row that would change nothing is not written: a class may have hundreds of paths, each given again with every call.
bool Collected::add(const Handed& handed) {
  const std::string none = json_line(Json::array());
  std::map<std::string, std::string> known = by_path();
  for (const std::string& path : handed.paths) {
    Json lines = Json::array();
    for (const LeftOut& out : handed.left_out) {
      if (out.path == path) lines.push_back({out.label, out.reason});
    }
    const std::string text = json_line(lines);
    const std::vector<std::string> dropped = drop_in(path, known);
    known[path] = text;
    const bool is_same = dropped.empty() ? text == none : dropped == std::vector{text};
    if (!is_same && !insert(path, text)) return false;
  }
  return std::all_of(known.begin(), known.end(), [&](const auto& one) {
    return one.second == none || !is_moved_away(one.first, parse_json(one.second)) || insert(one.first, none);
  });
}

void Collected::copy(Database& other) {
  for (Statement row(other, kSelect); row.step();) insert(row.text(0), row.text(1));
}

}  // namespace roofwalk
