// A CUDA driver without a GPU: a table of functions behind which kernels run on the virtual GPU. Memory and results are
// real; times are modelled ones on a clock of its own; errors, endless kernels and hangs come where a test says.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/device/cuda/cuda_device.h"
#include "common/device/cuda/driver_api.h"
#include "common/ptx/module.h"
#include "common/specs/machine.h"
#include "common/vgpu/gpu.h"

namespace roofwalk::test {

// At most one lives at a time: the functions of a table have no state of their own.
class FakeDriver {
 public:
  explicit FakeDriver(Machine machine);
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  const DriverApi& api() const { return api_; }

  // From now on: the nth call of a function ("cuMemAlloc") returns `code`. A sticky one is returned by all calls after
  // it.
  void fail(const std::string& function, int nth, CUresult code) { rules_[function][calls_[function] + nth] = code; }
  // The nth call sleeps until the process is killed.
  void hang(const std::string& function, int nth) { hangs_[function] = calls_[function] + nth; }
  // The nth launch from now on never ends: its events are never ready.
  void never_end(int nth_launch) { endless_launch_ = calls_["cuLaunchKernel"] + nth_launch; }

  int calls(const std::string& function) const {
    const auto at = calls_.find(function);
    return at == calls_.end() ? 0 : at->second;
  }
  // What was done, in order: "launch NAME", "memset", "copy", "write", "read", "load", "record", "limit 6 0", "reset
  // L2", and what a test adds.
  std::vector<std::string> log;

  // Set before the device is opened.
  std::string name = "Fake GPU";
  int version = 13000, devices = 1, persisting_l2_bytes = 0, registers = 32;
  bool takes_its_time = false;  // kernels last as long by the host's clock as by the modelled one
  bool compiles_ptx = true;     // false: 222
  double host_cost_ns = 0;      // that each call takes of the host's time
  double host_ns() const { return host_ns_; }
  std::size_t live_allocations() const { return allocations_.size(); }
  std::size_t live_modules() const { return modules_.size(); }
  std::size_t live_graphs() const { return graphs_.size(); }
  std::string last_image;  // of cuModuleLoadDataEx

  // What runs between these is counted together, from a cold L2.
  void begin_range();
  RunRecord end_range();
  bool in_range() const { return in_range_; }

  struct Functions;  // the entries of the table

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

  // Every entry begins with it: what a script says, or an error that came before.
  std::optional<CUresult> enter(const std::string& function);
  CUresult surface();  // an error that a kernel left behind
  bool relink();       // all loaded modules as one
  void advance(const RunRecord& record);
  void run_step(const std::function<bool()>& step, bool timed = true);  // or keeps it, while a graph is captured
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
  std::string printed_, complained_;        // to stdout and stderr, once somebody waits
  std::map<CUdeviceptr, int> allocations_;  // address to the memory's id
  std::vector<std::unique_ptr<Module>> modules_;
  std::vector<std::unique_ptr<Function>> functions_;
  std::vector<std::unique_ptr<Event>> events_;
  using Graph = std::vector<std::function<bool()>>;
  std::optional<Graph> captured_;  // while a stream is captured
  std::vector<std::unique_ptr<Graph>> graphs_;
};

// Counters by the virtual GPU: the metrics are our counters' names. A pass that does other work than the first one is
// an error, as on hardware its counts would be of no use.
class FakeRangeCounters final : public RangeCounters {
 public:
  explicit FakeRangeCounters(FakeDriver& driver) : driver_(driver) {}
  Result<std::vector<RangeValues>> count(const std::function<Status(Pass&)>& pass) override;

  int passes = 2;
  std::vector<Counter> not_available;  // NaN
  int lost_at_count = 0;               // the nth count() finds that it is no longer permitted
  int counted = 0;

 private:
  FakeDriver& driver_;
};

// The source that opens one; `made`, if any, is told of it.
CounterSource fake_counters(FakeDriver& driver, std::function<void(FakeRangeCounters&)> made = {});

// Those that a real GPU has no metric for are absent there; here, some of each kind.
std::vector<Counter> fake_known_counters();

}  // namespace roofwalk::test
