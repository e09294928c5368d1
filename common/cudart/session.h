// A program's GPU: its modules, its memory, its launches, one after the other as they come. What a program asks is
// checked as the CUDA runtime checks it; memory that it allocates is a file that both processes map, so that neither
// copies for the other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/build/build.h"
#include "common/cudart/fault_text.h"
#include "common/cudart/kernel_records.h"
#include "common/cudart/module_code.h"
#include "common/cudart/protocol.h"
#include "common/specs/machine.h"
#include "common/vgpu/gpu.h"

namespace roofwalk::cudart {

// Chooses the launches of kernels that are measured, and hears of them. The thread that serves programs calls it.
class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  // False: the launch runs for its results alone and has no figures. `kernel`: as in KernelRecord::name.
  virtual bool begins(const std::string& kernel) = 0;
  virtual void measured(const KernelRecord& record, const std::string& file) = 0;  // also one that is carried over
  virtual void ended() = 0;                                                        // before the program goes on
};

struct SessionOptions {
  Machine machine;
  Toolkit toolkit;
  std::filesystem::path cache;   // of assembled modules
  std::filesystem::path caller;  // the folder of the user: paths below it are told without it
  bool sanitize = false;
  int threads = 1;
  std::uint64_t work = 0;  // limit of a launch (vgpu/state/work.h)
  // Of launches of a kernel with the same grid, block and shared memory, so many are counted; 0: all. The others run
  // for their results alone, and count as the last one that was counted.
  std::uint64_t counted_launches = 0;
  LaunchObserver* observer = nullptr;  // nullptr: all launches are measured
};

// What a call returns to the program.
struct Reply {
  std::int32_t error = 0;
  std::string printed = {};  // by kernels
  std::string bytes = {};    // the structures of protocol.h
};

class Session {
 public:
  Session(const SessionOptions& options, KernelRecords& records);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Reply handle(Call call, std::string_view payload);
  int memory_file() const { return memory_file_; }
  double now_ns() const { return now_ns_; }

 private:
  struct Module {
    ModuleCode code;                      // without its PTX module, which the machine has
    const ptx::Module* module = nullptr;  // there
    int number = 0;                       // there
  };
  struct Kernel {
    const Module* module = nullptr;
    std::string name;  // mangled
    std::string file;  // source, as in `.file`
    const ptx::Function* function = nullptr;
    const KernelResources* resources = nullptr;  // nullptr: unknown
    int max_threads = 0;
    bool takes_memory = false;  // by malloc() or new
    std::vector<ParameterPlace> parameters;
    KernelFigures figures;
  };

  // Launches of the same kernel with the same Launch structure.
  struct Alike {
    std::uint64_t launches = 0;
    std::vector<KernelRecord> last;  // what the last counted one did
  };

  Reply hello(std::string_view payload) const;
  Reply add_module(std::string_view fat_binaries);
  Result<std::string> ptx_of(std::string_view fat_binary, std::int32_t& error) const;
  Reply kernel(std::string_view payload);
  Reply variable(std::string_view payload);
  Reply allocate(std::string_view payload);
  Reply release(std::string_view payload);
  Reply launch(std::string_view payload);
  Reply wrote(std::string_view payload);
  Reply fill(std::string_view payload);
  Reply copy(std::string_view payload);
  Reply occupancy(std::string_view payload) const;
  Reply say(std::string_view payload);

  struct Refusal {
    std::int32_t error = 0;   // kSuccess: there is none
    const char* name = "";    // of the error
    std::string reason = {};  // behind the kernel's name and its launch
  };
  // Why the runtime does not begin such a launch.
  Refusal why_not(const Kernel& kernel, const Launch& launch) const;
  Reply run(const Kernel& kernel, const Launch& launch, std::string_view arguments);
  // Fills in what the runtime tells of a kernel.
  void describe(Kernel& kernel) const;
  Reply end_transfer(bool is_done);
  std::vector<PointerArgument> pointers_in(const Kernel& kernel, std::string_view arguments) const;
  void begin_plan(std::uint64_t key, bool counts);
  // Gives a buffer of the machine its pages in the file, and returns where. `keeps`: with its contents; else zero.
  // nullopt: the system refuses.
  std::optional<std::uint64_t> share(const vgpu::Buffer& buffer, bool keeps);
  bool computer_has(std::uint64_t size_bytes);  // says so, if not
  void tell_if_full(std::uint64_t size_bytes);  // of device memory
  std::optional<Place> place_of_new(std::uint64_t size_bytes);
  // What a cooperative launch counts in, and what kernels take memory from. Errors: as of the machine's memory.
  Result<std::uint64_t> grid_workspace();
  std::string told_path(const std::string& path) const;
  void tell(std::string text, bool is_fault);
  void tell_once(const std::string& what, std::string text);  // no fault; `what`: that no other one tells

  const SessionOptions& options_;
  KernelRecords& records_;
  vgpu::Gpu gpu_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::map<std::string, Alike> alike_;  // by the bytes of their Launch
  std::set<std::string> told_once_;
  std::map<std::uint64_t, Place> places_;  // by address: of allocations and module variables
  int memory_file_ = -1;
  std::uint64_t file_end_ = 0;
  int allocations_ = 0;
  int workspace_ = -1;                  // buffer of grid_workspace(); -1: there is none yet
  std::uint64_t heap_bytes_ = 8 << 20;  // as CUDA's, unless the program sets it
  double now_ns_ = 0;
};

}  // namespace roofwalk::cudart
