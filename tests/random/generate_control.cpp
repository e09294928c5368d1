#include "tests/random/generator.h"

namespace roofwalk::random {

void Generator::statements(int count, int depth, bool together) {
  for (int i = 0; i < count; ++i) statement(depth, together);
}

// Generates a statement. `together`: all threads of the block are active at this statement.
void Generator::statement(int depth, bool together) {
  if (!in_function_ && depth < 2 && !out_.functions.empty() && chance(8)) return call_from_kernel(depth);
  const Bits dice = below(100);
  if (dice < 52) return computation();
  if (dice < 60) return group([&] { input_load(); });
  if (dice < 65) return group([&] { own_memory(); });
  if (dice < 69) return talks_ && !in_function_ ? group([&] { sum(); }) : computation();
  if (dice < 73) return has_local_ ? group([&] { local_memory(); }) : computation();
  if (dice < 75) return group([&] { constant_load(); });
  if (dice < 76) return in_function_ ? computation() : approximate();
  if (dice < 77) return group([&] { carries(); });
  if (dice < 78) return put(harmless());
  if (dice < 86 && together) return meeting();
  if (dice < 79 && ragged_) return leave();
  if (dice < 80 && depth < 3) return group([&] { pointer_loop(); });
  if (depth >= 3) return computation();
  if (dice < 81) return table(depth, together);
  if (dice < 90) return choice(depth, together);
  if (dice < 96) return loop(depth, together);
  scope(depth);
}

// Returns a condition with the same value for all threads of the block.
Register Generator::uniform_condition() {
  const Register out = fresh(Kind::pred);
  put(form("setp.lt.s32", out, {of(one_of(uniform_coordinates_).reg), number(below(3), "s32")}));
  return out;
}

void Generator::choice(int depth, bool together) {
  Statement out;
  out.what = What::choice;
  const bool uniform = chance(25);
  out.predicate = uniform ? uniform_condition() : pool(Kind::pred);
  out.uniform = uniform && chance(50);
  out.negated = chance(30);
  out.body = body([&] { statements(body_size(depth), depth + 1, together && uniform); });
  if (chance(50)) out.otherwise = body([&] { statements(body_size(depth), depth + 1, together && uniform); });
  put(std::move(out));
}

// Generates a switch: several cases may share an arm, and some cases have no arm.
void Generator::table(int depth, bool together) {
  Statement out;
  out.what = What::table;
  const int cases = between(1, 9), arms = between(1, 4);
  const bool uniform = chance(35);
  Register index;
  if (uniform) {
    index = fresh(Kind::b32);
    put(form("rem.u32", index, {of(one_of(uniform_coordinates_).reg), number(static_cast<Bits>(cases), "u32")}));
  } else {
    index = index_below(cases);
  }
  out.code.what = Do::branch_by_index;
  out.code.text = uniform && chance(50) ? "brx.idx.uni" : "brx.idx";
  out.code.sources = {of(index)};
  if (!uniform && chance(20)) guard(out.code);
  for (int i = 0; i < cases; ++i) out.ways.push_back(between(-1, arms - 1));
  for (int i = 0; i < arms; ++i) {
    Statement arm;
    arm.what = What::arm;
    arm.body = body([&] { statements(between(0, 3), depth + 1, together && uniform); });
    out.body.push_back(std::move(arm));
  }
  put(std::move(out));
}

void Generator::loop(int depth, bool together) {
  Statement out;
  out.what = chance(50) ? What::loop_bottom : What::loop_top;
  out.counter = fresh(Kind::b32);
  out.limit = fresh(Kind::b32);
  out.predicate = fresh(Kind::pred);
  const bool uniform = chance(50), keeps = chance(20);
  const Register iteration = fresh(Kind::b32);
  group([&] {
    if (keeps) put(form("mov.b32", iteration, {number(0, "b32")}));
    put(form("mov.b32", out.counter, {number(below(3), "b32")}));
    if (uniform)
      put(form("add.s32", out.limit, {of(one_of(uniform_coordinates_).reg), number(below(4), "s32")}));
    else if (chance(50))
      put(form("and.b32", out.limit, {of(pool(Kind::b32)), number(depth == 0 ? 7 : 3, "b32")}));
    else
      put(form("rem.u32", out.limit, {of(one_of(words_)), number(2 + below(4), "u32")}));
  });
  words_.push_back(out.counter);
  out.body = body([&] {
    statements(body_size(depth), depth + 1, together && uniform);
    if (keeps) keep_from_first(iteration);
  });
  words_.pop_back();
  put(std::move(out));
}

// Generates a register that the first iteration writes and every iteration reads. No other statement uses it.
void Generator::keep_from_first(Register iteration) {
  group([&] {
    const Register kept = fresh(Kind::b32), is_first = fresh(Kind::pred);
    put(form("setp.eq.s32", is_first, {of(iteration), number(0, "s32")}));
    put(form("add.s32", iteration, {of(iteration), number(1, "s32")}));
    Instruction write = form("add.s32", kept, {of(pool(Kind::b32)), of(pool(Kind::b32))});
    write.guard = is_first.index;
    put(std::move(write));
    put(form("xor.b32", target(Kind::b32), {of(kept), random_number("b32")}));
  });
}

void Generator::scope(int depth) {
  Statement out;
  out.what = What::scope;
  out.body = body([&] {
    for (int i = between(2, 4); i > 0; --i) {
      statements(between(1, 3), depth + 1, false);
      Statement away;
      away.what = What::leave_scope;
      away.predicate = pool(Kind::pred);
      away.negated = chance(50);
      put(std::move(away));
    }
    statements(between(1, 3), depth + 1, false);
  });
  put(std::move(out));
}

// Makes threads drop out at several points: they exit, or branch to the end of the body and end there. At each point,
// the threads that are left meet at a barrier.
void Generator::barriers_of_who_is_left() {
  barrier();
  Statement out;
  out.what = What::scope;
  out.body = body([&] {
    for (int i = between(2, 5); i > 0; --i) {
      statements(between(1, 5), 1, false);
      Statement away;
      away.what = What::leave_scope;
      away.predicate = pool(Kind::pred);
      away.negated = chance(50);
      put(std::move(away));
      barrier();
    }
  });
  put(std::move(out));
}

}  // namespace roofwalk::random
