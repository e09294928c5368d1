// Which looks at global memory may find out whether a loop ends: whatever carries their values there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/vgpu/lowering/analysis/loop_ends.h"
#include "common/vgpu/program/kernel_code.h"
#include "tests/support/growth.h"

namespace roofwalk::vgpu {
namespace {

const std::string kRegisters =
    "{\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<19>;\n.reg .b64 %rd<19>;\n.shared .align 16 .b8 s[64];\n"
    ".local .align 16 .b8 l[64];\n";

// %rd1 is the address of a word that blocks share, %rd2 that of a word of the block's own, %r2 the block's index.
ptx::Module parsed_looks(const std::string& functions, const std::string& body) {
  auto module =
      ptx::parse(".version 9.0\n.target sm_80\n.address_size 64\n" + functions +
                     ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n" + kRegisters +
                     "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nmov.u32 %r2, %ctaid.x;\n" + body + "ret;\n}\n",
                 "kernel.cu");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  return module ? std::move(*module) : ptx::Module{};
}

std::string function(const std::string& head, const std::string& body) {
  return ".func " + head + "\n" + kRegisters + body + "ret;\n}\n";
}

std::string forever(const std::string& body) { return "again:\n" + body + "bra again;\n"; }
std::string until_own(const std::string& body) {
  return "again:\n" + body + "setp.ne.u32 %p1, %r3, %r2;\n@%p1 bra again;\n";
}
std::string nine_times(const std::string& body) {
  return "mov.u32 %r9, 0;\nmov.u32 %r10, 0;\nagain:\n" + body +
         "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p8, %r9, 9;\n@%p8 bra again;\n";
}

// The look is the first load by .cg, or else the first atomic.
bool look_ends_loops(const std::string& functions, const std::string& body) {
  const ptx::Module module = parsed_looks(functions, body);
  for (const ptx::Function& each : module.functions) {
    if (!each.is_entry) continue;
    const auto code = code_of(module, each);
    EXPECT_TRUE(code.ok()) << (code ? "" : code.error().text());
    if (!code) return false;
    const std::vector<bool> ends = find_what_ends_loops(*code->function, code->blocks, code->linked.parts);
    const std::vector<bool> decides = registers_that_decide(*code->function, States::followed);
    for (const bool by_atomics : {false, true}) {
      for (std::size_t pc = 0; pc < ends.size(); ++pc) {
        const ptx::Instruction& in = code->function->instructions[pc];
        const bool is_atomic = ptx::info(in.opcode).form == ptx::Form::atomic;
        if (by_atomics ? !is_atomic : in.cache != ptx::CacheHint::cg) continue;
        if (ends[pc]) {
          for_each_result(in, [&](std::size_t reg) { EXPECT_TRUE(decides[reg]) << functions << body; });
        }
        return ends[pc];
      }
    }
  }
  ADD_FAILURE() << "no look";
  return false;
}

// What a look finds is in %r4; the loop ends by %r3.
const std::string kLook = "ld.global.cg.u32 %r4, [%rd1];\n";
const std::string kSwap = "atom.global.exch.b32 %r4, [%rd1], 7;\n";

TEST(LoopEnds, ByWhatAFunctionReturnsInMemory) {
  const auto see = function("(.param .align 16 .b8 out[16]) see(.param .b64 at)",
                            "ld.param.u64 %rd1, [at];\n" + kLook + "st.param.v4.b32 [out], {%r2, %r4, %r2, %r2};\n");
  const std::string call =
      "{\n.param .b64 p0;\nst.param.b64 [p0], %rd1;\n.param .align 16 .b8 r0[16];\ncall.uni (r0), see, (p0);\n"
      "ld.param.b32 %r3, [r0+4];\n}\n";
  EXPECT_TRUE(look_ends_loops(see, until_own(call)));
  EXPECT_FALSE(look_ends_loops(see, nine_times(call + "st.global.u32 [%rd2], %r3;\n")));
}

TEST(LoopEnds, ByWhatIsPassedInMemory) {
  const auto second = function("(.param .b32 out) second(.param .align 8 .b8 pair[8])",
                               "ld.param.b32 %r1, [pair+4];\nst.param.b32 [out], %r1;\n");
  const std::string call =
      "{\n.param .align 8 .b8 p0[8];\nst.param.v2.b32 [p0], {%r2, %r4};\n.param .b32 r0;\n"
      "call.uni (r0), second, (p0);\nld.param.b32 %r3, [r0];\n}\n";
  EXPECT_TRUE(look_ends_loops(second, until_own(kLook + call)));
  EXPECT_FALSE(look_ends_loops(second, nine_times(kLook + call + "st.global.u32 [%rd2], %r3;\n")));
}

// The caller has the argument in a register, the function reads it by halves from memory.
TEST(LoopEnds, ByHalvesOfAnArgument) {
  const auto low = function("(.param .b32 out) low(.param .b32 word)",
                            "ld.param.u16 %h1, [word];\ncvt.u32.u16 %r1, %h1;\nst.param.b32 [out], %r1;\n");
  const std::string call =
      "{\n.param .b32 p0;\nst.param.b32 [p0], %r4;\n.param .b32 r0;\ncall.uni (r0), low, (p0);\n"
      "ld.param.b32 %r3, [r0];\n}\n";
  EXPECT_TRUE(look_ends_loops(low, until_own(kLook + call)));
}

// A parameter of the kernel carries nothing, although a store to other .param memory is in the loop.
TEST(LoopEnds, NotByAParameterOfTheKernel) {
  const auto take = function("take(.param .align 8 .b8 pair[8])", "");
  const std::string call =
      "{\n.param .align 8 .b8 p0[8];\nst.param.v2.b32 [p0], {%r2, %r4};\ncall.uni take, (p0);\n}\n";
  const std::string count = "ld.param.u32 %r8, [n];\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, %r8;\n";
  EXPECT_FALSE(look_ends_loops(take, "again:\n" + kLook + call + count + "@%p1 bra again;\n"));
}

TEST(LoopEnds, ByAWordOfGlobalMemory) {
  const std::string put = "st.global.u32 [%rd2], %r4;\n", take = "ld.global.u32 %r3, [%rd2];\n";
  const std::string generic = "cvta.global.u64 %rd3, %rd2;\n";
  EXPECT_TRUE(look_ends_loops("", until_own(kSwap + put + take)));
  EXPECT_TRUE(look_ends_loops("", until_own(kLook + put + take)));
  EXPECT_TRUE(look_ends_loops("", generic + until_own(kSwap + "st.u32 [%rd3], %r4;\n" + take)));
  EXPECT_TRUE(look_ends_loops("", generic + until_own(kSwap + put + "ld.u32 %r3, [%rd3];\n")));
  EXPECT_TRUE(look_ends_loops("", until_own(kLook + "red.global.or.b32 [%rd2], %r4;\n"
                                                    "atom.global.add.u32 %r3, [%rd2], 1;\n")));
  EXPECT_TRUE(look_ends_loops("", until_own(kSwap +
                                            "setp.eq.u32 %p2, %r4, 0;\n@%p2 bra over;\n"
                                            "st.global.u32 [%rd2], %r2;\nover:\n" +
                                            take)));
  EXPECT_TRUE(look_ends_loops("", until_own(kSwap + put +
                                            "mov.u32 %r5, s;\ncp.async.ca.shared.global [%r5], [%rd2], "
                                            "4;\ncp.async.wait_all;\nld.shared.u32 %r3, [s];\n")));
  // Nothing reads the word again, or only in front of the loop, or as what nobody writes.
  EXPECT_FALSE(look_ends_loops("", nine_times(kSwap + put)));
  EXPECT_FALSE(look_ends_loops("", take + "mov.u32 %r10, 0;\nagain:\n" + kSwap + put +
                                       "add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, %r3;\n@%p1 bra again;\n"));
  EXPECT_FALSE(look_ends_loops("", until_own(kSwap + put + "ld.global.nc.u32 %r3, [%rd2];\n")));
}

TEST(LoopEnds, ByLocalMemoryThroughAnyAddress) {
  const std::string at = "mov.u64 %rd4, l;\ncvta.local.u64 %rd5, %rd4;\n";
  EXPECT_TRUE(look_ends_loops("", at + until_own(kLook + "st.u32 [%rd5], %r4;\nld.local.u32 %r3, [%rd4];\n")));
  EXPECT_TRUE(look_ends_loops("", at + until_own(kLook + "st.local.u32 [%rd4], %r4;\nld.u32 %r3, [%rd5];\n")));
}

TEST(LoopEnds, ByWhatLanesTellEachOther) {
  const std::string test = "setp.eq.u32 %p2, %r4, 1;\n";
  for (const std::string& how :
       {std::string("shfl.sync.idx.b32 %r3, %r4, 0, 31, 0xffffffff;\n"),
        std::string("redux.sync.add.s32 %r3, %r4, 0xffffffff;\n"),
        std::string("match.any.sync.b32 %r3, %r4, 0xffffffff;\n"), std::string("prmt.b32 %r3, %r4, %r4, 0x0123;\n"),
        std::string("add.cc.u32 %r5, %r4, 0xffffffff;\naddc.u32 %r3, 0, 0;\n"),
        std::string("red.shared.add.u32 [s], %r4;\nld.shared.u32 %r3, [s];\n"),
        test + "vote.sync.ballot.b32 %r3, %p2, 0xffffffff;\n", test + "barrier.red.popc.aligned.u32 %r3, 0, %p2;\n",
        test + "mov.u32 %r3, 0;\n@%p2 bra off;\nactivemask.b32 %r3;\noff:\n",
        test + "@%p2 exit;\nactivemask.b32 %r3;\n", test + "@%p2 st.shared.u32 [s], 1;\nld.shared.u32 %r3, [s];\n",
        test + "@%p2 mbarrier.arrive.shared.b64 %rd6, [s];\nmbarrier.test_wait.parity.shared.b64 %p3, [s], 0;\n"
               "selp.u32 %r3, 1, 0, %p3;\n"}) {
    SCOPED_TRACE(how);
    EXPECT_TRUE(look_ends_loops("", until_own(kLook + how)));
  }
}

TEST(LoopEnds, ByAnExitInAFunction) {
  const std::string test = "ld.param.u32 %r1, [seen];\nsetp.eq.u32 %p1, %r1, 7;\n";
  const std::string call = "{\n.param .b32 p0;\nst.param.b32 [p0], %r4;\ncall.uni leave_if, (p0);\n}\n";
  EXPECT_TRUE(look_ends_loops(function("leave_if(.param .b32 seen)", test + "@%p1 exit;\n"), forever(kLook + call)));
  EXPECT_TRUE(look_ends_loops(function("leave_if(.param .b32 seen)", test + "@!%p1 bra back;\nexit;\nback:\n"),
                              forever(kLook + call)));
  EXPECT_FALSE(look_ends_loops(function("leave_if(.param .b32 seen)", test + "@%p1 ret;\n"), nine_times(kLook + call)));
}

// The loop has a fixed number of rounds. Once a look has found the turn, the others do nothing.
TEST(LoopEnds, ByRoundsThatDoNothingAnyMore) {
  const std::string work =
      "setp.ne.u32 %p3, %r4, %r2;\n@%p3 bra next;\nst.global.u32 [%rd2], 1;\nmov.u32 %r10, 1;\n"
      "add.u32 %r5, %r4, 1;\nst.global.u32 [%rd1], %r5;\n";
  const std::string unless_done = "setp.ne.u32 %p2, %r10, 0;\n@%p2 bra next;\n";
  EXPECT_TRUE(look_ends_loops("", nine_times(unless_done + kLook + work + "next:\n")));
  // The look is made each time, but waited for only until the turn comes.
  EXPECT_TRUE(look_ends_loops("", nine_times(kLook + unless_done + work + "next:\n")));
  // A second look is made until the turn has come, over and over.
  EXPECT_TRUE(look_ends_loops("", nine_times(kLook +
                                             "setp.ge.u32 %p2, %r4, %r2;\n@%p2 bra seen;\n"
                                             "ld.global.u32 %r4, [%rd1];\nseen:\n" +
                                             work + "next:\n")));
  // What it saw decides nothing that another look can see.
  EXPECT_FALSE(look_ends_loops("", nine_times(kLook + "setp.eq.u32 %p2, %r4, 0;\n@%p2 bra next;\n"
                                                      "add.u32 %r10, %r10, 1;\nnext:\n") +
                                       "st.global.u32 [%rd2], %r10;\n"));
}

TEST(LoopEnds, ByAFunctionThatIsCalledOverAndOver) {
  const auto see = function("(.param .b32 out) see(.param .b64 at)",
                            "ld.param.u64 %rd1, [at];\n" + kLook + "st.param.b32 [out], %r4;\n");
  const std::string rung =
      "{\n.param .b64 p0;\nst.param.b64 [p0], %rd1;\n.param .b32 r0;\ncall.uni (r0), see, (p0);\n"
      "ld.param.b32 %r3, [r0];\n}\nsetp.eq.u32 %p1, %r3, %r2;\n@%p1 bra mine;\n";
  EXPECT_TRUE(look_ends_loops(see, rung + rung + rung + "mine:\nst.global.u32 [%rd2], 1;\n"));
}

TEST(LoopEnds, TakeTimeByTheCodeNotByItsCalls) {
  const auto calls = [](std::size_t n) {
    std::string functions, body;
    for (std::size_t i = 0; i < n / 8; ++i)
      functions += function(fmt::format("f{}(.param .b32 p)", i), "ld.param.u32 %r1, [p];\nst.shared.u32 [s], %r1;\n");
    for (std::size_t i = 0; i < n; ++i) {
      body += fmt::format(
          "setp.eq.u32 %p2, %r4, {0};\n@%p2 bra over{0};\n{{\n.param .b32 p0;\nst.param.b32 [p0], %r4;\n"
          "call.uni f{1}, (p0);\n}}\nover{0}:\n",
          i, i % (n / 8));
    }
    auto module =
        std::make_shared<ptx::Module>(parsed_looks(functions, until_own(kLook + body + "mov.u32 %r3, %r4;\n")));
    auto code = std::make_shared<KernelCode>(*code_of(*module, module->functions.back()));
    return [module, code] { find_what_ends_loops(*code->function, code->blocks, code->linked.parts); };
  };
  EXPECT_LT(roofwalk::test::growth(500, calls), roofwalk::test::kNearlyLinear);
}

}  // namespace
}  // namespace roofwalk::vgpu
