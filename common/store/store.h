// Attempts in SQLite: append-only, durable even after kill -9, one file per checkout (my/roofwalk.db).
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
  // Opens or creates the file and its folders. Errors: a damaged file (it is renamed as the message says, and the
  // next open creates a new one), a newer schema, not a store, no permission.
  static Result<Store> open(const std::filesystem::path& file);
  // A store that ends with this process, for runs whose record cannot be written.
  static Result<Store> in_memory();
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  // Adds one attempt and returns its id. The attempt is durable on return. `attempt.id` is ignored.
  Result<std::int64_t> add(const StoredAttempt& attempt);

  // Returns a chapter's current walk on a device, oldest first, without starter measurements.
  Result<std::vector<StoredAttempt>> walk(const std::string& chapter, const std::string& device) const;

  // Returns all attempts at a chapter on a device, oldest first: of all walks, including starter measurements.
  Result<std::vector<StoredAttempt>> history(const std::string& chapter, const std::string& device) const;

  // These read and write notes by key: what a person said (a prediction) or was shown (hints). Notes are as durable as
  // attempts.
  std::optional<std::string> note(const std::string& key) const;
  Status set_note(const std::string& key, const std::string& value);

  // These read and write cached values by key, a hash of everything on which they depend. Losing them costs only time.
  std::optional<std::string> cached(const std::string& key) const;
  Status cache(const std::string& key, const std::string& value);

  // Starts a new walk of a chapter; older attempts remain, as parts of an earlier walk.
  Status start_new_walk(const std::string& chapter);

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace roofwalk
