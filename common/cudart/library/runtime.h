// The CUDA runtime that a program finds in place of NVIDIA's: it keeps what the host has registered and allocated, and
// asks the process that has the virtual GPU (protocol.h) for everything else. A program is one process; its threads
// take turns.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/cudart/protocol.h"

namespace roofwalk::cudart {

// A module, and what it is loaded from when it is first needed: a fat binary, or, in a program of files that were
// linked
// (-rdc=true), that of the whole and those of the files.
struct HostModule {
  std::vector<const char*> fat_binaries;
  std::int32_t number = -1;  // at the server; -1: not loaded
  cudaError_t error = cudaSuccess;
};

// A kernel, known by the address of its stub on the host.
struct HostKernel {
  HostModule* module = nullptr;
  std::string name;
  bool is_loaded = false;
  cudaError_t error = cudaSuccess;
  KernelFigures figures;
  std::vector<ParameterPlace> parameters;
  int opted_dynamic_bytes = 0;  // cudaFuncAttributeMaxDynamicSharedMemorySize
};

struct HostVariable {
  HostModule* module = nullptr;
  std::string name;
  std::uint64_t size_bytes = 0;
  void** managed = nullptr;  // of a managed one: where the program looks for its address
  bool is_loaded = false;
  Place place;
};

struct Allocation {
  Place place;
  MemoryKind kind = MemoryKind::device;
  bool is_variable = false;
};

// Memory of the program's own. Once the program asks for the address that kernels use, its pages are those of `place`.
struct Registered {
  std::size_t size_bytes = 0;
  Place place;  // of whole pages; address 0: not asked for
};

// Shared memory of a block beyond this, a kernel must opt in to.
inline constexpr std::size_t kPlainSharedBytes = 48 << 10;

struct CallConfiguration {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  bool is_cooperative = false;
};

struct Runtime {
  std::recursive_mutex mutex;
  bool is_asking = false;  // a call waits for its answer

  int socket = -1, memory_file = -1;
  int process = 0;  // that has connected
  cudaError_t connect_error = cudaSuccess;
  DeviceFigures device;
  double now_ns = 0;
  cudaError_t sticky = cudaSuccess;  // after a fault: what all calls return
  bool sticky_seen = false;          // by a call that returned it

  std::vector<std::unique_ptr<HostModule>> modules;
  std::map<const void*, std::unique_ptr<HostKernel>> kernels;      // by stub
  std::set<const HostKernel*> handles;                             // the same
  std::map<const void*, std::unique_ptr<HostVariable>> variables;  // by shadow on the host
  std::map<std::uint64_t, Allocation> allocations;                 // by address
  std::map<const void*, Registered> registered;                    // the program's own memory, by cudaHostRegister
  std::set<const void*> streams, events;
};

// The names under which programs with a default stream for each thread call a function. In the function's own file.
#define ROOFWALK_PER_THREAD(name, other) __attribute__((alias(#name))) decltype(name) other;

// Never destroyed: programs call the runtime from destructors of their own, and end without freeing.
Runtime& runtime();

using Lock = std::lock_guard<std::recursive_mutex>;

// Remembers an error for cudaGetLastError and returns it.
cudaError_t result(cudaError_t error);

// Connects if necessary. The error that every call has to return, if there is one: no GPU, or an earlier fault.
cudaError_t ready();

// Asks the server. `answer` takes the call's own answer.
cudaError_t ask(Call call, std::string_view payload, std::string* answer = nullptr);

// Asks for an answer that is one structure.
template <class Question, class Wanted>
cudaError_t ask_for(Call call, const Question& question, Wanted& wanted) {
  std::string answer;
  const cudaError_t error = ask(call, bytes_of(question), &answer);
  if (error != cudaSuccess) return error;
  if (answer.size() < sizeof wanted) return cudaErrorUnknown;
  __builtin_memcpy(&wanted, answer.data(), sizeof wanted);
  return cudaSuccess;
}

// A launch, memset or copy: its answer may be a fault, which later calls return.
cudaError_t ask_to_run(Call call, std::string_view payload);

// Tells the user a line.
void say(const std::string& text);

// What a call that is not served does: says so by name, once, and returns the error.
cudaError_t not_served(const char* name);

// Loads the module of a kernel or variable, then finds it there.
cudaError_t load(HostKernel& kernel);
cudaError_t load(HostVariable& variable);
// The kernel of a stub or of a handle; nullptr: neither.
HostKernel* find_kernel(const void* stub_or_handle);
// The variable of a shadow or, if it is managed, of its address; nullptr: neither.
HostVariable* find_variable(const void* shadow_or_address);

// Maps device memory at the address that kernels use. False, said to the user: something of the program's is there.
bool map_for_host(const Place& place);
inline std::size_t whole_pages(std::size_t size_bytes) {
  constexpr std::size_t kPageBytes = 4096;
  return (size_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

// Whether it is one of the program's streams, or a default stream.
bool is_stream(cudaStream_t stream);

// The allocation or module variable that contains the address; nullptr: none.
const Allocation* find_allocation(const void* address);

}  // namespace roofwalk::cudart
