// Tiles of cooperative groups that are larger than a warp: they meet, and exchange values, in the shared memory that is
// reserved for the system.
#include <gmock/gmock.h>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// A kernel of two tiles of 64 threads; `t` is the thread, `s` has an element for each.
std::string tiles_text(const std::string& body) {
  return "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include <roofwalk.cuh>\n"
         "__global__ void k(float* c) {\n  __shared__ float s[128];\n  const int t = threadIdx.x;\n"
         "  const auto tile = cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block());\n" +
         body + "\n}\nSOLVE(float* c) { k<<<3, 128>>>(c); }\n";
}
const std::string kExchange =
                      tiles_text("  s[t] = t;\n  tile.sync();\n  c[t] = s[t ^ 63];\n  tile.sync();\n  s[t] = 1;"),
                  kSum = tiles_text("  c[t] = cooperative_groups::reduce(tile, t, cooperative_groups::plus<int>());"),
                  kNoSync = tiles_text("  s[t] = t;\n  c[t] = s[t ^ 63];"),
                  kOtherTile = tiles_text("  s[t] = t;\n  tile.sync();\n  c[t] = s[t ^ 127];");
// The other tile may still read when this one writes again.
const std::string kLateSync =
    tiles_text("  s[t] = t;\n  __syncthreads();\n  c[t] = s[t ^ 127];\n  tile.sync();\n  s[t] = 1;");
const bool kTilesJoined = join({kExchange, kSum, kNoSync, kOtherTile, kLateSync});

std::vector<float> values_of_tiles(const std::string& text) {
  Buffer c{"c", std::vector<float>(128)};
  const auto record = Runner().run(text, {&c});
  EXPECT_TRUE(record.ok() && !record->fault) << (record ? record->fault->message : record.error().text());
  return c.values;
}
std::optional<FaultKind> fault_of_tiles(const std::string& text) {
  Buffer c{"c", std::vector<float>(128)};
  const auto record = Runner().run(text, {&c});
  EXPECT_TRUE(record.ok()) << record.error().text();
  return record && record->fault ? std::optional(record->fault->kind) : std::nullopt;
}

TEST(Tiles, OfTwoWarpsMeet) {
  const std::vector<float> exchanged = values_of_tiles(kExchange), sums = values_of_tiles(kSum);
  for (int t = 0; t < 128; ++t) {
    EXPECT_EQ(exchanged[static_cast<std::size_t>(t)], static_cast<float>(t ^ 63));
    EXPECT_EQ(sums[static_cast<std::size_t>(t)], t < 64 ? 2016.0f : 6112.0f);
  }
}

TEST(Tiles, DoNotMeetOtherTiles) {
  EXPECT_EQ(fault_of_tiles(kNoSync), FaultKind::uninitialized);
  // Which of the two is found depends on the order of the warps' turns.
  EXPECT_THAT(fault_of_tiles(kOtherTile),
              testing::AnyOf(std::optional(FaultKind::uninitialized), std::optional(FaultKind::race)));
  EXPECT_EQ(fault_of_tiles(kLateSync), FaultKind::race);
}

}  // namespace
}  // namespace roofwalk::test
