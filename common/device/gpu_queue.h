// Decides which process may measure on a GPU. Users of a shared machine compile and plan in parallel, but only one at
// a time measures on a GPU; the others wait in order of arrival.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/result.h"

namespace roofwalk {

struct GpuRequest {
  std::string gpu_uuid;       // UUID of the GPU or MIG instance in the driver's spelling: "GPU-...", "MIG-..."
  std::string doing = {};     // shown to others: the chapter
  std::string user = {};      // shown to others; empty: the account's name
  double most_seconds = 600;  // the longest time to wait
};

struct GpuHolder {
  std::string user = {};  // printable ASCII, as is `doing`, because another user's program wrote it
  std::string doing = {};
  std::int64_t pid = 0;
  double held_s = 0;
  bool same_user = false;
};

struct GpuWait {
  std::optional<GpuHolder> holder = {};  // nullopt between two turns, and while another kind of program holds the
                                         // lock
  int before = 0;                        // number of waiting processes before us, without the holder
  double waited_s = 0;
  std::optional<double> estimate_s = {};  // time until our turn, estimated from recent turns; nullopt before the
                                          // first turn
};

// Returns one line of at most 80 columns: "waiting for the GPU: anna has had it for 12 s, 3 before you, about 40 s to
// go".
std::string waiting_line(const GpuWait& wait);

class QueueFile;

// The right to use the GPU, from `wait` until this object is destroyed: hold it only for the timed runs. If the
// process is killed, it loses its turn or its place in the queue. Child processes do not inherit the turn.
class GpuTurn {
 public:
  // Waits for the turn. Calls `while_waiting` as soon as it has to wait, then twice a second. The queue is a file in
  // /run/lock or, if that is not world-writable, in /tmp; ROOFWALK_LOCK_DIR names another folder. Errors: an invalid
  // UUID; a folder or file that cannot serve all users of the GPU; most_seconds exceeded.
  static Result<GpuTurn> wait(const GpuRequest& request, const std::function<void(const GpuWait&)>& while_waiting = {});

  GpuTurn(GpuTurn&&) noexcept;
  GpuTurn& operator=(GpuTurn&&) = delete;
  ~GpuTurn();

 private:
  explicit GpuTurn(std::unique_ptr<QueueFile> file);

  std::unique_ptr<QueueFile> file_;
};

}  // namespace roofwalk
