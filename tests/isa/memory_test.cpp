// Loads, stores, atomics, copies and cache hints in every space.
#include <bit>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "tests/isa/reference.h"
#include "tests/isa/row.h"

namespace roofwalk::isa {
namespace {

std::vector<std::uint8_t> numbered(std::size_t bytes) {
  std::vector<std::uint8_t> out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(i * 37 + i / 251 + 11);
  return out;
}

struct Type {
  const char* name;
  int bytes;
  bool is_signed = false;
};
constexpr Type kTypes[] = {{"u8", 1},  {"s8", 1, true},  {"b8", 1},        {"u16", 2}, {"s16", 2, true},
                           {"b16", 2}, {"u32", 4},       {"s32", 4, true}, {"b32", 4}, {"f32", 4},
                           {"u64", 8}, {"s64", 8, true}, {"b64", 8},       {"f64", 8}};

// Returns the loaded value, extended to an 8-byte register. Floats have registers of their own.
std::uint64_t loaded(const Type& type, const std::uint8_t* from) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, static_cast<std::size_t>(type.bytes));
  const int width = 8 * type.bytes;
  if (type.is_signed && width < 64 && (bits >> (width - 1) & 1) != 0) bits |= ~std::uint64_t{0} << width;
  return bits;
}

// Copies 32 lanes' data from `in` to `out` through `space`; each access to `space` moves `vector` elements of `type`.
std::string round_trip(const Type& type, int vector, const std::string& space, const std::string& hints) {
  const int bytes = type.bytes * vector;
  const bool is_float = *type.name == 'f';
  const char* reg = !is_float ? "%rd" : type.bytes == 4 ? "%f" : "%d";
  std::string registers;
  for (int i = 0; i < vector; ++i) registers += fmt::format("{}{}{}", i == 0 ? "" : ", ", reg, 10 + i);
  if (vector > 1) registers = "{" + registers + "}";
  const std::string shape = vector > 1 ? fmt::format(".v{}", vector) : "";
  std::string body =
      fmt::format("mul.wide.u32 %rd1, %r63, {0};\nadd.u64 %rd2, %rd62, %rd1;\nadd.u64 %rd3, %rd63, %rd1;\n", bytes);
  if (space.empty() || space == ".global") {
    body += fmt::format("ld{}{}{}.{} {}, [%rd2];\n", space, hints, shape, type.name, registers);
    return body + fmt::format("st{}{}.{} [%rd3], {};\n", space, shape, type.name, registers);
  }
  // Copies bytewise into and out of the space; the tested load and store are between these copies.
  body += space == ".shared" ? fmt::format("mov.u32 %r1, s;\nmad.lo.u32 %r2, %r63, {}, %r1;\n", bytes)
                             : "mov.u32 %r2, l;\n";
  for (int i = 0; i < bytes; ++i)
    body += fmt::format("ld.global.u8 %h1, [%rd2+{0}];\nst{1}.u8 [%r2+{0}], %h1;\n", i, space);
  body += fmt::format("ld{}{}.{} {}, [%r2];\n", space, shape, type.name, registers);
  body += fmt::format("st{}{}.{} [%r2], {};\n", space, shape, type.name, registers);
  for (int i = 0; i < bytes; ++i)
    body += fmt::format("ld{1}.u8 %h1, [%r2+{0}];\nst.global.u8 [%rd3+{0}], %h1;\n", i, space);
  return body;
}

void expect_round_trips(const std::string& hints, const std::vector<std::string>& spaces) {
  for (const std::string& space : spaces) {
    for (const Type& type : kTypes) {
      for (const int vector : {1, 2, 4}) {
        if (type.bytes * vector > 16) continue;
        const std::vector<std::uint8_t> in = numbered(static_cast<std::size_t>(32 * type.bytes * vector));
        const Outcome outcome = run({.body = round_trip(type, vector, space, hints), .in = in, .out_bytes = in.size()});
        ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
        EXPECT_EQ(outcome.out, in) << space << type.name << vector;
      }
    }
  }
}

ROW_TEST(Ld, EveryTypeInEverySpace) { expect_round_trips("", {"", ".global", ".shared", ".local"}); }
ROW_TEST(St, EveryTypeInEverySpace) { expect_round_trips("", {"", ".global", ".shared", ".local"}); }
ROW_TEST(Ld, CacheHintsChangeNothing) {
  for (const char* hints : {".ca", ".cg", ".cs", ".lu", ".cv", ".nc", ".L1::no_allocate", ".L1::evict_last.L2::128B"}) {
    expect_round_trips(hints, {".global"});
  }
}

ROW_TEST(Ld, ExtendsIntoAWiderRegister) {
  const std::vector<std::uint8_t> in = numbered(32 * 4);
  for (const Type& type : kTypes) {
    if (type.bytes == 8 || *type.name == 'f') continue;
    const std::string body = fmt::format(
        "mul.wide.u32 %rd1, %r63, {};\nadd.u64 %rd1, %rd1, %rd62;\nld.global.{} %rd2, [%rd1];\n"
        "mul.wide.u32 %rd1, %r63, 8;\nadd.u64 %rd1, %rd1, %rd63;\nst.global.u64 [%rd1], %rd2;\n",
        type.bytes, type.name);
    const Outcome outcome = run({.body = body, .in = in, .out_bytes = 256});
    for (std::size_t l = 0; l < 32; ++l) {
      ASSERT_EQ(outcome.at<std::uint64_t>(l), loaded(type, &in[l * static_cast<std::size_t>(type.bytes)]))
          << type.name << l;
    }
  }
}

ROW_TEST(Ld, ConstantMemory) {
  const Outcome outcome = run(
      {.body = "mul.wide.u32 %rd1, %r63, 4;\nand.b64 %rd1, %rd1, 12;\nmov.u64 %rd2, table;\nadd.u64 %rd2, %rd2, %rd1;\n"
               "ld.const.u32 %r1, [%rd2];\nld.const.u32 %r2, [table+8];\nadd.u32 %r1, %r1, %r2;\n"
               "mul.wide.u32 %rd1, %r63, 4;\nadd.u64 %rd1, %rd1, %rd63;\nst.global.u32 [%rd1], %r1;\n",
       .declarations = ".const .align 4 .u32 table[4] = {10, 20, 30, 40};",
       .out_bytes = 128});
  for (std::size_t l = 0; l < 32; ++l) EXPECT_EQ(outcome.at<std::uint32_t>(l), (l % 4 + 1) * 10 + 30);
}

// Each thread accesses its own word through a generic pointer, converts the pointer back, and uses that address, too.
ROW_TEST(Cvta, MakesGenericPointersAndBack) {
  for (const char* space : {"local", "shared"}) {
    const bool shared = *space == 's';
    const std::string place =
        shared ? "mul.wide.u32 %rd1, %r63, 4;\nmov.u64 %rd2, s;\nadd.u64 %rd1, %rd1, %rd2;\n" : "mov.u64 %rd1, l;\n";
    const Outcome outcome = run(
        {.body = place +
                 fmt::format("cvta.{0}.u64 %rd3, %rd1;\nst.u32 [%rd3], %r63;\nld.u32 %r1, [%rd3];\n"
                             "cvta.to.{0}.u64 %rd4, %rd3;\nld.{0}.u32 %r2, [%rd4];\nadd.u32 %r1, %r1, %r2;\n"
                             "cvta.global.u64 %rd5, %rd63;\nmul.wide.u32 %rd6, %r63, 4;\nadd.u64 %rd5, %rd5, %rd6;\n"
                             "st.u32 [%rd5], %r1;\n",
                             space),
         .out_bytes = 128});
    ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
    for (std::size_t l = 0; l < 32; ++l) EXPECT_EQ(outcome.at<std::uint32_t>(l), 2 * l) << space;
  }
}

// ---- Atomics --------------------------------------------------------------------------------------------------------

using Update = std::function<std::uint64_t(std::uint64_t old, std::uint64_t b, std::uint64_t c)>;

struct Atomic {
  std::string op, type;
  int bytes;
  Update update;
  bool returns_only = false;  // exists as atom only, not as red
};

std::vector<Atomic> atomics() {
  std::vector<Atomic> all;
  for (const int bits : {32, 64}) {
    const std::uint64_t mask = bits == 64 ? ~0ull : 0xffffffffull, top = std::uint64_t{1} << (bits - 1);
    const std::string u = fmt::format("u{}", bits), s = fmt::format("s{}", bits), b = fmt::format("b{}", bits);
    const int bytes = bits / 8;
    all.push_back({"add", u, bytes, [mask](auto x, auto y, auto) { return (x + y) & mask; }});
    all.push_back({"min", u, bytes, [](auto x, auto y, auto) { return std::min(x, y); }});
    all.push_back({"max", u, bytes, [](auto x, auto y, auto) { return std::max(x, y); }});
    all.push_back({"min", s, bytes, [top](auto x, auto y, auto) { return (x ^ top) < (y ^ top) ? x : y; }});
    all.push_back({"max", s, bytes, [top](auto x, auto y, auto) { return (x ^ top) < (y ^ top) ? y : x; }});
    all.push_back({"and", b, bytes, [](auto x, auto y, auto) { return x & y; }});
    all.push_back({"or", b, bytes, [](auto x, auto y, auto) { return x | y; }});
    all.push_back({"xor", b, bytes, [](auto x, auto y, auto) { return x ^ y; }});
    all.push_back({"exch", b, bytes, [](auto, auto y, auto) { return y; }, true});
    all.push_back({"cas", b, bytes, [](auto x, auto y, auto z) { return x == y ? z : x; }, true});
  }
  all.push_back({"cas", "b16", 2, [](auto x, auto y, auto z) { return x == y ? z : x; }, true});
  all.push_back({"add", "s32", 4, [](auto x, auto y, auto) { return (x + y) & 0xffffffffull; }});
  all.push_back({"inc", "u32", 4, [](auto x, auto y, auto) { return x >= y ? 0 : x + 1; }});
  all.push_back({"dec", "u32", 4, [](auto x, auto y, auto) { return x == 0 || x > y ? y : x - 1; }});
  all.push_back({"add", "f64", 8, [](auto x, auto y, auto) { return added(kF64, x, y, Round::nearest_even); }});
  const auto half = [](std::uint64_t x, std::uint64_t y) {
    return added(kF16, x & 0xffff, y & 0xffff, Round::nearest_even);
  };
  all.push_back({"add.noftz", "f16", 2, [half](auto x, auto y, auto) { return half(x, y); }});
  all.push_back(
      {"add.noftz", "f16x2", 4, [half](auto x, auto y, auto) { return half(x, y) | half(x >> 16, y >> 16) << 16; }});
  return all;
}

// Tests an atomic: 32 lanes update one word or eight words, in lane order. A reduction returns no old value. Initial
// values and operands are samples() of the type.
void expect_atomic(const Atomic& atomic, const std::string& space, int words, bool reduction) {
  const auto bytes = static_cast<std::size_t>(atomic.bytes);
  const char reg = atomic.bytes == 8 ? 'd' : atomic.bytes == 4 ? 'r' : 'h';
  const Kind kind = atomic.type == "f64"   ? Kind::f64
                    : atomic.type == "f16" ? Kind::f16
                    : atomic.bytes == 8    ? Kind::u64
                    : atomic.bytes == 4    ? Kind::u32
                                           : Kind::u16;
  const Values start = samples(kind, 64, 3), b = samples(kind, 96, 5);
  Kernel kernel{.in = std::vector<std::uint8_t>(3 * 256), .out_bytes = 512};
  Values memory(static_cast<std::size_t>(words)), operand(32), other(32), old(32);
  const bool cas = atomic.op == "cas";
  for (std::size_t w = 0; w < memory.size(); ++w) memory[w] = start[start.size() - 1 - w * 3];
  for (std::size_t l = 0; l < 32; ++l) {
    operand[l] = b[l + 20], other[l] = b[l + 50];
    if (cas && l % 3 != 2) operand[l] = l < memory.size() ? memory[l % memory.size()] : other[l - memory.size()];
  }
  for (std::size_t l = 0; l < 32; ++l) {
    if (l < memory.size()) std::memcpy(&kernel.in[l * 8], &memory[l], 8);
    std::memcpy(&kernel.in[256 + l * 8], &operand[l], 8);
    std::memcpy(&kernel.in[512 + l * 8], &other[l], 8);
  }
  std::string& body = kernel.body;
  const char* of_reg = reg == 'd' ? "%rd" : reg == 'r' ? "%r" : "%h";
  const std::string b_reg = fmt::format("{}10", of_reg), c_reg = fmt::format("{}11", of_reg),
                    d_reg = fmt::format("{}12", of_reg);
  const std::string plain = fmt::format("u{}", 8 * bytes);
  body += "mul.wide.u32 %rd1, %r63, 8;\nadd.u64 %rd2, %rd62, %rd1;\nadd.u64 %rd3, %rd63, %rd1;\n";
  body += fmt::format("ld.global.{0} {1}, [%rd2+256];\nld.global.{0} {2}, [%rd2+512];\nmov.u64 %rd4, 0;\n", plain,
                      b_reg, c_reg);
  body += fmt::format("rem.u32 %r20, %r63, {};\n", words);
  // The words that the atomics update are in `out`, after the results, or in shared memory.
  const bool shared = space == ".shared";
  body += shared ? "mov.u32 %r21, s;\nmad.lo.u32 %r20, %r20, 8, %r21;\n"
                 : "mul.wide.u32 %rd5, %r20, 8;\nadd.u64 %rd5, %rd5, %rd63;\nadd.u64 %rd5, %rd5, 256;\n";
  const std::string at = shared ? "[%r20]" : "[%rd5]", whole = shared ? "shared" : "global";
  body += fmt::format(
      "setp.lt.u32 %p1, %r63, {0};\n@%p1 ld.global.u64 %rd6, [%rd2];\n@%p1 st.{1}.u64 {2}, %rd6;\n{3}st.global.u64 "
      "[%rd3], %rd4;\n",
      words, whole, at, shared ? "bar.warp.sync -1;\n" : "");
  body += fmt::format("{}{}.{}.{} {}{}, {}{};\n", reduction ? "red" : "atom", space, atomic.op, atomic.type,
                      reduction ? "" : d_reg + ", ", at, b_reg, cas ? ", " + c_reg : "");
  if (!reduction) body += fmt::format("st.global.{} [%rd3], {};\n", plain, d_reg);
  if (shared)
    body += fmt::format("bar.warp.sync -1;\n@%p1 ld.shared.u64 %rd6, {};\n@%p1 st.global.u64 [%rd3+256], %rd6;\n", at);
  const Outcome outcome = run(kernel);
  ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
  for (std::size_t l = 0; l < 32; ++l) {
    std::uint64_t& word = memory[l % memory.size()];
    const std::uint64_t mask = bytes == 8 ? ~0ull : (1ull << (8 * bytes)) - 1;
    old[l] = word & mask;
    word = (word & ~mask) | atomic.update(word & mask, operand[l], other[l]);
    if (!reduction) {
      ASSERT_EQ(outcome.at<std::uint64_t>(l), old[l]) << space << atomic.op << atomic.type << " lane " << l;
    }
  }
  for (std::size_t w = 0; w < memory.size(); ++w) {
    ASSERT_EQ(outcome.at<std::uint64_t>(32 + w), memory[w]) << space << atomic.op << atomic.type << " word " << w;
  }
}

// In global memory atom.add.f32 flushes subnormal numbers; in shared memory it does not.
Atomic float_sum(bool global) {
  return {"add", "f32", 4, [global](auto x, auto y, auto) {
            if (!global) return added(kF32, x, y, Round::nearest_even);
            return kF32.flushed(added(kF32, kF32.flushed(x), kF32.flushed(y), Round::nearest_even));
          }};
}

void expect_atomics(bool reduction) {
  for (const char* space : {"", ".global", ".shared"}) {
    std::vector<Atomic> all = atomics();
    all.push_back(float_sum(*space == 0 || space[1] == 'g'));
    for (const Atomic& atomic : all) {
      if (reduction && atomic.returns_only) continue;
      for (const int words : {1, 8}) expect_atomic(atomic, space, words, reduction);
    }
  }
}
ROW_TEST(Atom, EveryOperationInEverySpace) { expect_atomics(false); }
ROW_TEST(Red, EveryOperationInEverySpace) { expect_atomics(true); }

// ---- Hints ----------------------------------------------------------------------------------------------------------

ROW_TEST(Prefetch, ChangesNothing) {
  const std::string load = "ld.global.u32 %r1, [%rd62];\nst.global.u32 [%rd63], %r1;\n";
  const std::string prefetches =
      "prefetch.global.L2 [%rd62];\nprefetch.global.L1 [%rd62+128];\nprefetch.global.L2::evict_last [%rd62];\n";
  const Outcome with = run({.body = prefetches + load, .threads = 1, .in = numbered(512), .out_bytes = 4});
  const Outcome without = run({.body = load, .threads = 1, .in = numbered(512), .out_bytes = 4});
  EXPECT_EQ(with.out, without.out);
  EXPECT_EQ(with.count(Counter::dram_read_bytes), without.count(Counter::dram_read_bytes));
  EXPECT_EQ(with.count(Counter::warp_instructions), without.count(Counter::warp_instructions) + 3);
}

ROW_TEST(Createpolicy, IsTakenByLoadsStoresAndCopies) {
  const Outcome outcome = run(
      {.body =
           "createpolicy.fractional.L2::evict_last.b64 %rd1, 0f3F000000;\ncreatepolicy.fractional.L2::evict_first.b64 "
           "%rd2;\n"
           "ld.global.L2::cache_hint.v2.u32 {%r1, %r2}, [%rd62], %rd1;\nst.global.L2::cache_hint.u32 [%rd63], %r1, "
           "%rd2;\n"
           "mov.u32 %r3, s;\ncp.async.cg.shared.global.L2::cache_hint [%r3], [%rd62], 16, %rd1;\ncp.async.wait_all;\n"
           "ld.shared.u32 %r4, [%r3+4];\nst.global.u32 [%rd63+4], %r4;\n"
           "red.global.add.L2::cache_hint.u32 [%rd63+8], 7, %rd1;\n",
       .threads = 1,
       .in = numbered(16),
       .out_bytes = 12,
       .sanitize = false});
  ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
  EXPECT_EQ(outcome.at<std::uint32_t>(0), loaded(kTypes[6], numbered(4).data()));
  EXPECT_EQ(outcome.at<std::uint32_t>(1), loaded(kTypes[6], &numbered(8)[4]));
  EXPECT_EQ(outcome.at<std::uint32_t>(2), 7u);
}

// ---- Copies ---------------------------------------------------------------------------------------------------------

// Each lane copies 4, 8 or 16 bytes. If `partly`, it reads from none to all of these, and the copy sets the rest to 0.
ROW_TEST(Cp, CopiesAndFillsWithZeros) {
  for (const int bytes : {4, 8, 16}) {
    for (const char* cache : {"ca", "cg"}) {
      if (*cache == 'c' && cache[1] == 'g' && bytes != 16) continue;
      for (const bool partly : {false, true}) {
        const std::vector<std::uint8_t> in = numbered(512);
        std::string body = fmt::format(
            "mul.wide.u32 %rd1, %r63, {0};\nadd.u64 %rd2, %rd62, %rd1;\nadd.u64 %rd3, %rd63, %rd1;\n"
            "mov.u32 %r1, s;\nmad.lo.u32 %r2, %r63, {0}, %r1;\nrem.u32 %r3, %r63, {1};\n",
            bytes, bytes + 1);
        body += fmt::format(
            "cp.async.{}.shared.global [%r2], [%rd2], {}{};\ncp.async.commit_group;\ncp.async.wait_group 0;\n", cache,
            bytes, partly ? ", %r3" : "");
        for (int i = 0; i < bytes; i += 4)
          body += fmt::format("ld.shared.u32 %r4, [%r2+{0}];\nst.global.u32 [%rd3+{0}], %r4;\n", i);
        const Outcome outcome = run({.body = body, .in = in, .out_bytes = 512});
        ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
        for (int l = 0; l < 32; ++l) {
          for (int i = 0; i < bytes; ++i) {
            const bool read = !partly || i < l % (bytes + 1);
            const auto at = static_cast<std::size_t>(l * bytes + i);
            ASSERT_EQ(outcome.out[at], read ? in[at] : 0) << bytes << cache << l;
          }
        }
      }
    }
  }
}

// Lanes that ignore their source need no address, and count no bytes.
ROW_TEST(Cp, IgnoresTheSourceWhereAPredicateHolds) {
  struct Case {
    const char* predicate;
    std::uint32_t reading;  // lanes
  };
  for (const Case& c : {Case{"%p2", 0x0000ffff}, Case{"!%p2", 0xffff0000}, Case{"%p3", 0}, Case{"!%p3", 0xffffffff}}) {
    const std::vector<std::uint8_t> in = numbered(512);
    // The lanes with %p2 point 1 MiB behind the buffer, if they ignore it.
    const bool far = c.reading == 0x0000ffff || c.reading == 0;
    std::string body = fmt::format(
        "mul.wide.u32 %rd1, %r63, 16;\nadd.u64 %rd2, %rd62, %rd1;\nadd.u64 %rd3, %rd63, %rd1;\nmov.u32 %r1, s;\n"
        "mad.lo.u32 %r2, %r63, 16, %r1;\nsetp.gt.u32 %p2, %r63, 15;\nsetp.gt.u32 %p3, 3, 2;\n"
        "selp.b64 %rd4, {}, 0, %p2;\nadd.u64 %rd2, %rd2, %rd4;\n"
        "cp.async.cg.shared.global [%r2], [%rd2], 16, {};\ncp.async.wait_all;\n",
        far ? 1 << 20 : 0, c.predicate);
    for (int i = 0; i < 16; i += 4)
      body += fmt::format("ld.shared.u32 %r4, [%r2+{0}];\nst.global.u32 [%rd3+{0}], %r4;\n", i);
    const Outcome outcome = run({.body = body, .in = in, .out_bytes = 512});
    ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
    for (std::size_t i = 0; i < 512; ++i)
      ASSERT_EQ(outcome.out[i], (c.reading >> (i / 16) & 1u) != 0 ? in[i] : 0) << c.predicate << i;
    const auto lanes = static_cast<std::uint64_t>(std::popcount(c.reading));
    EXPECT_EQ(outcome.count(Counter::global_load_requests), c.reading != 0 ? 1u : 0u) << c.predicate;
    EXPECT_EQ(outcome.count(Counter::l1_read_sectors), lanes / 2) << c.predicate;
  }
  // The lanes that read must be in bounds.
  const Outcome outside = run({.body = "mov.u32 %r1, s;\nsetp.ne.u32 %p1, %r63, 5;\nadd.u64 %rd1, %rd62, 1048576;\n"
                                       "cp.async.ca.shared.global [%r1], [%rd1], 4, %p1;\ncp.async.wait_all;\n",
                               .in = numbered(512)});
  ASSERT_TRUE(outside.record.fault);
  EXPECT_EQ(outside.record.fault->kind, FaultKind::out_of_bounds);
}

// The ISA's table: thread l holds elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4, or with .trans of column l / 4, of
// every matrix.
ROW_TEST(Ldmatrix, GivesEachThreadTwoNeighbours) {
  const std::vector<std::uint8_t> in = numbered(512);
  for (const int matrices : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      std::string registers;
      for (int i = 0; i < matrices; ++i) registers += fmt::format("{}%r{}", i == 0 ? "" : ", ", 10 + i);
      std::string body =
          "mov.u32 %r1, s;\nmul.wide.u32 %rd1, %r63, 16;\nadd.u64 %rd2, %rd62, %rd1;\nmad.lo.u32 %r2, %r63, 16, %r1;\n"
          "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd2];\nst.shared.v4.u32 [%r2], {%r4, %r5, %r6, "
          "%r7};\nbar.warp.sync -1;\n";
      body += fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {{{}}}, [%r2];\n", matrices,
                          transposed ? ".trans" : "", registers);
      body += "mul.wide.u32 %rd1, %r63, 4;\nadd.u64 %rd3, %rd63, %rd1;\n";
      for (int i = 0; i < matrices; ++i) body += fmt::format("st.global.u32 [%rd3+{}], %r{};\n", i * 128, 10 + i);
      const Outcome outcome = run({.body = body, .in = in, .out_bytes = 512});
      ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
      for (int i = 0; i < matrices; ++i) {
        for (int l = 0; l < 32; ++l) {
          for (int part = 0; part < 2; ++part) {
            const int row = transposed ? l % 4 * 2 + part : l / 4, column = transposed ? l / 4 : l % 4 * 2 + part;
            std::uint16_t wanted = 0;
            std::memcpy(&wanted, &in[static_cast<std::size_t>((i * 8 + row) * 16 + column * 2)], 2);
            ASSERT_EQ(outcome.at<std::uint16_t>(static_cast<std::size_t>((i * 32 + l) * 2 + part)), wanted)
                << matrices << transposed;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace roofwalk::isa
