#include "common/store/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/base/json.h"
#include "common/store/sqlite.h"
#include "common/store/stored_attempt.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSchemaVersion = 2;

// A walk starts with a chapter's first attempt or with a reset. The latest walk is the current one.
constexpr const char* kSchema = R"sql(
  CREATE TABLE walks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    chapter TEXT NOT NULL,
    started_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX walks_by_chapter ON walks (chapter, id);
  CREATE TABLE attempts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    walk INTEGER NOT NULL REFERENCES walks (id),
    chapter TEXT NOT NULL,
    device TEXT NOT NULL,
    created_at TEXT NOT NULL,
    source_sha256 TEXT NOT NULL,
    is_starter INTEGER NOT NULL CHECK (is_starter IN (0, 1)),
    attempt TEXT NOT NULL CHECK (json_valid(attempt))
  ) STRICT;
  CREATE TABLE cache (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TRIGGER walks_are_kept BEFORE DELETE ON walks BEGIN SELECT RAISE(ABORT, 'walks are never deleted'); END;
  CREATE TRIGGER walks_stay BEFORE UPDATE ON walks BEGIN SELECT RAISE(ABORT, 'walks are never changed'); END;
  CREATE TRIGGER attempts_are_kept BEFORE DELETE ON attempts
    BEGIN SELECT RAISE(ABORT, 'attempts are never deleted'); END;
  CREATE TRIGGER attempts_stay BEFORE UPDATE ON attempts
    BEGIN SELECT RAISE(ABORT, 'attempts are never changed'); END;
  CREATE INDEX attempts_by_chapter ON attempts (chapter, device, id);
  CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  PRAGMA user_version = 2;
)sql";

// Upgrades from schema 1, which had no notes.
constexpr const char* kUpgrade = R"sql(
  DROP INDEX attempts_by_walk;
  CREATE INDEX attempts_by_chapter ON attempts (chapter, device, id);
  CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  PRAGMA user_version = 2;
)sql";

constexpr const char* kNow = "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')";

Error disk_is_full(const fs::path& file) {
  return {.message = "the disk is full: nothing can be added to the record of attempts",
          .file = file.string(),
          .advice = "free some space there, then run again"};
}

// Without room for its log, SQLite reports an input or output error.
bool is_disk_full(const fs::path& file) {
  constexpr std::uintmax_t kLeastBytes = 64 << 10;
  std::error_code error;
  const fs::space_info space = fs::space(file.has_parent_path() ? file.parent_path() : fs::path("."), error);
  return !error && space.available < kLeastBytes;
}

Error failure(const Database& database, const fs::path& file) {
  Error error{.message = database.message(), .file = file.string()};
  switch (database.code()) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      error.message = "another roofwalk has been writing the record of attempts for half a minute";
      error.advice = "wait for it to end, then try again";
      break;
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      error.message = "the record of attempts cannot be written";
      error.advice = "check the owner and the permissions of the file and its folder";
      break;
    case SQLITE_FULL:
      error = disk_is_full(file);
      break;
    case SQLITE_IOERR:
      if (is_disk_full(file)) error = disk_is_full(file);
      break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      error.message = "the record of attempts is damaged";
      error.advice = "move the file away: the next run starts a new record";
      break;
    default:
      break;
  }
  return error;
}

Status bring_up_to_date(Database& database, const fs::path& file) {
  Transaction transaction(database);
  if (!transaction.is_open()) return failure(database, file);
  const std::int64_t version = database.number("PRAGMA user_version", -1);
  if (version == kSchemaVersion) return kOk;  // another process has already upgraded the file
  if (version != 0 && version != 1) return failure(database, file);
  if (version == 0 && database.number("SELECT count(*) FROM sqlite_schema", -1) != 0) {
    return Error{
        .message = "this is a database of some other program", .file = file.string(), .advice = "move it away"};
  }
  if (!database.run(version == 0 ? kSchema : kUpgrade) || !transaction.commit()) return failure(database, file);
  return kOk;
}

// Applies settings and brings the file to the current schema.
Status prepare(Database& database, const fs::path& file) {
  if (database.code() != SQLITE_OK || !database.run(kSafeSettings)) return failure(database, file);
  const std::int64_t version = database.number("PRAGMA user_version", -1);
  if (version < 0) return failure(database, file);
  if (version > kSchemaVersion) {
    return Error{.message = fmt::format("this record was written by a newer roofwalk (schema {})", version),
                 .file = file.string(),
                 .advice = "update this checkout, or move the file away"};
  }
  if (!database.use_write_ahead_log()) return failure(database, file);
  if (version < kSchemaVersion) return bring_up_to_date(database, file);
  // Any query makes SQLite read the schema, which detects a damaged file.
  return database.number("SELECT count(*) FROM walks WHERE id < 0", -1) == 0 ? Status(kOk) : failure(database, file);
}

// Renames a damaged file and its log. The caller must hold the folder's lock.
Error put_aside(const fs::path& file) {
  std::error_code error;
  const fs::path kept = move_aside(file, "corrupt", error);
  if (error) {
    return {.message = "the record of attempts is damaged, and cannot be moved away: " + error.message(),
            .file = file.string(),
            .advice = "move it away yourself: the next run starts a new record"};
  }
  return {.message = "the record of attempts was damaged; it is kept as " + kept.string(),
          .file = file.string(),
          .advice = "run the same command again: it starts a new record, and your kernels are untouched"};
}

}  // namespace

struct Store::Impl {
  fs::path file;
  mutable Database database;

  // Returns the current walk; 0 if the chapter has none, negative if it cannot be read.
  std::int64_t current_walk(const std::string& chapter) const {
    Statement statement(database, "SELECT ifnull(max(id), 0) FROM walks WHERE chapter = ?");
    return statement.bind(chapter).step() ? statement.number(0) : -1;
  }

  // Adds a walk and returns its number; negative if it cannot be written.
  std::int64_t insert_walk(const std::string& chapter) {
    Statement statement(database,
                        "INSERT INTO walks (chapter, started_at) "
                        "VALUES (?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now')) RETURNING id");
    if (!statement.bind(chapter).step()) return -1;
    const std::int64_t id = statement.number(0);
    return !statement.step() && statement.done() ? id : -1;
  }

  std::string now() {
    Statement statement(database, kNow);
    return statement.step() ? statement.text(0) : std::string();
  }

  // Returns the first column of the first row of a query with one parameter.
  std::optional<std::string> value(const char* query, const std::string& key) const {
    Statement select(database, query);
    if (!select.bind(key).step()) return std::nullopt;
    return select.text(0);
  }

  Status put(const char* command, const std::string& key, const std::string& value) {
    Statement insert(database, command);
    insert.bind(key).bind(value);
    if (insert.step() || !insert.done()) return failed();
    return kOk;
  }

  Error failed() const { return failure(database, file); }
};

Result<Store> Store::open(const fs::path& file) {
  std::error_code error;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
  auto impl = std::make_unique<Impl>(file, Database(file, kBusyMs));
  Status ready = prepare(impl->database, file);
  if (!ready && is_damage(impl->database.code())) {
    // Two processes may detect the damage at once, so the second one checks again under the folder's lock.
    const int folder = ::open(file.has_parent_path() ? file.parent_path().c_str() : ".", O_RDONLY | O_CLOEXEC);
    if (folder >= 0) ::flock(folder, LOCK_EX);
    impl = std::make_unique<Impl>(file, Database(file, kBusyMs));
    ready = prepare(impl->database, file);
    if (!ready && is_damage(impl->database.code())) {
      impl.reset();  // close it before moving it
      ready = put_aside(file);
    }
    if (folder >= 0) ::close(folder);
  }
  if (!ready) return ready.error();
  return Store(std::move(impl));
}

Result<Store> Store::in_memory() {
  auto impl = std::make_unique<Impl>(fs::path(), Database(fs::path(), kBusyMs));
  ROOFWALK_TRY_STATUS(bring_up_to_date(impl->database, {}));
  return Store(std::move(impl));
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

Result<std::int64_t> Store::add(const StoredAttempt& attempt) {
  Transaction transaction(impl_->database);
  if (!transaction.is_open()) return impl_->failed();
  std::int64_t walk = impl_->current_walk(attempt.chapter);
  if (walk == 0) walk = impl_->insert_walk(attempt.chapter);
  if (walk < 0) return impl_->failed();
  // Invalid UTF-8 in a path or a message is replaced, so that the attempt is not lost.
  const std::string text = json_line(attempt.attempt);
  std::int64_t id = 0;
  {
    Statement insert(impl_->database,
                     "INSERT INTO attempts (walk, chapter, device, created_at, source_sha256, is_starter, attempt) "
                     "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id");
    insert.bind(walk).bind(attempt.chapter).bind(attempt.device);
    insert.bind(attempt.created_at.empty() ? impl_->now() : attempt.created_at).bind(attempt.source_sha256);
    insert.bind(std::int64_t{attempt.is_starter}).bind(text);
    if (!insert.step()) return impl_->failed();
    id = insert.number(0);
    if (insert.step() || !insert.done()) return impl_->failed();
  }
  if (!transaction.commit()) return impl_->failed();
  return id;
}

Result<std::vector<StoredAttempt>> Store::walk(const std::string& chapter, const std::string& device) const {
  ROOFWALK_TRY(auto attempts, history(chapter, device));
  std::erase_if(attempts, [](const StoredAttempt& attempt) { return attempt.is_starter || !attempt.is_in_walk; });
  return attempts;
}

Result<std::vector<StoredAttempt>> Store::history(const std::string& chapter, const std::string& device) const {
  const std::int64_t walk = impl_->current_walk(chapter);
  if (walk < 0) return impl_->failed();
  Statement select(impl_->database,
                   "SELECT id, chapter, device, created_at, source_sha256, is_starter, walk = ?, attempt FROM attempts "
                   "WHERE chapter = ? AND device = ? ORDER BY id");
  select.bind(walk).bind(chapter).bind(device);
  std::vector<StoredAttempt> attempts;
  while (select.step()) {
    StoredAttempt attempt{.id = select.number(0),
                          .chapter = select.text(1),
                          .device = select.text(2),
                          .created_at = select.text(3),
                          .source_sha256 = select.text(4),
                          .is_starter = select.number(5) != 0,
                          .is_in_walk = select.number(6) != 0,
                          .attempt = parse_json(select.text(7))};
    if (attempt.attempt.is_discarded()) {
      return Error{.message = fmt::format("attempt {} in the record is damaged", attempt.id),
                   .file = impl_->file.string()};
    }
    attempts.push_back(std::move(attempt));
  }
  if (!select.done()) return impl_->failed();
  return attempts;
}

std::optional<std::string> Store::note(const std::string& key) const {
  return impl_->value("SELECT value FROM notes WHERE key = ?", key);
}

Status Store::set_note(const std::string& key, const std::string& value) {
  return impl_->put("INSERT OR REPLACE INTO notes (key, value) VALUES (?, ?)", key, value);
}

std::optional<std::string> Store::cached(const std::string& key) const {
  return impl_->value("SELECT value FROM cache WHERE key = ?", key);
}

Status Store::cache(const std::string& key, const std::string& value) {
  return impl_->put("INSERT OR REPLACE INTO cache (key, value) VALUES (?, ?)", key, value);
}

Status Store::start_new_walk(const std::string& chapter) {
  if (impl_->insert_walk(chapter) < 0) return impl_->failed();
  return kOk;
}

}  // namespace roofwalk
