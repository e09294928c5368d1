// The barrier of a grid, as cooperative groups make it: a count in memory whose address the launch gives.
#include <gtest/gtest.h>

#include <cstring>

#include "common/specs/machine.h"
#include "common/vgpu/gpu.h"

namespace roofwalk::vgpu {
namespace {

// Block 1 stores 7; after the barrier, block 0 copies it. Each block adds 1 to the count, block 0 the rest up to the
// uppermost bit, whose change ends the wait.
constexpr const char* kKernel = R"(.version 9.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 to)
{
.reg .pred %p<3>;
.reg .b32 %r<9>;
.reg .b64 %rd<5>;
ld.param.u64 %rd1, [to];
mov.u32 %r1, %envreg1;
mov.u32 %r2, %envreg2;
mov.b64 %rd2, {%r2, %r1};
mov.u32 %r3, %ctaid.x;
setp.eq.u32 %p1, %r3, 0;
@!%p1 st.global.u32 [%rd1], 7;
selp.b32 %r4, 0x7fffffff, 1, %p1;
atom.add.release.gpu.u32 %r5, [%rd2+4], %r4;
again:
ld.acquire.gpu.u32 %r6, [%rd2+4];
xor.b32 %r7, %r6, %r5;
setp.gt.s32 %p2, %r7, -1;
@%p2 bra again;
@!%p1 ret;
ld.global.u32 %r8, [%rd1];
st.global.u32 [%rd1+4], %r8;
ret;
}
)";

TEST(GridSync, WaitsForAllBlocks) {
  ptx::Limits limits;
  EXPECT_FALSE(ptx::parse(kKernel, "", limits)->find_function("k")->unsupported == std::nullopt);
  limits.grid_sync = true;
  auto module = ptx::parse(kKernel, "", limits);
  ASSERT_TRUE(module.ok()) << module.error().text();
  Gpu gpu(*load_machine("classroom"));
  const auto to = gpu.memory().allocate("to", 8, 4, Memory::Region::buffers);
  const auto count = gpu.memory().allocate("count", 8, 4, Memory::Region::globals);
  ASSERT_TRUE(gpu.add_module(*std::move(module), "", "").ok());
  for (const bool counts : {true, false}) {
    const Buffer& seen = gpu.memory().buffer(*to);
    std::memset(seen.data, 0, 8);
    RunLimits run{.work = 2'000'000'000, .seconds = 60};
    run.counts = counts;
    gpu.begin_plan(run);
    std::uint8_t arguments[8];
    std::memcpy(arguments, &seen.address, sizeof arguments);
    KernelCall call{
        .kernel = "k", .grid = {2, 1, 1}, .block = {1, 1, 1}, .arguments = arguments, .registers_per_thread = 16};
    call.grid_workspace = gpu.memory().buffer(*count).address;
    const auto goes_on = gpu.launch(call);
    EXPECT_TRUE(goes_on.ok() && *goes_on);
    EXPECT_FALSE(gpu.end_plan().fault);
    int values[2];
    std::memcpy(values, seen.data, sizeof values);
    EXPECT_EQ(values[1], 7) << counts;
  }
}

}  // namespace
}  // namespace roofwalk::vgpu
