// What a program's CUDA runtime (library/) asks the process that has the virtual GPU, and what that answers. Both are
// built together, so a message is a plain structure, followed by bytes whose number the structure tells.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace roofwalk::cudart {

// The environment variable with the path of the socket.
inline constexpr const char* kSocketVariable = "ROOFWALK_PROFILE_SOCKET";

inline constexpr std::uint32_t kProtocolVersion = 2;
inline constexpr std::uint32_t kMostMessageBytes = 1u << 30;

enum class Call : std::uint32_t {
  hello,       // Hello -> DeviceFigures, with the descriptor of device memory
  add_module,  // bytes of a fat binary, or of that of a linked program and those of its files -> AddedModule
  kernel,      // NamedInModule -> KernelFigures, KernelFigures::parameters times ParameterPlace
  variable,    // NamedInModule -> Place
  allocate,    // Allocate -> Place
  release,     // Release
  launch,      // Launch, bytes of the parameters -> Launched
  fill,        // Fill -> Launched
  copy,        // Copy -> Launched
  occupancy,   // AskOccupancy -> Occupied
  wrote,       // Fill: where the program has written device memory itself, if DeviceFigures::watches_memory
  limit_heap,  // HeapSize
  say,         // text: a line for the user
};

struct Request {
  Call call{};
  std::uint32_t size_bytes = 0;  // of what follows
};

// `error` is a number of cudaError_t. `printed_bytes` of text for the program's standard output follow, then
// `size_bytes` of the call's own answer, which is there only without an error.
struct Answer {
  std::int32_t error = 0;
  std::uint32_t printed_bytes = 0, size_bytes = 0;
  std::uint32_t padding = 0;
  double now_ns = 0;  // modelled time since the program's first call
};

struct Hello {
  std::uint32_t version = kProtocolVersion;
  std::int32_t process = 0;
};

struct DeviceFigures {
  char name[256] = {};
  std::int32_t compute_capability = 0;  // 80 for 8.0
  std::int32_t sms = 0, max_threads_per_sm = 0, max_blocks_per_sm = 0, max_threads_per_block = 0;
  std::int32_t registers_per_sm = 0, shared_bytes_per_sm = 0, max_shared_bytes_per_block = 0;
  std::int32_t reserved_shared_bytes_per_block = 0, clock_khz = 0;
  std::int64_t memory_bytes = 0, l2_bytes = 0;
  std::int64_t watches_memory = 0;  // 1: wants to know what the program writes
};

struct AddedModule {
  std::int32_t module = 0;
};

struct NamedInModule {  // followed by the name
  std::int32_t module = 0;
};

struct KernelFigures {
  std::int32_t kernel = 0;
  std::int32_t registers_per_thread = 0, max_threads_per_block = 0;
  std::int32_t ptx_version = 0, binary_version = 0;  // 90 for 9.0
  std::uint32_t static_shared_bytes = 0, local_bytes_per_thread = 0, constant_bytes = 0;
  std::uint32_t parameters = 0, parameter_bytes = 0;
};

struct ParameterPlace {
  std::uint32_t offset_bytes = 0, size_bytes = 0;
};

// Device memory: the address that kernels see, and where its bytes are in the file of device memory.
struct Place {
  std::uint64_t address = 0, size_bytes = 0, file_offset = 0;
};

enum class MemoryKind : std::uint32_t { device, managed, pinned };

struct Allocate {
  std::uint64_t size_bytes = 0;
  MemoryKind kind = MemoryKind::device;
  std::uint32_t padding = 0;
};

struct Release {
  std::uint64_t address = 0;
};

struct Launch {  // followed by the block of parameters
  std::int32_t kernel = 0;
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t is_cooperative = 0;  // 1: the grid may wait for itself
};

// `fault`: 0, or the error that all later calls of the program return.
struct Launched {
  std::int32_t fault = 0;
};

struct Fill {
  std::uint64_t address = 0, pitch_bytes = 0, width_bytes = 0, rows = 1;
  std::uint64_t slice_bytes = 0, slices = 1;  // slice_bytes: from one slice to the next
  std::uint64_t value = 0;
};

struct Copy {
  std::uint64_t to = 0, to_pitch_bytes = 0, from = 0, from_pitch_bytes = 0, width_bytes = 0, rows = 1;
  std::uint64_t to_slice_bytes = 0, from_slice_bytes = 0, slices = 1;
};

struct HeapSize {
  std::uint64_t size_bytes = 0;
};

struct AskOccupancy {
  std::int32_t kernel = 0;
  std::uint32_t threads = 0, dynamic_shared_bytes = 0;
};

struct Occupied {
  std::int32_t blocks_per_sm = 0;
};

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// The structure at the beginning of a payload; all zero if the payload is too short.
template <class T>
T front_of(std::string_view payload) {
  T value{};
  if (payload.size() >= sizeof value) std::memcpy(static_cast<void*>(&value), payload.data(), sizeof value);
  return value;
}

}  // namespace roofwalk::cudart
