#include "common/vgpu/requests/l1_wavefronts.h"

#include <algorithm>
#include <bit>

namespace roofwalk::vgpu {
namespace {

constexpr std::uint64_t kBanks = 32, kBankBytes = 4;

// Returns the largest number of distinct words that lanes [first, last) access in one bank.
std::uint64_t words_in_a_bank(const Access& access, int first, int last) {
  std::uint64_t words[kBanks][kWarpSize];
  std::uint8_t count[kBanks] = {};
  std::uint8_t most = 0;
  const std::uint64_t parts = std::max<std::uint64_t>(access.bytes / kBankBytes, 1);
  for (int l = first; l < last; ++l) {
    if ((access.mask >> l & 1u) == 0) continue;
    for (std::uint64_t part = 0; part < parts; ++part) {
      const std::uint64_t word = access.of(l) / kBankBytes + part;
      auto& bank = words[word % kBanks];
      std::uint8_t& of_bank = count[word % kBanks];
      if (std::find(bank, bank + of_bank, word) != bank + of_bank) continue;
      bank[of_bank++] = word;
      most = std::max(most, of_bank);
    }
  }
  return most;
}

}  // namespace

std::uint64_t l1_wavefronts(const Access& access) {
  const std::uint64_t parts = std::max<std::uint64_t>(access.bytes / kBankBytes, 1);
  const int lanes = kWarpSize / static_cast<int>(parts);
  if (parts == 1 && access.high / kBankBytes - access.low / kBankBytes < kBanks) return 1;
  if (access.implied && access.mask == kAllLanes && access.stride % access.bytes == 0 && access.bytes >= kBankBytes) {
    // Lane l's bytes are in place first + l * step among kBanks / parts places, so lanes that are a period apart meet.
    const std::uint64_t step = access.stride / access.bytes;
    const auto most = static_cast<std::uint64_t>(lanes);
    return parts * (step == 0 ? 1 : std::min(most, step & (0 - step)));
  }
  std::uint64_t wavefronts = 0;
  for (int first = 0; first < kWarpSize; first += lanes) wavefronts += words_in_a_bank(access, first, first + lanes);
  return wavefronts;
}

}  // namespace roofwalk::vgpu
