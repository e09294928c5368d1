// Which part of a long test runs today.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace roofwalk::test {

// Tests that repeat hundreds of measurements of minutes run a third of them in each `./roofwalk test --all`, another
// one each day, and so do tests that compile for minutes. ROOFWALK_PART=0, 1 or 2 in the environment names the part
// instead, ROOFWALK_PART=all runs all. tests/setup/on_part.sh and todays_slices.sh do the same for scripts.
inline constexpr std::uint64_t kParts = 3;

// Returns no part if all are to run: ROOFWALK_REWRITE=1 records the figures of all anew.
inline std::optional<std::uint64_t> part_of_today() {
  if (std::getenv("ROOFWALK_REWRITE") != nullptr) return std::nullopt;
  if (const char* named = std::getenv("ROOFWALK_PART"); named != nullptr) {
    if (std::string_view(named) == "all") return std::nullopt;
    return std::strtoull(named, nullptr, 10) % kParts;
  }
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::hours>(now).count()) / 24 % kParts;
}

// For messages: how to repeat the part.
inline std::string how_to_repeat(std::optional<std::uint64_t> part) {
  return part ? "repeat it with ROOFWALK_PART=" + std::to_string(*part) : "";
}

}  // namespace roofwalk::test
