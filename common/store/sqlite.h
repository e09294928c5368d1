// The small part of SQLite's C interface that the store needs, with owners for its handles.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

namespace roofwalk {

class Statement;

inline constexpr int kBusyMs = 30'000;  // how long a store waits for other processes

// Settings for every connection. Without recursive triggers, INSERT OR REPLACE would bypass a store's triggers.
inline constexpr const char* kSafeSettings = R"sql(
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA recursive_triggers = ON;
)sql";

// Whether the error code means that the file is damaged, not that the query is wrong.
inline bool is_damage(int code) { return code == SQLITE_CORRUPT || code == SQLITE_NOTADB; }

// One connection. Errors are SQLite's codes; the store translates them for learners.
class Database {
 public:
  // Opens or creates the file, or a database in memory if the path is empty; later calls wait up to `busy_ms` for other
  // processes. For errors see code().
  Database(const std::filesystem::path& file, int busy_ms);

  // Returns the result code of the last call.
  int code() const { return code_; }
  std::string message() const;

  // Runs statements without result rows. False if one fails.
  bool run(const char* sql);

  // Retries for up to the busy time, because SQLite fails without waiting if another process opens the file at the same
  // moment.
  bool use_write_ahead_log();

  // Returns the first column of the first row as an integer; `otherwise` if there is no row or the query fails.
  std::int64_t number(const char* sql, std::int64_t otherwise);

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
  int code_ = SQLITE_OK;
  int busy_ms_ = 0;
};

// Rolls back unless committed, so that an early return does not leave a partial change.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database), open_(database.run("BEGIN IMMEDIATE")) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (open_) database_.run("ROLLBACK");
  }

  bool is_open() const { return open_; }
  bool commit();

 private:
  Database& database_;
  bool open_;
};

// One prepared statement: bind in order, then step.
class Statement {
 public:
  Statement(Database& database, const char* sql);

  Statement& bind(std::string_view text);
  Statement& bind(std::int64_t number);

  // True while there is a row. After false, done() tells the end of the rows from a failure.
  bool step();
  bool done() const { return database_.code_ == SQLITE_DONE; }

  std::string text(int column) const;
  std::int64_t number(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int bound_ = 0;
};

// Renames a damaged file and its log to FILE.WORD-1 or the next free name, which it returns. The file must not be open.
// `error` is set if it cannot be moved.
std::filesystem::path move_aside(const std::filesystem::path& file, std::string_view word, std::error_code& error);

}  // namespace roofwalk
