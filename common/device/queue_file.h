// The file behind a GPU's queue. Only its locks count; the kernel releases them when their process ends:
//
// - flock on the file is the turn itself, as `flock FILE command` takes it in a shell;
// - a ticket is a lock on one byte, far behind the text; the lowest ticket is next. A new ticket is one above the
//   highest held one; if another process takes it first, we try again.
//
// The text only describes the processes, because everybody may write it. Lines have 256 bytes each: the first is about
// the queue, the others are about tickets.
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

// Description of a waiting or measuring process.
struct QueueRecord {
  std::int64_t ticket = 0;
  std::int64_t pid = 0;
  std::string user = {}, doing = {};
  std::optional<double> since_s = {};  // start of its turn, in `queue_seconds`
};

class QueueFile {
 public:
  // Opens or creates the file of this GPU. Errors say what to do.
  static Result<std::unique_ptr<QueueFile>> open(std::string_view gpu_uuid);

  explicit QueueFile(std::filesystem::path path, int descriptor);
  QueueFile(const QueueFile&) = delete;
  QueueFile& operator=(const QueueFile&) = delete;
  ~QueueFile();  // releases the turn, recording its length, and the ticket

  const std::filesystem::path& path() const { return path_; }

  // Joins the end of the queue. Errors: locks do not work here.
  Status take_ticket(QueueRecord record);
  std::int64_t ticket() const { return record_.ticket; }

  std::vector<std::int64_t> tickets_of_others() const;  // in order, up to 1000
  bool anyone_before() const;                           // with a lower ticket than ours

  bool try_turn();   // tries to take the turn
  void give_turn();  // releases it
  void mark_turn();  // records the start of our turn for the others to see

  std::optional<QueueRecord> record_of(std::int64_t ticket) const;

  std::optional<double> usual_turn_s() const;  // length of recent turns

  // Whether newcomers still open this same file: somebody may have removed it.
  bool still_there() const;

 private:
  void write_record() const;
  void add_turn(double turn_s) const;

  std::filesystem::path path_;
  int descriptor_;
  pid_t owner_;  // a forked child shares the locks and must not release them
  bool has_turn_ = false;
  QueueRecord record_;
};

// Seconds since the machine started, the same for all processes.
double queue_seconds();

// Printable ASCII without quotes and backslashes, at most `most` characters.
std::string plain_text(std::string_view text, std::size_t most);

// The name of a network file system, or null. Locks there may not work, and a GPU belongs to one machine.
const char* network_filesystem(std::uint64_t statfs_type);

}  // namespace roofwalk
