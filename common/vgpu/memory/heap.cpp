#include "common/vgpu/memory/heap.h"

#include <algorithm>
#include <iterator>

namespace roofwalk::vgpu {

std::uint64_t Heap::allocate(std::uint64_t size_bytes) {
  constexpr std::uint64_t kMost = 1ull << 48;
  if (size_bytes > kMost) return 0;
  const std::uint64_t bytes = (std::max<std::uint64_t>(size_bytes, 1) + kAlignBytes - 1) / kAlignBytes * kAlignBytes;
  const auto at = std::find_if(free_.begin(), free_.end(), [&](const auto& piece) { return piece.second >= bytes; });
  if (at == free_.end()) return 0;
  const auto [address, room] = *at;
  free_.erase(at);
  if (room > bytes) free_[address + bytes] = room - bytes;
  taken_[address] = bytes;
  return address;
}

bool Heap::release(std::uint64_t address) {
  const auto at = taken_.find(address);
  if (at == taken_.end()) return false;
  auto piece = free_.emplace(address, at->second).first;
  taken_.erase(at);
  if (const auto next = std::next(piece); next != free_.end() && piece->first + piece->second == next->first) {
    piece->second += next->second;
    free_.erase(next);
  }
  if (piece == free_.begin()) return true;
  if (const auto before = std::prev(piece); before->first + before->second == piece->first) {
    before->second += piece->second;
    free_.erase(piece);
  }
  return true;
}

}  // namespace roofwalk::vgpu
