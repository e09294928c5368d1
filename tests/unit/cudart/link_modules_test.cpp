// Modules of several files, linked as of a program that was built with -rdc=true.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "common/cudart/link_modules.h"
#include "common/specs/machine.h"
#include "common/vgpu/gpu.h"

namespace roofwalk::cudart {
namespace {

using testing::HasSubstr;

ptx::Module parsed(const std::string& items) {
  auto module = ptx::parse(".version 9.0\n.target sm_80\n.address_size 64\n" + items, "");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  return *std::move(module);
}

std::string function_that_returns(const std::string& linkage, const std::string& name, const std::string& value) {
  return linkage + " .func (.param .b32 out) " + name + "()\n{\n.reg .b32 %r<2>;\n" + value +
         "\nst.param.b32 [out], %r1;\nret;\n}\n";
}

// A kernel k(to) that stores what `f` returns.
const std::string kCaller =
    ".extern .func (.param .b32 out) f();\n.visible .entry k(.param .u64 to)\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd1, [to];\n{\n.param .b32 back;\ncall (back), f;\nld.param.b32 %r1, [back];\n}\n"
    "st.global.u32 [%rd1], %r1;\nret;\n}\n";

int launched(ptx::Module module) {
  vgpu::Gpu gpu(*load_machine("classroom"));
  const auto id = gpu.memory().allocate("to", 4, 4, vgpu::Memory::Region::buffers);
  const vgpu::Buffer& to = gpu.memory().buffer(*id);
  const auto added = gpu.add_module(std::move(module), "", "");
  EXPECT_TRUE(added.ok()) << (added ? "" : added.error().text());
  if (!added) return -1;
  gpu.begin_plan({.work = 2'000'000'000, .seconds = 60});
  std::uint8_t arguments[sizeof to.address];
  std::memcpy(arguments, &to.address, sizeof arguments);
  const auto goes_on = gpu.launch(
      {.kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .arguments = arguments, .registers_per_thread = 16});
  EXPECT_TRUE(goes_on.ok() && *goes_on) << (goes_on ? "" : goes_on.error().text());
  EXPECT_FALSE(gpu.end_plan().fault);
  int value = 0;
  std::memcpy(&value, to.data, sizeof value);
  return value;
}

TEST(LinkModules, AFunctionOfAnotherFileReadsItsOwnVariables) {
  // Both files have a local variable `own`; the table is defined in the one and read in the other.
  std::vector<ptx::Module> modules;
  modules.push_back(parsed(".global .u32 own = 7;\n.visible .global .u32 table[2] = {30, 40};\n" + kCaller));
  modules.push_back(parsed(".global .u32 own = 2;\n.extern .global .u32 table[];\n" +
                           function_that_returns(".visible", "f",
                                                 ".reg .b32 %s;\nld.global.u32 %r1, [own];\n"
                                                 "ld.global.u32 %s, [table+4];\nadd.u32 %r1, %r1, %s;")));
  auto linked = link_modules(std::move(modules));
  ASSERT_TRUE(linked.ok()) << linked.error().text();
  EXPECT_EQ(launched(*std::move(linked)), 42);
}

TEST(LinkModules, AWeakFunctionGivesWayAndTwoStrongOnesAreAMistake) {
  const auto linked = [](const std::string& first, const std::string& second) {
    std::vector<ptx::Module> modules;
    modules.push_back(parsed(function_that_returns(first, "f", "mov.u32 %r1, 1;")));
    modules.push_back(parsed(function_that_returns(second, "f", "mov.u32 %r1, 2;")));
    modules.push_back(parsed(kCaller));
    return link_modules(std::move(modules));
  };
  EXPECT_EQ(launched(*linked(".weak", ".weak")), 1);
  EXPECT_EQ(launched(*linked(".weak", ".visible")), 2);
  EXPECT_EQ(launched(*linked(".visible", ".weak")), 1);
  EXPECT_EQ(launched(*linked(".visible", "")), 1) << "a local one is no other module's";
  const auto both = linked(".visible", ".visible");
  ASSERT_FALSE(both.ok());
  EXPECT_THAT(both.error().text(), HasSubstr("two files of the program define `f`"));
}

TEST(LinkModules, LinesAndLocationsOfFilesDiffer) {
  const auto part = [](const std::string& name) {
    return parsed(".visible .entry " + name + "()\n{\n.loc 1 5 0\nret;\n}\n.file 1 \"" + name + ".cu\"\n");
  };
  std::vector<ptx::Module> modules;
  modules.push_back(part("a"));
  modules.push_back(part("b"));
  shift_lines(modules[1], 100);
  auto linked = link_modules(std::move(modules));
  ASSERT_TRUE(linked.ok());
  const ptx::Function& a = *linked->find_function("a");
  const ptx::Function& b = *linked->find_function("b");
  EXPECT_EQ(b.instructions[0].ptx_line, a.instructions[0].ptx_line + 100);
  EXPECT_EQ(linked->line_in(a.instructions[0], "a.cu"), 5);
  EXPECT_EQ(linked->line_in(a.instructions[0], "b.cu"), 0);
  EXPECT_EQ(linked->line_in(b.instructions[0], "b.cu"), 5);
}

}  // namespace
}  // namespace roofwalk::cudart
