#include "common/vgpu/memory/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/vgpu/gpu.h"

namespace roofwalk::vgpu {
namespace {

using Region = Memory::Region;

TEST(Memory, AddressesDependOnWhatLivesNotOnHistory) {
  Memory memory(1 << 20);
  const int a = *memory.allocate("a", 100, 4, Region::buffers);
  const std::uint64_t first = memory.buffer(a).address;
  const int g = *memory.allocate("g", 8, 8, Region::globals);
  const int b = *memory.allocate("b", 100, 4, Region::buffers);
  const std::uint64_t second = memory.buffer(b).address;
  memory.release(a);
  memory.release(b);
  const int c = *memory.allocate("c", 50, 4, Region::buffers);
  const int d = *memory.allocate("d", 50, 4, Region::buffers);
  EXPECT_EQ(memory.buffer(c).address, first);
  EXPECT_EQ(memory.buffer(d).address, second);
  EXPECT_GT(memory.buffer(g).address, second);
}

TEST(Memory, ALayoutMovesBuffersAndNotTheirFrames) {
  const auto line = [](std::uint64_t address) { return address / 128; };
  Memory usual(1 << 30), moved(1 << 30);
  moved.lay_out(42);
  EXPECT_EQ(usual.frames(), nullptr);
  for (int round = 0; round < 2; ++round) {  // the second round gets the same addresses as the first
    std::vector<int> ids;
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t bytes = std::uint64_t{1} << i % 24;
      const auto region = i % 10 == 9 ? Region::globals : Region::buffers;
      const int id = *usual.allocate("x", bytes, 1, region);
      ASSERT_EQ(*moved.allocate("x", bytes, 1, region), id);
      ids.push_back(id);
    }
    for (const int id : ids) {
      const Buffer &at = usual.buffer(id), &to = moved.buffer(id);
      for (const std::uint64_t offset : {std::uint64_t{0}, at.size_bytes - 1}) {
        EXPECT_EQ(moved.frames()->frame_of(line(to.address + offset)), line(at.address + offset));
      }
      EXPECT_EQ(moved.find(to.address), &to);
    }
    for (const int id : ids) {
      usual.release(id);
      moved.release(id);
    }
  }
}

TEST(Memory, BoundsAreExactAndNearestNamesTheNeighbour) {
  Memory memory(1 << 20);
  const Buffer& a = memory.buffer(*memory.allocate("a", 100, 4, Region::buffers));
  const Buffer& b = memory.buffer(*memory.allocate("b", 100, 4, Region::buffers));
  EXPECT_EQ(memory.find(a.address + 99), &a);
  EXPECT_EQ(memory.find(a.address + 100), nullptr);
  EXPECT_EQ(memory.find(a.address - 1), nullptr);
  EXPECT_EQ(memory.nearest(a.address + 100'000), &a);
  EXPECT_EQ(memory.nearest(b.address - 4), &b);
  EXPECT_TRUE(a.contains(a.address + 96, 4));
  EXPECT_FALSE(a.contains(a.address + 97, 4));
  EXPECT_FALSE(a.contains(a.address, ~0ull));
}

// Addresses of constants are far apart, so that an index out of bounds is found, but adjacent for the caches.
TEST(Memory, ConstantsLieInABank) {
  Memory memory(1 << 20);
  const Buffer& a = memory.buffer(*memory.allocate_constant("a", 12, 4, 0));
  const Buffer& b = memory.buffer(*memory.allocate_constant("b", 40'000, 4, 16));
  const Buffer& c = memory.buffer(*memory.allocate_constant("c", 4, 4, 40'016));
  EXPECT_EQ(a.address, Memory::kConstantBase);
  EXPECT_EQ(b.address % Memory::kConstantBankBytes, 16u);
  EXPECT_EQ(c.address % Memory::kConstantBankBytes, 40'016u);
  for (const auto& [low, high] : {std::pair{&a, &b}, std::pair{&b, &c}}) {
    EXPECT_GE(high->address, low->address + low->size_bytes + Memory::kGapBytes);
    EXPECT_TRUE(Memory::is_constant(high->address));
  }
}

// A plan's copies and memsets may not access constants, whatever address they are given.
TEST(Gpu, CopiesAndMemsetsDoNotReachConstants) {
  const auto module = ptx::parse(
      ".version 9.0\n.target sm_80\n.address_size 64\n.const .align 4 .b8 table[64];\n.visible .entry "
      "k()\n{\nret;\n}\n",
      "kernel.cu");
  ASSERT_TRUE(module.ok()) << module.error().text();
  Machine machine;
  machine.sms = 1;
  machine.memory_bytes = 1 << 20;
  machine.l1_bytes = machine.l1_shared_bytes = machine.l2_bytes = 128;
  machine.l1_ways = machine.l2_ways = 1;
  Gpu gpu(machine);
  ASSERT_TRUE(gpu.load(*module, "kernel.cu", "kernel.cu").ok());
  const std::uint64_t own = gpu.memory().buffer(*gpu.memory().allocate("a", 64, 4, Region::buffers)).address;
  const std::uint64_t table = Memory::kConstantBase;
  ASSERT_NE(gpu.memory().find(table), nullptr);
  const auto fault = [&](auto&& step) {
    gpu.begin_plan({1'000'000, 10});
    EXPECT_FALSE(step());
    const RunRecord record = gpu.end_plan();
    EXPECT_TRUE(record.fault);
    return record.fault ? record.fault->message : std::string();
  };
  EXPECT_THAT(fault([&] { return gpu.copy_memory(table, own, 64, 3); }),
              testing::HasSubstr("memcpy of 64 bytes in constant memory"));
  EXPECT_THAT(fault([&] { return gpu.copy_memory(own, table, 64, 3); }),
              testing::HasSubstr("memcpy of 64 bytes in constant memory"));
  EXPECT_THAT(fault([&] { return gpu.set_memory(table + 60, 1, 4, 3); }),
              testing::HasSubstr("memset of 4 bytes in constant memory"));
}

TEST(Memory, CapacityIsKept) {
  Memory memory(1000);
  EXPECT_TRUE(memory.allocate("a", 600, 4, Region::buffers).ok());
  const auto second = memory.allocate("b", 600, 4, Region::buffers);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message, "`b` needs 600 bytes of device memory, but only 400 of 1000 are free");
}

TEST(Names, AreThoseOfTheSource) {
  EXPECT_EQ(display_name("_Z3addPKfS0_Pfi"), "add");
  EXPECT_EQ(display_name("_Z5scaleILi128EEvPfdci"), "scale<128>");
  EXPECT_EQ(display_name("_ZN4mine3addEPf"), "mine::add");
  EXPECT_EQ(display_name("__nv_static_23__8bef66f2_4_g_cu__Z2sqf__Z2k2Pf"), "k2");
  EXPECT_EQ(display_name("plain"), "plain");
}

}  // namespace
}  // namespace roofwalk::vgpu
