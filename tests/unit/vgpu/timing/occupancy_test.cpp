// Blocks per SM, compared with results by hand: limited by threads, registers, shared memory or block slots.
#include "common/vgpu/timing/occupancy.h"

#include <gtest/gtest.h>

namespace roofwalk::vgpu {
namespace {

Machine machine_with_limits() {
  Machine m;
  m.name = "test";
  m.max_threads_per_sm = 1024;
  m.max_blocks_per_sm = 16;
  m.max_threads_per_block = 1024;
  m.registers_per_sm = 65536;
  m.register_allocation_unit = 256;
  m.shared_bytes_per_sm = 65536;
  m.max_shared_bytes_per_block = 64512;
  m.reserved_shared_bytes_per_block = 1024;
  m.shared_allocation_bytes = 128;
  return m;
}

int blocks(std::uint64_t threads, int registers, std::uint32_t shared_bytes) {
  const auto occupancy = occupancy_of(machine_with_limits(), {threads, registers, shared_bytes});
  EXPECT_TRUE(occupancy.ok());
  return occupancy ? occupancy->blocks_per_sm : 0;
}

TEST(Occupancy, Threads) { EXPECT_EQ(blocks(256, 16, 0), 4); }
TEST(Occupancy, Slots) { EXPECT_EQ(blocks(32, 16, 0), 16); }
TEST(Occupancy, PartialWarpsCountWhole) {
  EXPECT_EQ(blocks(33, 16, 0), 16);
  EXPECT_EQ(blocks(65, 16, 0), 10);
}
// 8 warps x 100 registers x 32 = 25600 per block (3200 per warp, rounded to 3328): 2 blocks of 26624.
TEST(Occupancy, Registers) { EXPECT_EQ(blocks(256, 100, 0), 2); }
// 20000 + 1024 reserved, rounded up to a multiple of 128: 21120; three blocks fit in 65536.
TEST(Occupancy, SharedMemory) { EXPECT_EQ(blocks(64, 16, 20000), 3); }

TEST(Occupancy, ShareOfWarps) {
  const auto occupancy = occupancy_of(machine_with_limits(), {256, 100, 0});
  ASSERT_TRUE(occupancy.ok());
  EXPECT_DOUBLE_EQ(occupancy->warps_share, 0.5);
}

// L1 is what the smallest carve-out that holds all resident blocks leaves, up to its own limit.
TEST(Occupancy, L1IsBesideSharedMemory) {
  const Machine a100 = *load_machine("a100-80"), classroom = *load_machine("classroom");
  const auto l1_kib = [](const Machine& machine, std::int64_t shared_bytes) {
    return static_cast<double>(l1_bytes_beside(machine, shared_bytes)) / 1024;
  };
  EXPECT_EQ(l1_kib(a100, 0), 160);
  EXPECT_EQ(l1_kib(a100, 32 << 10), 160);
  EXPECT_EQ(l1_kib(a100, (32 << 10) + 1), 192 - 64);
  EXPECT_EQ(l1_kib(a100, 65 << 10), 192 - 100);
  EXPECT_EQ(l1_kib(a100, 164 << 10), 192 - 164);
  for (const std::int64_t shared : {0, 1000, 65536}) EXPECT_EQ(l1_kib(classroom, shared), 64);
  const auto held = occupancy_of(a100, {256, 32, 10000});
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(held->blocks_per_sm, 8);
  EXPECT_EQ(held->shared_bytes, 8 * (11136));  // 10,000 and the system's 1,024 bytes, in units of 128
}

TEST(Occupancy, ImpossibleBlocksNameTheResource) {
  EXPECT_EQ(occupancy_of(machine_with_limits(), {2048, 16, 0}).error().message,
            "a block needs 2048 threads, but test has 1024");
  EXPECT_EQ(occupancy_of(machine_with_limits(), {1024, 100, 0}).error().message,
            "a block needs 106496 registers, but test has 65536");
  EXPECT_EQ(occupancy_of(machine_with_limits(), {32, 16, 65000}).error().message,
            "a block needs 65000 bytes of shared memory, but test has 64512");
}

}  // namespace
}  // namespace roofwalk::vgpu
