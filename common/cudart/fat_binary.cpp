#include "common/cudart/fat_binary.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "common/cudart/lz4.h"

namespace roofwalk::cudart {
namespace {

constexpr std::uint32_t kMagic = 0xba55ed50;
constexpr std::uint16_t kPtx = 1, kMachineCode = 2;  // kinds of entries
constexpr std::uint64_t kZstd = 0x8000, kLz4 = 0x2000;
constexpr std::uint64_t kMostTextBytes = 256u << 20;

// Where an entry's header has what. The header's own size is that of its first form or more.
constexpr std::size_t kHeaderSizeAt = 4, kStoredSizeAt = 8, kPackedSizeAt = 16, kCapabilityAt = 28, kFlagsAt = 40,
                      kFullSizeAt = 56, kLeastHeaderBytes = 64;

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// libzstd is opened when it is needed: dpkg depends on it, so it is everywhere, but its headers are not.
std::optional<std::string> unpacked_zstd(std::string_view packed, std::size_t full_bytes) {
  using Decompress = std::size_t (*)(void*, std::size_t, const void*, std::size_t);
  static void* const library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  static const auto decompress = reinterpret_cast<Decompress>(dlsym(library, "ZSTD_decompress"));
  if (decompress == nullptr) return std::nullopt;
  std::string text(full_bytes, '\0');
  if (decompress(text.data(), text.size(), packed.data(), packed.size()) != full_bytes) return std::nullopt;
  return text;
}

Error damaged() { return {.message = "the fat binary is damaged"}; }

Result<std::string> text_of_entry(std::string_view header, std::string_view payload) {
  const auto flags = number_at<std::uint64_t>(header, kFlagsAt);
  std::string text(payload);
  if ((flags & (kZstd | kLz4)) != 0) {
    const auto packed_bytes = number_at<std::uint32_t>(header, kPackedSizeAt);
    const auto full_bytes = number_at<std::uint64_t>(header, kFullSizeAt);
    if (packed_bytes > payload.size() || full_bytes > kMostTextBytes) return damaged();
    const std::string_view packed = payload.substr(0, packed_bytes);
    auto unpacked = (flags & kZstd) != 0 ? unpacked_zstd(packed, full_bytes) : unpacked_lz4(packed, full_bytes);
    if (!unpacked) {
      return Error{.message = fmt::format("the program's PTX is compressed ({}) and cannot be read",
                                          (flags & kZstd) != 0 ? "zstd" : "LZ4"),
                   .advice = "build it with nvcc --compress-mode=none"};
    }
    text = std::move(*unpacked);
  }
  text.resize(text.find_last_not_of('\0') + 1);  // npos + 1 is 0
  return text;
}

}  // namespace

std::size_t fat_binary_bytes(std::string_view header) {
  if (header.size() < kFatHeaderBytes || number_at<std::uint32_t>(header, 0) != kMagic) return 0;
  const auto own_bytes = number_at<std::uint16_t>(header, 6);
  const auto rest_bytes = number_at<std::uint64_t>(header, 8);
  if (own_bytes < kFatHeaderBytes || rest_bytes > kMostTextBytes) return 0;
  return own_bytes + rest_bytes;
}

Result<FatBinary> read_fat_binary(std::string_view bytes) {
  const std::size_t size_bytes = fat_binary_bytes(bytes);
  if (size_bytes == 0 || size_bytes > bytes.size()) return damaged();
  FatBinary binary;
  std::string_view rest = bytes.substr(0, size_bytes).substr(number_at<std::uint16_t>(bytes, 6));
  while (!rest.empty()) {
    if (rest.size() < kLeastHeaderBytes) return damaged();
    const auto kind = number_at<std::uint16_t>(rest, 0);
    const auto header_bytes = number_at<std::uint32_t>(rest, kHeaderSizeAt);
    const auto stored_bytes = number_at<std::uint64_t>(rest, kStoredSizeAt);
    if (header_bytes < kLeastHeaderBytes || header_bytes > rest.size() || stored_bytes > rest.size() - header_bytes)
      return damaged();
    const auto capability = static_cast<int>(number_at<std::uint32_t>(rest, kCapabilityAt));
    if (kind == kPtx) {
      ROOFWALK_TRY(std::string text,
                   text_of_entry(rest.substr(0, header_bytes), rest.substr(header_bytes, stored_bytes)));
      binary.ptx.push_back({capability, std::move(text)});
    } else if (kind == kMachineCode) {
      binary.machine_code.push_back(capability);
    }
    rest.remove_prefix(header_bytes + stored_bytes);
  }
  return binary;
}

const FatBinary::Ptx* ptx_for(const FatBinary& binary, int capability) {
  const FatBinary::Ptx* best = nullptr;
  for (const FatBinary::Ptx& ptx : binary.ptx) {
    if (ptx.capability <= capability && (best == nullptr || ptx.capability > best->capability)) best = &ptx;
  }
  return best;
}

}  // namespace roofwalk::cudart
