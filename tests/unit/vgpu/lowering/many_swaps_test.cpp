// How long it takes to find the loads that only guess what a compare-and-swap will find, in code with many of both.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "common/ptx/module.h"
#include "common/vgpu/lowering/analysis/guesses.h"
#include "tests/support/growth.h"

namespace roofwalk::vgpu {
namespace {

ptx::Module parsed_swaps(const std::string& body) {
  auto module = ptx::parse(
      ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<9>;\n"
      ".shared .align 4 .b32 word;\n.shared .align 4 .b32 other;\n" +
          body + "ret;\n}\n",
      "kernel.cu");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  return module ? std::move(*module) : ptx::Module{};
}

std::vector<bool> guesses_of(const ptx::Module& module) {
  const ptx::Function& function = module.functions.at(0);
  const std::vector<BasicBlock> blocks = find_blocks(function);
  return find_guesses(function, blocks, BlockUses(function, blocks), {});
}

constexpr const char* kGuess = "ld.shared.u32 %r1, [word];\natom.shared.cas.b32 %r2, [word], %r1, 5;\n";

TEST(ManySwaps, TakeTimeByTheCodeNotByPairsOfLoadsAndSwaps) {
  const auto swaps = [](std::size_t n) {
    std::string body = kGuess;
    for (std::size_t i = 0; i < n; ++i)
      body += "ld.shared.u32 %r3, [other];\natom.shared.cas.b32 %r4, [word], 77, 1;\n";
    return [module = parsed_swaps(body)] { EXPECT_EQ(std::ranges::count(guesses_of(module), true), 1); };
  };
  EXPECT_LT(roofwalk::test::growth(500, swaps), roofwalk::test::kNearlyLinear);
}

TEST(ManySwaps, HideNoGuess) {
  EXPECT_EQ(guesses_of(parsed_swaps(kGuess)).at(0), true);
  EXPECT_TRUE(guesses_of(parsed_swaps("ld.shared.u32 %r1, [other];\n" + std::string(kGuess).substr(30))).empty());
}

}  // namespace
}  // namespace roofwalk::vgpu
