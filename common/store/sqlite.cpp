#include "common/store/sqlite.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace roofwalk {

Database::Database(const std::filesystem::path& file, int busy_ms) : busy_ms_(busy_ms) {
  sqlite3* handle = nullptr;
  // The path is made absolute and URIs are off, so that a name starting with a dash or "file:" is an ordinary name.
  const std::string path = file.empty() ? ":memory:" : std::filesystem::absolute(file).string();
  code_ = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  handle_.reset(handle);
  if (code_ != SQLITE_OK) return;
  sqlite3_extended_result_codes(handle, 0);
  sqlite3_busy_timeout(handle, busy_ms);
}

std::string Database::message() const { return handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code_); }

bool Database::run(const char* sql) {
  code_ = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  return code_ == SQLITE_OK;
}

bool Database::use_write_ahead_log() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(busy_ms_);
  while (!run("PRAGMA journal_mode = WAL")) {
    if (code_ != SQLITE_BUSY || std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

bool Transaction::commit() {
  const bool done = database_.run("COMMIT");
  if (done) open_ = false;
  return done;
}

std::int64_t Database::number(const char* sql, std::int64_t otherwise) {
  Statement statement(*this, sql);
  return statement.step() ? statement.number(0) : otherwise;
}

Statement::Statement(Database& database, const char* sql) : database_(database) {
  sqlite3_stmt* handle = nullptr;
  database_.code_ = sqlite3_prepare_v2(database_.handle_.get(), sql, -1, &handle, nullptr);
  handle_.reset(handle);
}

Statement& Statement::bind(std::string_view text) {
  if (handle_) {
    sqlite3_bind_text64(handle_.get(), ++bound_, text.data() != nullptr ? text.data() : "", text.size(),
                        SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  return *this;
}

Statement& Statement::bind(std::int64_t number) {
  if (handle_) sqlite3_bind_int64(handle_.get(), ++bound_, number);
  return *this;
}

bool Statement::step() {
  if (!handle_) return false;  // keeps the error code of the statement that could not be prepared
  database_.code_ = sqlite3_step(handle_.get());
  return database_.code_ == SQLITE_ROW;
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return bytes != nullptr ? std::string(bytes, size) : std::string();
}

std::int64_t Statement::number(int column) const { return sqlite3_column_int64(handle_.get(), column); }

std::filesystem::path move_aside(const std::filesystem::path& file, std::string_view word, std::error_code& error) {
  namespace fs = std::filesystem;
  fs::path kept;
  for (int i = 1; kept.empty() || fs::exists(kept, error); ++i) kept = fmt::format("{}.{}-{}", file.string(), word, i);
  for (const char* suffix : {"-wal", "-shm"}) {
    if (fs::exists(file.string() + suffix, error)) fs::rename(file.string() + suffix, kept.string() + suffix, error);
  }
  fs::rename(file, kept, error);
  return kept;
}

}  // namespace roofwalk
