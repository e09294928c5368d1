// The file behind a GPU's queue. The queue consists of locks on the file; the kernel releases them when their process
// ends.
//
// - flock on the file is the turn itself; in a shell, `flock FILE command` takes it, too;
// - a ticket is a lock on one byte, far behind the text; the lowest ticket is next. A new ticket is one above the
//   highest held one; if another process takes it first, the next number is tried.
//
// The text only describes the processes and decides nothing, because everybody may write it. Lines have 256 bytes
// each: the first describes the queue, the others describe tickets.
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
  std::optional<double> since_s = {};  // start of its turn, in seconds of queue_seconds()
};

class QueueFile {
 public:
  // Opens or creates the file of this GPU. Errors say what to do.
  static Result<std::unique_ptr<QueueFile>> open(std::string_view gpu_uuid);

  explicit QueueFile(std::filesystem::path path, int descriptor);
  QueueFile(const QueueFile&) = delete;
  QueueFile& operator=(const QueueFile&) = delete;
  ~QueueFile();  // releases the turn, after recording its length, and the ticket

  const std::filesystem::path& path() const { return path_; }

  // Joins the end of the queue. Errors: locks do not work here.
  Status take_ticket(QueueRecord record);
  std::int64_t ticket() const { return record_.ticket; }

  std::vector<std::int64_t> tickets_of_others() const;  // in order, up to 1000
  bool anyone_before() const;                           // whether another process has a lower ticket

  bool try_turn();   // tries to take the turn
  void give_turn();  // releases it
  void mark_turn();  // records the start of this process's turn, so that others can see it

  std::optional<QueueRecord> record_of(std::int64_t ticket) const;

  std::optional<double> usual_turn_s() const;  // length of recent turns

  // Whether newcomers still open the same file; it may have been removed.
  bool still_there() const;

 private:
  void write_record() const;
  void add_turn(double turn_s) const;

  std::filesystem::path path_;
  int descriptor_;
  pid_t owner_;  // the process that opened this; a forked child shares the locks and must not release them
  bool has_turn_ = false;
  QueueRecord record_;
};

// Returns the seconds since the machine started, which are the same for all processes.
double queue_seconds();

// Returns the text as printable ASCII without quotes and backslashes, at most `most` characters.
std::string plain_text(std::string_view text, std::size_t most);

}  // namespace roofwalk
