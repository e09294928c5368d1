#include "tests/random/generate.h"

#include <algorithm>
#include <bit>
#include <map>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/rng.h"

namespace roofwalk::random {
namespace {

using Bits = std::uint64_t;
using What = Statement::What;

constexpr int kPool[4] = {6, 6, 14, 10};  // registers that anything may write, by Kind
constexpr std::uint32_t kInputBytes = 4096;
constexpr std::uint32_t kConstantBytes = 256;
constexpr std::uint32_t kLocalBytes = 64;
constexpr int kSpreadSlots = 40;
constexpr std::uint32_t kApproximateBytes = 8;
constexpr int kMostApproximations = 6;

struct Element {  // of memory
  const char* type;
  int bytes;
  bool is_signed;
};
constexpr Element kElements[] = {{"b8", 1, false},  {"u8", 1, false},  {"s8", 1, true},   {"b16", 2, false},
                                 {"u16", 2, false}, {"s16", 2, true},  {"b32", 4, false}, {"u32", 4, false},
                                 {"s32", 4, true},  {"f32", 4, false}, {"b64", 8, false}, {"u64", 8, false},
                                 {"s64", 8, true},  {"f64", 8, false}};

// Atomics whose result does not depend on who comes first, where nobody looks at the old value.
constexpr const char* kCommutative[] = {"add.u32", "add.s32", "add.u64", "min.u32", "min.s32", "min.u64",
                                        "min.s64", "max.u32", "max.s32", "max.u64", "max.s64", "and.b32",
                                        "and.b64", "or.b32",  "or.b64",  "xor.b32", "xor.b64"};
constexpr const char* kOthers[] = {"exch.b32", "exch.b64", "cas.b32", "cas.b64",
                                   "inc.u32",  "dec.u32",  "add.f32", "add.f64"};

int bytes_of_atomic(const std::string& what) { return what.ends_with("64") ? 8 : 4; }

class Generator {
 public:
  Generator(std::uint64_t seed, const FormChoice& forms) : rng_(seed, "program"), forms_(forms) { out_.seed = seed; }

  Program run() {
    choose_shape();
    fill_memory();
    std::copy(std::begin(kPool), std::end(kPool), std::begin(next_));
    target_ = &out_.statements;
    prologue();
    ragged_ = chance(12);
    talks_ = chance(50);
    out_.counts_warps = !ragged_;
    statements(static_cast<int>(12 + below(45)), 0, !ragged_);
    epilogue();
    std::copy(std::begin(next_), std::end(next_), std::begin(out_.registers));
    return std::move(out_);
  }

 private:
  // --- Chance.

  Bits below(Bits limit) { return rng_.next() % limit; }
  bool chance(unsigned percent) { return below(100) < percent; }
  int between(int least, int most) { return least + static_cast<int>(below(static_cast<Bits>(most - least + 1))); }
  template <class List>
  const auto& one_of(const List& list) {
    return *(std::begin(list) + static_cast<std::ptrdiff_t>(below(static_cast<Bits>(std::size(list)))));
  }

  void choose_shape() {
    static constexpr Dimensions kBlocks[] = {{1, 1, 1},  {7, 1, 1},   {31, 1, 1}, {32, 1, 1},  {33, 1, 1}, {48, 1, 1},
                                             {64, 1, 1}, {100, 1, 1}, {96, 1, 1}, {128, 1, 1}, {8, 4, 1},  {5, 3, 1},
                                             {16, 2, 1}, {33, 2, 1},  {7, 9, 1},  {16, 4, 1},  {4, 16, 1}, {32, 3, 1},
                                             {2, 3, 5},  {4, 4, 4},   {3, 5, 7},  {1, 1, 33},  {1, 40, 1}, {2, 2, 2}};
    static constexpr Dimensions kGrids[] = {{1, 1, 1}, {1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {5, 1, 1},
                                            {2, 2, 1}, {1, 2, 1}, {1, 1, 3}, {2, 1, 2}, {7, 1, 1}};
    out_.block = one_of(kBlocks);
    out_.grid = one_of(kGrids);
    threads_ = static_cast<int>(out_.block.count());
    all_threads_ = out_.threads();
    slots_ = static_cast<int>(std::bit_ceil(static_cast<unsigned>(threads_)));
    full_warps_ = threads_ % 32 == 0;
    out_.shared_bytes = static_cast<std::uint32_t>(slots_) * 20;  // 16 bytes a thread, then 4 bytes a thread
    out_.local_bytes = kLocalBytes;
  }

  Bits single_number() {
    switch (below(8)) {
      case 0:
        return one_of(std::array<Bits, 16>{0, 0x8000'0000, 0x3f80'0000, 0xbf80'0000, 0x7f80'0000, 0xff80'0000,
                                           0x7fff'ffff, 0x7fc0'0001, 1, 0x8000'0001, 0x007f'ffff, 0x0080'0000,
                                           0x7f7f'ffff, 0x3f7f'ffff, 0x3f00'0000, 0x4b80'0001});
      case 1:
        return rng_.next() >> 32;
      default:  // of moderate size
        return (below(2) << 31) | ((117 + below(20)) << 23) | (below(3) == 0 ? 0 : rng_.next() >> 41);
    }
  }
  Bits double_number() {
    switch (below(8)) {
      case 0:
        return one_of(std::array<Bits, 12>{0, 1ull << 63, 0x3ff0'0000'0000'0000, 0xbff0'0000'0000'0000,
                                           0x7ff0'0000'0000'0000, 0xfff0'0000'0000'0000, 0x7ff8'0000'0000'0000, 1,
                                           0x000f'ffff'ffff'ffff, 0x0010'0000'0000'0000, 0x7fef'ffff'ffff'ffff,
                                           0x47ef'ffff'f000'0000});
      case 1:
        return rng_.next();
      default:
        return (below(2) << 63) | ((1010 + below(30)) << 52) | (below(3) == 0 ? 0 : rng_.next() >> 12);
    }
  }
  Bits integer_number(int bits) {
    const Bits all = bits == 64 ? ~Bits{0} : (Bits{1} << bits) - 1;
    switch (below(7)) {
      case 0:
        return below(70);
      case 1:
        return (0 - below(40)) & all;
      case 2:  // around the ends
        return ((Bits{1} << (bits - 1)) - 3 + below(6)) & all;
      case 3:
        return Bits{1} << below(static_cast<Bits>(bits));
      case 4:
        return (one_of(std::array<Bits, 6>{0x7fff'fff0, 0xffff'fff0, 0x1'0000'0000, 0x8000'0000, 0xffff, 0x8000}) +
                below(33) - 16) &
               all;
      case 5:
        return 4 * below(33) & all;
      default:
        return rng_.next() & all;
    }
  }

  // Four halves of moderate size.
  Bits half_numbers() {
    Bits out = 0;
    for (int i = 0; i < 4; ++i) out = out << 16 | below(2) << 15 | (12 + below(7)) << 10 | rng_.next() >> 54;
    return out;
  }

  void fill_memory() {
    out_.constants.resize(kConstantBytes);
    for (auto& byte : out_.constants) byte = static_cast<std::uint8_t>(rng_.next());
    auto& input = out_.buffers[kInput];
    for (std::uint32_t at = 0; at < kInputBytes; at += 8) {
      const Bits pair = below(6) == 0   ? half_numbers()
                        : below(5) == 0 ? double_number()
                        : below(2) == 0 ? single_number() | single_number() << 32
                                        : integer_number(32) | integer_number(32) << 32;
      for (int i = 0; i < 8; ++i) input.push_back(static_cast<std::uint8_t>(pair >> (8 * i)));
    }
    const auto all = static_cast<std::size_t>(all_threads_);
    const auto random_bytes = [&](std::vector<std::uint8_t>& bytes, std::size_t size) {
      bytes.resize(size);
      for (auto& byte : bytes) byte = static_cast<std::uint8_t>(rng_.next());
    };
    random_bytes(out_.buffers[kBlocked], all * kBlockedBytes);
    random_bytes(out_.buffers[kSpread], all * kSpreadBytes * kSpreadSlots);
    random_bytes(out_.buffers[kSums], std::size(kCommutative) * kSumBytes);
    out_.buffers[kApproximations].assign(all * kApproximateBytes * kMostApproximations, 0);
  }

  // --- Statements.

  Statement& put(Statement statement) {
    statement.id = next_id_++;
    target_->push_back(std::move(statement));
    return target_->back();
  }
  void put(Instruction code) {
    Statement statement;
    statement.code = std::move(code);
    put(std::move(statement));
  }
  // What `fill` puts becomes the body of a statement.
  template <class Fill>
  std::vector<Statement> body(Fill fill) {
    std::vector<Statement> out;
    std::vector<Statement>* const before = target_;
    target_ = &out;
    fill();
    target_ = before;
    return out;
  }
  template <class Fill>
  void group(Fill fill) {
    Statement out;
    out.what = What::group;
    out.body = body(fill);
    put(std::move(out));
  }

  Register fresh(Kind kind) { return {kind, next_[static_cast<int>(kind)]++}; }
  Register pool(Kind kind) {
    const auto k = static_cast<int>(kind);
    if (kind == Kind::b32 && !words_.empty() && chance(15)) return one_of(words_);
    if (kind == Kind::b64 && !doubles_.empty() && chance(10)) return one_of(doubles_);
    return {kind, static_cast<int>(below(static_cast<Bits>(kPool[k])))};
  }
  Register target(Kind kind) {
    return {kind, static_cast<int>(below(static_cast<Bits>(kPool[static_cast<int>(kind)])))};
  }

  Operand random_number(const std::string& type) {
    if (type == "f32") return number(single_number(), type);
    if (type == "f64") return number(double_number(), type);
    return number(integer_number(std::stoi(type.substr(1))), type);
  }

  Instruction form(const Form& form, std::vector<Operand> results, std::vector<Operand> sources) {
    Instruction out;
    out.what = Do::form;
    out.text = form.text;
    out.form = &form;
    out.results = std::move(results);
    out.sources = std::move(sources);
    return out;
  }
  Instruction form(const char* text, Register result, std::vector<Operand> sources) {
    return form(forms_.named(text), {of(result)}, std::move(sources));
  }

  void guard(Instruction& in) {
    in.guard = pool(Kind::pred).index;
    in.guard_negated = chance(50);
  }

  Instruction compute(const Form& chosen) {
    Instruction out = form(chosen, {}, {});
    bool has_number = false;
    for (std::size_t i = 0; i < chosen.sources.size(); ++i) {
      if (static_cast<int>(i) == chosen.only_number) {
        out.sources.push_back(random_number(chosen.numbers[i]));
        continue;
      }
      if (!chosen.numbers[i].empty() && !has_number && chance(chosen.makes_addresses ? 35 : 15)) {
        out.sources.push_back(random_number(chosen.numbers[i]));
        has_number = true;
        continue;
      }
      out.sources.push_back(of(pool(chosen.sources[i])));
    }
    if (chosen.negatable_predicate && chance(40)) out.sources.back().negated = true;
    for (const Kind kind : chosen.results) {
      Register reg = target(kind);
      const auto taken = [&] {
        return std::any_of(out.results.begin(), out.results.end(), [&](const Operand& r) { return r.reg == reg; });
      };
      while (taken()) reg = target(kind);
      out.results.push_back(of(reg));
    }
    if (chance(18)) guard(out);
    return out;
  }

  void computation() {
    if (chance(50)) return put(compute(*one_of(forms_.of_addresses())));
    put(compute(*one_of(one_of(forms_.by_mnemonic()))));
  }

  // Numbers of several words: the first sets the carry, the last one only reads it.
  void carries() {
    const int words = between(2, 4), bits = chance(70) ? 32 : 64;
    const Kind kind = bits == 32 ? Kind::b32 : Kind::b64;
    Instruction all;
    if (chance(20)) guard(all);
    for (int i = 0; i < words; ++i) {
      Instruction in = all;
      in.what = Do::carry;
      in.name = one_of(std::array<const char*, 4>{"add", "sub", "mad.lo", "mad.hi"});
      in.element_bytes = bits / 8;
      in.is_signed = chance(30);
      in.carry_in = i > 0;
      in.carry_out = i + 1 < words;
      in.text = in.name;
      if (in.carry_in) in.text.insert(3, "c");
      in.text += fmt::format("{}.{}{}", in.carry_out ? ".cc" : "", in.is_signed ? 's' : 'u', bits);
      in.results = {of(target(kind))};
      for (int s = in.name[0] == 'm' ? 3 : 2; s > 0; --s) in.sources.push_back(of(pool(kind)));
      if (chance(20)) in.sources.back() = number(integer_number(bits), fmt::format("u{}", bits));
      put(std::move(in));
    }
  }

  // --- What every program starts and ends with.

  Register parameter(Buffer buffer) {
    const Register out = fresh(Kind::b64);
    Instruction in;
    in.what = Do::parameter;
    in.text = "ld.param.u64";
    in.results = {of(out)};
    in.name = kBufferNames[buffer];
    put(std::move(in));
    return out;
  }
  Register special(const std::string& name) {
    const Register out = fresh(Kind::b32);
    put_special(out, name);
    return out;
  }
  void put_special(Register to, const std::string& name) {
    Instruction in;
    in.what = Do::special;
    in.text = "mov.u32";
    in.results = {of(to)};
    in.name = name;
    put(std::move(in));
  }

  void prologue() {
    for (int b = 0; b < kBufferCount; ++b) buffers_[b] = parameter(static_cast<Buffer>(b));
    near_ = fresh(Kind::b32);
    Instruction names;
    names.what = Do::address;
    names.text = "mov.u32";
    names.results = {of(near_)};
    names.name = "near";
    put(std::move(names));
    target_->back().id = -1;  // stays: the machine gives a kernel only what it names
    const Dimensions& block = out_.block;
    const auto coordinate = [&](const char* name, std::uint32_t extent) {
      const Register reg = special(name);
      words_.push_back(reg);
      coordinates_.push_back({reg, static_cast<int>(extent) - 1});
      return reg;
    };
    const Register x = coordinate("%tid.x", block.x), y = coordinate("%tid.y", block.y),
                   z = coordinate("%tid.z", block.z);
    const Register bx = coordinate("%ctaid.x", out_.grid.x), by = coordinate("%ctaid.y", out_.grid.y),
                   bz = coordinate("%ctaid.z", out_.grid.z);
    coordinate("%laneid", static_cast<std::uint32_t>(std::min(threads_, 32)));
    uniform_coordinates_ = {coordinates_[3], coordinates_[4], coordinates_[5]};
    const auto linear = [&](Register a, Register b, Register c, const char* nx, const char* ny) {
      const Register inner = fresh(Kind::b32), out = fresh(Kind::b32), width = special(nx), height = special(ny);
      put(form("mad.lo.s32", inner, {of(height), of(c), of(b)}));
      put(form("mad.lo.s32", out, {of(inner), of(width), of(a)}));
      return out;
    };
    thread_ = linear(x, y, z, "%ntid.x", "%ntid.y");
    const Register number_of_block = linear(bx, by, bz, "%nctaid.x", "%nctaid.y");
    all_ = fresh(Kind::b32);
    put(form("mad.lo.s32", all_, {of(number_of_block), number(static_cast<Bits>(threads_), "s32"), of(thread_)}));
    for (const auto& [reg, most] : {std::pair{thread_, threads_ - 1}, std::pair{all_, all_threads_ - 1},
                                    std::pair{number_of_block, static_cast<int>(out_.grid.count()) - 1}}) {
      words_.push_back(reg);
      coordinates_.push_back({reg, most});
    }
    for (const char* text : {"cvt.u64.u32", "cvt.s64.s32"}) {
      doubles_.push_back(fresh(Kind::b64));
      put(form(text, doubles_.back(), {of(one_of(words_))}));
    }
    members_ = fresh(Kind::b32);
    Instruction in;
    in.what = Do::active_mask;
    in.text = "activemask.b32";
    in.results = {of(members_)};
    put(in);
    first_values();
    starts_ = false;
    fill_shared();
    fill_local();
  }

  void first_values() {
    for (int k = 0; k < 4; ++k) {
      for (int i = 0; i < kPool[k]; ++i) first_value({static_cast<Kind>(k), i});
    }
  }
  void first_value(Register reg) {
    switch (reg.kind) {
      case Kind::pred:
        put(form("setp.lt.s32", reg, {of(one_of(words_)), number(below(20), "s32")}));
        break;
      case Kind::b16:
        if (chance(40)) {
          load_input({"b16", 2, false}, {reg});
          break;
        }
        put(form("cvt.u16.u32", reg, {of(one_of(words_))}));
        if (chance(70)) put(form("xor.b16", reg, {of(reg), random_number("b16")}));
        break;
      case Kind::b32:
        first_word(reg);
        break;
      case Kind::b64:
        if (chance(30))
          put(form("mov.b64", reg, {chance(50) ? random_number("b64") : number(double_number(), "b64")}));
        else if (chance(50))
          put(form("mul.wide.s32", reg, {of(one_of(words_)), random_number("s32")}));
        else
          load_input({"b64", 8, false}, {reg});
        break;
    }
  }
  void first_word(Register reg) {
    switch (below(7)) {
      case 0:
        return put(form("mov.b32", reg, {number(below(2) == 0 ? single_number() : integer_number(32), "b32")}));
      case 1:
        return put(form("mov.b32", reg, {of(one_of(words_))}));
      case 2:
        return put(form("mad.lo.s32", reg, {of(one_of(words_)), random_number("s32"), of(one_of(words_))}));
      case 3:
        return put_special(
            reg, one_of(std::array<const char*, 14>{"%ntid.x", "%ntid.y", "%ntid.z", "%nctaid.x", "%nctaid.y",
                                                    "%nctaid.z", "%laneid", "%warpid", "%nwarpid", "%lanemask_eq",
                                                    "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge"}));
      default:
        return load_input({"b32", 4, false}, {reg});
    }
  }

  // Every byte of shared memory is written before any is read.
  void fill_shared() {
    group([&] {
      const Register at = fresh(Kind::b32), beyond = fresh(Kind::b32), value = thread_;
      const Register has_more = fresh(Kind::pred);
      const auto fill = [&](Register index, int guard_index) {
        const auto add = [&](Instruction in) {
          in.guard = guard_index;
          put(std::move(in));
        };
        add(form("shl.b32", at, {of(index), number(4, "u32")}));
        add(memory(Do::store, "st.shared.v4.b32", Space::shared, at, 0, {"b32", 4, false},
                   {of(value), of(value), of(value), of(value)}));
        add(form("shl.b32", at, {of(index), number(2, "u32")}));
        add(memory(Do::store, "st.shared.b32", Space::shared, at, 16 * slots_, {"b32", 4, false}, {of(value)}));
      };
      fill(thread_, -1);
      put(form("add.s32", beyond, {of(thread_), number(static_cast<Bits>(threads_), "s32")}));
      put(form("setp.lt.s32", has_more, {of(beyond), number(static_cast<Bits>(slots_), "s32")}));
      fill(beyond, has_more.index);
      barrier();
    });
  }
  void fill_local() {
    group([&] {
      for (std::uint32_t at = 0; at < kLocalBytes; at += 16) {
        Instruction in = memory(Do::store, "st.local.v2.b64", Space::local, {}, at, {"b64", 8, false},
                                {of(pool(Kind::b64)), of(pool(Kind::b64))});
        in.has_base = false;
        in.name = "own";
        put(std::move(in));
      }
    });
  }

  void epilogue() {
    int slot = 0;
    for (int k = 1; k < 4; ++k) {
      for (int i = 0; i < kPool[k]; ++i) {
        if (chance(4)) leave();
        const Element element = k == 1   ? Element{"b16", 2, false}
                                : k == 2 ? Element{"b32", 4, false}
                                         : Element{"b64", 8, false};
        group([&] { store_spread(element, {of(Register{static_cast<Kind>(k), i})}, slot); });
        ++slot;
      }
    }
    for (int i = 0; i < kPool[0]; ++i) {
      group([&] {
        const Register word = fresh(Kind::b32);
        put(form("selp.b32", word, {number(1, "b32"), number(0, "b32"), of(Register{Kind::pred, i})}));
        store_spread({"b32", 4, false}, {of(word)}, slot);
      });
      ++slot;
    }
    ROOFWALK_CHECK(slot <= kSpreadSlots);
  }

  void leave() {
    Instruction in;
    in.what = Do::leave;
    in.text = chance(50) ? "exit" : "ret";
    guard(in);
    put(std::move(in));
  }

  // --- Control.

  void statements(int count, int depth, bool together) {
    for (int i = 0; i < count; ++i) statement(depth, together);
  }

  // `together`: all threads of the block are here.
  void statement(int depth, bool together) {
    const Bits dice = below(100);
    if (dice < 52) return computation();
    if (dice < 60) return group([&] { input_load(); });
    if (dice < 65) return group([&] { own_memory(); });
    if (dice < 69) return talks_ ? group([&] { sum(); }) : computation();
    if (dice < 73) return group([&] { local_memory(); });
    if (dice < 75) return group([&] { constant_load(); });
    if (dice < 76) return approximate();
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

  int body_size(int depth) { return between(1, depth == 0 ? 8 : 4); }

  // A condition that is the same for all threads of the block.
  Register uniform_condition() {
    const Register out = fresh(Kind::pred);
    put(form("setp.lt.s32", out, {of(one_of(uniform_coordinates_).reg), number(below(3), "s32")}));
    return out;
  }

  void choice(int depth, bool together) {
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

  // A switch: the same arm may stand for many cases, and some cases have none.
  void table(int depth, bool together) {
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

  void loop(int depth, bool together) {
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

  // A register that nothing but this place names: the first iteration writes it, all read it.
  void keep_from_first(Register iteration) {
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

  void scope(int depth) {
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

  // --- Memory.

  Instruction memory(Do what, std::string text, Space space, Register base, std::int64_t offset, const Element& element,
                     std::vector<Operand> values) {
    Instruction out;
    out.what = what;
    out.text = std::move(text);
    out.space = space;
    out.base = base;
    out.has_base = true;
    out.offset = offset;
    out.element_bytes = element.bytes;
    out.is_signed = element.is_signed;
    (what == Do::load ? out.results : out.sources) = std::move(values);
    return out;
  }

  // Registers that an element fits, the same kind for all parts; results differ from each other.
  std::vector<Operand> parts(const Element& element, int count, bool results) {
    const bool is_float = element.type[0] == 'f';
    std::vector<Kind> kinds;
    for (const Kind kind : {Kind::b16, Kind::b32, Kind::b64}) {
      const int bytes = bits_of(kind) / 8;
      if (is_float ? bytes == element.bytes : bytes >= element.bytes) kinds.push_back(kind);
    }
    const Kind kind = chance(70) ? kinds.front() : one_of(kinds);
    std::vector<Operand> out;
    while (static_cast<int>(out.size()) < count) {
      const Operand operand = of(results ? target(kind) : pool(kind));
      const bool taken = std::any_of(out.begin(), out.end(), [&](const Operand& o) { return o.reg == operand.reg; });
      if (!results || !taken) out.push_back(operand);
    }
    return out;
  }

  int vector_of(const Element& element) {
    const int most = std::min(4, 16 / element.bytes);
    return chance(60) ? 1 : most == 4 && chance(50) ? 4 : 2;
  }
  static std::string vector_text(int count) { return count == 1 ? "" : fmt::format(".v{}", count); }

  // An index whose value, for all threads, lies in [0, count).
  Register index_below(int count) {
    const Register out = fresh(Kind::b32);
    const bool is_power = std::has_single_bit(static_cast<unsigned>(count));
    switch (starts_ ? 3 + below(3) : below(6)) {
      case 0:
        if (!is_power) break;
        put(form("and.b32", out, {of(pool(Kind::b32)), number(static_cast<Bits>(count - 1), "b32")}));
        return out;
      case 1:
        put(form("max.s32", out, {of(pool(Kind::b32)), number(0, "s32")}));
        put(form("min.s32", out, {of(out), number(static_cast<Bits>(count - 1), "s32")}));
        return out;
      case 2:
        put(form("rem.u32", out, {of(pool(Kind::b32)), number(static_cast<Bits>(count), "u32")}));
        return out;
      case 3:
        put(form("mov.b32", out, {number(below(static_cast<Bits>(count)), "b32")}));
        return out;
      default:
        break;
    }
    affine_index(out, count);
    return out;
  }

  // coordinate * step + first, in one of the ways that compilers write it.
  void affine_index(Register out, int count) {
    const auto [coordinate, most] = one_of(coordinates_);
    int step = between(-4, 6), first = 0;
    while (step != 0 && std::abs(step) * most >= count) step = step > 0 ? step - 1 : step + 1;
    const int reach = step * most;  // from 0
    first = step >= 0 ? between(0, count - 1 - reach) : between(-reach, count - 1);
    const auto signed_number = [](int value) { return number(static_cast<std::uint32_t>(value), "s32"); };
    switch (below(6)) {
      case 0:
        return put(form("mad.lo.s32", out, {of(coordinate), signed_number(step), signed_number(first)}));
      case 1:
        put(form("mul.lo.s32", out, {of(coordinate), signed_number(step)}));
        return put(form("add.s32", out, {of(out), signed_number(first)}));
      case 2:  // by way of both ends of the numbers
        put(form("mul.lo.s32", out, {of(coordinate), signed_number(step)}));
        put(form("add.s32", out, {of(out), number((static_cast<std::uint32_t>(first) + 0x8000'0000u), "s32")}));
        return put(form("xor.b32", out, {of(out), number(0x8000'0000u, "b32")}));
      case 3: {
        const Register wide = fresh(Kind::b64);
        put(form("mul.wide.s32", wide, {of(coordinate), signed_number(step)}));
        put(form("add.s64", wide,
                 {of(wide), number(static_cast<Bits>(static_cast<std::int64_t>(first)) + (7ull << 32), "s64")}));
        return put(form("cvt.u32.u64", out, {of(wide)}));
      }
      case 4: {  // first - coordinate * -step
        const Register product = fresh(Kind::b32);
        put(form("mul.lo.u32", product, {of(coordinate), number(static_cast<std::uint32_t>(-step), "u32")}));
        return put(form("sub.u32", out, {number(static_cast<std::uint32_t>(first), "u32"), of(product)}));
      }
      default: {  // a multiplication whose high part falls away
        const auto multiple = static_cast<std::uint32_t>(step) + 0x4000'0000u;
        put(form("mad.lo.u32", out,
                 {of(coordinate), number(multiple, "u32"), number(static_cast<std::uint32_t>(first), "u32")}));
        const Register high = fresh(Kind::b32);
        put(form("mul.lo.u32", high, {of(coordinate), number(0x4000'0000u, "u32")}));
        return put(form("sub.u32", out, {of(out), of(high)}));
      }
    }
  }

  // buffer + index * size_bytes.
  Register element_address(Register buffer, Register index, int size_bytes) {
    const Register out = fresh(Kind::b64);
    const auto log = static_cast<Bits>(std::countr_zero(static_cast<unsigned>(size_bytes)));
    switch (below(4)) {
      case 0:
        put(form("mad.wide.u32", out, {of(index), number(static_cast<Bits>(size_bytes), "u32"), of(buffer)}));
        return out;
      case 1:
        put(form("mul.wide.s32", out, {of(index), number(static_cast<Bits>(size_bytes), "s32")}));
        break;
      case 2: {
        const Register wide = fresh(Kind::b64);
        put(form("cvt.s64.s32", wide, {of(index)}));
        put(form("shl.b64", out, {of(wide), number(log, "u32")}));
        break;
      }
      default: {
        const Register scaled = fresh(Kind::b32);
        put(form("shl.b32", scaled, {of(index), number(log, "u32")}));
        put(form("cvt.u64.u32", out, {of(scaled)}));
        break;
      }
    }
    put(form("add.s64", out, chance(50) ? std::vector{of(buffer), of(out)} : std::vector{of(out), of(buffer)}));
    return out;
  }

  std::string global_load_text(const Element& element, int vector) {
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
  static Space space_of(const std::string& text) {
    return text.find(".global") == std::string::npos ? Space::generic_global : Space::global;
  }

  void load_input(const Element& element, const std::vector<Register>& to) {
    const int bytes = element.bytes * static_cast<int>(to.size());
    const Register index = index_below(static_cast<int>(kInputBytes) / bytes);
    const Register address = element_address(buffers_[kInput], index, bytes);
    std::vector<Operand> results;
    for (const Register reg : to) results.push_back(of(reg));
    put(memory(Do::load, fmt::format("ld.global{}.{}", vector_text(static_cast<int>(to.size())), element.type),
               Space::global, address, 0, element, results));
  }

  void input_load() {
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

  // A register with the address of a variable.
  Register address_of(const char* name) {
    const Register address = fresh(Kind::b64);
    Instruction move;
    move.what = Do::address;
    move.text = "mov.u64";
    move.results = {of(address)};
    move.name = name;
    put(std::move(move));
    return address;
  }

  void constant_load() {
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

  // --- A thread's own global memory.

  Register blocked_address() { return element_address(buffers_[kBlocked], all_, static_cast<int>(kBlockedBytes)); }

  void store_spread(const Element& element, std::vector<Operand> values, int slot) {
    const Register address = element_address(buffers_[kSpread], all_, static_cast<int>(kSpreadBytes));
    const std::string text = fmt::format("st.global{}.{}", vector_text(static_cast<int>(values.size())), element.type);
    put(memory(Do::store, text, Space::global, address,
               std::int64_t{slot} * all_threads_ * static_cast<int>(kSpreadBytes), element, std::move(values)));
  }

  std::string store_text(const Element& element, int vector) {
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

  void own_memory() {
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

  // Stores a number where the atomic goes, and gives one that is equal or right beside it.
  Operand beside(const Instruction& atomic, Kind kind) {
    const std::string type = fmt::format("b{}", bits_of(kind));
    const Bits value = 1 + below(1000);
    const bool global = atomic.space == Space::global;
    put(memory(Do::store, fmt::format("st.{}.{}", global ? "global" : "shared", type), atomic.space, atomic.base,
               atomic.offset, {"", atomic.element_bytes, false}, {number(value, type)}));
    return number(value - 1 + below(3), type);
  }

  // An atomic where no other thread goes: the old value is known.
  Instruction own_atomic(Space space, Register base, std::int64_t first, int room) {
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

  // Many threads, one place: nobody looks at the old value.
  Instruction shared_sum(const std::string& what, Space space, Register base, std::int64_t offset) {
    const int bytes = bytes_of_atomic(what);
    const bool reduces = chance(50), global = space == Space::global;
    const char* order = chance(80) ? "" : reduces ? ".relaxed.gpu" : ".acq_rel.cta";
    Instruction in = memory(
        Do::atomic, fmt::format("{}{}.{}.{}", reduces ? "red" : "atom", order, global ? "global" : "shared", what),
        space, base, offset, {"", bytes, false}, {});
    in.name = what;
    if (!reduces) in.results = {Operand{}};
    in.sources = {of(pool(bytes == 8 ? Kind::b64 : Kind::b32))};
    return in;
  }

  void sum() {
    const std::size_t operation = below(std::size(kCommutative));
    const std::string what = kCommutative[operation];
    const int bytes = bytes_of_atomic(what), count = static_cast<int>(kSumBytes) / bytes;
    const Register address = element_address(buffers_[kSums], index_below(count), bytes);
    Instruction in = shared_sum(what, Space::global, address, static_cast<std::int64_t>(operation * kSumBytes));
    if (chance(20)) guard(in);
    put(std::move(in));
  }

  void local_memory() {
    const Register depot = address_of("own");
    for (int i = between(1, 3); i > 0; --i) {
      const Element element = one_of(kElements);
      const int vector = vector_of(element), bytes = element.bytes * vector,
                count = static_cast<int>(kLocalBytes) / bytes;
      const bool is_load = chance(50);
      const std::string text = fmt::format("{}.local{}.{}", is_load ? "ld" : "st", vector_text(vector), element.type);
      Instruction in = memory(is_load ? Do::load : Do::store, text, Space::local, depot, 0, element,
                              parts(element, vector, is_load));
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

  void pointer_loop() {
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

  void approximate() {
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

  Instruction harmless() {
    Instruction in;
    if (forms_.has("nanosleep") && chance(25)) {
      in.text = "nanosleep.u32";
      in.sources = {number(below(100), "u32")};
      return in;
    }
    in.text = talks_
                  ? one_of(std::array<const char*, 4>{"membar.gl", "membar.cta", "fence.acq_rel.gpu", "fence.sc.cta"})
                  : one_of(std::array<const char*, 2>{"prefetch.global.L1", "prefetch.global.L2"});
    if (in.text.starts_with("prefetch")) {
      in.has_base = true;
      in.base = buffers_[kInput];
    }
    return in;
  }

  // --- Where all threads of the block are together.

  void barrier() {
    Instruction in;
    in.what = Do::barrier;
    const int rounded = (threads_ + 31) / 32 * 32;
    in.text = one_of(std::array<const char*, 4>{"bar.sync", "bar.cta.sync", "barrier.sync", "barrier.sync.aligned"});
    in.sources = {number(below(16), "u32")};
    if (chance(30)) in.sources.push_back(number(static_cast<Bits>(rounded), "u32"));
    put(std::move(in));
  }

  void reduce_at_barrier() {
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

  // redux and match.
  void combine_in_warp(const Operand& members) {
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

  void meeting() {
    if (forms_.has("bar.red") && chance(10)) return reduce_at_barrier();
    if (chance(30)) return exchange_in_warp();
    group([&] { exchange_in_block(); });
  }

  void exchange_in_warp() {
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

  // Everybody writes to a place of its own, all meet, everybody looks anywhere, all meet again.
  void exchange_in_block() {
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
      barrier();
      sums_in_block(first);
    } else {
      for (int i = between(1, 2); i > 0; --i) own_shared(address, first, room);
    }
    barrier();
    for (int i = between(1, 3); i > 0; --i) look_around();
    barrier();
  }

  void own_shared(Register address, std::int64_t first, int room) {
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

  void sums_in_block(std::int64_t first) {
    std::string what = one_of(kCommutative);
    while (bytes_of_atomic(what) != 4) what = one_of(kCommutative);
    const Register address = fresh(Kind::b32), index = index_below(slots_);
    put(form("shl.b32", address, {of(index), number(2, "u32")}));
    Instruction in = shared_sum(what, Space::shared, address, first);
    if (chance(20)) guard(in);
    put(std::move(in));
  }

  void copies(Register address) {
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

  void look_around() {
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
    if (chance(20)) {  // by a generic address
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

  Rng rng_;
  const FormChoice& forms_;
  Program out_;
  std::vector<Statement>* target_ = nullptr;
  int next_[4] = {};
  int next_id_ = 0;
  int threads_ = 0, all_threads_ = 0, slots_ = 0;
  bool full_warps_ = false, ragged_ = false;
  bool starts_ = true;  // not all registers have values yet
  bool talks_ = false;  // blocks may: atomics, fences, volatile accesses, which the machine runs on one thread

  struct Coordinate {
    Register reg;
    int most;
  };
  Register buffers_[kBufferCount], thread_, all_, members_, near_;
  std::vector<Register> words_, doubles_;  // that nothing writes again
  std::vector<Coordinate> coordinates_, uniform_coordinates_;
};

}  // namespace

FormChoice::FormChoice(std::vector<Form> forms, std::set<std::string> features)
    : forms_(std::move(forms)), features_(std::move(features)) {
  std::map<std::string, std::vector<const Form*>> exact;
  for (const Form& form : forms_) {
    if (form.accepts)
      approximations_.push_back(&form);
    else
      exact[form.mnemonic].push_back(&form);
    if (form.makes_addresses) of_addresses_.push_back(&form);
  }
  for (auto& [mnemonic, list] : exact) by_mnemonic_.push_back(std::move(list));
}

const Form& FormChoice::named(const std::string& text) const {
  for (const Form& form : forms_) {
    if (form.text == text && form.look == Form::Look::plain && form.results.size() == 1) return form;
  }
  ROOFWALK_CHECK(false);
}

Program generate(std::uint64_t seed, const FormChoice& forms) { return Generator(seed, forms).run(); }

const std::vector<std::pair<std::string, Instruction>>& feature_probes() {
  const Operand pred = of({Kind::pred, 0}), other = of({Kind::pred, 1}), word = of({Kind::b32, 0}),
                wide = of({Kind::b64, 0}), all = number(0xffff'ffff, "b32"), zero = number(0, "u32");
  static const std::vector<std::pair<std::string, Instruction>> kProbes = {
      {"redux", {.what = Do::reduce, .text = "redux.sync.add.u32", .results = {word}, .sources = {word, all}}},
      {"match", {.what = Do::match, .text = "match.any.sync.b32", .results = {word}, .sources = {word, all}}},
      {"bar.red",
       {.what = Do::barrier_reduce, .text = "bar.red.and.pred", .results = {pred}, .sources = {zero, other}}},
      {"isspacep", {.what = Do::space_query, .text = "isspacep.shared", .results = {pred}, .sources = {wide}}},
      {"nanosleep", {.what = Do::nothing, .text = "nanosleep.u32", .sources = {number(20, "u32")}}},
  };
  return kProbes;
}

}  // namespace roofwalk::random
