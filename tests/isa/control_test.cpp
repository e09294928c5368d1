// Control flow: branches, calls and returns, block barriers, fences, and the ways a kernel ends.
#include "tests/isa/row.h"

namespace roofwalk::isa {
namespace {

Kernel threads(std::string body, std::uint32_t count, std::size_t words) {
  return {.body = std::move(body), .threads = count, .out_bytes = 4 * words};
}

constexpr const char* kStore = "mul.wide.u32 %rd1, %r63, 4; add.u64 %rd1, %rd1, %rd63; st.global.u32 [%rd1], ";

// Each lane iterates as often as its number; lanes that have finished wait for the others.
ROW_TEST(Bra, LoopsOfDifferentLength) {
  const Outcome outcome = run(threads(std::string(R"(
    mov.u32 %r1, 0; mov.u32 %r2, 0;
    AGAIN: setp.ge.u32 %p1, %r1, %r63; @%p1 bra OUT;
    add.u32 %r1, %r1, 1; add.u32 %r2, %r2, %r1; bra.uni AGAIN;
    OUT: activemask.b32 %r3; popc.b32 %r3, %r3; mad.lo.u32 %r2, %r3, 10000, %r2; )") +
                                          kStore + "%r2;",
                                      40, 40));
  for (std::uint32_t t = 0; t < 40; ++t)
    EXPECT_EQ(outcome.at<std::uint32_t>(t), (t < 32 ? 320000 : 80000) + t * (t + 1) / 2);
}

// Some lanes do not branch, some jump to the end, two table entries share a target, and one target branches back.
ROW_TEST(BrxIdx, LanesGoManyWaysAndMeetAgain) {
  const Outcome outcome = run(threads(std::string(R"(
    and.b32 %r1, %r63, 7; mov.u32 %r2, 0; setp.ge.u32 %p1, %r63, 4;
    TABLE: .branchtargets ONE, TWO, END, ONE, BACK, TWO, END, BACK;
    AGAIN: @%p1 brx.idx %r1, TABLE;
    add.u32 %r2, %r2, 1000; bra END;
    ONE: activemask.b32 %r3; popc.b32 %r3, %r3; add.u32 %r2, %r2, %r3; bra END;
    BACK: mov.u32 %r1, 1; add.u32 %r2, %r2, 100; bra AGAIN;
    TWO: add.u32 %r2, %r2, 200; bra.uni END;
    END: activemask.b32 %r3; popc.b32 %r3, %r3; mad.lo.u32 %r2, %r3, 10000, %r2; )") +
                                          kStore + "%r2;",
                                      40, 40));
  ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
  for (std::uint32_t t = 0; t < 40; ++t) {
    const std::uint32_t ones = t < 32 ? 6 : 2;  // lanes of the warp that reach ONE
    const std::uint32_t arms[] = {ones, 200, 0, ones, 300, 200, 0, 300};
    EXPECT_EQ(outcome.at<std::uint32_t>(t), (t < 32 ? 320000 : 80000) + (t < 4 ? 1000 : arms[t % 8])) << t;
  }
  // Both warps reach brx.idx twice, but diverge only once: the second time, all lanes that are back branch the same
  // way.
  EXPECT_EQ(outcome.count(Counter::divergent_branches), 2u);
}

ROW_TEST(BrxIdx, AsOneWhereTheIndexIsTheSame) {
  const Outcome outcome = run(threads(std::string(R"(
    mov.u32 %r1, %ctaid.x; T: .branchtargets A, B, C; brx.idx.uni %r1, T;
    A: mov.u32 %r2, 5; bra OUT;
    B: mov.u32 %r2, 6; bra OUT;
    C: mov.u32 %r2, 7;
    OUT: )") + kStore + "%r2;",
                                      32, 32));
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(outcome.at<std::uint32_t>(t), 5u) << t;
  EXPECT_EQ(outcome.count(Counter::divergent_branches), 0u);
}

// The ISA does not define an index beyond the table; here it is a fault of the first thread with such an index.
ROW_TEST(BrxIdx, AnIndexBeyondTheTableIsAFault) {
  const Outcome outcome = run(threads("T: .branchtargets A, B; brx.idx %r63, T; A: mov.u32 %r1, 1; B: ret;", 32, 32));
  ASSERT_TRUE(outcome.record.fault);
  EXPECT_EQ(outcome.record.fault->kind, FaultKind::out_of_bounds);
  EXPECT_EQ(outcome.record.fault->thread.x, 2u);
  EXPECT_NE(outcome.record.fault->message.find("index 2 through a table of 2"), std::string::npos)
      << outcome.record.fault->message;
}

ROW_TEST(Exit, SomeLanesLeaveAndTheBarrierDoesNotWaitForThem) {
  const Outcome outcome =
      run(threads(std::string("setp.ge.u32 %p1, %r63, 40; @%p1 exit; bar.sync 0; ") + kStore + "7;", 96, 96));
  for (std::uint32_t t = 0; t < 96; ++t) EXPECT_EQ(outcome.at<std::uint32_t>(t), t < 40 ? 7u : 0u) << t;
}

ROW_TEST(Ret, LeavesAKernelAsExitDoes) {
  const Outcome outcome = run(threads(std::string("setp.lt.u32 %p1, %r63, 5; @%p1 ret; ") + kStore + "9;", 32, 32));
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(outcome.at<std::uint32_t>(t), t < 5 ? 0u : 9u) << t;
}

// Tests arguments of every width, in registers and in memory; a guarded call; a nested call; a result of 12 bytes.
ROW_TEST(Call, HandsOverAndComesBack) {
  Kernel kernel = threads(std::string(R"(
    setp.ge.u32 %p1, %r63, 3;
    cvt.u16.u32 %h1, %r63; cvt.u64.u32 %rd2, %r63;
    mov.u32 %r5, 1;
    { .param .b16 a; .param .b64 b; .param .align 4 .b8 c[12]; .param .align 4 .b8 r[12];
      st.param.b16 [a], %h1; st.param.b64 [b], %rd2; st.param.b32 [c], 100; st.param.b32 [c+4], %r63; st.param.b32 [c+8], 5;
      @%p1 call (r), turn, (a, b, c);
      @%p1 ld.param.b32 %r5, [r]; @%p1 ld.param.b32 %r6, [r+8]; @%p1 add.u32 %r5, %r5, %r6; }
    )") + kStore + "%r5;",
                          40, 40);
  kernel.declarations = R"(
    .func (.param .b32 r) twice(.param .b32 v) { .reg .b32 %r<3>; ld.param.b32 %r1, [v]; shl.b32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; }
    .func (.param .align 4 .b8 r[12]) turn(.param .b16 a, .param .b64 b, .param .align 4 .b8 c[12]) {
      .reg .b16 %h<3>; .reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .pred %p<2>;
      ld.param.b16 %h1, [a]; ld.param.b64 %rd1, [b]; ld.param.b32 %r1, [c+8]; ld.param.b32 %r2, [c+4];
      cvt.u32.u16 %r3, %h1; cvt.u32.u64 %r4, %rd1; add.u32 %r3, %r3, %r4;
      { .param .b32 v; .param .b32 t; st.param.b32 [v], %r3; call.uni (t), twice, (v); ld.param.b32 %r3, [t]; }
      st.param.b32 [r], %r3; st.param.b32 [r+8], %r1;
      and.b32 %r5, %r2, 1; setp.eq.u32 %p1, %r5, 0; @%p1 ret;
      add.u32 %r2, %r2, 1000; st.param.b32 [r+8], %r2; ret; })";
  const Outcome outcome = run(kernel);
  ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
  for (std::uint32_t t = 0; t < 40; ++t)
    EXPECT_EQ(outcome.at<std::uint32_t>(t), t < 3 ? 1u : 4 * t + (t % 2 == 0 ? 5 : 1000 + t)) << t;
}

// Indirect calls: a warp calls three functions with one signature from a table, and some lanes exit in one of them;
// then it calls through a list of targets.
ROW_TEST(Call, ThroughARegister) {
  Kernel kernel = threads(std::string(R"(
    and.b32 %r1, %r63, 3; min.u32 %r1, %r1, 2; mul.wide.u32 %rd1, %r1, 8; mov.u64 %rd2, table; add.u64 %rd1, %rd1, %rd2;
    ld.global.u64 %rd1, [%rd1]; setp.ge.u32 %p1, %r63, 3; mov.u32 %r5, 1;
    { .param .b32 v; .param .b32 r; shape: .callprototype (.param .b32 _) _ (.param .b32 _) ;
      st.param.b32 [v], %r63; @%p1 call (r), %rd1, (v), shape; @%p1 ld.param.b32 %r5, [r]; }
    activemask.b32 %r6; popc.b32 %r6, %r6; mad.lo.u32 %r5, %r6, 10000, %r5;
    mov.u64 %rd1, twice; @%p1 mov.u64 %rd1, plus;
    { .param .b32 v; .param .b32 r; list: .calltargets twice, plus;
      st.param.b32 [v], %r5; call.uni (r), %rd1, (v), list; ld.param.b32 %r5, [r]; }
    )") + kStore + "%r5;",
                          40, 40);
  kernel.declarations = R"(
    .func (.param .b32 r) twice(.param .b32 v) { .reg .b32 %r<3>; ld.param.b32 %r1, [v]; shl.b32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; }
    .func (.param .b32 r) plus(.param .b32 v) { .reg .b32 %r<3>; ld.param.b32 %r1, [v]; add.u32 %r1, %r1, 7; st.param.b32 [r], %r1; ret; }
    .func (.param .b32 r) leave(.param .b32 v) {
      .reg .b32 %r<3>; .reg .pred %p<2>; ld.param.b32 %r1, [v]; setp.eq.u32 %p1, %r1, 10; @%p1 exit;
      activemask.b32 %r1; popc.b32 %r1, %r1; st.param.b32 [r], %r1; ret; }
    .global .u64 table[3] = {twice, plus, leave};)";
  const Outcome outcome = run(kernel);
  ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
  for (std::uint32_t t = 0; t < 40; ++t) {
    const std::uint32_t live = t < 32 ? 31 : 8, together = t < 32 ? 14 : 4;  // lanes left; lanes in `leave`
    const std::uint32_t ways[] = {2 * t, t + 7, together, together};
    const std::uint32_t first = (t < 3 ? 1 : ways[t % 4]) + 10000 * live;
    EXPECT_EQ(outcome.at<std::uint32_t>(t), t == 10 ? 0u : t < 3 ? 2 * first : first + 7) << t;
  }
  // Both warps diverge at the first call; the first warp also diverges at the second.
  EXPECT_EQ(outcome.count(Counter::divergent_branches), 3u);
}

ROW_TEST(Call, ThroughARegisterThatIsNoFunctionIsAFault) {
  const Outcome outcome = run(threads(R"(
    cvt.u64.u32 %rd1, %r63; setp.lt.u32 %p1, %r63, 5;
    none: .callprototype _ (); @!%p1 call %rd1, (), none;)",
                                      32, 1));
  ASSERT_TRUE(outcome.record.fault);
  EXPECT_EQ(outcome.record.fault->kind, FaultKind::bad_call);
  EXPECT_EQ(outcome.record.fault->thread.x, 5u);
}

ROW_TEST(Bar, NamedArriveAndReduce) {
  const Outcome outcome = run(threads(std::string(R"(
    setp.ge.u32 %p1, %r63, 32; setp.lt.u32 %p2, %r63, 40;
    @%p1 bra USE;
    mul.wide.u32 %rd2, %r63, 4; cvt.u32.u64 %r4, %rd2; mov.u32 %r5, s; add.u32 %r4, %r4, %r5; st.shared.u32 [%r4], %r63;
    bar.arrive 2, 64; mov.u32 %r1, 0; bra DONE;
    USE: bar.sync 2, 64; mov.u32 %r5, s; ld.shared.u32 %r1, [%r5+124];
    DONE: bar.red.popc.u32 %r2, 0, %p2; bar.red.and.pred %p3, 0, %p2; bar.red.or.pred %p4, 0, !%p2;
    mad.lo.u32 %r1, %r2, 100, %r1; @%p3 add.u32 %r1, %r1, 10000; @%p4 add.u32 %r1, %r1, 20000; )") +
                                          kStore + "%r1;",
                                      64, 64));
  ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(outcome.at<std::uint32_t>(t), 24000u + (t >= 32 ? 31u : 0u)) << t;
}

// The barrier's number and thread count are in registers; 64 of the 96 threads arrive, and the others have exited.
ROW_TEST(Barrier, CountsTheThreadsItIsToldOf) {
  const Outcome outcome = run(threads(std::string(R"(
    setp.ge.u32 %p1, %r63, 64; @%p1 exit; mov.u32 %r1, 5; mov.u32 %r2, 64; setp.eq.u32 %p2, %r63, 63;
    barrier.sync %r1, %r2; barrier.red.popc.u32 %r3, %r1, %r2, %p2; barrier.sync.aligned 0; )") +
                                          kStore + "%r3;",
                                      96, 96));
  ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
  for (std::uint32_t t = 0; t < 96; ++t) EXPECT_EQ(outcome.at<std::uint32_t>(t), t < 64 ? 1u : 0u) << t;
}

ROW_TEST(Barrier, ThatNobodyCompletesIsADeadlock) {
  const Outcome outcome = run(threads("barrier.sync 1, 96;", 64, 1));
  ASSERT_TRUE(outcome.record.fault);
  EXPECT_EQ(outcome.record.fault->kind, FaultKind::barrier_deadlock);
}

// One warp gives a number of threads for the barrier, the other does not: a fault, whichever of the two comes first.
ROW_TEST(Bar, IsForTheSameThreadsForAllWhoCome) {
  for (const char* guard : {"@%p1", "@!%p1"}) {
    const Outcome outcome = run(threads(std::string("setp.lt.u32 %p1, %r63, 32; ") + guard +
                                            " bra ALL; bar.sync 2, 64; bra DONE; ALL: bar.sync 2; DONE: ",
                                        64, 1));
    ASSERT_TRUE(outcome.record.fault) << guard;
    EXPECT_NE(outcome.record.fault->message.find("for different numbers of threads"), std::string::npos)
        << outcome.record.fault->message;
  }
}

ROW_TEST(Fence, OrdersAndChangesNothing) {
  const Outcome outcome =
      run(threads(std::string("fence.sc.cta; fence.acq_rel.gpu; fence.sc.sys; ") + kStore + "3;", 32, 32));
  EXPECT_EQ(outcome.at<std::uint32_t>(31), 3u);
}

ROW_TEST(Membar, OrdersAndChangesNothing) {
  const Outcome outcome = run(threads(std::string("membar.cta; membar.gl; membar.sys; ") + kStore + "4;", 32, 32));
  EXPECT_EQ(outcome.at<std::uint32_t>(31), 4u);
}

ROW_TEST(Trap, StopsTheKernelAtItsThread) {
  const Outcome outcome = run(threads("setp.eq.u32 %p1, %r63, 37; @%p1 trap;", 64, 1));
  ASSERT_TRUE(outcome.record.fault);
  EXPECT_EQ(outcome.record.fault->kind, FaultKind::trap);
  EXPECT_EQ(outcome.record.fault->thread.x, 37u);
}

ROW_TEST(Nanosleep, GivesOthersTheirTurn) {
  const Outcome outcome = run(threads(std::string(R"(
    mov.u32 %r5, s; setp.ge.u32 %p1, %r63, 32; setp.eq.u32 %p2, %r63, 0; @%p2 st.volatile.shared.u32 [%r5], 0; bar.sync 0;
    @%p1 bra MAKE;
    WAIT: nanosleep.u32 100; ld.volatile.shared.u32 %r1, [%r5]; setp.eq.u32 %p3, %r1, 0; @%p3 bra WAIT; bra OUT;
    MAKE: setp.eq.u32 %p3, %r63, 32; mov.u32 %r1, 8; nanosleep.u32 %r1; @%p3 st.volatile.shared.u32 [%r5], %r1;
    OUT: )") + kStore + "%r1;",
                                      64, 64));
  ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(outcome.at<std::uint32_t>(t), 8u) << t;
}

ROW_TEST(Mbarrier, PhasesOfAnObject) {
  const Outcome outcome = run(threads(R"(
    mov.u32 %r5, s; setp.ne.u32 %p1, %r63, 0; @%p1 exit;
    mbarrier.init.shared.b64 [%r5+8], 3;
    mbarrier.arrive.shared.b64 %rd1, [%r5+8]; mbarrier.pending_count.b64 %r1, %rd1; st.global.u32 [%rd63], %r1;
    mbarrier.arrive.noComplete.shared.b64 %rd2, [%r5+8], 1; mbarrier.pending_count.b64 %r1, %rd2; st.global.u32 [%rd63+4], %r1;
    mbarrier.test_wait.shared.b64 %p2, [%r5+8], %rd1; selp.u32 %r1, 1, 0, %p2; st.global.u32 [%rd63+8], %r1;
    mbarrier.arrive_drop.shared.b64 _, [%r5+8];
    mbarrier.test_wait.shared.b64 %p2, [%r5+8], %rd1; selp.u32 %r1, 1, 0, %p2; st.global.u32 [%rd63+12], %r1;
    mbarrier.test_wait.parity.shared.b64 %p2, [%r5+8], 1; selp.u32 %r1, 1, 0, %p2; st.global.u32 [%rd63+16], %r1;
    mbarrier.arrive.shared.b64 %rd1, [%r5+8]; mbarrier.pending_count.b64 %r1, %rd1; st.global.u32 [%rd63+20], %r1;
    mbarrier.inval.shared.b64 [%r5+8];)",
                                      32, 6));
  ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
  const std::uint32_t expected[] = {3, 2, 0, 1, 0, 2};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(outcome.at<std::uint32_t>(i), expected[i]) << i;
}

}  // namespace
}  // namespace roofwalk::isa
