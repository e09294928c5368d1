#include "tests/random/generator.h"

namespace roofwalk::random {

std::string Generator::global_load_text(const Element& element, int vector) {
  static constexpr const char* kWays[] = {"",
                                          "",
                                          "",
                                          ".global",
                                          ".global",
                                          ".global.nc",
                                          ".global",
                                          ".global.ca",
                                          ".global.cg",
                                          ".global.cs",
                                          ".global.lu",
                                          ".global.cv",
                                          ".global.L1::no_allocate",
                                          ".global.nc.L2::128B",
                                          ".weak.global"};
  const std::string way = talks_ && chance(5) ? ".volatile.global" : one_of(kWays);
  return fmt::format("ld{}{}.{}", way, vector_text(vector), element.type);
}

Space Generator::space_of(const std::string& text) {
  return text.find(".global") == std::string::npos ? Space::generic_global : Space::global;
}

void Generator::load_input(const Element& element, const std::vector<Register>& to) {
  const int bytes = element.bytes * static_cast<int>(to.size());
  const Register index = index_below(static_cast<int>(kInputBytes) / bytes);
  const Register address = element_address(buffers_[kInput], index, bytes);
  std::vector<Operand> results;
  for (const Register reg : to) results.push_back(of(reg));
  put(memory(Do::load, fmt::format("ld.global{}.{}", vector_text(static_cast<int>(to.size())), element.type),
             Space::global, address, 0, element, results));
}

void Generator::input_load() {
  const Element element = one_of(kElements);
  const int vector = vector_of(element), bytes = element.bytes * vector;
  std::int64_t offset = 0;
  Register address = buffers_[kInput];
  if (chance(85)) {
    offset = bytes * between(0, 8);
    const int count = (static_cast<int>(kInputBytes) - static_cast<int>(offset)) / bytes;
    address = element_address(buffers_[kInput], index_below(count), bytes);
  } else {
    offset = bytes * between(0, static_cast<int>(kInputBytes) / bytes - 1);
  }
  const std::string text = global_load_text(element, vector);
  Instruction in = memory(Do::load, text, space_of(text), address, offset, element, parts(element, vector, true));
  if (vector > 1 && chance(10)) in.results[below(static_cast<Bits>(vector))] = {};
  if (chance(15)) guard(in);
  put(std::move(in));
}

void Generator::constant_load() {
  const Element element = one_of(kElements);
  const int vector = vector_of(element), bytes = element.bytes * vector;
  Instruction in =
      memory(Do::load, fmt::format("ld.const{}.{}", vector_text(vector), element.type), Space::constant, {},
             bytes * between(0, static_cast<int>(kConstantBytes) / bytes - 1), element, parts(element, vector, true));
  in.name = "table";
  in.has_base = chance(60);
  if (in.has_base) {
    const Register table = address_of("table");
    in.base = element_address(table, index_below(static_cast<int>(kConstantBytes) / bytes), bytes);
    in.offset = 0;
  }
  put(std::move(in));
}

void Generator::store_spread(const Element& element, std::vector<Operand> values, int slot) {
  const Register address = element_address(buffers_[kSpread], all_, static_cast<int>(kSpreadBytes));
  const std::string text = fmt::format("st.global{}.{}", vector_text(static_cast<int>(values.size())), element.type);
  put(memory(Do::store, text, Space::global, address,
             std::int64_t{slot} * all_threads_ * static_cast<int>(kSpreadBytes), element, std::move(values)));
}

std::string Generator::store_text(const Element& element, int vector) {
  static constexpr const char* kWays[] = {"",
                                          ".global",
                                          ".global",
                                          ".global",
                                          ".global.wb",
                                          ".global.cg",
                                          ".global.cs",
                                          ".global.wt",
                                          ".global.L1::evict_last",
                                          ".weak.global"};
  const std::string way = talks_ && chance(5) ? ".volatile.global" : one_of(kWays);
  return fmt::format("st{}{}.{}", way, vector_text(vector), element.type);
}

void Generator::own_memory() {
  const bool blocked = chance(60);
  const int slot = between(30, kSpreadSlots - 1);
  const Register address =
      blocked ? blocked_address() : element_address(buffers_[kSpread], all_, static_cast<int>(kSpreadBytes));
  const std::int64_t first = blocked ? 0 : std::int64_t{slot} * all_threads_ * static_cast<int>(kSpreadBytes);
  const int room = static_cast<int>(blocked ? kBlockedBytes : kSpreadBytes);
  for (int i = between(1, 3); i > 0; --i) {
    const Element element = one_of(kElements);
    const int vector = vector_of(element), bytes = element.bytes * vector;
    const std::int64_t offset = first + bytes * between(0, room / bytes - 1);
    Instruction in;
    if (talks_ && chance(20)) {
      in = own_atomic(Space::global, address, first, room);
    } else if (chance(60)) {
      const std::string text = store_text(element, vector);
      in = memory(Do::store, text, space_of(text), address, offset, element, parts(element, vector, false));
    } else {
      in = memory(Do::load, fmt::format("ld.global{}.{}", vector_text(vector), element.type), Space::global, address,
                  offset, element, parts(element, vector, true));
    }
    if (chance(15)) guard(in);
    put(std::move(in));
  }
}

// Stores a number at the atomic's address and returns an operand that is equal to it or differs by one, so that a
// compare-and-swap sometimes succeeds.
Operand Generator::beside(const Instruction& atomic, Kind kind) {
  const std::string type = fmt::format("b{}", bits_of(kind));
  const Bits value = 1 + below(1000);
  const bool global = atomic.space == Space::global;
  put(memory(Do::store, fmt::format("st.{}.{}", global ? "global" : "shared", type), atomic.space, atomic.base,
             atomic.offset, {"", atomic.element_bytes, false}, {number(value, type)}));
  return number(value - 1 + below(3), type);
}

// Returns an atomic on memory that no other thread accesses, so that the old value is known.
Instruction Generator::own_atomic(Space space, Register base, std::int64_t first, int room) {
  std::string what;
  do {
    what = chance(50) ? one_of(kCommutative) : one_of(kOthers);
  } while (bytes_of_atomic(what) > room);
  const int bytes = bytes_of_atomic(what);
  const std::int64_t offset = first + bytes * between(0, room / bytes - 1);
  const bool global = space == Space::global;
  Instruction in = memory(Do::atomic, fmt::format("atom.{}.{}", global ? "global" : "shared", what), space, base,
                          offset, {"", bytes, false}, {});
  in.name = what;
  const Kind kind = bytes == 8 ? Kind::b64 : Kind::b32;
  in.results = {of(target(kind))};
  const bool compares = !what.ends_with("f32") && !what.ends_with("f64") && chance(50);
  in.sources = {compares ? beside(in, kind) : of(pool(kind))};
  if (what.starts_with("cas")) in.sources.push_back(of(pool(kind)));
  return in;
}

// Returns an atomic on a word that many threads update, in global memory those of all blocks, for which the scope of
// one block would be a race. The old value depends on their order, so it is not used.
Instruction Generator::shared_sum(const std::string& what, Space space, Register base, std::int64_t offset) {
  const int bytes = bytes_of_atomic(what);
  const bool reduces = chance(50), global = space == Space::global;
  const char* order = chance(80) ? "" : reduces ? ".relaxed.gpu" : global ? ".acq_rel.gpu" : ".acq_rel.cta";
  Instruction in =
      memory(Do::atomic, fmt::format("{}{}.{}.{}", reduces ? "red" : "atom", order, global ? "global" : "shared", what),
             space, base, offset, {"", bytes, false}, {});
  in.name = what;
  if (!reduces) in.results = {Operand{}};
  in.sources = {of(pool(bytes == 8 ? Kind::b64 : Kind::b32))};
  return in;
}

void Generator::sum() {
  const std::size_t operation = below(std::size(kCommutative));
  const std::string what = kCommutative[operation];
  const int bytes = bytes_of_atomic(what), count = static_cast<int>(kSumBytes) / bytes;
  const Register address = element_address(buffers_[kSums], index_below(count), bytes);
  Instruction in = shared_sum(what, Space::global, address, static_cast<std::int64_t>(operation * kSumBytes));
  if (chance(20)) guard(in);
  put(std::move(in));
}

void Generator::local_memory() {
  const Register depot = address_of("own");
  for (int i = between(1, 3); i > 0; --i) {
    const Element element = one_of(kElements);
    const int vector = vector_of(element), bytes = element.bytes * vector,
              count = static_cast<int>(kLocalBytes) / bytes;
    const bool is_load = chance(50);
    const std::string text = fmt::format("{}.local{}.{}", is_load ? "ld" : "st", vector_text(vector), element.type);
    Instruction in =
        memory(is_load ? Do::load : Do::store, text, Space::local, depot, 0, element, parts(element, vector, is_load));
    if (chance(50)) {
      in.base = element_address(depot, index_below(count), bytes);
    } else {
      in.offset = bytes * between(0, count - 1);
      in.has_base = chance(50);
      in.name = "own";
    }
    if (chance(15)) guard(in);
    put(std::move(in));
  }
}

void Generator::pointer_loop() {
  const Element element = one_of(kElements);
  const Register pointer = fresh(Kind::b64);
  const int trips = between(1, 6), step = element.bytes * between(-4, 8), reach = step * trips;
  const int low = std::max(0, -reach), span = static_cast<int>(kInputBytes) - std::abs(reach) - element.bytes;
  const Register first = element_address(buffers_[kInput], index_below(span / element.bytes), element.bytes);
  put(form("add.s64", pointer, {of(first), number(static_cast<Bits>(low), "s64")}));
  Statement loop;
  loop.what = chance(50) ? What::loop_bottom : What::loop_top;
  loop.counter = fresh(Kind::b32);
  loop.limit = fresh(Kind::b32);
  loop.predicate = fresh(Kind::pred);
  put(form("mov.b32", loop.counter, {number(0, "b32")}));
  if (chance(50))
    put(form("mov.b32", loop.limit, {number(static_cast<Bits>(trips), "b32")}));
  else
    put(form("rem.u32", loop.limit, {of(pool(Kind::b32)), number(static_cast<Bits>(trips + 1), "u32")}));
  loop.body = body([&] {
    put(memory(Do::load, fmt::format("ld.global.{}", element.type), Space::global, pointer, 0, element,
               parts(element, 1, true)));
    computation();
    put(form("add.s64", pointer, {of(pointer), number(static_cast<Bits>(std::int64_t{step}), "s64")}));
  });
  put(std::move(loop));
}

void Generator::approximate() {
  if (static_cast<int>(out_.approximations.size()) >= kMostApproximations || forms_.approximations().empty()) return;
  const Form& chosen = *one_of(forms_.approximations());
  const auto slot = static_cast<std::int64_t>(out_.approximations.size());
  out_.approximations.push_back(&chosen);
  group([&] {
    const Register result = fresh(chosen.results[0]);
    std::vector<Operand> sources;
    for (const Kind kind : chosen.sources) sources.push_back(of(pool(kind)));
    put(form(chosen, {of(result)}, std::move(sources)));
    const int bytes = bits_of(result.kind) / 8;
    const Register address = element_address(buffers_[kApproximations], all_, static_cast<int>(kApproximateBytes));
    put(memory(Do::store, fmt::format("st.global.b{}", 8 * bytes), Space::global, address,
               slot * all_threads_ * static_cast<int>(kApproximateBytes), {"", bytes, false}, {of(result)}));
  });
}

Instruction Generator::harmless() {
  Instruction in;
  if (forms_.has("nanosleep") && chance(25)) {
    in.text = "nanosleep.u32";
    in.sources = {number(below(100), "u32")};
    return in;
  }
  in.text = talks_ ? one_of(std::array<const char*, 4>{"membar.gl", "membar.cta", "fence.acq_rel.gpu", "fence.sc.cta"})
                   : one_of(std::array<const char*, 2>{"prefetch.global.L1", "prefetch.global.L2"});
  if (in.text.starts_with("prefetch")) {
    in.has_base = true;
    in.base = buffers_[kInput];
  }
  return in;
}

}  // namespace roofwalk::random
