// Who may time on a GPU now. People who share a machine compile and plan side by side, but only one at a time measures
// on a GPU: the others wait in the order in which they came.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/result.h"

namespace roofwalk {

struct GpuRequest {
  std::string gpu_uuid;       // of the GPU or the MIG instance, as the driver spells it: "GPU-...", "MIG-..."
  std::string doing = {};     // what the others read: the chapter
  std::string user = {};      // what the others read; empty: the name of the account
  double most_seconds = 600;  // of waiting
};

struct GpuHolder {
  std::string user = {};  // printable ASCII, as is `doing`: it was written by another's program
  std::string doing = {};
  std::int64_t pid = 0;
  double held_s = 0;
  bool same_user = false;
};

struct GpuWait {
  std::optional<GpuHolder> holder = {};  // nothing between two turns, and while a program that is not ours has it
  int before = 0;                        // who came before us and waits as well, the holder left out
  double waited_s = 0;
  std::optional<double> estimate_s = {};  // until our turn, from how long the last turns took; nothing before the first
};

// "waiting for the GPU: anna has had it for 12 s, 3 before you, about 40 s to go": one line of at most 80 columns.
std::string waiting_line(const GpuWait& wait);

class QueueFile;

// The GPU is ours from `wait` until this is destroyed: hold it for the timed runs and for nothing else. A program that
// is killed gives it back, and so does one that is killed while it waits. Programs that this one starts do not hold it.
class GpuTurn {
 public:
  // Waits. `while_waiting` is called as soon as there is something to wait for, and then twice a second.
  // The queue is a file in /run/lock or, where not everybody may write there, in /tmp; ROOFWALK_LOCK_DIR names another
  // folder. Errors: a UUID that is none, a folder or a file that cannot serve all users of the GPU, most_seconds over.
  static Result<GpuTurn> wait(const GpuRequest& request, const std::function<void(const GpuWait&)>& while_waiting = {});

  GpuTurn(GpuTurn&&) noexcept;
  GpuTurn& operator=(GpuTurn&&) = delete;
  ~GpuTurn();

 private:
  explicit GpuTurn(std::unique_ptr<QueueFile> file);

  std::unique_ptr<QueueFile> file_;
};

}  // namespace roofwalk
