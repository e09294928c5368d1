#include "common/vgpu/memory/store_log.h"

#include <algorithm>
#include <cstring>

namespace roofwalk::vgpu {
namespace {

constexpr std::uint64_t kAllBytes = ~0ull;

// Returns a mask of `bytes` ones, beginning at bit `at`; at + bytes <= 64.
std::uint64_t ones(std::uint64_t at, std::uint64_t bytes) {
  return (bytes == 64 ? kAllBytes : (1ull << bytes) - 1) << at;
}

}  // namespace

std::size_t StoreLog::slot_of(std::uint64_t line) const {
  const std::size_t last = table_.size() - 1;
  std::size_t slot = (line * 0x9e3779b97f4a7c15ull >> 32) & last;
  while (table_[slot] != 0 && lines_[table_[slot] - 1].line != line) slot = (slot + 1) & last;
  return slot;
}

void StoreLog::grow() {
  table_.assign(std::max<std::size_t>(table_.size() * 2, 256), 0);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const std::size_t slot = slot_of(lines_[i].line);
    table_[slot] = static_cast<std::uint32_t>(i + 1);
    lines_[i].slot = static_cast<std::uint32_t>(slot);
  }
}

StoreLog::Line& StoreLog::find_or_add(std::uint64_t line, std::uint8_t* host) {
  if (lines_.size() * 2 >= table_.size()) grow();
  const std::size_t slot = slot_of(line);
  if (table_[slot] == 0) {
    Line& added = lines_.emplace_back();
    added.line = line;
    added.host = host;
    added.slot = static_cast<std::uint32_t>(slot);
    table_[slot] = static_cast<std::uint32_t>(lines_.size());
  }
  return lines_[table_[slot] - 1];
}

void StoreLog::write(std::uint64_t address, const std::uint8_t* from, std::uint32_t bytes, std::uint8_t* host) {
  low_ = std::min(low_, address);
  end_ = std::max(end_, address + bytes);
  while (bytes != 0) {
    const std::uint64_t at = address % kLineBytes;
    const auto piece = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, kLineBytes - at));
    Line& line = find_or_add(address / kLineBytes, host - at);
    std::memcpy(line.bytes + at, from, piece);
    for (std::uint64_t half = 0; half < 2; ++half) {
      const std::uint64_t start = std::max(at, half * 64), end = std::min(at + piece, half * 64 + 64);
      if (start < end) line.stored[half] |= ones(start - half * 64, end - start);
    }
    address += piece;
    from += piece;
    host += piece;
    bytes -= piece;
  }
}

void StoreLog::overlay(std::uint64_t address, std::uint32_t bytes, std::uint8_t* loaded) const {
  const std::uint32_t found = table_[slot_of(address / kLineBytes)];
  if (found == 0) return;
  const Line& line = lines_[found - 1];
  for (std::uint64_t i = 0, at = address % kLineBytes; i < bytes; ++i, ++at) {
    if ((line.stored[at / 64] >> at % 64 & 1u) != 0) loaded[i] = line.bytes[at];
  }
}

void StoreLog::apply() {
  for (const Line& line : lines_) {
    table_[line.slot] = 0;
    if (line.stored[0] == kAllBytes && line.stored[1] == kAllBytes) {
      std::memcpy(line.host, line.bytes, kLineBytes);
      continue;
    }
    for (std::uint64_t word = 0; word < kLineBytes; word += 4) {
      const auto stored = static_cast<unsigned>(line.stored[word / 64] >> word % 64 & 0xfu);
      if (stored == 0xf) {
        std::memcpy(line.host + word, line.bytes + word, 4);
      } else {
        for (std::uint64_t i = 0; i < 4; ++i) {
          if ((stored >> i & 1u) != 0) line.host[word + i] = line.bytes[word + i];
        }
      }
    }
  }
  lines_.clear();
  low_ = ~0ull;
  end_ = 0;
}

}  // namespace roofwalk::vgpu
