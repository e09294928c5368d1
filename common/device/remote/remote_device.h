// A device in a disposable process of its own. Device code may be able to read the memory of the process that launches
// it (pageable memory on a real GPU). There it finds only the inputs, because the results are judged in the parent
// process.
#pragma once

#include <memory>
#include <string>

#include "common/device/device.h"
#include "common/device/remote/worker_process.h"

namespace roofwalk {

// Limits of wall time for a worker, in seconds. A worker that exceeds one is killed.
struct RemoteLimits {
  double start_s = 120;     // to open its device; querying counters may take half of this
  double load_s = 120;      // to compile a kernel, or to make a plan
  double request_s = 30;    // for any other request except a run; it moves at most kSharedBytes
  double run_slack_s = 10;  // for a run, in addition to RunOptions::max_seconds
  double end_s = 5;         // to end after a kill; if it does not, its device counts as held
};

// The tasks of the worker process.
struct RemoteDuties {
  bool plans = false;  // it also makes the launch plans, so that this process reads nothing of an artifact
  // True on hardware, where a kernel can crash its process or never end. False for an interpreter, which ends kernels
  // by counting instructions: there, a crash or a timeout is never a learner's fault but the interpreter's or the
  // host's, and so an Error.
  bool kernels_may_end_it = true;
};

// Starts the worker. `device` names the device that the worker occupies; it is shown in messages, and no worker is
// started on a GPU that a killed worker still holds. Errors: the device's; the worker cannot be started or sends no
// valid greeting.
//
// A worker that is late, dies, or sends an invalid answer is killed, and the device is lost until all its buffers are
// released (Device::alive). After that, the next allocation, load, plan or run starts a new worker. The run during
// which the worker was lost returns:
//   too long                a `runaway` fault, or an Error (RemoteDuties)
//   died of its own signal  a `trap` fault, or an Error
//   anything else           an Error: killed from outside, an invalid answer
// A worker dies with the thread that started it: use the device in one thread, or in threads that end before it.
Result<std::unique_ptr<Device>> make_remote_device(WorkerCommand command, std::string device,
                                                   const RemoteLimits& limits = {}, const RemoteDuties& duties = {});

}  // namespace roofwalk
