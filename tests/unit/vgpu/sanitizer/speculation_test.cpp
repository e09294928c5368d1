// Loads ahead of their condition: nvcc moves a load of shared memory in front of its guard and picks the lanes that
// want the value afterwards. Only these can race, and only what is used must be set.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// The body of a kernel after `float s[64]`, run with 64 threads and two blocks; `at` is the thread's element, `first`
// that of thread 0. The assembly is what nvcc makes of guarded reads, whatever its version. `// @` marks the faulty
// line. `callee` is the body of `__noinline__ float call(unsigned t, unsigned at)`, in which `x` is 0, too.
struct Picking {
  const char* name;
  const char* body;
  FaultKind kind = FaultKind::race;
  const char* callee = "";
};

const Picking kHonestPicks[] = {
    {"condition_before_the_load", R"(
  if (t < 8) s[t] = 1;
  asm volatile("{.reg .pred p; .reg .f32 v; setp.lt.u32 p, %1, 8; ld.shared.f32 v, [%2];"
               "selp.f32 %0, v, 0f00000000, p;}" : "=f"(x) : "r"(t), "r"(at));
)"},
    {"condition_after_the_load", R"(
  if (t < 8) s[t] = 1;
  asm volatile("{.reg .pred p; .reg .f32 v; ld.shared.f32 v, [%2]; setp.ge.u32 p, %1, 8;"
               "selp.f32 %0, 0f00000000, v, p;}" : "=f"(x) : "r"(t), "r"(at));
)"},
    {"another_threads_element", R"(
  for (int i = 0; i < 3; ++i) {
    float y;
    if (t == 0) s[0] = i;
    asm volatile("{.reg .pred p; .reg .f32 v; setp.eq.u32 p, %1, 0; ld.shared.f32 v, [%2];"
                 "selp.f32 %0, v, 0f00000000, p;}" : "=f"(y) : "r"(t), "r"(first));
    x += y;
  }
)"},
    {"arithmetic_before_the_pick", R"(
  if (t < 8) s[t] = 1;
  asm volatile("{.reg .pred p; .reg .f32 v, w; .reg .b32 b; setp.lt.u32 p, %1, 8; ld.shared.f32 v, [%2];"
               "mov.b32 b, v; and.b32 b, b, 2147483647; mov.b32 v, b; neg.f32 w, v; add.f32 w, w, 0f3f800000;"
               "selp.f32 %0, w, 0f00000000, p;}" : "=f"(x) : "r"(t), "r"(at));
)"},
    {"two_picks", R"(
  if (t < 8) s[t] = 1;
  asm volatile("{.reg .pred p, q; .reg .f32 v, w; setp.lt.u32 p, %1, 4; setp.eq.u32 q, %1, 7; ld.shared.f32 v, [%2];"
               "selp.f32 w, v, 0f00000000, p; selp.f32 %0, v, w, q;}" : "=f"(x) : "r"(t), "r"(at));
)"},
    {"one_pick_behind_another", R"(
  if (t < 8) s[t] = 1;
  asm volatile("{.reg .pred p, q; .reg .f32 v, w; setp.lt.u32 p, %1, 8; setp.gt.u32 q, %1, 2; ld.shared.f32 v, [%2];"
               "selp.f32 w, v, 0f00000000, q; selp.f32 %0, w, 0f00000000, p;}" : "=f"(x) : "r"(t), "r"(at));
)"},
    {"both_predicates_must_hold", R"(
  if (t < 8) s[t] = 1;
  asm volatile("{.reg .pred p, q; .reg .f32 v; setp.lt.u32 p, %1, 8; ld.shared.f32 v, [%2];"
               "setp.gt.f32 q, v, 0f00000000; and.pred q, q, p; selp.f32 %0, 0f3f800000, 0f00000000, q;}"
               : "=f"(x) : "r"(t), "r"(at));
)"},
    {"either_predicate_holds", R"(
  if (t < 8) s[t] = 1;
  asm volatile("{.reg .pred p, q; .reg .f32 v; setp.ge.u32 p, %1, 8; ld.shared.f32 v, [%2];"
               "setp.gt.or.f32 q, v, 0f00000000, p; selp.f32 %0, 0f3f800000, 0f00000000, q;}"
               : "=f"(x) : "r"(t), "r"(at));
)"},
    {"one_side_of_a_branch", R"(
  if (t < 8) s[t] = 1;
  asm volatile("{.reg .pred p; .reg .f32 v; setp.ge.u32 p, %1, 8; mov.f32 %0, 0f00000000; ld.shared.f32 v, [%2];"
               "@p bra AFTER; mov.f32 %0, v;\nAFTER: }" : "+f"(x) : "r"(t), "r"(at));
)"},
    {"words_of_a_vector", R"(
  if (t < 8) s[4 * t] = s[4 * t + 1] = s[4 * t + 2] = s[4 * t + 3] = 1;
  asm volatile("{.reg .pred p; .reg .f32 v, w, u, z; setp.lt.u32 p, %1, 8; ld.shared.v4.f32 {v, w, u, z}, [%2];"
               "selp.f32 v, v, 0f00000000, p; selp.f32 %0, w, v, p;}" : "=f"(x) : "r"(t), "r"(first + t % 16 * 16));
)"},
    {"local_memory", R"(
  float m[4];
  if (t < 8) m[t % 4] = 1;
  asm volatile("{.reg .pred p; .reg .f32 v; setp.lt.u32 p, %1, 8; ld.f32 v, [%2]; selp.f32 %0, v, 0f00000000, p;}"
               : "=f"(x) : "r"(t), "l"(&m[t % 4]) : "memory");
)"},
    {"in_a_called_function", R"(
  if (t < 8) s[t] = 1;
  x = call(t, at);
)",
     FaultKind::race, R"(
  asm volatile("{.reg .pred p; .reg .f32 v; setp.lt.u32 p, %1, 8; ld.shared.f32 v, [%2];"
               "selp.f32 %0, v, 0f00000000, p;}" : "=f"(x) : "r"(t), "r"(at));
)"},
    {"in_a_loop_behind_the_load", R"(
  if (t < 8) s[t] = 1;
  asm volatile("{.reg .pred p, q; .reg .f32 v, w; .reg .b32 i; ld.shared.f32 v, [%2]; mov.u32 i, 0;\n"
               "AGAIN: add.f32 w, v, 0f3f800000; setp.lt.u32 p, %1, 8; selp.f32 w, w, 0f00000000, p;"
               "add.f32 %0, %0, w; add.u32 i, i, 1; setp.lt.u32 q, i, 3; @q bra AGAIN;}" : "+f"(x) : "r"(t), "r"(at));
)"},
    {"a_vector_in_a_loop_behind_the_load", R"(
  if (t < 8) s[2 * t] = s[2 * t + 1] = 1;
  asm volatile(
      "{.reg .pred p, q; .reg .f32 v, w, z; .reg .b32 i; ld.shared.v2.f32 {v, w}, [%2]; mov.u32 i, 0;\n"
      "AGAIN: add.f32 z, v, w; setp.lt.u32 p, %1, 8; selp.f32 z, z, 0f00000000, p; add.f32 %0, %0, z; "
      "add.u32 i, i, 1; setp.lt.u32 q, i, 3; @q bra AGAIN; }"
      : "+f"(x) : "r"(t), "r"(first + t % 8 * 8));
)"},
    {"a_vector_in_some_rounds_of_a_loop_behind_the_load", R"(
  if (t < 8) s[2 * t] = s[2 * t + 1] = 1;
  asm volatile(
      "{.reg .pred p, q; .reg .f32 v, w; .reg .b32 i; ld.shared.v2.f32 {v, w}, [%2]; mov.u32 i, 0;\n"
      "AGAIN: setp.ge.u32 p, %1, 8; @p bra NEXT; add.f32 %0, %0, v; add.f32 %0, %0, w;\n"
      "NEXT: add.u32 i, i, 1; setp.lt.u32 q, i, 3; @q bra AGAIN; }"
      : "+f"(x) : "r"(t), "r"(first + t % 8 * 8));
)"},
    {"a_word_in_some_rounds_of_a_loop_behind_the_load", R"(
  if (t < 8) s[2 * t] = s[2 * t + 1] = 1;
  asm volatile(
      "{.reg .pred p, q; .reg .f32 v, w; .reg .b32 i; ld.shared.f32 v, [%2]; mov.u32 i, 0;\n"
      "AGAIN: setp.ge.u32 p, %1, 8; @p bra NEXT; add.f32 %0, %0, v;\n"
      "NEXT: add.u32 i, i, 1; setp.lt.u32 q, i, 3; @q bra AGAIN; }"
      : "+f"(x) : "r"(t), "r"(first + t % 8 * 8));
)"},
    {"a_pick_on_both_sides_of_a_branch", R"(
  if (t < 8) s[t] = 1;
  asm volatile("{.reg .pred p, q, r; .reg .f32 v; setp.lt.u32 p, %1, 4; setp.lt.u32 q, %1, 8; setp.gt.u32 r, %1, 5;"
               "ld.shared.f32 v, [%2]; @r bra OTHER; selp.f32 %0, v, 0f00000000, p; bra AFTER;\n"
               "OTHER: selp.f32 %0, v, 0f00000000, q;\nAFTER: }" : "=f"(x) : "r"(t), "r"(at));
)"},
    // The next turn of the outer loop loads anew; what is unwanted may be written in between.
    {"in_the_inner_of_two_loops", R"(
  for (int round = 0; round < 2; ++round) {
    if (t / 8 == round) s[t] = 1;
    __syncthreads();
    asm volatile("{.reg .pred p, q; .reg .f32 v, w; .reg .b32 i; ld.shared.f32 v, [%2]; mov.u32 i, 0;\n"
                 "AGAIN: setp.eq.u32 p, %1, 0; selp.f32 w, v, 0f00000000, p; add.f32 %0, %0, w; add.u32 i, i, 1;"
                 "setp.lt.u32 q, i, 3; @q bra AGAIN;}" : "+f"(x) : "r"(t / 8 - round), "r"(at));
  }
)"},
    // The last round loads ahead for a round that never comes; nobody has filled that place.
    {"ahead_of_a_round_that_drops_it", R"(
  if (t < 32) s[t] = 1;
  __syncthreads();
  float now = s[t % 32];
#pragma unroll 1
  for (int round = 0; round < 2; ++round) {
    float next;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(next) : "r"(first + 128 + (t + round) % 32 * 4));
    if (round == 0) x += now;
    now = next;
  }
)"},
    {"part_of_a_word", R"(
  if (t < 8) ((unsigned short*)&s[t])[0] = t;
  asm volatile("{.reg .pred p; .reg .b32 v; setp.lt.u32 p, %1, 8; ld.shared.b32 v, [%2]; and.b32 v, v, 0xffff;"
               "cvt.rn.f32.u32 %0, v; selp.f32 %0, %0, 0f00000000, p;}" : "=f"(x) : "r"(t), "r"(at));
)"},
    {"of_local_or_shared_memory", R"(
  float m[4];
  asm volatile("" ::"l"(m) : "memory");
  if (t < 8) m[t % 4] = s[t] = 1;
  float* const from = t % 2 == 0 ? &s[t] : &m[t % 4];
  asm volatile("{.reg .pred p; .reg .f32 v; setp.lt.u32 p, %1, 8; ld.f32 v, [%2]; selp.f32 %0, v, 0f00000000, p;}"
               : "=f"(x) : "r"(t), "l"(from) : "memory");
)"},
};

const Picking kWrongPicks[] = {
    {"ahead_of_a_round_that_uses_it", R"(
  if (t < 32) s[t] = 1;
  __syncthreads();
  float now = s[t % 32];
#pragma unroll 1
  for (int round = 0; round < 2; ++round) {
    float next;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(next) : "r"(first + 128 + (t + round) % 32 * 4));  // @
    x += now;
    now = next;
  }
)",
     FaultKind::uninitialized},
    {"other_part_of_a_word", R"(
  if (t < 8) ((unsigned short*)&s[t])[0] = t;
  asm volatile(
      "{.reg .pred p; .reg .b32 v; setp.lt.u32 p, %1, 8; ld.shared.b32 v, [%2]; and.b32 v, v, 0x1ffff; "
      "cvt.rn.f32.u32 %0, v; selp.f32 %0, %0, 0f00000000, p; }"
      : "=f"(x) : "r"(t), "r"(at));  // @
)",
     FaultKind::uninitialized},
    {"one_lane_too_many_of_local_or_shared_memory", R"(
  float m[4];
  asm volatile("" ::"l"(m) : "memory");
  if (t < 8) m[t % 4] = s[t] = 1;
  float* const from = t % 2 == 0 ? &s[t] : &m[t % 4];
  asm volatile(
      "{.reg .pred p; .reg .f32 v; setp.lt.u32 p, %1, 9; ld.f32 v, [%2]; selp.f32 %0, v, 0f00000000, p; }"
      : "=f"(x) : "r"(t), "l"(from) : "memory");  // @
)",
     FaultKind::uninitialized},
    {"one_lane_too_many", R"(
  if (t < 8) s[t] = 1;
  asm volatile(
      "{.reg .pred p; .reg .f32 v; setp.le.u32 p, %1, 8; ld.shared.f32 v, [%2]; "
      "selp.f32 %0, v, 0f00000000, p; }"
      : "=f"(x) : "r"(t), "r"(at));  // @
)",
     FaultKind::uninitialized},
    {"the_other_lanes", R"(
  if (t < 8) s[t] = 1;
  asm volatile(
      "{.reg .pred p; .reg .f32 v; ld.shared.f32 v, [%2]; setp.lt.u32 p, %1, 8; "
      "selp.f32 %0, 0f00000000, v, p; }"
      : "=f"(x) : "r"(t), "r"(at));  // @
)",
     FaultKind::uninitialized},
    {"used_beside_the_pick", R"(
  if (t < 8) s[t] = 1;
  asm volatile(
      "{.reg .pred p; .reg .f32 v, w; setp.lt.u32 p, %1, 8; ld.shared.f32 v, [%2]; "
      "selp.f32 w, v, 0f00000000, p; add.f32 %0, v, w; }"
      : "=f"(x) : "r"(t), "r"(at));  // @
)",
     FaultKind::uninitialized},
    {"by_what_was_loaded", R"(
  if (t < 8) s[t] = 1;
  asm volatile(
      "{.reg .pred p; .reg .f32 v; ld.shared.f32 v, [%1]; setp.eq.f32 p, v, 0f3f800000; "
      "selp.f32 %0, v, 0f00000000, p; }"
      : "=f"(x) : "r"(at));  // @
)",
     FaultKind::uninitialized},
    {"written_before_the_pick", R"(
  asm volatile(
      "{.reg .pred p; .reg .f32 v; setp.lt.u32 p, %1, 8; ld.shared.f32 v, [%2]; "
      "st.shared.f32 [%2], 0f00000000; selp.f32 %0, v, 0f00000000, p; }"
      : "=f"(x) : "r"(t), "r"(at));  // @
)",
     FaultKind::uninitialized},
    {"another_threads_element", R"(
  if (t == 0) s[0] = 1;
  asm volatile(
      "{.reg .pred p; .reg .f32 v; setp.le.u32 p, %1, 1; ld.shared.f32 v, [%2]; "
      "selp.f32 %0, v, 0f00000000, p; }"
      : "=f"(x) : "r"(t), "r"(first));  // @
)",
     FaultKind::race},
    {"before_another_thread_writes", R"(
  s[t] = 1;
  __syncthreads();
  asm volatile("{.reg .pred p; .reg .f32 v; setp.le.u32 p, %1, 1; ld.shared.f32 v, [%2];"
               "selp.f32 %0, v, 0f00000000, p;}" : "=f"(x) : "r"(t), "r"(first));
  if (t == 0) s[0] = 2;  // @
)",
     FaultKind::race},
    {"outside_although_unwanted", R"(
  s[t] = 1;
  __syncthreads();
  asm volatile(
      "{.reg .pred p; .reg .f32 v; setp.lt.u32 p, %1, 8; ld.shared.f32 v, [%2+128]; "
      "selp.f32 %0, v, 0f00000000, p; }"
      : "=f"(x) : "r"(t), "r"(at));  // @
)",
     FaultKind::out_of_bounds},
    {"returned_from_a_called_function", R"(
  if (t < 8) s[t] = 1;
  x = call(t, at);
  if (t > 8) x = 0;
)",
     FaultKind::uninitialized, R"(
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(at));  // @
)"},
    {"one_lane_too_many_in_a_called_function", R"(
  if (t < 8) s[t] = 1;
  x = call(t, at);
)",
     FaultKind::uninitialized, R"(
  asm volatile(
      "{.reg .pred p; .reg .f32 v; setp.le.u32 p, %1, 8; ld.shared.f32 v, [%2]; "
      "selp.f32 %0, v, 0f00000000, p; }"
      : "=f"(x) : "r"(t), "r"(at));  // @
)"},
    {"one_lane_too_many_in_a_loop", R"(
  if (t < 8) s[t] = 1;
  asm volatile(
      "{.reg .pred p, q; .reg .f32 v, w; .reg .b32 i; ld.shared.f32 v, [%2]; mov.u32 i, 0;\n"
      "AGAIN: add.u32 i, i, 1; setp.lt.u32 p, %1, i; selp.f32 w, v, 0f00000000, p; add.f32 %0, %0, w; "
      "setp.lt.u32 q, i, 9; @q bra AGAIN; }"
      : "+f"(x) : "r"(t), "r"(at));  // @
)",
     FaultKind::uninitialized},
    {"picked_on_one_side_of_a_branch_only", R"(
  if (t < 8) s[t] = 1;
  asm volatile(
      "{.reg .pred p, r; .reg .f32 v; setp.lt.u32 p, %1, 4; setp.gt.u32 r, %1, 7; ld.shared.f32 v, [%2]; "
      "@r bra OTHER; selp.f32 %0, v, 0f00000000, p; bra AFTER;\nOTHER: mov.f32 %0, v;\nAFTER: }"
      : "=f"(x) : "r"(t), "r"(at));  // @
)",
     FaultKind::uninitialized},
    {"a_vector_of_one_lane_too_many_in_a_loop", R"(
  if (t < 8) s[2 * t] = s[2 * t + 1] = 1;
  asm volatile(
      "{.reg .pred p, q; .reg .f32 v, w, z; .reg .b32 i; ld.shared.v2.f32 {v, w}, [%2]; mov.u32 i, 0;\n"
      "AGAIN: add.f32 z, v, w; setp.le.u32 p, %1, 8; selp.f32 z, z, 0f00000000, p; add.f32 %0, %0, z; "
      "add.u32 i, i, 1; setp.lt.u32 q, i, 3; @q bra AGAIN; }"
      : "+f"(x) : "r"(t), "r"(first + t % 8 * 8));  // @
)",
     FaultKind::race},
    {"a_vector_of_one_lane_too_many_in_some_rounds_of_a_loop", R"(
  if (t < 8) s[2 * t] = s[2 * t + 1] = 1;
  asm volatile(
      "{.reg .pred p, q; .reg .f32 v, w; .reg .b32 i; ld.shared.v2.f32 {v, w}, [%2]; mov.u32 i, 0;\n"
      "AGAIN: setp.gt.u32 p, %1, 8; @p bra NEXT; add.f32 %0, %0, v; add.f32 %0, %0, w;\n"
      "NEXT: add.u32 i, i, 1; setp.lt.u32 q, i, 3; @q bra AGAIN; }"
      : "+f"(x) : "r"(t), "r"(first + t % 8 * 8));  // @
)",
     FaultKind::race},
    {"another_threads_element_in_a_loop", R"(
  if (t == 0) s[0] = 1;
  asm volatile(
      "{.reg .pred p, q; .reg .f32 v, w; .reg .b32 i; ld.shared.f32 v, [%2]; mov.u32 i, 0;\n"
      "AGAIN: setp.le.u32 p, %1, 1; selp.f32 w, v, 0f00000000, p; add.f32 %0, %0, w; add.u32 i, i, 1; "
      "setp.lt.u32 q, i, 3; @q bra AGAIN; }"
      : "+f"(x) : "r"(t), "r"(first));  // @
)",
     FaultKind::race},
    // The barrier comes too late for the load.
    {"a_barrier_before_the_pick", R"(
  if (t == 0) s[0] = 1;
  asm volatile(
      "{.reg .pred p; .reg .f32 v; ld.shared.f32 v, [%2]; bra NEXT;\nNEXT: bar.sync 0; bra LAST;\n"
      "LAST: setp.eq.u32 p, %1, 33; selp.f32 %0, v, 0f00000000, p; }"
      : "=f"(x) : "r"(t), "r"(first));  // @
)",
     FaultKind::race},
    {"before_another_thread_writes_in_a_loop", R"(
  s[t] = 1;
  __syncthreads();
  asm volatile("{.reg .pred p, q; .reg .f32 v, w; .reg .b32 i; ld.shared.f32 v, [%2]; mov.u32 i, 0;\n"
               "AGAIN: setp.le.u32 p, %1, 1; selp.f32 w, v, 0f00000000, p; add.f32 %0, %0, w; add.u32 i, i, 1;"
               "setp.lt.u32 q, i, 3; @q bra AGAIN;}" : "+f"(x) : "r"(t), "r"(first));
  if (t == 0) s[0] = 2;  // @
)",
     FaultKind::race},
};

std::string picking_text(const Picking& each) {
  const std::string callee = *each.callee == 0 ? ""
                                               : std::string(
                                                     "__device__ __noinline__ float call(unsigned t, unsigned at) "
                                                     "{ float x = 0;") +
                                                     each.callee + "  return x;\n}\n";
  return "#include <roofwalk.cuh>\n" + callee +
         "__global__ void k(float* c) { __shared__ float s[64];\n"
         "  const unsigned t = threadIdx.x, first = __cvta_generic_to_shared(s), at = first + 4 * t;\n  float x = 0;" +
         std::string(each.body) + "  c[64 * blockIdx.x + t] = x;\n}\nSOLVE(float* c) { k<<<2, 64>>>(c); }\n";
}

const bool kPicksJoined = join(map_to_text(kHonestPicks, picking_text)) && join(map_to_text(kWrongPicks, picking_text));

RunRecord run_picking(const std::string& text, bool lockstep) {
  Buffer c{"c", std::vector<float>(128, 1.0f)};
  RunOptions options = kSanitized;
  options.lockstep = lockstep;
  auto record = Runner().run(text, {&c}, options);
  EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
  return record.ok() ? std::move(*record) : RunRecord{};
}

void PrintTo(const Picking& each, std::ostream* out) { *out << each.name; }
class HonestPick : public testing::TestWithParam<Picking> {};
class WrongPick : public testing::TestWithParam<Picking> {};

TEST_P(HonestPick, HasNoFault) {
  for (const bool lockstep : {true, false}) {
    const RunRecord record = run_picking(picking_text(GetParam()), lockstep);
    EXPECT_FALSE(record.fault.has_value()) << record.fault->message;
  }
}

TEST_P(WrongPick, IsFoundAtTheLoad) {
  const std::string text = picking_text(GetParam());
  const auto mark = static_cast<std::ptrdiff_t>(text.find("// @"));
  for (const bool lockstep : {true, false}) {
    const RunRecord record = run_picking(text, lockstep);
    ASSERT_TRUE(record.fault.has_value());
    EXPECT_EQ(record.fault->kind, GetParam().kind) << record.fault->message;
    EXPECT_EQ(record.fault->line, 1 + std::count(text.begin(), text.begin() + mark, '\n'));
  }
}

INSTANTIATE_TEST_SUITE_P(Sanitizer, HonestPick, testing::ValuesIn(kHonestPicks),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(Sanitizer, WrongPick, testing::ValuesIn(kWrongPicks),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk::test
