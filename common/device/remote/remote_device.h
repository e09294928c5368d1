// A device in a process of its own that can be thrown away. Where device code can reach the memory of the process that
// launched it (reads of pageable memory on a real GPU), it finds there what it was given: inputs. The parent judges.
#pragma once

#include <memory>
#include <string>

#include "common/device/device.h"
#include "common/device/remote/worker_process.h"

namespace roofwalk {

// Wall time that a worker has, in seconds. One that takes longer is killed.
struct RemoteLimits {
  double start_s = 120;     // to open its device, whose counters may take half of that to answer
  double load_s = 120;      // to compile a kernel
  double request_s = 30;    // for anything else that is no run; at most 4 MiB are moved
  double run_slack_s = 10;  // beyond RunOptions::max_seconds
  double end_s = 5;         // to be gone once it is killed; then its device counts as held
};

// What the process is there for.
struct RemoteDuties {
  bool plans = false;  // it also makes the launch plans: nothing of an artifact is read in this process
  // Kernels run on hardware can bring their process down, or never end. Where they are interpreted they end by counts,
  // so either is the interpreter's fault, or the host's, and no learner's: an Error.
  bool kernels_may_end_it = true;
};

// Starts the worker. `device` is what it occupies, for words and so that nobody starts a worker on a GPU that a dead
// one still holds. Errors: those of the device; the worker cannot be started or says nothing of use.
//
// A worker that does not answer in time, dies, or answers what makes no sense is killed, and the device is lost until
// all its buffers are released (Device::alive); the next request starts a fresh worker. The run that it cost says:
//   too long                a `runaway` fault, or an Error (RemoteDuties)
//   died of its own signal  a `trap` fault, or an Error
//   anything else           an Error: killed from outside, an answer that makes no sense
// A worker dies with the thread that started it: use the device in one thread, or in threads that end before it.
Result<std::unique_ptr<Device>> make_remote_device(WorkerCommand command, std::string device,
                                                   const RemoteLimits& limits = {}, const RemoteDuties& duties = {});

}  // namespace roofwalk
