// The little of SQLite's C interface that the store needs, with owners for its handles.
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

inline constexpr int kBusyMs = 30'000;  // that a store waits for other processes

// For every connection. Without recursive triggers, INSERT OR REPLACE would slip past a store's triggers.
inline constexpr const char* kSafeSettings = R"sql(
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA recursive_triggers = ON;
)sql";

// Of a file, not of what was asked of it.
inline bool is_damage(int code) { return code == SQLITE_CORRUPT || code == SQLITE_NOTADB; }

// One connection. Errors are SQLite's own codes: the store knows what they mean to a learner.
class Database {
 public:
  // Opens or creates the file and waits up to `busy_ms` for other processes in all that follows. Code: see code().
  Database(const std::filesystem::path& file, int busy_ms);

  // The code of what failed last; SQLITE_OK where nothing did.
  int code() const { return code_; }
  std::string message() const;

  // Runs statements that give no rows. False where one fails.
  bool run(const char* sql);

  // Another process that opens the file at the same moment makes this fail at once, whatever the busy time says: it is
  // tried until that is over.
  bool use_write_ahead_log();

  // The first column of the first row as a whole number; `otherwise` where there is none or it fails.
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

// Rolls back unless it was committed, so that an early return leaves nothing half done.
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

  // True while there is a row. Afterwards done() tells the end from a failure.
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

// Gives a damaged file and its log another name, FILE.WORD-1 or the next that is free, and returns it. Whoever has it
// open closes it first. What cannot be moved away is an error.
std::filesystem::path move_aside(const std::filesystem::path& file, std::string_view word, std::error_code& error);

}  // namespace roofwalk
