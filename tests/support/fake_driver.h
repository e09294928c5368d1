// A CUDA driver without a GPU: a table of functions that run kernels on the virtual GPU. Memory and results are real,
// and times are modelled on a clock of the driver's own. Errors, endless kernels and hangs occur where tests ask for
// them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/device/cuda/cuda_device.h"
#include "common/device/cuda/driver/driver_api.h"
#include "common/ptx/module.h"
#include "common/record/run_record.h"
#include "common/specs/machine.h"
#include "common/vgpu/gpu.h"

namespace roofwalk::test {

// Only one can exist at a time, because the table's functions have no object.
class FakeDriver {
 public:
  explicit FakeDriver(Machine machine);
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  const DriverApi& api() const { return api_; }

  // Makes the nth call from now of a function such as "cuMemAlloc" return `code`. After a sticky code, all later calls
  // return it, too.
  void fail(const std::string& function, int nth, CUresult code) { rules_[function][calls_[function] + nth] = code; }
  // Makes the nth call from now sleep until the process is killed.
  void hang(const std::string& function, int nth) { hangs_[function] = calls_[function] + nth; }
  // Makes the nth launch from now endless: its events never become ready.
  void never_end(int nth_launch) { endless_launch_ = calls_["cuLaunchKernel"] + nth_launch; }

  int calls(const std::string& function) const {
    const auto at = calls_.find(function);
    return at == calls_.end() ? 0 : at->second;
  }
  // Some calls, in order: "launch NAME", "memset", "copy", "write", "read", "load", "record", "limit 6 0", "reset L2",
  // and the test's own entries.
  std::vector<std::string> log;

  // These must be set before the device is opened.
  std::string name = "Fake GPU";
  int version = 13000, devices = 1, persisting_l2_bytes = 0, registers = 32;
  bool takes_its_time = false;  // kernels take the modelled time on the host's clock, too
  bool compiles_ptx = true;     // false: error 222
  double host_cost_ns = 0;      // host time of each call
  double host_ns() const { return host_ns_; }
  std::size_t live_allocations() const { return allocations_.size(); }
  std::size_t live_modules() const { return modules_.size(); }
  std::size_t live_graphs() const { return graphs_.size(); }
  std::string last_image;  // passed to cuModuleLoadDataEx

  // Between these calls, all work is counted together, starting with a cold L2.
  void begin_range();
  RunRecord end_range();
  bool in_range() const { return in_range_; }

  struct Functions;  // the functions in the table

 private:
  struct Module {
    ptx::Module parsed;
  };
  struct Function {
    Module* module = nullptr;
    std::string name;
    int opted_in_bytes = 0;
  };
  struct Event {
    double at_ns = -1;
    bool never = false;
  };

  // Called by the functions of the table: returns the scripted error, or an earlier sticky one.
  std::optional<CUresult> enter(const std::string& function);
  CUresult surface();  // the error that a kernel left behind
  bool relink();       // loads all modules as one
  void advance(const RunRecord& record);
  void run_step(const std::function<bool()>& step, bool timed = true);  // during capture: only records it
  const ptx::Function* entry_of(const Function& function) const;
  bool is_alive(const Function& function) const;
  std::uint8_t* at(CUdeviceptr address, std::size_t size_bytes);

  DriverApi api_;
  Machine machine_;
  vgpu::Gpu gpu_;
  std::map<std::string, std::map<int, CUresult>> rules_;
  std::map<std::string, int> hangs_, calls_;
  int endless_launch_ = 0;
  bool endless_ = false, in_range_ = false;
  std::optional<CUresult> lost_;
  CUresult pending_ = CUDA_SUCCESS;
  double host_ns_ = 0, gpu_ns_ = 0;
  std::string printed_, complained_;        // written to stdout and stderr at the next synchronization
  std::map<CUdeviceptr, int> allocations_;  // address -> id in memory
  std::vector<std::unique_ptr<Module>> modules_;
  std::vector<std::unique_ptr<Function>> functions_;
  std::vector<std::unique_ptr<Event>> events_;
  using Graph = std::vector<std::function<bool()>>;
  std::optional<Graph> captured_;  // set while a stream is captured
  std::vector<std::unique_ptr<Graph>> graphs_;
};

// Counters from the virtual GPU, with metrics named like our counters. A pass that differs from the first one is an
// error, because hardware would then give useless counts.
class FakeRangeCounters final : public RangeCounters {
 public:
  explicit FakeRangeCounters(FakeDriver& driver) : driver_(driver) {}
  Result<std::vector<RangeValues>> count(const std::function<Status(Pass&)>& pass) override;

  int passes = 2;
  std::vector<Counter> not_available;  // reported as NaN
  int lost_at_count = 0;               // the nth count() fails, as if no longer permitted
  int counted = 0;

 private:
  FakeDriver& driver_;
};

// Returns a source that opens these counters; calls `made`, if set, with them.
CounterSource fake_counters(FakeDriver& driver, std::function<void(FakeRangeCounters&)> made = {});

// Returns some of the counters that a real GPU has metrics for; the others are absent.
std::vector<Counter> fake_known_counters();

}  // namespace roofwalk::test
