// The process that a remote device lives in, seen from its parent.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/child.h"
#include "common/base/result.h"
#include "common/device/remote/wire.h"
#include "common/sandbox/box.h"

namespace roofwalk {

// How a worker is started: a program that calls serve_device.
struct WorkerCommand {
  std::vector<std::string> arguments;              // [0] is the program, searched on our PATH unless it holds a slash
  std::map<std::string, std::string> environment;  // all that it gets; in a box: the box's
  std::optional<Box> box = {};                     // in which it runs: then the program is a path inside
};

// Those of our variables that a device may need: where programs, libraries and caches lie, which GPUs it may see.
std::map<std::string, std::string> worker_environment();

class WorkerProcess {
 public:
  // `device` names what it occupies. Errors: it cannot be started; a worker of that device could not be ended and still
  // holds it.
  static Result<std::unique_ptr<WorkerProcess>> start(const WorkerCommand& command, std::string device);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  Wire& wire() { return wire_; }

  struct End {
    bool by_itself = false;  // before we killed it
    int signal = 0;          // that it died of; 0: none
    int exit_code = 0;
    bool stuck = false;  // it was killed and does not end
  };
  // Waits up to `patience_s` for it to end by itself, then kills its whole group and waits up to `end_s`. A process
  // that does not end even so (it waits in the kernel, for a driver) is left alone; start() refuses its device until it
  // has.
  End end(double patience_s, double end_s);

 private:
  WorkerProcess(pid_t pid, Descriptor channel, Descriptor words, std::string device, std::optional<BoxStatus> box);

  pid_t pid_;  // -1 once it is gone
  Descriptor channel_, words_;
  Wire wire_;
  std::string device_;
  std::optional<BoxStatus> box_;
};

}  // namespace roofwalk
