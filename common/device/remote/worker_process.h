// The parent process's side of a worker process.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/child.h"
#include "common/base/result.h"
#include "common/device/remote/shared_memory.h"
#include "common/device/remote/wire.h"
#include "common/sandbox/box.h"

namespace roofwalk {

// How to start a worker: a program that calls serve_device.
struct WorkerCommand {
  // [0] is the program, searched on this process's PATH if it has no slash.
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // complete; not used with a box, which has its own
  std::optional<Box> box = {};                     // if set, the program is a path inside the box
};

// Returns the variables of this process that a device may need: paths of programs, libraries and caches, and the
// visible GPUs.
std::map<std::string, std::string> worker_environment();

class WorkerProcess {
 public:
  // Starts a worker. `device` names the device that the worker occupies. Errors: the worker cannot be started; an
  // earlier worker could not be ended and still holds the device.
  static Result<std::unique_ptr<WorkerProcess>> start(const WorkerCommand& command, std::string device);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  Wire& wire() { return wire_; }
  SharedMemory& shared() { return shared_; }

  struct End {
    bool by_itself = false;  // whether it ended before it was killed
    int signal = 0;          // the signal that ended it; 0: none
    int exit_code = 0;
    bool stuck = false;  // whether it was killed but has not ended
  };
  // Waits up to `patience_s` for the process to end by itself, then kills its process group and waits up to `end_s`.
  // A process that still does not end, because it hangs in a driver, is abandoned; start() refuses its device until
  // it has ended.
  End end(double patience_s, double end_s);

 private:
  WorkerProcess(pid_t pid, Descriptor channel, Descriptor words, SharedMemory shared, std::string device,
                std::optional<BoxStatus> box, std::optional<BoxGuard> guard);

  pid_t pid_;  // -1 after end()
  Descriptor channel_, words_;
  Wire wire_;
  SharedMemory shared_;
  std::string device_;
  std::optional<BoxStatus> box_;
  std::optional<BoxGuard> guard_;
};

}  // namespace roofwalk
