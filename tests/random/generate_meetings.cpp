#include "tests/random/generator.h"

namespace roofwalk::random {

void Generator::barrier() {
  Instruction in;
  in.what = Do::barrier;
  const int rounded = (threads_ + 31) / 32 * 32;
  in.text = one_of(std::array<const char*, 4>{"bar.sync", "bar.cta.sync", "barrier.sync", "barrier.sync.aligned"});
  in.sources = {number(below(16), "u32")};
  // In ragged programs threads may have exited; a barrier with an explicit thread count would still wait for them.
  if (!ragged_ && chance(30)) in.sources.push_back(number(static_cast<Bits>(rounded), "u32"));
  put(std::move(in));
}

void Generator::meet_in_block() {
  if (out_.gates > 0 && chance(35)) return pass_gate(false);
  barrier();
}

// Gates are mbarriers. All threads arrive at each gate: once at the first, with a count of two at the second.
Instruction Generator::at_gate(Do what, std::string text, std::size_t gate) {
  Instruction in;
  in.what = what;
  in.text = std::move(text);
  in.space = Space::shared;
  in.element_bytes = 8;
  in.name = "gates";
  in.has_base = false;
  in.offset = static_cast<std::int64_t>(8 * gate);
  return in;
}

void Generator::open_gates() {
  const Register is_first = fresh(Kind::pred);
  group([&] {
    put(form("setp.eq.s32", is_first, {of(thread_), number(0, "s32")}));
    for (std::size_t g = 0; g < out_.gates; ++g) {
      gate_parities_.push_back(fresh(Kind::b32));
      put(form("mov.b32", gate_parities_.back(), {number(0, "b32")}));
      Instruction in = at_gate(Do::gate_init, "mbarrier.init.shared.b64", g);
      in.sources = {number(static_cast<Bits>(threads_) * (g + 1), "b32")};
      in.guard = is_first.index;
      put(std::move(in));
    }
  });
}

// Makes all threads arrive and wait until the phase completes. They wait by the state that arriving returned or by the
// phase's parity. If `apart`, instructions that do not use shared memory may come between arriving and waiting.
void Generator::pass_gate(bool apart) {
  const std::size_t gate = below(out_.gates);
  const Register state = fresh(Kind::b64), parity = gate_parities_[gate];
  Instruction arrive = at_gate(
      Do::gate_arrive, chance(70) ? "mbarrier.arrive.shared.b64" : "mbarrier.arrive.release.cta.shared::cta.b64", gate);
  arrive.results = {of(state)};
  if (gate > 0) arrive.sources = {number(gate + 1, "b32")};
  put(std::move(arrive));
  for (int i = apart ? between(1, 3) : 0; i > 0; --i) computation();
  const bool by_parity = chance(50);
  const Operand phase = of(by_parity ? parity : state);
  Statement wait;
  wait.what = What::poll;
  wait.predicate = fresh(Kind::pred);
  wait.code = at_gate(
      Do::gate_wait,
      fmt::format("mbarrier.{}{}.shared.b64", chance(75) ? "try_wait" : "test_wait", by_parity ? ".parity" : ""), gate);
  wait.code.results = {of(wait.predicate)};
  wait.code.sources = {phase};
  wait.code.repeats = true;
  put(std::move(wait));
  if (chance(40)) {
    Instruction test = at_gate(
        Do::gate_test, by_parity ? "mbarrier.test_wait.parity.shared.b64" : "mbarrier.test_wait.shared.b64", gate);
    test.results = {of(target(Kind::pred))};
    test.sources = {phase};
    put(std::move(test));
  }
  put(form("xor.b32", parity, {of(parity), number(1, "b32")}));
}

void Generator::reduce_at_barrier() {
  Instruction in;
  in.what = Do::barrier_reduce;
  in.name = one_of(std::array<const char*, 3>{"popc", "and", "or"});
  const bool count = in.name == "popc";
  in.text = fmt::format("{}.red.{}.{}", one_of(std::array<const char*, 3>{"bar", "barrier", "bar.cta"}), in.name,
                        count ? "u32" : "pred");
  in.results = {of(target(count ? Kind::b32 : Kind::pred))};
  in.sources = {number(below(16), "u32")};
  if (chance(30)) in.sources.push_back(number(static_cast<Bits>((threads_ + 31) / 32 * 32), "u32"));
  in.sources.push_back(of(pool(Kind::pred)));
  in.sources.back().negated = chance(40);
  put(std::move(in));
}

// Generates redux or match.
void Generator::combine_in_warp(const Operand& members) {
  static constexpr const char* kReductions[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                                "max.s32", "and.b32", "or.b32",  "xor.b32"};
  Instruction in;
  if (forms_.has("redux") && chance(50)) {
    in.what = Do::reduce;
    in.name = one_of(kReductions);
    in.text = "redux.sync." + in.name;
    in.results = {of(target(Kind::b32))};
    in.sources = {of(pool(Kind::b32)), members};
  } else {
    in.what = Do::match;
    in.name = chance(50) ? "any" : "all";
    const Kind kind = chance(50) ? Kind::b32 : Kind::b64;
    in.text = fmt::format("match.{}.sync.b{}", in.name, bits_of(kind));
    in.results = {of(target(Kind::b32))};
    if (in.name == "all" && chance(60)) in.results.push_back(of(target(Kind::pred)));
    in.sources = {of(pool(kind)), members};
  }
  put(std::move(in));
}

void Generator::meeting() {
  if (forms_.has("bar.red") && chance(10)) return reduce_at_barrier();
  if (out_.gates > 0 && chance(15)) return group([&] { pass_gate(true); });
  if (full_warps_ && forms_.has("mma") && chance(20)) return multiply_matrices();
  if (chance(30)) return exchange_in_warp();
  group([&] { exchange_in_block(); });
}

void Generator::exchange_in_warp() {
  Instruction in;
  const Operand members = full_warps_ && chance(50) ? number(0xffff'ffff, "b32") : of(members_);
  if (forms_.has("redux") && forms_.has("match") && chance(30)) return combine_in_warp(members);
  if (full_warps_ && chance(60)) {
    in.what = Do::shuffle;
    in.name = one_of(std::array<const char*, 4>{"up", "down", "bfly", "idx"});
    in.text = "shfl.sync." + in.name + ".b32";
    in.results = {of(target(Kind::b32))};
    if (chance(50)) in.results.push_back(of(target(Kind::pred)));
    const bool up = in.name == "up";
    const Bits width = Bits{1} << between(0, 5);
    const Bits control = chance(60) ? (up ? 0 : 31) : (32 - width) << 8 | (up ? 0 : 31);
    in.sources = {of(pool(Kind::b32)), chance(60) ? number(below(32), "u32") : of(pool(Kind::b32)),
                  chance(90) ? number(control, "u32") : of(pool(Kind::b32)), members};
  } else if (chance(20)) {
    in.what = Do::meet;
    in.text = "bar.warp.sync";
    in.sources = {members};
  } else if (chance(15)) {
    in.what = Do::active_mask;
    in.text = "activemask.b32";
    in.results = {of(target(Kind::b32))};
  } else {
    in.what = Do::vote;
    in.name = one_of(std::array<const char*, 4>{"all", "any", "uni", "ballot"});
    const bool ballot = in.name == "ballot";
    in.text = "vote.sync." + in.name + (ballot ? ".b32" : ".pred");
    in.results = {of(target(ballot ? Kind::b32 : Kind::pred))};
    in.sources = {of(pool(Kind::pred)), members};
    in.sources[0].negated = chance(40);
  }
  put(std::move(in));
}

// Makes each thread write to its own words and, after a barrier, read any words; a second barrier follows.
void Generator::exchange_in_block() {
  const bool wide_slots = chance(70);
  const int room = wide_slots ? 16 : 4;
  const std::int64_t first = wide_slots ? 0 : 16 * slots_;
  const Register slot = fresh(Kind::b32), address = fresh(Kind::b32);
  if (chance(60))
    put(form("mov.b32", slot, {of(thread_)}));
  else if (chance(50))
    put(form("xor.b32", slot, {of(thread_), number(below(static_cast<Bits>(slots_)), "b32")}));
  else
    put(form("sub.s32", slot, {number(static_cast<Bits>(slots_ - 1), "s32"), of(thread_)}));
  put(form("mad.lo.u32", address, {of(slot), number(static_cast<Bits>(room), "u32"), of(near_)}));
  if (wide_slots && chance(20)) {
    copies(address);
  } else if (!wide_slots && chance(30)) {
    meet_in_block();
    sums_in_block(first);
  } else {
    for (int i = between(1, 2); i > 0; --i) own_shared(address, first, room);
  }
  meet_in_block();
  for (int i = between(1, 3); i > 0; --i) {
    if (full_warps_ && forms_.has("ldmatrix") && chance(20))
      load_matrices();
    else
      look_around();
  }
  meet_in_block();
}

void Generator::own_shared(Register address, std::int64_t first, int room) {
  Element element = one_of(kElements);
  while (element.bytes > room) element = one_of(kElements);
  const int vector = element.bytes * 2 <= room ? std::min(vector_of(element), room / element.bytes) : 1;
  const int bytes = element.bytes * vector;
  const std::int64_t offset = first + bytes * between(0, room / bytes - 1);
  Instruction in;
  if (chance(20)) {
    in = own_atomic(Space::shared, address, first, room);
  } else {
    in = memory(Do::store, fmt::format("st.shared{}.{}", vector_text(vector), element.type), Space::shared, address,
                offset, element, parts(element, vector, false));
  }
  if (chance(20)) guard(in);
  put(std::move(in));
}

void Generator::sums_in_block(std::int64_t first) {
  std::string what = one_of(kCommutative);
  while (bytes_of_atomic(what) != 4) what = one_of(kCommutative);
  const Register address = fresh(Kind::b32), index = index_below(slots_);
  put(form("shl.b32", address, {of(index), number(2, "u32")}));
  Instruction in = shared_sum(what, Space::shared, address, first);
  if (chance(20)) guard(in);
  put(std::move(in));
}

void Generator::copies(Register address) {
  const int bytes = one_of(std::array<int, 3>{4, 8, 16});
  Instruction in;
  in.what = Do::copy;
  in.text = bytes == 16 && chance(60) ? "cp.async.cg.shared.global" : "cp.async.ca.shared.global";
  in.space = Space::shared;
  in.base = address;
  in.has_base = true;
  in.element_bytes = bytes;
  in.second_base = element_address(buffers_[kInput], index_below(static_cast<int>(kInputBytes) / bytes), bytes);
  if (chance(20)) guard(in);
  put(std::move(in));
  Instruction wait;
  if (chance(50)) {
    wait.text = "cp.async.commit_group";
    put(wait);
    wait.text = "cp.async.wait_group";
    wait.sources = {number(0, "u32")};
  } else {
    wait.text = "cp.async.wait_all";
  }
  put(wait);
}

void Generator::look_around() {
  const Element element = one_of(kElements);
  const int vector = vector_of(element), bytes = element.bytes * vector;
  const int count = static_cast<int>(out_.shared_bytes) / bytes;
  const Register index = index_below(count), address = fresh(Kind::b32);
  if (chance(50))
    put(form("mad.lo.s32", address, {of(index), number(static_cast<Bits>(bytes), "s32"), of(near_)}));
  else
    put(form("shl.b32", address,
             {of(index), number(static_cast<Bits>(std::countr_zero(static_cast<unsigned>(bytes))), "u32")}));
  Instruction in = memory(Do::load, fmt::format("ld.shared{}.{}", vector_text(vector), element.type), Space::shared,
                          address, 0, element, parts(element, vector, true));
  if (chance(20)) {  // through a generic address
    const Register offset = fresh(Kind::b64), generic = fresh(Kind::b64);
    put(form("cvt.u64.u32", offset, {of(address)}));
    Instruction turn;
    turn.what = Do::generic;
    turn.text = "cvta.shared.u64";
    turn.results = {of(generic)};
    turn.sources = {of(offset)};
    put(std::move(turn));
    in.text = fmt::format("ld{}.{}", vector_text(vector), element.type);
    in.space = Space::generic_shared;
    in.base = generic;
    if (forms_.has("isspacep")) {
      Instruction query;
      query.what = Do::space_query;
      query.name = one_of(std::array<const char*, 4>{"shared", "global", "local", "const"});
      query.text = "isspacep." + query.name;
      query.results = {of(target(Kind::pred))};
      query.sources = {of(chance(70) ? generic : buffers_[kInput])};
      put(std::move(query));
    }
  }
  if (chance(20)) guard(in);
  put(std::move(in));
}

}  // namespace roofwalk::random
