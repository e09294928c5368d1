// The virtual GPU's device memory: named buffers with exact bounds in one address space. Addresses depend only on the
// layout and on which buffers exist, not on earlier allocations. Frames (frames.h), which select cache sets, depend
// on the buffers only, so counts are the same for every layout.
#pragma once

#include <cstdint>
#include <memory>
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
  std::uint8_t* data = nullptr;  // host memory; data[i] is address + i
  bool read_only = false;        // kernels, memsets and copies must not write it

  bool contains(std::uint64_t at, std::uint64_t bytes) const {
    return at >= address && bytes <= size_bytes && at - address <= size_bytes - bytes;
  }
};

// Device memory whose last writer is reported.
struct WatchedBytes {
  std::uint64_t address = 0, bytes = 0;

  bool meets(std::uint64_t at, std::uint64_t size_bytes) const {
    return at < address + bytes && address < at + size_bytes;
  }
};

// Returns the message of a fault: "read only: writes a[5], ...".
std::string read_only_message(std::string_view verb, const Buffer& buffer, std::uint64_t address);

class Memory {
 public:
  // Each region holds buffers with the same lifetime, so that growth of one region does not move addresses of
  // another.
  enum class Region { arguments, buffers, constants, globals };

  // Address range of constant memory, which kernels cannot write.
  static constexpr std::uint64_t kConstantBase = 0x7d00'0000'0000, kConstantEnd = 0x7f00'0000'0000;
  // To the caches, all constants are adjacent in one bank: the offset in the bank is the address modulo this. 64 KiB
  // (PTX ISA, constant state space) plus what alignment may add, rounded up to a power of two.
  static constexpr std::uint64_t kConstantBankBytes = 1ull << 17;
  static bool is_constant(std::uint64_t address) { return address >= kConstantBase && address < kConstantEnd; }

  explicit Memory(std::uint64_t capacity_bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Allocates at the lowest free address of the region, with gaps of at least kGapBytes on both sides. Zero-filled.
  Result<int> allocate(std::string_view name, std::uint64_t size_bytes, std::uint32_t element_bytes, Region region);
  // Allocates a __constant__ variable at a given offset in the bank.
  Result<int> allocate_constant(std::string_view name, std::uint64_t size_bytes, std::uint32_t element_bytes,
                                std::uint64_t place);
  // Sets the layout of buffers of Region::buffers that are allocated from now on. The seed determines where the
  // region starts and how wide its gaps are, so that no kernel can hard-code an address. 0: the narrowest gaps.
  void lay_out(std::uint64_t seed);
  // Frames for the caches; nullptr: frame numbers are line numbers.
  const Frames* frames() const { return layout_ == 0 ? nullptr : &frames_; }
  // Makes the buffer read-only for kernels, memsets and copies; the host can still write it through `data`.
  void protect(int id);
  void release(int id);
  void release_all(Region region);

  // Marks these bytes undefined for the next plan. If that plan is watched, a kernel that reads them before they are
  // written is reported.
  void forget(int id, std::uint64_t offset_bytes, std::uint64_t size_bytes);
  // Begins a plan, watched or not. Bytes that were marked undefined stay so for this plan only.
  void watch(bool on);
  // For memory that lives for many plans, all of them watched: from now on, bytes stay undefined until something writes
  // them, and what a plan leaves is no result. undefine: marks bytes of a buffer so, at once.
  void keep_undefined() { keeps_undefined_ = true; }
  bool keeps_undefined() const { return keeps_undefined_; }
  void undefine(std::uint64_t address, std::uint64_t size_bytes);
  // How many of these bytes are undefined; whether all are; the bits of the undefined ones among at most eight. Only
  // for watched plans; the bytes must be in one buffer.
  std::uint64_t undefined_bytes(std::uint64_t address, std::uint64_t size_bytes) const;
  bool is_undefined(std::uint64_t address, std::uint64_t size_bytes) const {
    return undefined_bytes(address, size_bytes) == size_bytes;
  }
  std::uint64_t undefined_bits(std::uint64_t address, std::size_t size_bytes) const;
  // Whether the bytes are in one buffer and known to be defined, and, of a load that is not coherent, not to be stored
  // (has_stored()). May be false for long ranges of a buffer that is partly undefined or stored.
  bool surely_defined(std::uint64_t address, std::uint64_t size_bytes, bool non_coherent = false) const;
  void define(std::uint64_t address, std::uint64_t size_bytes);
  // Begins a launch, in which define() also notes what is stored, or does not. has_stored: whether any of these bytes,
  // which are in one buffer, has been.
  void note_stores(bool on);
  bool has_stored(std::uint64_t address, std::uint64_t size_bytes) const;
  // Bits that were stored, but that nobody had given a value (state/unset_values.h). Only for watched plans.
  // leave_unset: marks them in a number of at most eight bytes, in one buffer; unset_bits: returns those of a number;
  // holds_unset: whether there are any, anywhere or in a buffer.
  void leave_unset(std::uint64_t address, std::size_t size_bytes, std::uint64_t bits);
  std::uint64_t unset_bits(std::uint64_t address, std::size_t size_bytes) const;
  bool holds_unset() const { return holds_unset_; }
  bool holds_unset(int id) const;
  void copy_defined(std::uint64_t to, std::uint64_t from, std::uint64_t size_bytes);

  // Whether a buffer is left to the host when the plan ends: none of scratch, and no variable of the module.
  bool is_result(int id) const;
  const Buffer& buffer(int id) const;
  // Returns the buffer that contains the address; nullptr if there is none.
  const Buffer* find(std::uint64_t address) const;
  // Returns the buffer whose range is nearest to an address that is in no buffer; nullptr if there are no buffers.
  const Buffer* nearest(std::uint64_t address) const;

  // Gaps between buffers are wide, so that an address behind the end of a buffer is still nearest to that buffer.
  static constexpr std::uint64_t kGapBytes = 1ull << 30;
  static constexpr std::uint64_t kAlignBytes = 4096;
  // Alignment in a layout: cudaMalloc's (CUDA C++ Programming Guide, Device Memory Accesses).
  static constexpr std::uint64_t kLayoutAlignBytes = 256;

 private:
  struct Entry {
    Buffer buffer;
    Region region;
    std::uint64_t frame = 0;  // first frame
    void* mapped = nullptr;   // start of the host mapping: `buffer.data` or a lower address
    std::uint64_t forgotten_offset = 0, forgotten_bytes = 0;
    std::vector<std::uint8_t> undefined;  // by byte: 1 = undefined; empty: all bytes are defined
    std::vector<std::uint8_t> unset;      // by byte: the bits that leave_unset() has marked; empty: none
    std::vector<std::uint8_t> stored;     // a bit by byte: stored in this launch, if notes_stores_; empty: none
  };

  Result<int> allocate(std::string_view name, std::uint64_t size_bytes, std::uint32_t element_bytes, Region region,
                       std::uint64_t align_bytes, std::uint64_t offset);
  Entry& entry(int id) const;
  Entry* entry_at(std::uint64_t address) const;  // nullptr: no buffer contains it

  std::uint64_t free_frame(std::uint64_t size_bytes, Region region, std::uint64_t align_bytes,
                           std::uint64_t offset) const;
  std::uint64_t free_address(std::uint64_t size_bytes) const;  // in a layout: an address for Region::buffers

  std::uint64_t capacity_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t layout_ = 0;
  Frames frames_;
  int next_id_ = 0;
  bool holds_unset_ = false, notes_stores_ = false, keeps_undefined_ = false;
  std::vector<std::unique_ptr<Entry>> entries_;  // by address; pointers stay valid, because handlers keep them
};

}  // namespace roofwalk::vgpu
