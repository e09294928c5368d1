// Several modules in one machine, as of a program of several files.
#include <gtest/gtest.h>

#include <cstring>

#include "common/specs/machine.h"
#include "common/vgpu/gpu.h"

namespace roofwalk::vgpu {
namespace {

// A kernel k(out) that stores its module's constant `own`.
ptx::Module module_with(int own) {
  const std::string text = ".version 9.0\n.target sm_80\n.address_size 64\n.const .u32 own = " + std::to_string(own) +
                           ";\n.global .u32 seen;\n.visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<2>;\n"
                           ".reg .b64 %rd<2>;\nld.param.u64 %rd1, [out];\nld.const.u32 %r1, [own];\n"
                           "st.global.u32 [%rd1], %r1;\nst.global.u32 [seen], %r1;\nret;\n}\n";
  auto module = ptx::parse(text, "kernel.cu");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  return *std::move(module);
}

int launched(Gpu& gpu, const Buffer& out) {
  gpu.begin_plan({.work = 2'000'000'000, .seconds = 60});
  const std::uint64_t address = out.address;
  std::uint8_t arguments[sizeof address];
  std::memcpy(arguments, &address, sizeof address);
  const auto goes_on = gpu.launch(
      {.kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .arguments = arguments, .registers_per_thread = 16});
  EXPECT_TRUE(goes_on.ok() && *goes_on);
  EXPECT_FALSE(gpu.end_plan().fault);
  int value = 0;
  std::memcpy(&value, out.data, sizeof value);
  return value;
}

TEST(TwoModules, HaveVariablesOfTheirOwn) {
  Gpu gpu(*load_machine("classroom"));
  const auto id = gpu.memory().allocate("out", 4, 4, Memory::Region::buffers);
  ASSERT_TRUE(id.ok());
  const Buffer& out = gpu.memory().buffer(*id);
  const auto first = gpu.add_module(module_with(11), "kernel.cu", "first.cu");
  const auto second = gpu.add_module(module_with(22), "kernel.cu", "second.cu");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(launched(gpu, out), 22);
  gpu.use_module(*first, "kernel.cu", "first.cu");
  EXPECT_EQ(launched(gpu, out), 11);
  const auto seen = gpu.variable_address("seen");
  EXPECT_FALSE(gpu.variable_address("unseen"));
  EXPECT_FALSE(gpu.variable_address("k")) << "a kernel is no variable";
  gpu.use_module(*second, "kernel.cu", "second.cu");
  EXPECT_EQ(launched(gpu, out), 22);
  ASSERT_TRUE(seen);
  EXPECT_NE(gpu.variable_address("seen"), seen);
  int of_first = 0;
  std::memcpy(&of_first, gpu.memory().find(*seen)->data, sizeof of_first);
  EXPECT_EQ(of_first, 11) << "the second module has a variable of its own";

  // load() replaces both.
  ASSERT_TRUE(gpu.load(module_with(33), "kernel.cu", "third.cu").ok());
  EXPECT_EQ(launched(gpu, out), 33);
  EXPECT_EQ(gpu.variable_address("seen"), seen) << "the addresses are free again";
}

}  // namespace
}  // namespace roofwalk::vgpu
