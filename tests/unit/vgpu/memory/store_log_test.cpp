#include "common/vgpu/memory/store_log.h"

#include <array>
#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

namespace roofwalk::vgpu {
namespace {

struct Host {
  alignas(128) std::array<std::uint8_t, 1 << 17> bytes{};
  std::array<std::uint8_t, 512> source{};
  Host() { std::iota(source.begin(), source.end(), std::uint8_t{1}); }
};

TEST(StoreLog, ShowsBytesAtOnceAndWritesThemAtTheEnd) {
  Host host;
  StoreLog log;
  EXPECT_FALSE(log.may_hold(0, ~0ull));
  log.write(0x1000 + 126, host.source.data(), 4, &host.bytes[126]);  // across the end of a line
  EXPECT_TRUE(log.may_hold(0x1000 + 129, 0x1000 + 200));
  EXPECT_FALSE(log.may_hold(0x1000 + 130, 0x1000 + 200));
  std::array<std::uint8_t, 4> loaded{9, 9, 9, 9};
  log.overlay(0x1000 + 124, 4, loaded.data());
  EXPECT_EQ(loaded, (std::array<std::uint8_t, 4>{9, 9, 1, 2}));
  loaded = {9, 9, 9, 9};
  log.overlay(0x1000 + 128, 4, loaded.data());
  EXPECT_EQ(loaded, (std::array<std::uint8_t, 4>{3, 4, 9, 9}));
  EXPECT_EQ(host.bytes[126], 0);
  log.apply();
  EXPECT_EQ(host.bytes[125], 0);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(host.bytes[126 + static_cast<std::size_t>(i)], i + 1);
  EXPECT_EQ(host.bytes[130], 0);
  EXPECT_FALSE(log.may_hold(0, ~0ull));
  loaded = {9, 9, 9, 9};
  log.write(0x2000, host.source.data(), 4, &host.bytes[4096]);
  log.overlay(0x1000 + 124, 4, loaded.data());
  EXPECT_EQ(loaded, (std::array<std::uint8_t, 4>{9, 9, 9, 9}));
}

TEST(StoreLog, TheLastStoreWins) {
  Host host;
  StoreLog log;
  log.write(0x1000, host.source.data(), 128, &host.bytes[0]);
  log.write(0x1000 + 60, host.source.data() + 200, 8, &host.bytes[60]);
  log.apply();
  EXPECT_EQ(std::memcmp(&host.bytes[0], host.source.data(), 60), 0);
  EXPECT_EQ(std::memcmp(&host.bytes[60], host.source.data() + 200, 8), 0);
  EXPECT_EQ(std::memcmp(&host.bytes[68], host.source.data() + 68, 60), 0);
}

TEST(StoreLog, KeepsManyLinesApart) {
  Host host;
  StoreLog log;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t line = 0; line < 1000; ++line) {
      log.write(0x5000'0000'0000 + line * 128, host.source.data() + line % 251 + static_cast<std::size_t>(round), 128,
                &host.bytes[line * 128]);
    }
    log.apply();
    for (std::size_t line = 0; line < 1000; ++line) {
      EXPECT_EQ(
          std::memcmp(&host.bytes[line * 128], host.source.data() + line % 251 + static_cast<std::size_t>(round), 128),
          0);
    }
  }
}

}  // namespace
}  // namespace roofwalk::vgpu
