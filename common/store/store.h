// Attempts in SQLite: append-only, survives kill -9, one file a checkout (my/roofwalk.db).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

struct StoredAttempt;  // stored_attempt.h

// Several processes may use one file at once; each waits for the others, up to half a minute.
class Store {
 public:
  // Opens or creates, folders included. Errors: a damaged file (it is kept beside the old place under a name that the
  // message says, and the next open starts a new one), a newer schema, a file that is something else, no permission.
  static Result<Store> open(const std::filesystem::path& file);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  // Adds one attempt and returns its id. Durable when it returns. `attempt.id` is ignored.
  Result<std::int64_t> add(const StoredAttempt& attempt);

  // The walk of a chapter on a device, oldest first, starter measurements left out.
  Result<std::vector<StoredAttempt>> walk(const std::string& chapter, const std::string& device) const;

  // Every attempt at a chapter on a device, oldest first: of all walks, starter measurements included.
  Result<std::vector<StoredAttempt>> history(const std::string& chapter, const std::string& device) const;

  // What a person said, or has been told, by key: a prediction, the hints given. Kept like attempts.
  std::optional<std::string> note(const std::string& key) const;
  Status set_note(const std::string& key, const std::string& value);

  // Values kept to save work, by key (a hash of all they depend on). Losing them loses only time.
  std::optional<std::string> cached(const std::string& key) const;
  Status cache(const std::string& key, const std::string& value);

  // Forgets a chapter's walk (the rows stay, marked as of an earlier walk).
  Status start_new_walk(const std::string& chapter);

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace roofwalk
