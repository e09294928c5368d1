// The file behind a GPU's queue. What counts are its locks, which the kernel drops with the process that took them:
//
// - flock of the file is the turn itself, as `flock FILE command` takes it in a shell;
// - a ticket is a lock of one byte, far behind what is written: whoever has the lowest one is next. A new ticket is one
//   above the highest that is held; who finds that one taken meanwhile looks again.
//
// What is written says who they are and decides nothing: everybody may write there. One line of 256 bytes each, the
// first about the queue, then those of the tickets.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

// What a waiting or measuring process says of itself.
struct QueueRecord {
  std::int64_t ticket = 0;
  std::int64_t pid = 0;
  std::string user = {}, doing = {};
  std::optional<double> since_s = {};  // of its turn, on `queue_seconds`
};

class QueueFile {
 public:
  // The file of this GPU, made if need be. Errors say what to do.
  static Result<std::unique_ptr<QueueFile>> open(std::string_view gpu_uuid);

  explicit QueueFile(std::filesystem::path path, int descriptor);
  QueueFile(const QueueFile&) = delete;
  QueueFile& operator=(const QueueFile&) = delete;
  ~QueueFile();  // gives back the turn, with the note how long it took, and the ticket

  const std::filesystem::path& path() const { return path_; }

  // Stands in line, behind all that do so already. Errors: locks do not work here.
  Status take_ticket(QueueRecord record);
  std::int64_t ticket() const { return record_.ticket; }

  std::vector<std::int64_t> tickets_of_others() const;  // in their order, up to 1000
  bool anyone_before() const;                           // with a ticket lower than ours

  bool try_turn();   // whether the turn is ours now
  void give_turn();  // back
  void mark_turn();  // it began: the others read since when

  std::optional<QueueRecord> record_of(std::int64_t ticket) const;

  std::optional<double> usual_turn_s() const;  // how long turns took lately

  // Whether newcomers open this very file: somebody may have removed it.
  bool still_there() const;

 private:
  void write_record() const;
  void add_turn(double turn_s) const;

  std::filesystem::path path_;
  int descriptor_;
  pid_t owner_;  // a forked child shares the locks and must not give them back
  bool has_turn_ = false;
  QueueRecord record_;
};

// Seconds since the machine started, the same for all processes.
double queue_seconds();

// Printable ASCII, at most `most` characters, without quotes and backslashes.
std::string plain_text(std::string_view text, std::size_t most);

// The name of a file system that other machines share, or null: locks there may not hold, and a GPU is in one machine.
const char* network_filesystem(std::uint64_t statfs_type);

}  // namespace roofwalk
