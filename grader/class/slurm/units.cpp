#include "grader/class/slurm/units.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "common/base/atomic_file.h"
#include "common/base/hash.h"
#include "common/base/json_reader.h"
#include "grader/course/course.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostUnitsOfATask = 1024;

std::vector<std::string> names_in(const fs::path& folder, const std::string& ending) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (!name.ends_with(ending)) continue;
    name.resize(name.size() - ending.size());
    names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A text with its hash in front. A file that was cut, or mixed from two, does not match its hash.
std::string sealed(const std::string& text) { return sha256_hex(text) + "\n" + text; }

std::optional<Json> unsealed(const std::string& bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::string text = bytes.substr(end + 1);
  if (sha256_hex(text) != bytes.substr(0, end)) return std::nullopt;
  Json json = parse_json(text);
  if (json.is_discarded()) return std::nullopt;
  return json;
}

Result<Json> answer_of(const UnitFolder& folder, const Unit& unit, const fs::path& program,
                       const WorkerLimits& limits) {
  const TemporaryFolder scratch("unit");
  if (scratch.path().empty()) return Error{.message = "the node has no temporary folder that can be written"};
  const std::string bytes = file_text(folder.source(unit.source_sha256));
  if (sha256_hex(bytes) != unit.source_sha256) {
    return Error{.message = "the submission's copy is damaged", .file = folder.source(unit.source_sha256).string()};
  }
  if (sha256_hex(file_text(program)) != unit.program_sha256) {
    return Error{.message = "this program is another one than submitted the job",
                 .file = program.string(),
                 .advice = "give the same command again"};
  }
  ROOFWALK_TRY_STATUS(replace_file(scratch.path() / unit.file_name, bytes));
  Json job = unit.job;
  job["folder"] = scratch.path().string();
  return run_in_worker(program, job, limits);
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "?";
}

}  // namespace

Status UnitFolder::make() const {
  std::error_code error;
  fs::create_directories(root_.parent_path(), error);
  if (::mkdir(root_.c_str(), 0700) != 0 && errno != EEXIST) error.assign(errno, std::generic_category());
  struct stat info {};
  if (!error && (::lstat(root_.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid())) {
    return Error{.message = "is no folder of yours, so somebody else may read and write in it",
                 .file = root_.string(),
                 .advice = "remove it, or name another place with --shared"};
  }
  if (!error) fs::permissions(root_, fs::perms::owner_all, error);
  for (const char* const part : {"arrays", "sources", "results"}) {
    if (!error) fs::create_directories(root_ / part, error);
  }
  if (!error) return kOk;
  return Error{.message = "the folder cannot be made: " + error.message(), .file = root_.string()};
}

Status UnitFolder::write(const std::string& name, std::size_t task, const std::vector<Unit>& units) const {
  Json all = Json::array();
  for (const Unit& unit : units) {
    all.push_back({{"name", unit.name},
                   {"source_sha256", unit.source_sha256},
                   {"file_name", unit.file_name},
                   {"job", unit.job},
                   {"program_sha256", unit.program_sha256}});
  }
  return replace_file(array(name) / fmt::format("{}.json", task), sealed(json_line(all)));
}

Result<std::vector<Unit>> UnitFolder::read(const std::string& name, std::size_t task) const {
  const fs::path file = array(name) / fmt::format("{}.json", task);
  const auto all = unsealed(file_text(file));
  if (!all || !all->is_array() || all->size() > kMostUnitsOfATask) {
    return Error{.message = "the task's submissions cannot be read", .file = file.string()};
  }
  std::vector<Unit> units;
  for (const Json& one : *all) {
    Unit& unit = units.emplace_back();
    JsonReader in(one, "a unit");
    in.text("name", unit.name);
    in.text("source_sha256", unit.source_sha256);
    in.text("file_name", unit.file_name);
    in.text("program_sha256", unit.program_sha256);
    in.with("job", [&](const Json& job) -> Status {
      unit.job = job;
      return kOk;
    });
    ROOFWALK_TRY_STATUS(in.end());
  }
  return units;
}

std::vector<std::string> UnitFolder::arrays() const { return names_in(root_ / "arrays", ""); }

std::vector<std::size_t> UnitFolder::tasks(const std::string& name) const {
  std::vector<std::size_t> tasks;
  for (const std::string& text : names_in(array(name), ".json")) {
    std::size_t task = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), task);
    if (error == std::errc() && end == text.data() + text.size()) tasks.push_back(task);
  }
  std::sort(tasks.begin(), tasks.end());
  return tasks;
}

std::vector<std::string> UnitFolder::answered() const { return names_in(root_ / "results", ".json"); }

std::optional<Result<Json>> UnitFolder::answer(const std::string& unit) const {
  auto json = unsealed(file_text(result(unit)));
  if (!json || json->text_of("unit") != unit) return std::nullopt;
  if (const std::string fault = json->text_of("fault"); !fault.empty()) {
    return Error{.message = fmt::format("{} (node {})", fault, json->text_of("node"))};
  }
  return json->value("answer", Json::object());
}

Status UnitFolder::write_answer(const std::string& unit, const Result<Json>& answer) const {
  Json json = {{"schema", "roofwalk.unit_answer/1"}, {"unit", unit}, {"node", host_name()}};
  if (answer) {
    json["answer"] = *answer;
  } else {
    json["fault"] = answer.error().text();
  }
  return replace_file(result(unit), sealed(json_line(json)));
}

Status run_task(const UnitFolder& folder, const std::string& array, std::size_t task, const fs::path& program,
                const WorkerLimits& limits) {
  ROOFWALK_TRY(const auto units, folder.read(array, task));
  for (const Unit& unit : units) {
    if (folder.answer(unit.name)) continue;  // a task that runs again
    ROOFWALK_TRY_STATUS(folder.write_answer(unit.name, answer_of(folder, unit, program, limits)));
  }
  return kOk;
}

}  // namespace roofwalk
