#include "common/vgpu/memory/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "common/vgpu/memory/l1_cache.h"
#include "common/vgpu/memory/l2_cache.h"

namespace roofwalk::vgpu {
namespace {

// Where the regions begin: far from 0, so that a null pointer plus an index never reaches a buffer, and far from the
// windows of address_windows.h.
constexpr std::uint64_t kRegionBase[] = {0x5000'0000'0000, 0x7000'0000'0000, Memory::kConstantBase,
                                         Memory::kConstantEnd};

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

// Host memory comes from mmap: zero pages cost nothing until touched, so a huge buffer costs only the part that is
// used. A buffer with huge pages begins at a multiple of their size; the mapped bytes before the buffer are never
// touched.
constexpr std::uint64_t kHugePageBytes = 2u << 20;
std::uint64_t mapped_bytes(std::uint64_t size_bytes) {
  return round_up(size_bytes, 4096) + 64 + (size_bytes >= kHugePageBytes ? kHugePageBytes : 0);
}

// Of a bit by byte: those of `count` bytes, at least one, from `first` on, as masks of their first and last byte of
// bits.
struct BitRange {
  std::uint64_t first_byte, last_byte;
  std::uint8_t first_mask, last_mask;

  BitRange(std::uint64_t first, std::uint64_t count)
      : first_byte(first / 8),
        last_byte((first + count - 1) / 8),
        first_mask(static_cast<std::uint8_t>(0xffu << first % 8)),
        last_mask(static_cast<std::uint8_t>(0xffu >> (7 - (first + count - 1) % 8))) {
    if (first_byte == last_byte) first_mask = last_mask = first_mask & last_mask;
  }
};

void set_bits(std::vector<std::uint8_t>& bits, std::uint64_t first, std::uint64_t count) {
  const BitRange range(first, count);
  bits[range.first_byte] |= range.first_mask;
  bits[range.last_byte] |= range.last_mask;
  if (range.last_byte > range.first_byte + 1)
    std::memset(bits.data() + range.first_byte + 1, 0xff, range.last_byte - range.first_byte - 1);
}

bool any_bit(const std::vector<std::uint8_t>& bits, std::uint64_t first, std::uint64_t count) {
  if (bits.empty()) return false;
  const BitRange range(first, count);
  if ((bits[range.first_byte] & range.first_mask) != 0 || (bits[range.last_byte] & range.last_mask) != 0) return true;
  return range.last_byte > range.first_byte + 1 &&
         std::any_of(bits.data() + range.first_byte + 1, bits.data() + range.last_byte,
                     [](std::uint8_t each) { return each != 0; });
}

}  // namespace

std::string read_only_message(std::string_view verb, const Buffer& buffer, std::uint64_t address) {
  return fmt::format("read only: {} {}[{}], but {} is an input: results belong into outputs and scratch memory", verb,
                     buffer.name, (address - buffer.address) / buffer.element_bytes, buffer.name);
}

Memory::Memory(std::uint64_t capacity_bytes)
    : capacity_bytes_(capacity_bytes), frames_(kRegionBase[static_cast<int>(Region::buffers)]) {}

Memory::~Memory() {
  for (const auto& entry : entries_) munmap(entry->mapped, mapped_bytes(entry->buffer.size_bytes));
}

Result<int> Memory::allocate(std::string_view name, std::uint64_t size_bytes, std::uint32_t element_bytes,
                             Region region) {
  return allocate(name, size_bytes, element_bytes, region, kAlignBytes, 0);
}

Result<int> Memory::allocate_constant(std::string_view name, std::uint64_t size_bytes, std::uint32_t element_bytes,
                                      std::uint64_t place) {
  return allocate(name, size_bytes, element_bytes, Region::constants, kConstantBankBytes, place);
}

Result<int> Memory::allocate(std::string_view name, std::uint64_t size_bytes, std::uint32_t element_bytes,
                             Region region, std::uint64_t align_bytes, std::uint64_t offset) {
  if (size_bytes > capacity_bytes_ - used_bytes_) {
    return Error{.message = fmt::format("`{}` needs {} bytes of device memory, but only {} of {} are free", name,
                                        size_bytes, capacity_bytes_ - used_bytes_, capacity_bytes_)};
  }
  const std::uint64_t frame = free_frame(size_bytes, region, align_bytes, offset);
  const bool in_layout = layout_ != 0 && region == Region::buffers;
  const std::uint64_t address = in_layout ? free_address(size_bytes) : frame;
  void* mapped = mmap(nullptr, mapped_bytes(size_bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    throw std::runtime_error(fmt::format("this computer has no memory for `{}` ({} bytes)", name, size_bytes));
  auto* data = static_cast<std::uint8_t*>(mapped);
  if (size_bytes >= kHugePageBytes) {
    // Huge pages help kernels that walk down columns: with small pages, every lane would need its own entry of the
    // host's TLB.
    data += (kHugePageBytes - reinterpret_cast<std::uintptr_t>(data) % kHugePageBytes) % kHugePageBytes;
    madvise(data, round_up(size_bytes, 4096), MADV_HUGEPAGE);  // a hint: failure is harmless
  }
  auto entry = std::make_unique<Entry>();
  entry->mapped = mapped;
  entry->buffer = {next_id_++, std::string(name), address, size_bytes, element_bytes, data};
  entry->region = region;
  entry->frame = frame;
  if (in_layout) frames_.place(address, size_bytes, frame);
  used_bytes_ += size_bytes;
  const int id = entry->buffer.id;
  const auto place = std::upper_bound(entries_.begin(), entries_.end(), address,
                                      [](std::uint64_t at, const auto& e) { return at < e->buffer.address; });
  entries_.insert(place, std::move(entry));
  return id;
}

std::uint64_t Memory::free_frame(std::uint64_t size_bytes, Region region, std::uint64_t align_bytes,
                                 std::uint64_t offset) const {
  std::vector<const Entry*> taken;
  for (const auto& entry : entries_) {
    if (entry->region == region) taken.push_back(entry.get());
  }
  std::sort(taken.begin(), taken.end(), [](const Entry* a, const Entry* b) { return a->frame < b->frame; });
  std::uint64_t frame = kRegionBase[static_cast<int>(region)] + offset;
  for (const Entry* other : taken) {
    if (frame + size_bytes + kGapBytes <= other->frame) break;
    frame = round_up(other->frame + other->buffer.size_bytes + kGapBytes, align_bytes) + offset;
  }
  return frame;
}

std::uint64_t Memory::free_address(std::uint64_t size_bytes) const {
  constexpr std::uint64_t kMostMore = 4 * kGapBytes;  // the most that is added to a gap
  const std::uint64_t base = kRegionBase[static_cast<int>(Region::buffers)];
  const auto more_after = [this](std::uint64_t place) {
    return mix(layout_ + place) % kMostMore / kLayoutAlignBytes * kLayoutAlignBytes;
  };
  std::uint64_t address = base + more_after(base);
  for (const auto& entry : entries_) {
    if (entry->region != Region::buffers) continue;
    const Buffer& other = entry->buffer;
    if (address + size_bytes + kGapBytes <= other.address) break;
    address = round_up(other.address + other.size_bytes + kGapBytes, kLayoutAlignBytes) + more_after(other.address);
  }
  return address;
}

void Memory::lay_out(std::uint64_t seed) { layout_ = seed; }

void Memory::protect(int id) { entry(id).buffer.read_only = true; }

void Memory::release(int id) {
  const auto it = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e->buffer.id == id; });
  ROOFWALK_CHECK(it != entries_.end());
  used_bytes_ -= (*it)->buffer.size_bytes;
  munmap((*it)->mapped, mapped_bytes((*it)->buffer.size_bytes));
  entries_.erase(it);
}

void Memory::release_all(Region region) {
  for (std::size_t i = entries_.size(); i-- > 0;) {
    if (entries_[i]->region == region) release(entries_[i]->buffer.id);
  }
}

Memory::Entry& Memory::entry(int id) const {
  const auto it = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e->buffer.id == id; });
  ROOFWALK_CHECK(it != entries_.end());
  return **it;
}

Memory::Entry* Memory::entry_at(std::uint64_t address) const {
  const auto it = std::upper_bound(entries_.begin(), entries_.end(), address,
                                   [](std::uint64_t at, const auto& e) { return at < e->buffer.address; });
  if (it == entries_.begin()) return nullptr;
  Entry& candidate = **(it - 1);
  return candidate.buffer.contains(address, 1) ? &candidate : nullptr;
}

void Memory::forget(int id, std::uint64_t offset_bytes, std::uint64_t size_bytes) {
  Entry& own = entry(id);
  ROOFWALK_CHECK(offset_bytes + size_bytes <= own.buffer.size_bytes);
  own.forgotten_offset = offset_bytes;
  own.forgotten_bytes = size_bytes;
}

void Memory::watch(bool on) {
  holds_unset_ = false;
  for (const auto& own : entries_) {
    if (!keeps_undefined_) own->undefined.clear();
    own->unset.clear();
    if (on && own->forgotten_bytes != 0) {
      own->undefined.resize(own->buffer.size_bytes);
      std::memset(own->undefined.data() + own->forgotten_offset, 1, own->forgotten_bytes);
    }
    own->forgotten_bytes = 0;
  }
}

void Memory::undefine(std::uint64_t address, std::uint64_t size_bytes) {
  Entry* own = entry_at(address);
  ROOFWALK_CHECK(own != nullptr && own->buffer.contains(address, size_bytes));
  own->undefined.resize(own->buffer.size_bytes);
  std::memset(own->undefined.data() + (address - own->buffer.address), 1, size_bytes);
}

std::uint64_t Memory::undefined_bytes(std::uint64_t address, std::uint64_t size_bytes) const {
  const Entry* own = entry_at(address);
  if (own == nullptr || own->undefined.empty()) return 0;
  const auto first = own->undefined.begin() + static_cast<std::ptrdiff_t>(address - own->buffer.address);
  return static_cast<std::uint64_t>(std::count(first, first + static_cast<std::ptrdiff_t>(size_bytes), 1));
}

std::uint64_t Memory::undefined_bits(std::uint64_t address, std::size_t size_bytes) const {
  const Entry* own = entry_at(address);
  std::uint64_t bits = 0;
  if (own == nullptr || own->undefined.empty()) return bits;
  std::memcpy(&bits, own->undefined.data() + (address - own->buffer.address), size_bytes);
  return bits * 0xff;
}

bool Memory::surely_defined(std::uint64_t address, std::uint64_t size_bytes, bool non_coherent) const {
  constexpr std::uint64_t kFew = 4096;
  const Entry* own = entry_at(address);
  if (own == nullptr || !own->buffer.contains(address, size_bytes) || !own->unset.empty()) return false;
  if (non_coherent && !own->stored.empty() &&
      (size_bytes > kFew || any_bit(own->stored, address - own->buffer.address, size_bytes)))
    return false;
  if (own->undefined.empty()) return true;
  const std::uint8_t* const first = own->undefined.data() + (address - own->buffer.address);
  return size_bytes <= kFew && std::memchr(first, 1, size_bytes) == nullptr;
}

void Memory::define(std::uint64_t address, std::uint64_t size_bytes) {
  Entry* own = entry_at(address);
  if (own == nullptr) return;
  const std::uint64_t first = address - own->buffer.address;
  if (!own->undefined.empty()) std::memset(own->undefined.data() + first, 0, size_bytes);
  if (!own->unset.empty()) std::memset(own->unset.data() + first, 0, size_bytes);
  if (!notes_stores_ || size_bytes == 0) return;
  if (own->stored.empty()) own->stored.resize(own->buffer.size_bytes / 8 + 1);
  set_bits(own->stored, first, size_bytes);
}

void Memory::note_stores(bool on) {
  notes_stores_ = on;
  for (const auto& own : entries_) own->stored = {};
}

bool Memory::has_stored(std::uint64_t address, std::uint64_t size_bytes) const {
  const Entry* own = entry_at(address);
  return own != nullptr && any_bit(own->stored, address - own->buffer.address, size_bytes);
}

void Memory::leave_unset(std::uint64_t address, std::size_t size_bytes, std::uint64_t bits) {
  Entry* own = entry_at(address);
  if (own == nullptr) return;
  own->unset.resize(own->buffer.size_bytes);
  holds_unset_ = true;
  std::memcpy(own->unset.data() + (address - own->buffer.address), &bits, size_bytes);
}

std::uint64_t Memory::unset_bits(std::uint64_t address, std::size_t size_bytes) const {
  const Entry* own = entry_at(address);
  std::uint64_t bits = 0;
  if (own != nullptr && !own->unset.empty())
    std::memcpy(&bits, own->unset.data() + (address - own->buffer.address), size_bytes);
  return bits;
}

bool Memory::holds_unset(int id) const {
  const std::vector<std::uint8_t>& unset = entry(id).unset;
  return std::any_of(unset.begin(), unset.end(), [](std::uint8_t bits) { return bits != 0; });
}

void Memory::copy_defined(std::uint64_t to, std::uint64_t from, std::uint64_t size_bytes) {
  const Entry* source = entry_at(from);
  Entry* target = entry_at(to);
  if (source == nullptr || target == nullptr) return define(to, size_bytes);
  const auto copy = [&](const std::vector<std::uint8_t>& of_source, std::vector<std::uint8_t>& of_target) {
    std::uint8_t* const at = of_target.data() + (to - target->buffer.address);
    if (of_source.empty()) {
      if (!of_target.empty()) std::memset(at, 0, size_bytes);
      return;
    }
    of_target.resize(target->buffer.size_bytes);
    std::memmove(of_target.data() + (to - target->buffer.address), of_source.data() + (from - source->buffer.address),
                 size_bytes);
  };
  copy(source->undefined, target->undefined);
  copy(source->unset, target->unset);
}

bool Memory::is_result(int id) const {
  const auto it = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e->buffer.id == id; });
  return it != entries_.end() && (*it)->region == Region::buffers && !(*it)->buffer.name.starts_with("scratch ");
}

const Buffer& Memory::buffer(int id) const { return entry(id).buffer; }

const Buffer* Memory::find(std::uint64_t address) const {
  const Entry* own = entry_at(address);
  return own != nullptr ? &own->buffer : nullptr;
}

const Buffer* Memory::nearest(std::uint64_t address) const {
  const Buffer* best = nullptr;
  std::uint64_t best_distance = ~0ull;
  for (const auto& entry : entries_) {
    const Buffer& b = entry->buffer;
    const std::uint64_t end = b.address + b.size_bytes;
    const std::uint64_t distance = address < b.address ? b.address - address : address >= end ? address - end : 0;
    if (distance < best_distance) best = &b, best_distance = distance;
  }
  return best;
}

}  // namespace roofwalk::vgpu
