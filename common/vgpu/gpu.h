// The virtual GPU: PTX in, exact counts and modelled time out. It is independent of the course.
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
#include "common/vgpu/memory/heap.h"
#include "common/vgpu/memory/l2_cache.h"
#include "common/vgpu/memory/memory.h"
#include "common/vgpu/program/names.h"
#include "common/vgpu/program/program.h"
#include "common/vgpu/timing/instruction_schedule.h"
#include "common/vgpu/timing/lower_bounds.h"

namespace roofwalk::vgpu {

class Printer;

struct KernelCall {
  std::string kernel;  // mangled
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  std::span<const std::uint8_t> arguments;   // the parameter block
  int line = 0;                              // line of the call, for the record
  int registers_per_thread = 0;              // from ptxas; determines occupancy
  std::uint32_t local_bytes_per_thread = 0;  // from ptxas: for the record
  std::span<const MachineOp> code = {};      // from ptxas: the timing model follows this order
  // Of a cooperative launch: the address of eight bytes in which the grid waits for itself; their second half counts.
  std::uint64_t grid_workspace = 0;
};

class Gpu {
 public:
  explicit Gpu(Machine machine);
  ~Gpu();

  const Machine& machine() const { return machine_; }
  Memory& memory() { return memory_; }
  const Memory& memory() const { return memory_; }

  // Loads a module and lays out its .global and .const variables. `source_name` is the learner's file as named in
  // `.loc`, `source_path` as printed in messages. Errors: a variable larger than the memory, an extern variable.
  // Replaces all modules that are loaded.
  Status load(ptx::Module module, std::string source_name, std::string source_path);
  // Loads a module beside the others and returns its number, for use_module. The errors are those of load.
  Result<int> add_module(ptx::Module module, std::string source_name, std::string source_path);
  // Makes a module that of the launches to come. Not during a plan. `source_name` and `source_path` replace those with
  // which it was loaded: a module of a program may have kernels of several files.
  void use_module(int number, std::string source_name, std::string source_path);
  // The module of launches; nullptr: none is loaded.
  const ptx::Module* module() const { return module_; }
  // The address of a .global or .const variable of this module; nullopt: it has none of this name.
  std::optional<std::uint64_t> variable_address(const std::string& name) const;

  // Lets kernels call malloc() and free(): they share a heap of this size, which lasts. Nothing changes if there is
  // one. Error: there is no memory for it.
  Status make_heap(std::uint64_t size_bytes);

  // Begins a plan. L2 is cold when the plan begins, keeps its contents from step to step, and is written back when the
  // plan ends.
  void begin_plan(const RunLimits& limits);
  // Runs one step. False after a fault of the kernel: the plan has ended, and end_plan() returns the fault. Errors:
  // PTX that cannot be lowered.
  Result<bool> launch(const KernelCall& call);
  // Run a memset or a copy as one step. False after a fault, as for launch(). `size_bytes` must not be 0.
  bool set_memory(std::uint64_t address, std::uint8_t value, std::uint64_t size_bytes, int line);
  bool copy_memory(std::uint64_t destination, std::uint64_t source, std::uint64_t size_bytes, int line);
  // What the plan has left of RunLimits::work.
  std::uint64_t work_left() const { return limits_.work; }
  RunRecord end_plan();

 private:
  struct Step;  // a launch, memset or copy, until its traffic is known
  struct Kernel;
  struct Loaded;  // a module in memory
  class ParameterBlock;

  // Lays out the module's variables.
  Status place_variables(Loaded& loaded);
  // Adds kernel, file and line to a fault.
  Fault placed(Fault fault, const std::string& kernel, const ptx::Function& function, std::uint32_t pc) const;
  // Adds the file to an error that has none.
  Error in_source(Error error) const;
  // Records a resource fault of a kernel; returns false.
  bool too_much(const Step& step, std::string message);
  // Returns the kernel that is called. Its code is analysed at its first launch; later launches share the result. The
  // first one of each plan adds to kept_bytes_.
  Result<const Kernel*> kernel_called(const KernelCall& call);
  // The following functions are the stages of a launch. The first one lowers the kernel; it checks no limits.
  Result<ParameterBlock> place_parameters(const KernelCall& call);
  Result<std::unique_ptr<Step>> lower_kernel(const KernelCall& call, std::uint64_t parameters_address);
  // Sets the step's occupancy and returns how many bytes of host memory the blocks need that are resident at once.
  // nullopt, with a fault, if the GPU or the host cannot hold these blocks.
  std::optional<std::uint64_t> resident_bytes(Step& step);
  // Charges the launch to the budget. False, with a fault, if the budget does not cover it.
  Result<bool> charge_launch(const KernelCall& call, std::uint64_t held_bytes, const Step& step);
  // False, with a fault, if the plan's launches would keep too much memory until the plan ends.
  bool can_keep(const Step& step);
  void put_in_order(const KernelCall& call, Step& step);
  GridTrace run_blocks(Launch& launch, std::vector<Multiprocessor>& sms, const Step& step);
  // Per thread.
  static std::uint64_t spilled_bytes(const Step& step);
  static void take_totals(Launch& launch, std::vector<Multiprocessor>& sms, Step& step);
  // Deducts work from the budget. False, with a fault, if the budget has less left.
  bool charge(std::uint64_t work, const std::string& what, int line, const std::string& trouble);
  // Records a runaway fault; returns false.
  bool runs_too_long(const std::string& what, int line, const std::string& trouble);
  // Models the time of a launch that has run. False, with a fault, if modelling exceeds the budget.
  bool read_time(const GridTrace& trace, Step& step);
  bool charge_moved(std::uint64_t size_bytes, const char* what, int line);
  bool check_range(std::uint64_t address, std::uint64_t size_bytes, bool writes, const char* what, int line);
  Step& begin_transfer(const char* name, int line);
  void touch(std::uint64_t address, std::uint64_t size_bytes, bool write, Step& step);
  KernelRecord finish(Step& step, Counters& total);
  // A fault if what the plan leaves as a result is a value that nobody has set. What is left in scratch or in a
  // variable of the module is none: a structure may be stored there as a whole.
  void find_unset_results();

  Machine machine_;
  Memory memory_;
  std::optional<Heap> heap_;
  L2Cache l2_;
  std::vector<std::unique_ptr<Loaded>> modules_;  // by number
  // The module of launches, all of whose kernels count as of this file.
  Loaded* loaded_ = nullptr;
  const ptx::Module* module_ = nullptr;
  std::string source_name_, source_path_;

  std::unique_ptr<Printer> printer_;
  RunLimits limits_;                               // what the plan has left of its limits
  std::chrono::steady_clock::time_point began_{};  // when the plan began
  // Totals over the plan's launches: lowered operations; host memory kept until the plan ends.
  std::uint64_t plan_operations_ = 0, kept_bytes_ = 0;
  std::uint64_t plan_ = 0;                                   // number of the plan
  std::set<std::string> ordered_;                            // kernels whose scheduling the plan has paid for
  std::vector<std::vector<std::uint64_t>> untraced_blocks_;  // by launch of the plan: GridTrace::missing
  std::vector<InstructionTraffic> traffic_;
  std::vector<std::unique_ptr<Step>> steps_;
  std::vector<Fault> warnings_;
  struct UnsetStore {
    Fault fault;
    bool is_shuffled = false;
  };
  std::map<int, UnsetStore> unset_stores_;  // Launch::unset_stores of the plan, by buffer
  int watched_line_ = 0;
  std::optional<Fault> fault_;
};

}  // namespace roofwalk::vgpu
