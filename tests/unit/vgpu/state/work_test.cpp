// Arithmetic that is expensive on the host has larger weights; common operations count as one.
#include "common/vgpu/lowering/work_cost.h"

#include <gtest/gtest.h>

#include <string>

namespace roofwalk::vgpu {
namespace {

std::uint32_t work_of_text(const std::string& instruction, bool of_one_lane = false, const WorkMode& mode = {}) {
  const auto module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n"
      ".reg .b32 %r<4>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<4>;\n.reg .f64 %d<4>;\n" +
          instruction + ";\nret;\n}\n",
      "kernel.cu");
  EXPECT_TRUE(module.ok()) << instruction << ": " << (module ? "" : module.error().text());
  if (!module) return 0;
  const ptx::Function& function = module->functions[0];
  const ptx::Instruction& in = function.instructions[0];
  return of_one_lane ? work_of_one_lane(in, function, mode) : work_of(in, function, mode);
}

TEST(Work, OfOrdinaryArithmeticIsOne) {
  for (const char* each :
       {"add.f32 %f1, %f2, %f3", "fma.rn.f32 %f1, %f2, %f3, %f0", "fma.rn.ftz.f32 %f1, %f2, %f3, %f0",
        "mad.lo.s32 %r1, %r2, %r3, %r0", "add.s64 %rd1, %rd2, %rd3", "fma.rn.f64 %d1, %d2, %d3, %d0",
        "cvt.rn.f32.s32 %f1, %r1", "cvt.rzi.s32.f32 %r1, %f1", "cvt.f64.f32 %d1, %f1", "cvt.u32.u16 %r1, %h1",
        "cvt.rn.f16.f32 %h1, %f1", "setp.lt.f32 %p1, %f1, %f2", "selp.b32 %r1, %r2, %r3, %p1", "mov.b32 %r1, %r2"})
    EXPECT_EQ(work_of_text(each), 1u) << each;
}

// The weights come from arithmetic_budget_bench, in units of 15 ns.
TEST(Work, OfDearArithmeticIsWhatItCosts) {
  const struct {
    const char* text;
    std::uint32_t least, most;
  } kForms[] = {{"cvt.rz.relu.f16x2.f32 %r1, %f2, %f1", 95, 120},
                {"cvt.rz.f16.u64 %h1, %rd2", 60, 80},
                {"cvt.rmi.s64.f32 %rd1, %f2", 35, 50},
                {"ex2.approx.ftz.bf16x2 %r1, %r0", 80, 100},
                {"sin.approx.f32 %f1, %f0", 32, 40},
                {"fma.rn.ftz.sat.f16x2 %r1, %r2, %r3, %r0", 35, 45},
                {"fma.rn.f16x2 %r1, %r2, %r3, %r0", 5, 6},
                {"div.rp.f32 %f1, %f0, %f1", 10, 15},
                {"fma.rz.f32 %f1, %f2, %f3, %f0", 7, 15}};
  for (const auto& form : kForms) {
    EXPECT_GE(work_of_text(form.text), form.least) << form.text;
    EXPECT_LE(work_of_text(form.text), form.most) << form.text;
  }
}

// A lone lane does not pay for what the host does lane by lane.
TEST(Work, OfASingleLaneIsLess) {
  for (const bool sanitized : {false, true}) {
    const WorkMode mode{.counts = !sanitized, .sanitized = sanitized};
    for (const char* each : {"ld.global.f32 %f1, [%rd1]", "st.global.f32 [%rd1], %f1", "ld.shared.f32 %f1, [%r1]",
                             "atom.global.add.u32 %r1, [%rd1], %r2", "ld.local.f32 %f1, [%r1]"}) {
      EXPECT_LE(3 * work_of_text(each, true, mode), 2 * work_of_text(each, false, mode)) << each;
      EXPECT_GE(work_of_text(each, true, mode), 4u) << each;
    }
    for (const char* each : {"add.f32 %f1, %f2, %f3", "sin.approx.f32 %f1, %f0", "bar.sync 0"})
      EXPECT_EQ(work_of_text(each, true, mode), work_of_text(each, false, mode)) << each;
  }
}

// Types narrower than their registers are converted lane by lane, which costs more.
TEST(Work, OfAConversionDependsOnItsRegisters) {
  EXPECT_EQ(work_of_text("cvt.rn.f32.s32 %f1, %r1"), 1u);
  EXPECT_GE(work_of_text("cvt.rn.f32.s32 %f1, %rd1"), 35u);
}

}  // namespace
}  // namespace roofwalk::vgpu
