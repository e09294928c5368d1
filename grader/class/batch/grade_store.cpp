#include "grader/class/batch/grade_store.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "common/base/hash.h"
#include "common/base/json.h"
#include "common/base/network_file_system.h"
#include "common/store/sqlite.h"
#include "common/store/store.h"
#include "grader/class/batch/collected.h"
#include "grader/class/batch/grade_schema.h"
#include "grader/class/batch/stored_grade.h"
#include "grader/walk/walk.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInsertGrade =
    "INSERT INTO grades (key, round, chapter, source_sha256, graded_at, result, plot, profile, row_sha256) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertStudent = "INSERT INTO students VALUES (?, ?) ON CONFLICT DO NOTHING";
constexpr const char* kInsertSubmission = "INSERT INTO submissions VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
constexpr const char* kInsertLeftOut = "INSERT INTO left_out VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
constexpr const char* kSelectLeftOut =
    "SELECT label, reason, student, handed_in_at_s FROM left_out ORDER BY label, reason, student, handed_in_at_s";
// Whenever a class's zip is downloaded again, the same left-out file comes with a later time; this lists it only once,
// with its last time.
constexpr const char* kSelectLastLeftOut =
    "SELECT label, reason, student, MAX(handed_in_at_s) FROM left_out WHERE student <> '' "
    "GROUP BY label, reason, student ORDER BY label, reason, student";
constexpr const char* kInsertExported = "INSERT INTO exported (head, student_id, cell) VALUES (?, ?, ?)";
constexpr const char* kInsertFault = "INSERT INTO faults (key, round, reason, at) VALUES (?, ?, ?, ?)";

Error failure(const Database& database, const fs::path& file) {
  Error error{.message = database.message(), .file = file.string()};
  switch (database.code()) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {.message = "another program has been writing the grades for half a minute",
              .file = file.string(),
              .advice = "wait for it to end, then give the same command again"};
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return {.message = "the grades cannot be written",
              .file = file.string(),
              .advice = "check the owner and the permissions of the file and its folder"};
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return {.message = "the grades cannot be written: the disk is full, or broken",
              .file = file.string(),
              .advice = "free some space, then give the same command again: it goes on where it stopped"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {.message = "the grades are damaged",
              .file = file.string(),
              .advice = "give the same command again: intact rows are kept, the others graded again"};
    default:
      return error;
  }
}

// Refuses network file systems, because SQLite's write-ahead log works on one host only.
Status refuse_network(const fs::path& file) {
  const char* const name = network_file_system(file.parent_path());
  if (name == nullptr) return kOk;
  return Error{
      .message = fmt::format("the grades would be on a network file system ({}), where a database can be lost", name),
      .file = file.string(),
      .advice = "give a folder on a local disk with --grades"};
}

std::string row_hash(const std::string& previous, const StoredGrade& grade, const std::string& result) {
  std::string all;
  for (const std::string& part : {previous, grade.key, std::to_string(grade.round), grade.chapter, grade.source_sha256,
                                  grade.graded_at, result, grade.plot, grade.profile}) {
    all += std::to_string(part.size()) + ":" + part;
  }
  return sha256_hex(all);
}

Status prepare(Database& database, const fs::path& file) {
  if (database.code() != SQLITE_OK || !database.run(kSafeSettings)) return failure(database, file);
  const std::int64_t version = database.number("PRAGMA user_version", -1);
  if (version < 0 || !database.use_write_ahead_log()) return failure(database, file);
  if (version > kGradeSchema) {
    return Error{.message = fmt::format("these grades were written by a newer roofwalk (schema {})", version),
                 .file = file.string(),
                 .advice = "update this checkout"};
  }
  if (version < kGradeSchema) {
    Transaction transaction(database);
    if (!transaction.is_open()) return failure(database, file);
    if (database.number("PRAGMA user_version", -1) == kGradeSchema) return kOk;  // another process made them
    if (version == 0 && database.number("SELECT count(*) FROM sqlite_schema", -1) != 0) {
      return Error{
          .message = "this is a database of some other program", .file = file.string(), .advice = "move it away"};
    }
    if (!make_grade_schema(database, version) || !transaction.commit()) {
      if (is_damage(database.code())) return Error{.message = "damaged", .file = file.string()};
      return failure(database, file);
    }
    if (version == 0) return kOk;
  }
  Statement check(database, "PRAGMA quick_check(1)");
  if (check.step() && check.text(0) == "ok") return kOk;
  if (!is_damage(database.code()) && database.code() != SQLITE_ROW) return failure(database, file);
  return Error{.message = "damaged", .file = file.string()};
}

}  // namespace

struct GradeStore::Impl {
  fs::path file;
  mutable Database database;

  Error failed() const { return failure(database, file); }

  std::string last_hash() {
    Statement last(database, "SELECT row_sha256 FROM grades ORDER BY id DESC LIMIT 1");
    return last.step() ? last.text(0) : std::string();
  }

  // Must be called in the caller's transaction.
  bool insert(const StoredGrade& grade) {
    const std::string result = json_line(grade.result), hash = row_hash(last_hash(), grade, result);
    Statement insert(database, kInsertGrade);
    insert.bind(grade.key).bind(grade.round).bind(grade.chapter).bind(grade.source_sha256).bind(grade.graded_at);
    insert.bind(result).bind(grade.plot).bind(grade.profile).bind(hash);
    return !insert.step() && insert.done();
  }

  bool insert(const Submission& s) {
    Statement insert(database, kInsertSubmission);
    insert.bind(s.owner.student)
        .bind(s.owner.lms_id)
        .bind(static_cast<std::int64_t>(s.owner.mark))
        .bind(s.chapter)
        .bind(s.label);
    insert.bind(s.source_sha256).bind(s.submitted_at_s);
    return !insert.step() && insert.done();
  }

  bool insert(const LeftOut& out) {
    Statement insert(database, kInsertLeftOut);
    insert.bind(out.label).bind(out.reason).bind(out.student).bind(out.handed_in_at_s);
    return !insert.step() && insert.done();
  }

  bool insert(const char* command, std::initializer_list<std::string_view> values) {
    Statement insert(database, command);
    for (const std::string_view value : values) insert.bind(value);
    return !insert.step() && insert.done();
  }

  static StoredGrade grade_of(const Statement& row) {
    StoredGrade grade;
    grade.id = row.number(0);
    grade.key = row.text(1);
    grade.round = row.number(2);
    grade.chapter = row.text(3);
    grade.source_sha256 = row.text(4);
    grade.graded_at = row.text(5);
    grade.result = parse_json(row.text(6));
    return grade;
  }

  static StoredGrade whole_grade_of(const Statement& row) {
    StoredGrade grade = grade_of(row);
    grade.plot = row.text(7);
    grade.profile = row.text(8);
    return grade;
  }

  static Submission submission_of(const Statement& row) {
    return {{row.text(0), row.text(1), static_cast<LateMark>(row.number(2))},
            row.text(3),
            row.text(4),
            row.text(5),
            row.number(6)};
  }

  static LeftOut left_out_of(const Statement& row) { return {row.text(0), row.text(1), row.text(2), row.number(3)}; }

  // Copies the rows of a damaged file that can be read: all but the faults, and a grade only if it still matches its
  // hash. Returns the number of grades.
  std::size_t salvage(const fs::path& damaged) {
    Database old(damaged, 0);
    if (old.code() != SQLITE_OK) return 0;
    Transaction transaction(database);
    for (Statement row(old, "SELECT student, lms_id FROM students"); row.step();) {
      insert(kInsertStudent, {row.text(0), row.text(1)});
    }
    for (Statement row(
             old, "SELECT student, lms_id, late_mark, chapter, label, source_sha256, submitted_at_s FROM submissions");
         row.step();) {
      insert(submission_of(row));
    }
    const std::int64_t schema = old.number("PRAGMA user_version", 0);
    for (Statement row(old, schema >= 3 ? kSelectLeftOut : "SELECT label, reason, student, 0 FROM left_out");
         row.step();) {
      insert(left_out_of(row));
    }
    Collected(database).copy(old);
    move_unowned(database, schema);
    for (Statement row(old, "SELECT head, student_id, cell FROM exported ORDER BY id"); row.step();) {
      insert(kInsertExported, {row.text(0), row.text(1), row.text(2)});
    }
    for (Statement row(old, "SELECT name, value FROM settings"); row.step();) {
      insert("INSERT INTO settings VALUES (?, ?) ON CONFLICT DO NOTHING", {row.text(0), row.text(1)});
    }
    std::size_t kept = 0;
    const std::int64_t last = old.number("SELECT seq FROM sqlite_sequence WHERE name = 'grades'", 0);
    std::string previous;
    for (std::int64_t id = 1; id <= last; ++id) {
      Statement row(old,
                    "SELECT id, key, round, chapter, source_sha256, graded_at, result, plot, profile, row_sha256 "
                    "FROM grades WHERE id = ?");
      if (!row.bind(id).step()) continue;
      const StoredGrade grade = whole_grade_of(row);
      const std::string hash = row.text(9);
      // A row's hash covers the row before it. If that row is lost, the hash cannot be verified, so the grade is not
      // copied, and its submission is graded again.
      const bool is_whole = row_hash(previous, grade, row.text(6)) == hash;
      previous = hash;
      if (is_whole && !grade.result.is_discarded() && insert(grade)) ++kept;
    }
    return transaction.commit() ? kept : 0;
  }
};

Result<GradeStore> GradeStore::open(const fs::path& file, std::string& told) {
  std::error_code error;
  // Names and grades are private. An existing folder keeps its permissions.
  if (fs::create_directories(file.parent_path(), error)) {
    fs::permissions(file.parent_path(), fs::perms::owner_all, error);
  }
  ROOFWALK_TRY_STATUS(refuse_network(file));
  auto impl = std::make_unique<Impl>(Impl{file, Database(file, kBusyMs)});
  Status ready = prepare(impl->database, file);
  if (ready) return GradeStore(std::move(impl));
  if (!is_damage(impl->database.code()) && ready.error().message != "damaged") return ready.error();
  impl.reset();  // closes the file before it is moved
  const fs::path kept = move_aside(file, "damaged", error);
  if (error)
    return Error{.message = "the grades are damaged, and cannot be moved away: " + error.message(),
                 .file = file.string()};
  impl = std::make_unique<Impl>(Impl{file, Database(file, kBusyMs)});
  ready = prepare(impl->database, file);
  if (!ready) return ready.error();
  const std::size_t rows = impl->salvage(kept);
  told = fmt::format("{} was damaged and is kept as {}; {} grade{} of it {} intact, all others are made again",
                     file.filename().string(), kept.filename().string(), rows, rows == 1 ? "" : "s",
                     rows == 1 ? "is" : "are");
  return GradeStore(std::move(impl));
}

GradeStore::GradeStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GradeStore::~GradeStore() = default;
GradeStore::GradeStore(GradeStore&&) noexcept = default;

Status GradeStore::add(const Handed& handed) {
  Transaction transaction(impl_->database);
  bool added = transaction.is_open();
  for (const Owner& owner : handed.students)
    added = added && impl_->insert(kInsertStudent, {owner.student, owner.lms_id});
  for (const Submission& submission : handed.submissions) added = added && impl_->insert(submission);
  for (const LeftOut& out : handed.left_out) added = added && (out.student.empty() || impl_->insert(out));
  added = added && Collected(impl_->database).add(handed);
  if (!added || !transaction.commit()) return impl_->failed();
  return kOk;
}

Result<std::vector<Submission>> GradeStore::submissions() const {
  Statement row(impl_->database,
                "SELECT student, lms_id, late_mark, chapter, label, source_sha256, submitted_at_s FROM submissions "
                "ORDER BY student, chapter, submitted_at_s, label, source_sha256, late_mark");
  std::vector<Submission> all;
  while (row.step()) all.push_back(Impl::submission_of(row));
  if (!row.done()) return impl_->failed();
  return all;
}

Result<std::vector<Owner>> GradeStore::students() const {
  std::map<std::string, std::string> proven;  // numbers that identify a person, by student
  {
    Statement row(impl_->database, "SELECT DISTINCT student, lms_id FROM submissions");
    while (row.step()) {
      if (is_persons(row.text(1))) proven[row.text(0)] = row.text(1);
    }
    if (!row.done()) return impl_->failed();
  }
  Statement row(impl_->database, "SELECT student, lms_id FROM students ORDER BY rowid");
  std::vector<Owner> all;
  while (row.step()) {
    Owner owner{row.text(0), row.text(1), {}};
    const auto found = proven.find(owner.student);
    const bool is_same = found != proven.end() && number_of(owner.lms_id) == found->second;
    if (is_same || (found != proven.end() && owner.lms_id.empty())) owner.lms_id = found->second;
    all.push_back(std::move(owner));
  }
  if (!row.done()) return impl_->failed();
  return all;
}

Result<std::vector<LeftOut>> GradeStore::left_out() const {
  const auto file_of = [](const std::string& student, const std::string& label) {
    return student + "\n" + label.substr(label.rfind('/') + 1);
  };
  ROOFWALK_TRY(const auto handed_in, submissions());
  std::map<std::string, std::int64_t> placed;  // the last time of each file that became a submission
  std::set<std::string> labels;                // labels of the submissions
  for (const Submission& s : handed_in) {
    labels.insert(s.label);
    std::int64_t& last_s = placed.try_emplace(file_of(s.owner.student, s.label), s.submitted_at_s).first->second;
    last_s = std::max(last_s, s.submitted_at_s, is_before);
  }
  Statement row(impl_->database, kSelectLastLeftOut);
  std::vector<LeftOut> all;
  while (row.step()) {
    LeftOut out = Impl::left_out_of(row);
    const auto place = placed.find(file_of(out.student, out.label));
    // If the left-out file and the submission have the same time, they are different files unless they have the same
    // label: all files of a hand-in have the same time, and two of its folders may contain files with the same name.
    const bool is_last = place == placed.end() || out.handed_in_at_s > place->second ||
                         is_before(place->second, out.handed_in_at_s) ||
                         (out.handed_in_at_s == place->second && !labels.contains(out.label));
    if (is_last) all.push_back(std::move(out));
  }
  if (!row.done()) return impl_->failed();
  for (LeftOut& out : Collected(impl_->database).left_out()) all.push_back(std::move(out));
  const auto place = [](const LeftOut& out) { return std::tie(out.label, out.reason, out.student); };
  std::sort(all.begin(), all.end(), [&](const LeftOut& a, const LeftOut& b) { return place(a) < place(b); });
  const auto is_same = [&](const LeftOut& a, const LeftOut& b) { return place(a) == place(b); };
  all.erase(std::unique(all.begin(), all.end(), is_same), all.end());
  return all;
}

Status GradeStore::add_exported(const std::string& column, const std::map<std::string, std::string>& cells) {
  Transaction transaction(impl_->database);
  bool added = transaction.is_open();
  for (const auto& [student_id, cell] : cells)
    added = added && impl_->insert(kInsertExported, {column, student_id, cell});
  if (!added || !transaction.commit()) return impl_->failed();
  return kOk;
}

Result<std::map<std::string, std::string>> GradeStore::exported(const std::string& column) const {
  Statement row(impl_->database, "SELECT student_id, cell FROM exported WHERE head = ? ORDER BY id");
  row.bind(column);
  std::map<std::string, std::string> all;
  while (row.step()) all[row.text(0)] = row.text(1);
  if (!row.done()) return impl_->failed();
  return all;
}

Status GradeStore::add(const StoredGrade& grade) {
  Transaction transaction(impl_->database);
  if (!transaction.is_open()) return impl_->failed();
  {
    Statement known(impl_->database, "SELECT 1 FROM grades WHERE key = ? AND round = ?");
    if (known.bind(grade.key).bind(grade.round).step()) return kOk;
    if (!known.done()) return impl_->failed();
  }
  StoredGrade row = grade;
  if (row.graded_at.empty()) row.graded_at = utc_now();
  if (!impl_->insert(row) || !transaction.commit()) return impl_->failed();
  return kOk;
}

Status GradeStore::add(const StoredFault& fault) {
  Statement insert(impl_->database, kInsertFault);
  const std::string now = utc_now();
  insert.bind(fault.key).bind(fault.round).bind(fault.reason).bind(now);
  if (insert.step() || !insert.done()) return impl_->failed();
  return kOk;
}

Result<std::int64_t> GradeStore::last_round(const std::string& key) const {
  Statement row(impl_->database, "SELECT ifnull(max(round), 0) FROM grades WHERE key = ?");
  if (!row.bind(key).step()) return impl_->failed();
  return row.number(0);
}

Result<std::vector<StoredGrade>> GradeStore::grades() const {
  Statement row(impl_->database,
                "SELECT id, key, round, chapter, source_sha256, graded_at, result FROM grades ORDER BY id");
  std::vector<StoredGrade> all;
  while (row.step()) all.push_back(Impl::grade_of(row));
  if (!row.done()) return impl_->failed();
  return all;
}

Result<GradePages> GradeStore::pages(std::int64_t id) const {
  Statement row(impl_->database, "SELECT plot, profile FROM grades WHERE id = ?");
  if (!row.bind(id).step()) return impl_->failed();
  return GradePages{row.text(0), row.text(1)};
}

Result<std::vector<StoredFault>> GradeStore::faults() const {
  Statement row(impl_->database, "SELECT key, reason, at, round FROM faults ORDER BY id");
  std::vector<StoredFault> all;
  while (row.step()) all.push_back({row.text(0), row.text(1), row.text(2), row.number(3)});
  if (!row.done()) return impl_->failed();
  return all;
}

Result<std::string> GradeStore::salt() {
  std::array<unsigned char, 16> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return Error{.message = "the system returned no random numbers"};
  }
  std::string fresh;
  for (const unsigned char byte : random) fresh += fmt::format("{:02x}", byte);
  // The first process makes the salt; all processes then use the stored one.
  if (!impl_->insert("INSERT INTO settings VALUES ('salt', ?) ON CONFLICT DO NOTHING", {fresh})) return impl_->failed();
  Statement row(impl_->database, "SELECT value FROM settings WHERE name = 'salt'");
  if (!row.step()) return impl_->failed();
  return row.text(0);
}

std::int64_t GradeStore::version() const { return impl_->database.number("PRAGMA data_version", -1); }

Status GradeStore::verify() const {
  Statement row(impl_->database,
                "SELECT id, key, round, chapter, source_sha256, graded_at, result, plot, profile, row_sha256 "
                "FROM grades ORDER BY id");
  std::string previous;
  while (row.step()) {
    const StoredGrade grade = Impl::whole_grade_of(row);
    if (row_hash(previous, grade, row.text(6)) != row.text(9)) {
      return Error{
          .message = fmt::format("row {} of the grades is not what was written, or a row before it is gone", grade.id),
          .file = impl_->file.string()};
    }
    previous = row.text(9);
  }
  if (!row.done()) return impl_->failed();
  return kOk;
}

}  // namespace roofwalk
