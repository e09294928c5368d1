// The virtual GPU's device memory: named buffers with exact bounds in one address space. Addresses depend only on the
// layout and on which buffers live, never on history. Frames (frames.h), by which caches choose their sets, depend on
// the buffers alone, so that counts repeat, whatever the layout.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/vgpu/memory/frames.h"

namespace roofwalk::vgpu {

struct Buffer {
  int id = -1;
  std::string name;
  std::uint64_t address = 0, size_bytes = 0;
  std::uint32_t element_bytes = 1;
  std::uint8_t* data = nullptr;  // host side; data[i] is address + i
  bool read_only = false;        // for kernels, memsets and copies

  bool contains(std::uint64_t at, std::uint64_t bytes) const {
    return at >= address && bytes <= size_bytes && at - address <= size_bytes - bytes;
  }
};

// Somebody wants to know who writes to them.
struct WatchedBytes {
  std::uint64_t address = 0, bytes = 0;

  bool meets(std::uint64_t at, std::uint64_t size_bytes) const {
    return at < address + bytes && address < at + size_bytes;
  }
};

// Of a fault: "read only: writes a[5], ...".
std::string read_only_message(std::string_view verb, const Buffer& buffer, std::uint64_t address);

class Memory {
 public:
  // Regions keep apart what lives for different spans, so that one's growth does not move the other's addresses.
  enum class Region { arguments, buffers, constants, globals };

  // Constant memory starts here; what lies below is not constant, what lies in it is not written.
  static constexpr std::uint64_t kConstantBase = 0x7d00'0000'0000, kConstantEnd = 0x7f00'0000'0000;
  // For the caches all constants lie side by side, in a bank: an address modulo this is its place there. 64 KiB (PTX
  // ISA, constant state space) and what alignment may add.
  static constexpr std::uint64_t kConstantBankBytes = 1ull << 17;
  static bool is_constant(std::uint64_t address) { return address >= kConstantBase && address < kConstantEnd; }

  explicit Memory(std::uint64_t capacity_bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // The lowest free address of the region that fits, with a gap of at least kGapBytes on both sides. Zero-filled.
  Result<int> allocate(std::string_view name, std::uint64_t size_bytes, std::uint32_t element_bytes, Region region);
  // The same for a __constant__ variable, whose place in the bank is known.
  Result<int> allocate_constant(std::string_view name, std::uint64_t size_bytes, std::uint32_t element_bytes,
                                std::uint64_t place);
  // Of Region::buffers that are allocated from now on: where the region starts and how wide its gaps are follows from
  // the seed, so that no kernel knows an address by heart. 0: the narrowest gaps.
  void lay_out(std::uint64_t seed);
  // What the caches go by; nullptr where addresses are their own frames.
  const Frames* frames() const { return layout_ == 0 ? nullptr : &frames_; }
  // The buffer is not to be written from now on, but through `data`.
  void protect(int id);
  void release(int id);
  void release_all(Region region);

  // Nobody knows what these bytes hold: a plan that is watched finds kernels that read them before they are written.
  void forget(int id, std::uint64_t offset_bytes, std::uint64_t size_bytes);
  // A plan begins: whether it is watched. Forgotten bytes are forgotten for this plan only.
  void watch(bool on);
  // Of a watched plan; the bytes must lie in one buffer. Where nothing has written all of them: the first that is not.
  std::optional<std::uint64_t> first_undefined(std::uint64_t address, std::uint64_t size_bytes) const;
  // Whether the bytes lie in one buffer and all of it was written at some time, or they are few and all were.
  bool surely_defined(std::uint64_t address, std::uint64_t size_bytes) const;
  void define(std::uint64_t address, std::uint64_t size_bytes);
  void copy_defined(std::uint64_t to, std::uint64_t from, std::uint64_t size_bytes);

  const Buffer& buffer(int id) const;
  // The buffer that holds the address; nullptr where none does.
  const Buffer* find(std::uint64_t address) const;
  // The buffer whose range is nearest to an address that no buffer holds; nullptr where there is none.
  const Buffer* nearest(std::uint64_t address) const;

  // Wide, so that an index that runs out of one buffer is never nearer to the next.
  static constexpr std::uint64_t kGapBytes = 1ull << 30;
  static constexpr std::uint64_t kAlignBytes = 4096;
  // Of addresses that a layout chooses: what cudaMalloc promises (CUDA C++ Programming Guide, Device Memory Accesses).
  static constexpr std::uint64_t kLayoutAlignBytes = 256;

 private:
  struct Entry {
    Buffer buffer;
    Region region;
    std::uint64_t frame = 0;  // where it starts, for the caches
    void* mapped = nullptr;   // where the host memory of `buffer` starts, or some bytes before it
    std::uint64_t forgotten_offset = 0, forgotten_bytes = 0;
    std::vector<std::uint8_t> undefined;  // by byte, 1 where nothing was written; empty where all is defined
  };

  Result<int> allocate(std::string_view name, std::uint64_t size_bytes, std::uint32_t element_bytes, Region region,
                       std::uint64_t align_bytes, std::uint64_t offset);
  Entry& entry(int id) const;
  Entry* entry_at(std::uint64_t address) const;  // nullptr where no buffer holds it

  std::uint64_t free_frame(std::uint64_t size_bytes, Region region, std::uint64_t align_bytes,
                           std::uint64_t offset) const;
  std::uint64_t free_address(std::uint64_t size_bytes) const;  // of Region::buffers, in a layout

  std::uint64_t capacity_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t layout_ = 0;
  Frames frames_;
  int next_id_ = 0;
  std::vector<std::unique_ptr<Entry>> entries_;  // by address; stable, for handlers keep pointers
};

}  // namespace roofwalk::vgpu
