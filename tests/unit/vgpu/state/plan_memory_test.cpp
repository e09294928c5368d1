// Host memory that a plan's launches keep until the plan ends.
#include <malloc.h>

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/specs/machine.h"
#include "common/vgpu/gpu.h"

namespace roofwalk::vgpu {
namespace {

using testing::HasSubstr;

constexpr int kInstructions = 5000;

// Returns a GPU whose kernel calls a function and repeats `instruction`, which is never executed, kInstructions times.
std::unique_ptr<Gpu> gpu_with(const std::string& instruction) {
  auto gpu = std::make_unique<Gpu>(*load_machine("classroom"));
  std::string text =
      ".version 9.0\n.target sm_80\n.address_size 64\n.func f()\n{\nret;\n}\n.visible .entry k()\n{\n"
      ".reg .b32 %r<4>;\n.reg .pred %p<2>;\nmov.u32 %r1, %laneid;\nsetp.lt.u32 %p1, %r1, 99;\n@%p1 bra END;\n"
      "call f;\n";
  for (int i = 0; i < kInstructions; ++i) text += instruction;
  auto module = ptx::parse(text + "END:\nret;\n}\n", "kernel.cu");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  if (module) {
    EXPECT_TRUE(gpu->load(std::move(*module), "kernel.cu", "kernel.cu").ok());
  }
  return gpu;
}

constexpr const char* kAddition = "add.u32 %r1, %r1, 1;\n";
constexpr const char* kBlock = "@%p1 bra END;\n";

bool launch(Gpu& gpu) {
  const auto goes_on =
      gpu.launch({.kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .arguments = {}, .registers_per_thread = 16});
  EXPECT_TRUE(goes_on.ok()) << goes_on.error().text();
  return goes_on.ok() && *goes_on;
}

// Returns how many launches a plan accepts until they keep too much memory; -1 if they never do.
int launches_kept(Gpu& gpu, std::uint64_t kept_bytes) {
  constexpr int kMost = 100;
  gpu.begin_plan({.work = 2'000'000'000, .seconds = 60, .counts = false, .kept_bytes = kept_bytes});
  int launches = 0;
  while (launches < kMost && launch(gpu)) ++launches;
  const RunRecord record = gpu.end_plan();
  if (!record.fault) return -1;
  EXPECT_EQ(record.fault->kind, FaultKind::resource);
  EXPECT_THAT(record.fault->message, HasSubstr("MiB of code and counters to keep"));
  return launches;
}

TEST(PlanMemory, LaunchesThatKeepTooMuchAreRefused) {
  const auto gpu = gpu_with(kAddition), gpu_with_blocks = gpu_with(kBlock);
  const int launches = launches_kept(*gpu, 16 << 20);
  EXPECT_GT(launches, 5);
  EXPECT_EQ(launches_kept(*gpu, 16 << 20), launches);  // each plan begins with no memory kept
  EXPECT_EQ(launches_kept(*gpu, std::uint64_t{1} << 30), -1);
  const int of_blocks = launches_kept(*gpu_with_blocks, 16 << 20);  // basic blocks have counters on each SM
  EXPECT_GT(of_blocks, 0);
  EXPECT_LT(of_blocks, launches);
}

TEST(PlanMemory, LaunchesOfAKernelShareItsCode) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer has an allocator of its own";
#endif
  const auto held = [] {
    const auto info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
  };
  constexpr int kLaunches = 20;
  const auto gpu = gpu_with(kAddition);
  gpu->begin_plan({.work = 2'000'000'000, .seconds = 60, .counts = false});
  ASSERT_TRUE(launch(*gpu));
  const double before = held();
  for (int i = 0; i < kLaunches; ++i) ASSERT_TRUE(launch(*gpu));
  const double kept = (held() - before) / kLaunches / kInstructions;
  EXPECT_LT(kept, 300);  // bytes per instruction and launch, for counters
  EXPECT_FALSE(gpu->end_plan().fault);
}

}  // namespace
}  // namespace roofwalk::vgpu
