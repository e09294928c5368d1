// The virtual GPU: PTX in, exact counts and modelled time out. A library of its own; it knows nothing of the course.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/ptx/module.h"
#include "common/record/run_record.h"
#include "common/specs/machine.h"
#include "common/vgpu/exec/grid.h"
#include "common/vgpu/memory/cache.h"
#include "common/vgpu/memory/memory.h"
#include "common/vgpu/program/names.h"
#include "common/vgpu/program/program.h"
#include "common/vgpu/timing/least_time.h"
#include "common/vgpu/timing/schedule.h"

namespace roofwalk::vgpu {

class Printer;

struct KernelCall {
  std::string kernel;  // mangled
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::span<const std::uint8_t> arguments;   // the parameter block
  int line = 0;                              // of the call, for the record
  int registers_per_thread = 0;              // from ptxas: decides occupancy
  std::uint32_t local_bytes_per_thread = 0;  // from ptxas: for the record
  std::span<const MachineOp> code = {};      // from ptxas: the order for the clock
};

class Gpu {
 public:
  explicit Gpu(Machine machine);
  ~Gpu();

  const Machine& machine() const { return machine_; }
  Memory& memory() { return memory_; }
  const Memory& memory() const { return memory_; }

  // Takes a module and lays out its .global and .const variables. `source_name` is the learner's file as `.loc` names
  // it, `source_path` what messages print. Errors: a variable larger than the memory, an extern one.
  Status load(ptx::Module module, std::string source_name, std::string source_path);
  const ptx::Module* module() const { return module_ ? &*module_ : nullptr; }

  // A plan: L2 is cold at its start, carried over from step to step, written back once at its end.
  void begin_plan(const RunLimits& limits);
  // Runs one step. False after a learner's fault: the plan is over, end_plan tells. Errors: PTX that cannot be lowered.
  Result<bool> launch(const KernelCall& call);
  // At least one byte, as all steps of a plan that move memory.
  bool set_memory(std::uint64_t address, std::uint8_t value, std::uint64_t size_bytes, int line);
  bool copy_memory(std::uint64_t destination, std::uint64_t source, std::uint64_t size_bytes, int line);
  RunRecord end_plan();

 private:
  struct Step;  // one launch, memset or copy until its traffic is known

  // With kernel, file and line.
  Fault placed(Fault fault, const std::string& kernel, const ptx::Function& function, std::uint32_t pc) const;
  // The fault of a kernel that asks for more than there is; false.
  bool too_much(const Step& step, std::string message);
  // The stages of a launch. Lowered, with nothing admitted yet.
  Result<std::unique_ptr<Step>> lower_kernel(const KernelCall& call) const;
  // What the host keeps for the blocks that are resident at once, and their occupancy; nothing, with the fault, where
  // the GPU or the host cannot hold them.
  std::optional<std::uint64_t> resident_bytes(Step& step);
  // False, with the fault, where the budget does not hold the launch.
  Result<bool> charge_launch(const KernelCall& call, std::uint64_t held_bytes, const Step& step);
  void put_in_order(const KernelCall& call, Step& step);
  GridTrace run_blocks(Launch& launch, std::vector<Multiprocessor>& sms, const Step& step);
  static void take_totals(Launch& launch, std::vector<Multiprocessor>& sms, Step& step);
  // Takes work off the budget; false, with the fault, where less is left.
  bool charge(std::uint64_t work, const std::string& what, int line, const std::string& trouble);
  bool runs_too_long(const std::string& what, int line, const std::string& trouble);  // the fault; false
  // The time of a launch that has run; false, with the fault, where that is past the budget.
  bool read_time(const GridTrace& trace, std::uint64_t most_swaps, Step& step);
  bool charge_moved(std::uint64_t size_bytes, const char* what, int line);
  bool check_range(std::uint64_t address, std::uint64_t size_bytes, bool writes, const char* what, int line);
  Step& begin_transfer(const char* name, int line);
  void touch(std::uint64_t address, std::uint64_t size_bytes, bool write, Step& step);
  KernelRecord finish(Step& step, Counters& total);

  Machine machine_;
  Memory memory_;
  L2Cache l2_;
  std::optional<ptx::Module> module_;
  std::string source_name_, source_path_;
  std::map<std::string, std::uint64_t> addresses_;    // of module variables
  bool points_to_constants_ = false;                  // the module has generic pointers to constant memory
  std::map<std::string, ProgramSchedule> schedules_;  // of the kernels launched so far

  std::unique_ptr<Printer> printer_;
  RunLimits limits_;                                         // what is left of them
  std::chrono::steady_clock::time_point began_{};            // the plan
  std::uint64_t plan_operations_ = 0;                        // lowered, over all launches of the plan
  std::set<std::string> ordered_;                            // kernels of the plan that `schedules_` has
  std::vector<std::vector<std::uint64_t>> untraced_blocks_;  // by launch of the plan
  std::vector<SiteTraffic> traffic_;
  std::vector<std::unique_ptr<Step>> steps_;
  std::vector<Fault> warnings_;
  int watched_line_ = 0;
  std::optional<Fault> fault_;
};

}  // namespace roofwalk::vgpu
