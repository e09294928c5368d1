#include "tests/isa/row.h"

#include <bit>
#include <limits>

#include <fmt/format.h>

#include "common/specs/machine.h"
#include "common/vgpu/gpu.h"

namespace roofwalk::isa {
namespace {

std::set<ptx::Opcode>& run_rows() {  // rows run in the current test
  static std::set<ptx::Opcode> rows;
  return rows;
}

std::string module_text(const std::string& declarations, const std::string& body) {
  return ".version 9.0\n.target sm_80\n.address_size 64\n" + declarations +
         "\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
         ".reg .pred %p<64>;\n.reg .b16 %h<64>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<64>;\n.reg .f32 %f<64>;\n"
         ".reg .f64 %d<64>;\n.shared .align 128 .b8 s[16384];\n.local .align 16 .b8 l[256];\n"
         "ld.param.u64 %rd62, [in];\nld.param.u64 %rd63, [out];\nmov.u32 %r62, %ctaid.x;\nmov.u32 %r61, %ntid.x;\n"
         "mov.u32 %r60, %tid.x;\nmad.lo.u32 %r63, %r62, %r61, %r60;\n" +
         body + "\nret;\n}\n";
}

const Machine& machine() {
  static const Machine loaded = *load_machine("classroom");
  return loaded;
}

constexpr std::uint64_t kBudget = 10'000'000;

// The parts of the kernel that `execute` runs: loads of the sources, the instructions with their registers, stores of
// the results.
struct Applied {
  std::string loads, code, stores;
  std::size_t sources = 0, results = 0;
};

Applied spell(const std::string& text, std::size_t lanes) {
  Applied out;
  int halves = 0, words = 0, longs = 0, predicates = 0;
  const auto address = [&](const char* base, std::size_t place) {
    return fmt::format("mul.wide.u32 %rd61, %r63, 8;\nadd.u64 %rd61, %rd61, {};\nadd.u64 %rd61, %rd61, {};\n", base,
                       place * lanes * 8);
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool source = text[i] == '$', result = text[i] == '=';
    if (!source && !result) {
      out.code += text[i];
      continue;
    }
    const char kind = text[++i];
    const std::string name = kind == 'h'   ? fmt::format("%h{}", halves++)
                             : kind == 'r' ? fmt::format("%r{}", words++)
                             : kind == 'd' ? fmt::format("%rd{}", longs++)
                                           : fmt::format("%p{}", predicates++);
    const std::string type = kind == 'h' ? "u16" : kind == 'd' ? "u64" : "u32";
    out.code += name;
    if (source) {
      out.loads += address("%rd62", out.sources++) + fmt::format("ld.global.{} {}, [%rd61];\n", type, name);
    } else {
      std::string value = name;
      if (kind == 'p') out.stores += fmt::format("selp.u32 %r59, 1, 0, {};\n", value), value = "%r59";
      out.stores += "mov.u64 %rd60, 0;\n" + address("%rd63", out.results++) +
                    fmt::format("st.global.u64 [%rd61], %rd60;\nst.global.{} [%rd61], {};\n", type, value);
    }
  }
  return out;
}

std::uint64_t next(std::uint64_t& state) {  // SplitMix64
  std::uint64_t z = state += 0x9e37'79b9'7f4a'7c15u;
  z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9u;
  z = (z ^ z >> 27) * 0x94d0'49bb'1331'11ebu;
  return z ^ z >> 31;
}

// Returns zero, the smallest and largest number of each class, one and its neighbours, a tie for the next narrower
// type, infinity, both kinds of NaN; each with both signs.
Values float_edges(int exponent_bits, int fraction_bits) {
  const std::uint64_t one_bit = 1, least_normal = one_bit << fraction_bits;
  const std::uint64_t infinity = ((one_bit << exponent_bits) - 1) << fraction_bits;
  const std::uint64_t bias = (one_bit << (exponent_bits - 1)) - 1, one = bias << fraction_bits;
  const std::uint64_t sign = one_bit << (exponent_bits + fraction_bits);
  Values out = {0,
                1,
                2,
                least_normal - 1,
                least_normal,
                least_normal + 1,
                one - 1,
                one,
                one + 1,
                one + least_normal,
                infinity - 1,
                infinity,
                infinity + 1,
                infinity | least_normal >> 1,
                one + (least_normal >> 1),
                one + 3 * (least_normal >> 2)};
  for (std::size_t i = 0, n = out.size(); i < n; ++i) out.push_back(out[i] | sign);
  return out;
}

Values integer_edges(int bits) {
  const std::uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1, sign = 1ull << (bits - 1);
  return {0,
          1,
          2,
          3,
          7,
          8,
          15,
          16,
          31,
          32,
          33,
          63,
          64,
          65,
          255,
          256,
          mask,
          mask - 1,
          sign,
          sign - 1,
          sign + 1,
          0x5555'5555'5555'5555u & mask,
          0xaaaa'aaaa'aaaa'aaaau & mask};
}

struct Shape {
  int exponent_bits, fraction_bits;
};

Values edges(Kind kind) {
  switch (kind) {
    case Kind::u16:
      return integer_edges(16);
    case Kind::u32:
      return integer_edges(32);
    case Kind::u64:
      return integer_edges(64);
    case Kind::f16:
      return float_edges(5, 10);
    case Kind::bf16:
      return float_edges(8, 7);
    case Kind::f32:
      return float_edges(8, 23);
    case Kind::f64:
      return float_edges(11, 52);
  }
  return {};
}

int bits_of(Kind kind) {
  switch (kind) {
    case Kind::u16:
    case Kind::f16:
    case Kind::bf16:
      return 16;
    case Kind::u32:
    case Kind::f32:
      return 32;
    default:
      return 64;
  }
}

// Returns random bits. Half of the floats have a magnitude near 1 (exponents -4 to 3), so that sums often cancel and
// results are often halfway between two floats. Half of the integers are shifted right, so that short numbers occur.
std::uint64_t random_value(Kind kind, std::uint64_t& state) {
  const std::uint64_t value = next(state);
  const int bits = bits_of(kind);
  const std::uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
  const Shape shape = kind == Kind::f16    ? Shape{5, 10}
                      : kind == Kind::bf16 ? Shape{8, 7}
                      : kind == Kind::f32  ? Shape{8, 23}
                                           : Shape{11, 52};
  const bool is_integer = kind == Kind::u16 || kind == Kind::u32 || kind == Kind::u64;
  if (is_integer) {
    const std::uint64_t shift = next(state) % static_cast<std::uint64_t>(bits);
    return (next(state) & 1) != 0 ? value & mask : (value & mask) >> shift;
  }
  if ((next(state) & 1) != 0) return value & mask;
  const std::uint64_t bias = (1ull << (shape.exponent_bits - 1)) - 1;
  const std::uint64_t field = bias + next(state) % 8 - 4;
  const std::uint64_t fraction = value & ((1ull << shape.fraction_bits) - 1);
  return (value >> 63) << (bits - 1) | field << shape.fraction_bits | fraction;
}

}  // namespace

std::set<ptx::Opcode>& tested_rows() {
  static std::set<ptx::Opcode> rows;
  return rows;
}

void RowTest::SetUp() { run_rows().clear(); }

void RowTest::TearDown() {
  EXPECT_TRUE(run_rows().contains(row_)) << "no kernel of this test holds `" << ptx::info(row_).mnemonic << "`";
}

Outcome run(const Kernel& kernel) {
  Outcome outcome;
  auto module = ptx::parse(module_text(kernel.declarations, kernel.body), "kernel.cu");
  if (!module) {
    ADD_FAILURE() << module.error().text();
    return outcome;
  }
  for (const ptx::Function& function : module->functions) {
    for (const ptx::Instruction& in : function.instructions) run_rows().insert(in.opcode);
  }
  vgpu::Gpu gpu(machine());
  if (const Status loaded = gpu.load(std::move(*module), "kernel.cu", "kernel.cu"); !loaded) {
    ADD_FAILURE() << loaded.error().text();
    return outcome;
  }
  const auto bytes_or_some = [](std::size_t bytes) { return std::max<std::size_t>(bytes, 16); };
  vgpu::Memory& memory = gpu.memory();
  const int in = *memory.allocate("in", bytes_or_some(kernel.in.size()), 1, vgpu::Memory::Region::buffers);
  const int out = *memory.allocate("out", bytes_or_some(kernel.out_bytes), 1, vgpu::Memory::Region::buffers);
  std::uint64_t arguments[] = {memory.buffer(in).address, memory.buffer(out).address};
  if (!kernel.in.empty()) std::memcpy(memory.buffer(in).data, kernel.in.data(), kernel.in.size());
  gpu.begin_plan({.work = kBudget, .seconds = 10, .sanitize = kernel.sanitize});
  const auto launched = gpu.launch({.kernel = "k",
                                    .grid = {kernel.blocks, 1, 1},
                                    .block = {kernel.threads, 1, 1},
                                    .arguments = {reinterpret_cast<const std::uint8_t*>(arguments), sizeof arguments},
                                    .registers_per_thread = 64});
  if (!launched) {
    ADD_FAILURE() << launched.error().text();
    return outcome;
  }
  outcome.record = gpu.end_plan();
  outcome.out.resize(kernel.out_bytes);
  if (kernel.out_bytes != 0) std::memcpy(outcome.out.data(), memory.buffer(out).data, kernel.out_bytes);
  return outcome;
}

std::string refusal(const std::string& body) {
  auto module = ptx::parse(module_text("", body), "kernel.cu");
  if (!module) return module.error().message;
  vgpu::Gpu gpu(machine());
  if (const Status loaded = gpu.load(std::move(*module), "kernel.cu", "kernel.cu"); !loaded)
    return loaded.error().message;
  const std::uint64_t arguments[2] = {};
  gpu.begin_plan({.work = kBudget, .seconds = 10});
  const auto launched = gpu.launch({.kernel = "k",
                                    .grid = {1, 1, 1},
                                    .block = {32, 1, 1},
                                    .arguments = {reinterpret_cast<const std::uint8_t*>(arguments), sizeof arguments},
                                    .registers_per_thread = 64});
  return launched ? "" : launched.error().message;
}

std::vector<Values> execute_all(const std::string& instructions, const std::vector<Values>& sources) {
  constexpr std::size_t kThreads = 128;
  std::size_t wanted = 1;
  for (const Values& source : sources) wanted = std::max(wanted, source.size());
  const std::size_t block = wanted <= 32 ? 32 : kThreads, lanes = (wanted + block - 1) / block * block;
  const Applied applied = spell(instructions, lanes);
  EXPECT_EQ(applied.sources, sources.size()) << instructions;
  Kernel kernel{.body = applied.loads + applied.code + ";\n" + applied.stores,
                .blocks = static_cast<std::uint32_t>(lanes / block),
                .threads = static_cast<std::uint32_t>(block)};
  kernel.in.resize(sources.size() * lanes * 8);
  kernel.out_bytes = applied.results * lanes * 8;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    for (std::size_t l = 0; l < lanes; ++l) {
      const std::uint64_t value = sources[s][std::min(l, sources[s].size() - 1)];
      std::memcpy(&kernel.in[(s * lanes + l) * 8], &value, sizeof value);
    }
  }
  const Outcome outcome = run(kernel);
  EXPECT_FALSE(outcome.record.fault) << outcome.record.fault->message << " of " << instructions;
  std::vector<Values> results(applied.results);
  for (std::size_t r = 0; r < applied.results && !outcome.out.empty(); ++r) {
    for (std::size_t l = 0; l < wanted; ++l) results[r].push_back(outcome.at<std::uint64_t>(r * lanes + l));
  }
  return results;
}

Values execute(const std::string& instructions, const std::vector<Values>& sources) {
  auto results = execute_all(instructions, sources);
  EXPECT_EQ(results.size(), 1u) << instructions;
  return results.empty() ? Values{} : results[0];
}

std::string to_hex(std::uint64_t value) { return fmt::format("{:#x}", value); }

Values samples(Kind kind, std::size_t count, std::uint64_t seed) {
  Values out = edges(kind);
  while (out.size() < count) out.push_back(random_value(kind, seed));
  return out;
}

std::vector<Values> sample_tuples(const std::vector<Kind>& kinds, std::size_t count) {
  std::vector<Values> out(kinds.size());
  std::vector<Values> of_kind;
  std::size_t combinations = 1;
  for (const Kind kind : kinds) of_kind.push_back(edges(kind)), combinations *= of_kind.back().size();
  std::uint64_t seed = 7;
  // Takes all combinations of edge values, or evenly spaced ones if there are too many (as with three sources).
  const std::size_t most = count * 3 / 4, step = combinations > most ? combinations / most | 1 : 1;
  for (std::size_t c = 0; c < combinations; c += step) {
    std::size_t rest = c;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      out[k].push_back(of_kind[k][rest % of_kind[k].size()]);
      rest /= of_kind[k].size();
    }
  }
  while (out[0].size() < count) {
    for (std::size_t k = 0; k < kinds.size(); ++k) out[k].push_back(random_value(kinds[k], seed));
  }
  return out;
}

}  // namespace roofwalk::isa
