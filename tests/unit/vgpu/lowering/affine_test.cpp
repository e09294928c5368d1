// The analysis that finds affine and uniform registers, and its use by lockstep code.
#include "common/vgpu/lowering/analysis/affine.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/ptx/module.h"
#include "common/vgpu/lowering/lower.h"
#include "tests/support/growth.h"

namespace roofwalk::vgpu {
namespace {

using Kind = Shape::Kind;

struct Lowered {
  ptx::Module module;
  Program program;

  Shape shape(const std::string& name) const {
    const auto& registers = module.functions[0].registers;
    const auto it = std::find_if(registers.begin(), registers.end(), [&](const auto& r) { return r.name == name; });
    EXPECT_NE(it, registers.end()) << name;
    return AffineAnalysis(program).shape(static_cast<int>(it - registers.begin()));
  }
  // Returns the difference between neighbouring lanes.
  std::int64_t stride(const std::string& name) const {
    const AffineAnalysis analysis(program);
    const Shape found = shape(name);
    EXPECT_EQ(found.kind, Kind::affine) << name;
    const LaneOffsets& offsets = analysis.lane_offsets()[found.lane_offsets];
    EXPECT_TRUE(offsets.even) << name;
    return static_cast<std::int64_t>(offsets.stride);
  }
  Kind kind(const std::string& name) const { return shape(name).kind; }
};

// Parses a kernel k(a, n) with this body.
ptx::Module parsed(const std::string& body) {
  auto module = ptx::parse(
      ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 n)\n{\n.reg .pred "
      "%p<9>;\n.reg .b32 %r<19>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<19>;\nld.param.u64 %rd1, [a];\nld.param.u32 %r1, "
      "[n];\nmov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\n" +
          body + "\nret;\n}\n",
      "kernel.cu");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  return module ? std::move(*module) : ptx::Module{};
}

// Lowers the module's kernel with the arguments a = 4096 and n = 100.
Program lowered(const ptx::Module& module, Dim3 block) {
  std::vector<std::uint8_t> arguments(12);
  arguments[1] = 16, arguments[8] = 100;
  auto program = lower({.module = &module,
                        .function = &module.functions.at(0),
                        .grid = {4, 1, 1},
                        .block = block,
                        .dynamic_shared_bytes = 0,
                        .arguments = arguments,
                        .address_of = [](const std::string&) { return std::uint64_t{0}; }});
  EXPECT_TRUE(program.ok()) << (program ? "" : program.error().text());
  return program ? std::move(*program) : Program{};
}

std::unique_ptr<Lowered> lowered(const std::string& body, Dim3 block = {256, 1, 1}) {
  auto out = std::make_unique<Lowered>();
  out->module = parsed(body);
  out->program = lowered(out->module, block);
  return out;
}

// Returns how much longer lowering takes if the body grows to four times its size.
template <class Body>
double growth_of_lowering(std::size_t size, Body&& body) {
  return roofwalk::test::growth(size, [&](std::size_t n) {
    return [module = parsed(body(n))] { EXPECT_FALSE(lowered(module, {256, 1, 1}).ops.empty()); };
  });
}

TEST(Affine, AnIndexTimesANumberIsAStride) {
  const auto code = lowered(
      "mad.lo.s32 %r4, %r3, 256, %r2;\n"  // ctaid * 256 + tid
      "mul.wide.s32 %rd2, %r4, 4;\n"
      "add.s64 %rd3, %rd1, %rd2;\n"  // a + 4 i
      "mul.lo.s32 %r5, %r2, %r1;\n"  // tid * n
      "mul.wide.s32 %rd4, %r5, 4;\n"
      "sub.s64 %rd5, %rd1, %rd4;\n"
      "shl.b32 %r6, %r2, 3;\n"
      "sub.s32 %r7, %r4, %r2;\n");  // the strides cancel
  EXPECT_EQ(code->kind("%r1"), Kind::constant);
  EXPECT_EQ(code->shape("%r1").value, 100u);
  EXPECT_EQ(code->kind("%r3"), Kind::uniform);
  EXPECT_EQ(code->stride("%r2"), 1);
  EXPECT_EQ(code->stride("%rd3"), 4);
  EXPECT_EQ(code->stride("%rd5"), -400);
  EXPECT_EQ(code->stride("%r6"), 8);
  EXPECT_EQ(code->kind("%r7"), Kind::uniform);
}

TEST(Affine, LoopsKeepTheShapeThatAllTheirWaysShare) {
  const auto code = lowered(
      "mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %r4, 0;\nmov.u32 %r5, %r2;\n"
      "LOOP:\nadd.s64 %rd3, %rd3, 128;\nadd.s32 %r4, %r4, 1;\nadd.s32 %r5, %r5, %r5;\n"
      "setp.lt.s32 %p1, %r4, 9;\n@%p1 bra LOOP;\n");
  EXPECT_EQ(code->stride("%rd3"), 4);
  EXPECT_EQ(code->kind("%r4"), Kind::uniform);
  EXPECT_EQ(code->kind("%p1"), Kind::uniform);
  EXPECT_EQ(code->kind("%r5"), Kind::varying);  // its stride changes in each iteration
}

// Returns a loop in which each register takes the next one's value. After as many iterations as there are registers,
// the last one's value reaches the first one.
std::string handed_backwards(std::size_t registers, const std::string& last) {
  std::string body = fmt::format(".reg .b32 %x<{}>;\nmov.u32 %r4, 0;\nLOOP:\n", registers + 1);
  for (std::size_t i = 0; i < registers; ++i) body += fmt::format("mov.u32 %x{}, %x{};\n", i, i + 1);
  return body + fmt::format(fmt::runtime(last), registers) +
         "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, %r1;\n@%p1 bra LOOP;\n";
}

TEST(Affine, ShapesGoAgainstTheOrderOfTheCode) {
  EXPECT_EQ(lowered(handed_backwards(9, "mul.lo.u32 %x{}, %r2, %r2;\n"))->kind("%x0"), Kind::varying);
  EXPECT_EQ(lowered(handed_backwards(9, "add.u32 %x{}, %r2, %r2;\n"))->stride("%x0"), 2);
  EXPECT_EQ(lowered(handed_backwards(9, ""))->kind("%x0"), Kind::varying);  // nothing defines it
}

TEST(Affine, AShiftWaitsForItsDistance) {
  const auto code =
      lowered("bra B;\nA:\nshl.b32 %r5, %r2, %r4;\nbra C;\nB:\nand.b32 %r4, 7, 3;\nmov.u32 %r4, 3;\nbra A;\nC:\n");
  EXPECT_EQ(code->kind("%r5"), Kind::varying);  // 3 both times, but `and` is not folded to a constant
  const auto constant = lowered("bra B;\nA:\nshl.b32 %r5, %r2, %r4;\nbra C;\nB:\nadd.u32 %r4, 1, 2;\nbra A;\nC:\n");
  EXPECT_EQ(constant->stride("%r5"), 8);
}

TEST(Affine, TakesTimeByTheCodeNotByTheWaysOfItsValues) {
  EXPECT_LT(growth_of_lowering(2000, [](std::size_t n) { return handed_backwards(n, "mul.lo.u32 %x{}, %r2, %r2;\n"); }),
            roofwalk::test::kNearlyLinear);
}

TEST(Affine, WhatLanesDecideVaries) {
  const auto code = lowered(
      "setp.lt.s32 %p1, %r2, 7;\nsetp.lt.s32 %p2, %r3, 2;\nmov.u32 %r4, 1;\n@%p1 mov.u32 %r4, 2;\nmov.u32 %r5, 1;\n"
      "@%p2 mov.u32 %r5, 2;\nselp.b32 %r6, 1, 2, %p1;\nselp.b32 %r7, 1, 2, %p2;\nand.b32 %r8, %r2, 3;\n"
      "ld.global.u32 %r9, [%rd1];\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd2, %rd1, %rd2;\nld.global.u32 %r10, "
      "[%rd2];\n");
  for (const char* name : {"%p1", "%r4", "%r6", "%r8", "%r10"}) EXPECT_EQ(code->kind(name), Kind::varying) << name;
  for (const char* name : {"%p2", "%r5", "%r7", "%r9"}) EXPECT_EQ(code->kind(name), Kind::uniform) << name;
}

TEST(Affine, ABlocksShapeDecidesOverItsIndices) {
  const std::string body = "mov.u32 %r4, %tid.y;\n";
  EXPECT_EQ(lowered(body, {32, 8, 1})->stride("%r2"), 1);
  EXPECT_EQ(lowered(body, {32, 8, 1})->kind("%r4"), Kind::uniform);
  EXPECT_EQ(lowered(body, {16, 16, 1})->kind("%r2"), Kind::affine);  // 0..15 twice
  EXPECT_EQ(lowered(body, {16, 16, 1})->kind("%r4"), Kind::affine);  // one row, then the next
  EXPECT_EQ(lowered(body, {24, 4, 1})->kind("%r2"), Kind::varying);  // each warp starts at another x
}

// Returns the number of operations to which the body's instructions are lowered.
std::size_t operations(const std::string& body) {
  const auto code = lowered(body);
  return static_cast<std::size_t>(std::count_if(code->program.ops.begin(), code->program.ops.end(),
                                                [](const Op& op) { return op.instruction != nullptr && op.pc >= 4; }) -
                                  1);  // without ret
}

// Parameters, indices, constants and copies of them take no operation: they are read in place.
TEST(Lowering, WhatALaunchFixesTakesNoOperation) {
  EXPECT_EQ(operations(""), 0u);
  EXPECT_EQ(operations("mov.u32 %r4, %r2;\nmov.u32 %r5, %r4;\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r6, 7;\n"), 0u);
  EXPECT_EQ(operations("mov.u32 %r4, %r2;\nadd.s32 %r5, %r4, %r1;\n"), 1u);
  // Copies that take an operation: their result is written twice, or by some lanes only, or their source is computed or
  // a clock.
  EXPECT_EQ(operations("mov.u32 %r4, %r2;\nmov.u32 %r4, %r3;\n"), 2u);
  EXPECT_EQ(operations("setp.lt.u32 %p1, %r2, 7;\n@%p1 mov.u32 %r4, %r2;\n"), 2u);
  EXPECT_EQ(operations("add.s32 %r5, %r2, %r1;\nmov.u32 %r4, %r5;\n"), 2u);
  EXPECT_EQ(operations("mov.u32 %r4, %clock;\n"), 1u);
}

// Operations on uniform registers run on lane 0 only. A result that is not broadcast adds no operation.
TEST(Lockstep, WorksOnLane0WhereverOneNumberIsEnough) {
  const auto code = lowered("add.s32 %r4, %r3, 5;\nadd.s32 %r5, %r4, %r1;\n");
  const auto& ops = code->program.lockstep.ops;
  ASSERT_EQ(ops.size(), code->program.ops.size());
  std::size_t changed = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) changed += ops[i].run != code->program.ops[i].run;
  EXPECT_EQ(changed, 2u);
}

// A uniform register that is read lane by lane is broadcast to all lanes after the operation.
TEST(Lockstep, FillsWhatIsReadLaneByLane) {
  const auto code = lowered("add.s32 %r4, %r3, 5;\nmad.lo.s32 %r5, %r4, %r1, %r2;\nst.global.u32 [%rd1], %r5;\n");
  EXPECT_GT(code->program.lockstep.ops.size(), code->program.ops.size());
}

// Returns the body after code that sets %r5 to the start of shared memory, and %r6 to an address in it for each lane.
std::string with_shared(const std::string& body) {
  return ".shared .align 4 .b8 s[1024];\nshl.b32 %r4, %r2, 2;\nmov.u32 %r5, s;\nadd.s32 %r6, %r5, %r4;\n" + body;
}

// Returns the number of lockstep operations that are fused with others.
std::size_t fused(const std::string& body) {
  const auto code = lowered(with_shared(body));
  std::size_t count = 0;
  for (const Op& op : code->program.lockstep.ops) count += op.guarded != nullptr && op.guard == kNoSlot;
  return count;
}

TEST(Lockstep, FusesWhatNeedsNothingOfEachOther) {
  EXPECT_EQ(fused("ld.shared.f32 %f1, [%r6];\nld.shared.f32 %f2, [%r5+8];\nfma.rn.f32 %f3, %f2, %f1, %f3;\n"), 1u);
  EXPECT_EQ(fused("fma.rn.f32 %f3, %f2, %f1, %f3;\nfma.rn.f32 %f3, %f3, %f3, %f3;\n"), 1u);
  EXPECT_EQ(fused("fma.rn.f32 %f3, %f2, %f1, %f3;\n"), 0u);
  EXPECT_EQ(fused("fma.rz.f32 %f3, %f2, %f1, %f3;\nfma.rn.ftz.f32 %f3, %f2, %f1, %f3;\n"), 0u);
  // Not fused: the second load's address comes from the first; a loaded value is the summand; one factor is not loaded.
  EXPECT_EQ(fused("ld.shared.b32 %r7, [%r5];\nld.shared.f32 %f2, [%r7];\nfma.rn.f32 %f3, %f2, %r7, %f3;\n"), 0u);
  const std::string loads = "ld.shared.f32 %f1, [%r6];\nld.shared.f32 %f2, [%r5];\n";
  EXPECT_EQ(fused(loads + "fma.rn.f32 %f3, %f2, %f1, %f1;\n"), 0u);
  EXPECT_EQ(fused(loads + "fma.rn.f32 %f3, %f2, %f1, %f2;\n"), 0u);
  EXPECT_EQ(fused(loads + "fma.rn.f32 %f3, %f2, %f4, %f3;\n"), 0u);
  // Predicated operations are not fused.
  EXPECT_EQ(
      fused("setp.lt.u32 %p1, %r2, 7;\n@%p1 fma.rn.f32 %f3, %f2, %f1, %f3;\n@%p1 fma.rn.f32 %f3, %f2, %f1, %f3;\n"),
      0u);
}

// Returns the number of products in the longest fused run that loads from shared memory.
std::size_t longest_run(const std::string& body) {
  std::size_t longest = 0;
  const auto code = lowered(with_shared(body));
  for (const ProductRun& run : code->program.lockstep.product_runs) longest = std::max(longest, run.offsets.size());
  return longest;
}
// Returns the number of operations in the longest fused run that loads from global memory.
std::size_t operations_of_global_run(const std::string& body) {
  std::size_t longest = 0;
  const auto code = lowered(body);
  for (const Op& op : code->program.lockstep.ops)
    longest = std::max<std::size_t>(longest, op.guarded != nullptr && op.guard == kNoSlot ? op.target : 0);
  return longest;
}

TEST(Lockstep, RunsOfProductsAddToOneSumThatNobodyElseAsksFor) {
  const std::string one = "ld.shared.f32 %f1, [%r6];\nld.shared.f32 %f2, [%r5+8];\nfma.rn.f32 %f4, %f2, %f1, %f3;\n";
  const std::string two = "ld.shared.f32 %f1, [%r6+4];\nld.shared.f32 %f2, [%r5];\n";
  EXPECT_EQ(longest_run(one), 0u);
  EXPECT_EQ(longest_run(one + two + "fma.rn.f32 %f5, %f2, %f1, %f4;\n"), 2u);
  EXPECT_EQ(longest_run(one + two + "fma.rn.f32 %f4, %f1, %f2, %f4;\n"), 2u);
  EXPECT_EQ(longest_run(one + two + "fma.rn.f32 %f5, %f2, %f1, %f3;\n"), 0u);
  // Not a run if the first sum or a loaded value is read later, or if a store is in between. The last sum may be read.
  const std::string both = one + two + "fma.rn.f32 %f5, %f2, %f1, %f4;\n";
  EXPECT_EQ(longest_run(both + "st.global.f32 [%rd1], %f4;\n"), 0u);
  EXPECT_EQ(longest_run(both + "st.global.f32 [%rd1], %f2;\n"), 0u);
  EXPECT_EQ(longest_run(both + "st.global.f32 [%rd1], %f5;\n"), 2u);
  EXPECT_EQ(longest_run(one + "st.shared.f32 [%r6], %f6;\n" + two + "fma.rn.f32 %f5, %f2, %f1, %f4;\n"), 0u);
  // Not a run if the base register differs or was overwritten.
  EXPECT_EQ(longest_run(one + "ld.shared.f32 %f1, [%r5];\nld.shared.f32 %f2, [%r5];\nfma.rn.f32 %f5, %f2, %f1, %f4;\n"),
            0u);
}

TEST(Lockstep, RunsOfGlobalProductsTakeLane0Along) {
  const std::string one = "ld.global.b32 %r7, [%rd1];\nld.global.f32 %f2, [%rd1+4];\nfma.rn.f32 %f4, %f2, %r7, %f3;\n";
  const std::string two = "ld.global.b32 %r8, [%rd1+8];\nld.global.f32 %f2, [%rd1];\nfma.rn.f32 %f5, %f2, %r8, %f4;\n";
  EXPECT_EQ(operations_of_global_run(one), 3u);
  EXPECT_EQ(operations_of_global_run(one + two), 6u);
  EXPECT_EQ(operations_of_global_run(one + "add.s64 %rd1, %rd1, 16;\n" + two), 7u);
  EXPECT_EQ(operations_of_global_run(one + "add.s32 %r9, %r7, 1;\n" + two), 3u);    // reads a loaded value
  EXPECT_EQ(operations_of_global_run(one + "add.s32 %r8, %r1, 1;\n" + two), 3u);    // overwrites a loaded value
  EXPECT_EQ(operations_of_global_run(one + "mul.f32 %f5, %f4, %f4;\n" + two), 3u);  // varies by lane
  EXPECT_EQ(operations_of_global_run(one + two + "st.global.f32 [%rd1], %f4;\n"), 3u);
}

TEST(Lockstep, TakesTimeByTheCodeNotByItsProducts) {
  const auto products = [](std::size_t n) {
    std::string body = "mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n";
    for (std::size_t i = 0; i < n; ++i) {
      body += fmt::format(
          "ld.global.f32 %f1, [%rd3+{0}];\nld.global.f32 %f2, [%rd1+{0}];\nfma.rn.f32 %f{1}, %f2, %f1, %f{1};\n", 4 * i,
          3 + i % 3);  // another sum each time, so each product is a run of its own
    }
    return body;
  };
  EXPECT_GT(fused(products(1)), 0u);
  EXPECT_LT(growth_of_lowering(2000, [&](std::size_t n) { return with_shared(products(n)); }),
            roofwalk::test::kNearlyLinear);
}

// %r4 is live in all basic blocks, each of which branches to the one before it in the text. An analysis that goes
// through all blocks again and again, from the last to the first, would need n passes.
TEST(Lockstep, TakesTimeByTheCodeNotByTheWaysOfWhatLives) {
  const auto blocks = [](std::size_t n) {
    std::string body = fmt::format("mov.u32 %r4, %clock;\nbra L{};\nL0:\nst.global.u32 [%rd1], %r4;\nret;\n", n);
    for (std::size_t i = 1; i <= n; ++i) body += fmt::format("L{}:\nadd.u32 %r5, %r5, 1;\nbra L{};\n", i, i - 1);
    return body;
  };
  EXPECT_LT(growth_of_lowering(1500, blocks), roofwalk::test::kNearlyLinear);
}

// Each affine index that is widened needs a check. If the check fails, it fills in all lanes of the live affine
// registers: n checks of up to n registers, too many for lockstep code if n is large.
TEST(Lockstep, LeavesFunctionsAloneThatHaveTooMuchToFill) {
  const auto checks = [](int n) {
    std::string body = fmt::format(".reg .b32 %x<{0}>;\n.reg .b64 %y<{0}>;\n", n);
    for (int i = 0; i < n; ++i) body += fmt::format("add.s32 %x{0}, %r2, {0};\n", i);
    for (int i = 0; i < n; ++i) body += fmt::format("mul.wide.s32 %y{0}, %x{0}, 4;\n", i);
    for (int i = 0; i < n; ++i) body += fmt::format("add.s64 %rd2, %rd2, %y{};\n", i);
    return lowered(body);
  };
  EXPECT_FALSE(checks(100)->program.lockstep.ops.empty());
  EXPECT_TRUE(checks(2000)->program.lockstep.ops.empty());
}

TEST(Lockstep, LeavesFunctionsThatAreTooLargeAlone) {
  std::string body;
  for (int i = 0; i < 1100; ++i) body += ".reg .b32 %many" + std::to_string(i) + ";\n";
  for (int i = 0; i < 1100; ++i)
    body += "setp.eq.s32 %p1, %r2, " + std::to_string(i) + ";\n@%p1 bra L" + std::to_string(i) + ";\nL" +
            std::to_string(i) + ":\n";
  EXPECT_TRUE(lowered(body)->program.lockstep.ops.empty());
}

}  // namespace
}  // namespace roofwalk::vgpu
