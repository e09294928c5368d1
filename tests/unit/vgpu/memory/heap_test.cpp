#include "common/vgpu/memory/heap.h"

#include <gtest/gtest.h>

namespace roofwalk::vgpu {
namespace {

TEST(Heap, TakesTheLowestRoomAndJoinsWhatIsFree) {
  Heap heap(4096, 160);
  EXPECT_EQ(heap.allocate(1), 4096u);
  EXPECT_EQ(heap.allocate(17), 4112u);
  EXPECT_EQ(heap.allocate(0), 4144u) << "a place of its own";
  EXPECT_EQ(heap.allocate(97), 0u);
  EXPECT_EQ(heap.allocate(96), 4160u);
  EXPECT_EQ(heap.allocate(1), 0u);
  EXPECT_TRUE(heap.release(4112));
  EXPECT_FALSE(heap.release(4112)) << "twice";
  EXPECT_FALSE(heap.release(4161)) << "in the middle";
  EXPECT_EQ(heap.allocate(48), 0u);
  EXPECT_TRUE(heap.release(4096));
  EXPECT_EQ(heap.allocate(48), 4096u) << "both pieces in one";
  EXPECT_TRUE(heap.release(4160));
  EXPECT_TRUE(heap.release(4144));
  EXPECT_TRUE(heap.release(4096));
  EXPECT_EQ(heap.allocate(160), 4096u);
  EXPECT_EQ(heap.allocate(~std::uint64_t{0}), 0u);
}

}  // namespace
}  // namespace roofwalk::vgpu
