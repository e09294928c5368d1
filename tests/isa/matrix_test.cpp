// Matrix products of a warp: fragments follow the PTX ISA's tables, products its definition, exact to the last bit.
#include <functional>

#include <fmt/format.h>

#include "tests/isa/reference.h"
#include "tests/isa/row.h"

namespace roofwalk::isa {
namespace {

struct Shape {
  int m, n, k;
};

// An element type: its width and format.
struct Element {
  const char* name;
  int bits;
  const Format* format;  // float types only
  bool is_signed = false;
  char reg() const { return bits == 64 ? 'd' : 'r'; }
  int per_register() const { return bits >= 32 ? 1 : 32 / bits; }
};
const Element kHalf{"f16", 16, &kF16}, kBfloat{"bf16", 16, &kBf16}, kTf{"tf32", 32, &kF32}, kSingle{"f32", 32, &kF32};
const Element kDouble{"f64", 64, &kF64}, kS8{"s8", 8, nullptr, true}, kU8{"u8", 8, nullptr},
    kS32{"s32", 32, nullptr, true};

using Matrix = std::vector<std::uint64_t>;  // row by row, as bits

// Values of the tested matrices: small whole numbers, or random bits with the type's edge values.
enum class Content { small, any };
Matrix matrix_of(const Element& element, int rows, int columns, Content content, std::uint64_t seed) {
  Matrix out;
  const auto count = static_cast<std::size_t>(rows * columns);
  if (element.format == nullptr) {
    for (const std::uint64_t bits : samples(Kind::u32, count + 23, seed)) {
      out.push_back(bits & ((std::uint64_t{1} << element.bits) - 1));
    }
  } else if (content == Content::small) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto whole = static_cast<int>((i * 2654435761u + seed * 40503u) >> 7 & 63) - 32;
      const Exact value{whole < 0, static_cast<UInt128>(whole < 0 ? -whole : whole), -3, false};
      out.push_back(rounded(*element.format, value, Round::nearest_even));
    }
  } else {
    const Kind kind = element.bits == 64                   ? Kind::f64
                      : element.bits == 32                 ? Kind::f32
                      : element.format->exponent_bits == 5 ? Kind::f16
                                                           : Kind::bf16;
    out = samples(kind, count + 64, seed);
    out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(seed % 2 * 32));
  }
  out.resize(count);
  return out;
}

// ---- The ISA's fragment tables --------------------------------------------------------------------------------------

struct Place {
  int row, column;
};
using Table = std::function<Place(int group, int number, int i)>;  // the place of element i of a thread

// Return places from the ISA's "Matrix Fragments for mma.m16n8k..." and "mma.m8n8k...", by operand. `group` is
// lane / 4, `number` is lane % 4.
Place place_in_a(const Shape& shape, const Element& element, int group, int number, int i) {
  if (shape.m == 8) return {group, element.bits == 64 ? number : number * 4 + i};
  switch (element.bits) {
    case 8:  // m16n8k16, m16n8k32
      return {i / 4 % 2 == 0 ? group : group + 8, number * 4 + (i & 3) + (i < 8 ? 0 : 16)};
    case 16:  // m16n8k8, m16n8k16
      return {i / 2 % 2 == 0 ? group : group + 8, number * 2 + (i & 1) + (i < 4 ? 0 : 8)};
    default:  // tf32: m16n8k4, m16n8k8
      return {i % 2 == 0 ? group : group + 8, i < 2 ? number : number + 4};
  }
}
Place place_in_b(const Element& element, int group, int number, int i) {
  switch (element.bits) {
    case 8:
      return {number * 4 + (i & 3) + (i < 4 ? 0 : 16), group};
    case 16:
      return {number * 2 + (i & 1) + (i < 2 ? 0 : 8), group};
    default:
      return {i == 0 ? number : number + 4, group};
  }
}
Place place_in_c(int group, int number, int i) { return {i < 2 ? group : group + 8, number * 2 + (i & 1)}; }

// Returns the registers of the 32 lanes.
std::vector<Values> registers_of(const Matrix& matrix, int columns, const Element& element, const Table& table) {
  const int held = static_cast<int>(matrix.size()) / 32, each = element.per_register();
  std::vector<Values> out(static_cast<std::size_t>(held / each), Values(32));
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < held; ++i) {
      const Place at = table(lane / 4, lane % 4, i);
      out[static_cast<std::size_t>(i / each)][static_cast<std::size_t>(lane)] |=
          matrix[static_cast<std::size_t>(at.row * columns + at.column)] << (element.bits * (i % each) % 64);
    }
  }
  return out;
}
Matrix matrix_from(const std::vector<Values>& registers, int rows, int columns, const Element& element,
                   const Table& table) {
  Matrix out(static_cast<std::size_t>(rows * columns));
  const int each = element.per_register();
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < rows * columns / 32; ++i) {
      const Place at = table(lane / 4, lane % 4, i);
      const std::uint64_t mask = element.bits == 64 ? ~0ull : (1ull << element.bits) - 1;
      out[static_cast<std::size_t>(at.row * columns + at.column)] =
          registers[static_cast<std::size_t>(i / each)][static_cast<std::size_t>(lane)] >>
              (element.bits * (i % each) % 64) &
          mask;
    }
  }
  return out;
}

// ---- Products -------------------------------------------------------------------------------------------------------

struct Product {
  Shape shape;
  Element a, b, c, d;
  bool clamps = false;
};

std::uint64_t in_single(const Element& element, std::uint64_t bits) {
  if (element.name == kTf.name) bits &= ~std::uint64_t{0x1fff};  // tf32 ignores the low 13 bits
  return element.bits == 32 ? bits : converted(kF32, *element.format, bits, Round::nearest_even);
}
std::int64_t whole_of(const Element& element, std::uint64_t bits) {
  const std::int64_t top = std::int64_t{1} << element.bits;
  const auto value = static_cast<std::int64_t>(bits);
  return element.is_signed && value >= top / 2 ? value - top : value;
}

// Returns an element of d. The ISA leaves the order and rounding of the sums open. The virtual GPU's rule: products of
// floats are rounded to binary32 and added to c one after another in the order of k, each sum is rounded to nearest,
// and the last one to the type of d; products of doubles are fused. Integers are exact, and wrap or are clamped at the
// end.
std::uint64_t expected(const Product& of, const Matrix& a, const Matrix& b, const Matrix& c, int row, int column) {
  const auto at_a = [&](int x) { return a[static_cast<std::size_t>(row * of.shape.k + x)]; };
  const auto at_b = [&](int x) { return b[static_cast<std::size_t>(x * of.shape.n + column)]; };
  const std::uint64_t start = c[static_cast<std::size_t>(row * of.shape.n + column)];
  if (of.c.format == nullptr) {
    std::int64_t sum = whole_of(of.c, start);
    for (int x = 0; x < of.shape.k; ++x) sum += whole_of(of.a, at_a(x)) * whole_of(of.b, at_b(x));
    if (of.clamps) sum = std::clamp<std::int64_t>(sum, -0x80000000ll, 0x7fffffffll);
    return static_cast<std::uint32_t>(sum);
  }
  if (of.c.bits == 64) {
    std::uint64_t sum = start;
    for (int x = 0; x < of.shape.k; ++x) sum = fused(kF64, at_a(x), at_b(x), sum, Round::nearest_even);
    return sum;
  }
  std::uint64_t sum = in_single(of.c, start);
  for (int x = 0; x < of.shape.k; ++x) {
    const std::uint64_t one_product =
        multiplied(kF32, in_single(of.a, at_a(x)), in_single(of.b, at_b(x)), Round::nearest_even);
    sum = added(kF32, sum, one_product, Round::nearest_even);
  }
  if (kF32.is_nan(sum)) return of.d.format->nan;
  return converted(*of.d.format, kF32, sum, Round::nearest_even);
}

void expect_product(const Product& of, const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& d) {
  int shown = 0;
  for (int row = 0; row < of.shape.m; ++row) {
    for (int column = 0; column < of.shape.n && shown < 3; ++column) {
      const std::uint64_t wanted = expected(of, a, b, c, row, column);
      const std::uint64_t found = d[static_cast<std::size_t>(row * of.shape.n + column)];
      if (wanted == found) continue;
      ++shown;
      ADD_FAILURE() << fmt::format("m{}n{}k{} {} {}: d[{}][{}] is {:#x}, not {:#x}", of.shape.m, of.shape.n, of.shape.k,
                                   of.a.name, of.d.name, row, column, found, wanted);
    }
  }
}

std::string braces(char mark, const Element& element, std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("{}{}{}", i == 0 ? "" : ", ", mark, element.reg());
  return text + "}";
}

void expect_mma(const Product& of) {
  const auto [m, n, k] = of.shape;
  const Table in_a = [&](int group, int number, int i) { return place_in_a(of.shape, of.a, group, number, i); };
  const Table in_b = [&](int group, int number, int i) { return place_in_b(of.b, group, number, i); };
  const Table in_c = place_in_c;
  for (const Content content : {Content::small, Content::any}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const Matrix a = matrix_of(of.a, m, k, content, seed), b = matrix_of(of.b, k, n, content, seed + 10);
      const Matrix c = matrix_of(of.c, m, n, content, seed + 20);
      std::vector<Values> sources = registers_of(a, k, of.a, in_a);
      const std::size_t of_a = sources.size();
      for (const Values& values : registers_of(b, n, of.b, in_b)) sources.push_back(values);
      const std::size_t of_b = sources.size() - of_a;
      for (const Values& values : registers_of(c, n, of.c, in_c)) sources.push_back(values);
      const std::size_t of_c = sources.size() - of_a - of_b;
      const std::string text = fmt::format("mma.sync.aligned.m{}n{}k{}.row.col{}.{}.{}.{}.{} {}, {}, {}, {}", m, n, k,
                                           of.clamps ? ".satfinite" : "", of.d.name, of.a.name, of.b.name, of.c.name,
                                           braces('=', of.d, of_c), braces('$', of.a, of_a), braces('$', of.b, of_b),
                                           braces('$', of.c, of_c));
      expect_product(of, a, b, c, matrix_from(execute_all(text, sources), m, n, of.d, in_c));
    }
  }
}

ROW_TEST(Mma, SumsInSingles) {
  for (const Shape shape : {Shape{16, 8, 8}, Shape{16, 8, 16}}) {
    expect_mma({shape, kHalf, kHalf, kSingle, kSingle});
    expect_mma({shape, kBfloat, kBfloat, kSingle, kSingle});
  }
  for (const Shape shape : {Shape{16, 8, 4}, Shape{16, 8, 8}}) expect_mma({shape, kTf, kTf, kSingle, kSingle});
}
ROW_TEST(Mma, SumsInHalves) {
  for (const Shape shape : {Shape{16, 8, 8}, Shape{16, 8, 16}}) expect_mma({shape, kHalf, kHalf, kHalf, kHalf});
}
ROW_TEST(Mma, OfDoubles) { expect_mma({{8, 8, 4}, kDouble, kDouble, kDouble, kDouble}); }
ROW_TEST(Mma, OfBytes) {
  for (const Shape shape : {Shape{8, 8, 16}, Shape{16, 8, 16}, Shape{16, 8, 32}}) {
    for (const Element& a : {kS8, kU8}) {
      for (const Element& b : {kS8, kU8}) {
        for (const bool clamps : {false, true}) expect_mma({shape, a, b, kS32, kS32, clamps});
      }
    }
  }
}

// ---- wmma -----------------------------------------------------------------------------------------------------------

struct InMemory {
  bool by_columns = false;
  int gap = 0;  // padding elements between two rows or columns
};

std::vector<std::uint8_t> laid_out(const Matrix& matrix, int rows, int columns, const Element& element,
                                   const InMemory& how) {
  const int lines = how.by_columns ? columns : rows, length = (how.by_columns ? rows : columns) + how.gap;
  const int bytes = element.bits / 8;
  std::vector<std::uint8_t> out(static_cast<std::size_t>(lines * length * bytes), 0xcd);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const int at = how.by_columns ? column * length + row : row * length + column;
      std::memcpy(&out[static_cast<std::size_t>(at * bytes)], &matrix[static_cast<std::size_t>(row * columns + column)],
                  static_cast<std::size_t>(bytes));
    }
  }
  return out;
}
Matrix read_back(const std::uint8_t* from, int rows, int columns, const Element& element, const InMemory& how) {
  const int length = (how.by_columns ? rows : columns) + how.gap, bytes = element.bits / 8;
  Matrix out(static_cast<std::size_t>(rows * columns));
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const int at = how.by_columns ? column * length + row : row * length + column;
      std::memcpy(&out[static_cast<std::size_t>(row * columns + column)], from + at * bytes,
                  static_cast<std::size_t>(bytes));
    }
  }
  return out;
}

std::string fragment(const char* name, const Element& element, int elements) {
  const bool f32 = element.name == kSingle.name, f64 = element.bits == 64;
  const int registers = elements / 32 / element.per_register();
  std::string text = "{";
  for (int i = 0; i < registers; ++i)
    text += fmt::format("{}%{}{}{}", i == 0 ? "" : ", ", f32 ? "wf" : f64 ? "wd" : "w", name, i);
  return text + "}";
}
int held_by(const Element& element, int elements, bool is_factor) {
  return is_factor && element.name == kHalf.name ? 16 * 32 : elements;
}

// Tests the wmma instructions: loads a, b and c, multiplies them and stores d, all in global or all in shared memory.
void expect_wmma(const Product& of, const InMemory& how_a, const InMemory& how_b, const InMemory& how_c, bool shared) {
  const auto [m, n, k] = of.shape;
  const Content content = of.c.format != nullptr && shared ? Content::any : Content::small;
  const Matrix a = matrix_of(of.a, m, k, content, 3), b = matrix_of(of.b, k, n, content, 14),
               c = matrix_of(of.c, m, n, content, 25);
  Kernel kernel;
  std::vector<std::size_t> at;
  const auto put = [&](const std::vector<std::uint8_t>& bytes) {
    at.push_back(kernel.in.size());
    kernel.in.insert(kernel.in.end(), bytes.begin(), bytes.end());
    kernel.in.resize((kernel.in.size() + 31) / 32 * 32);
  };
  put(laid_out(a, m, k, of.a, how_a));
  put(laid_out(b, k, n, of.b, how_b));
  put(laid_out(c, m, n, of.c, how_c));
  kernel.out_bytes = laid_out(Matrix(static_cast<std::size_t>(m * n)), m, n, of.d, how_c).size();
  std::string& body = kernel.body;
  for (const char* name : {"a", "b", "c", "d"})
    body += fmt::format(".reg .b32 %w{0}<8>; .reg .f32 %wf{0}<8>; .reg .f64 %wd{0}<8>;\n", name);
  std::string from = "%rd62", to = "%rd63", space = ".global";
  if (shared) {
    body += "mov.u32 %r1, s;\n";
    for (std::size_t word = 0; word < kernel.in.size() / 4; word += 32) {
      body +=
          fmt::format("mad.lo.u32 %r2, %r63, 4, {0};\ncvt.u64.u32 %rd1, %r2;\nadd.u64 %rd1, %rd1, %rd62;\n", word * 4);
      body += fmt::format(
          "setp.lt.u32 %p1, %r2, {};\n@%p1 ld.global.u32 %r3, [%rd1];\nadd.u32 %r2, %r2, %r1;\n@%p1 st.shared.u32 "
          "[%r2], %r3;\n",
          kernel.in.size());
    }
    body += "bar.sync 0;\n";
    from = "%r1", space = ".shared";
  }
  const auto load = [&](const char* use, const InMemory& how, const Element& element, int rows, int columns,
                        bool factor) {
    const int length = (how.by_columns ? rows : columns) + how.gap;
    const std::string distance = how.gap == 0 ? "" : fmt::format(", {}", length);
    body +=
        fmt::format("wmma.load.{}.sync.aligned.{}.m{}n{}k{}{}.{} {}, [{}+{}]{};\n", use, how.by_columns ? "col" : "row",
                    m, n, k, space, element.name, fragment(use, element, held_by(element, rows * columns, factor)),
                    from, at[static_cast<std::size_t>(*use - 'a')], distance);
  };
  load("a", how_a, of.a, m, k, true);
  load("b", how_b, of.b, k, n, true);
  load("c", how_c, of.c, m, n, false);
  const bool halves = of.a.name == kHalf.name;
  const std::string types = halves ? fmt::format("{}.{}", of.d.name, of.c.name)
                                   : fmt::format("{}.{}.{}.{}", of.d.name, of.a.name, of.b.name, of.c.name);
  body += fmt::format("wmma.mma.sync.aligned.{}.{}.m{}n{}k{}.{}{} {}, {}, {}, {};\n", how_a.by_columns ? "col" : "row",
                      how_b.by_columns ? "col" : "row", m, n, k, types, of.clamps ? ".satfinite" : "",
                      fragment("d", of.d, m * n), fragment("a", of.a, held_by(of.a, m * k, true)),
                      fragment("b", of.b, held_by(of.b, k * n, true)), fragment("c", of.c, m * n));
  const int length = (how_c.by_columns ? m : n) + how_c.gap;
  body += fmt::format("mov.u32 %r9, {};\nwmma.store.d.sync.aligned.{}.m{}n{}k{}.global.{} [{}], {}, %r9;\n", length,
                      how_c.by_columns ? "col" : "row", m, n, k, of.d.name, to, fragment("d", of.d, m * n));
  const Outcome outcome = run(kernel);
  ASSERT_FALSE(outcome.record.fault) << outcome.record.fault->message;
  if (outcome.out.empty()) return;
  expect_product(of, a, b, c, read_back(outcome.out.data(), m, n, of.d, how_c));
  const std::uint64_t operations = std::uint64_t{2} * m * n * k;
  const bool of_integers = of.c.format == nullptr;
  EXPECT_EQ(outcome.count(Counter::flops_tensor), of_integers ? 0 : operations);
  EXPECT_EQ(outcome.count(Counter::tensor_integer_operations), of_integers ? operations : 0);
}

void expect_wmma_all_ways(const Product& of) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      for (const bool c : {false, true}) {
        const int gap = a == b ? 16 / (of.a.bits / 8) : 0;
        expect_wmma(of, {a, gap}, {b, gap}, {c, c ? 4 : 0}, b);
      }
    }
  }
}

const Shape kWmmaShapes[] = {{16, 16, 16}, {8, 32, 16}, {32, 8, 16}};

ROW_TEST(WmmaMma, OfHalves) {
  for (const Shape& shape : kWmmaShapes) {
    for (const Element& c : {kSingle, kHalf}) {
      for (const Element& d : {kSingle, kHalf}) expect_wmma_all_ways({shape, kHalf, kHalf, c, d});
    }
  }
}
ROW_TEST(WmmaLoad, OfEveryType) {
  for (const Shape& shape : kWmmaShapes) {
    expect_wmma_all_ways({shape, kBfloat, kBfloat, kSingle, kSingle});
    expect_wmma_all_ways({shape, kS8, kS8, kS32, kS32});
    expect_wmma_all_ways({shape, kU8, kU8, kS32, kS32, true});
  }
  expect_wmma_all_ways({{16, 16, 8}, kTf, kTf, kSingle, kSingle});
  expect_wmma_all_ways({{8, 8, 4}, kDouble, kDouble, kDouble, kDouble});
}

// Runs a single wmma.load or wmma.store to get its counters.
Outcome count_alone(const std::string& instruction, bool shared) {
  Kernel kernel{.body = ".reg .b32 %w<8>; .reg .f32 %wf<8>;\n",
                .in = std::vector<std::uint8_t>(16384),
                .out_bytes = 16384,
                .sanitize = false};
  for (int i = 0; i < 8; ++i) kernel.body += fmt::format("mov.b32 %w{0}, 0;\nmov.f32 %wf{0}, 0f00000000;\n", i);
  kernel.body += shared ? "mov.u32 %r1, s;\n" : "";
  kernel.body += instruction;
  Outcome outcome = run(kernel);
  EXPECT_FALSE(outcome.record.fault) << outcome.record.fault->message;
  return outcome;
}
const std::string kEight = "{%w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7}",
                  kEightFloats = "{%wf0, %wf1, %wf2, %wf3, %wf4, %wf5, %wf6, %wf7}";

// A tile has 16 rows of 32 bytes. The warp makes four loads of 8 rows of 16 bytes; each load uses half of every sector,
// so each sector is read twice.
ROW_TEST(WmmaLoad, CountsFourLoadsOfHalvesFromGlobalMemory) {
  for (const char* order : {"row", "col"}) {
    const Outcome of = count_alone(
        fmt::format("wmma.load.a.sync.aligned.{}.m16n16k16.global.f16 {}, [%rd62], 64;\n", order, kEight), false);
    EXPECT_EQ(of.count(Counter::global_load_requests), 4u);
    EXPECT_EQ(of.count(Counter::l1_read_sectors), 32u);
    EXPECT_EQ(of.count(Counter::l1_read_hit_sectors), 16u);
    EXPECT_EQ(of.count(Counter::dram_read_bytes), 16u * 32);
  }
}
// The load counts as one ldmatrix of four matrices of eight rows. A matrix takes one wavefront if its rows are in
// different banks, and eight if they are 128 bytes apart.
ROW_TEST(WmmaLoad, CountsOneLoadOfRowsFromSharedMemory) {
  for (const auto& [distance, turns] : {std::pair{24, 1}, std::pair{64, 8}}) {
    const Outcome of = count_alone(
        fmt::format("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {}, [%r1], {};\n", kEight, distance), true);
    EXPECT_EQ(of.count(Counter::shared_load_requests), 1u);
    EXPECT_EQ(of.count(Counter::shared_wavefronts), 4u * turns) << distance;
    EXPECT_EQ(of.count(Counter::shared_bytes), 512u);
  }
}
// With contiguous rows, each thread stores two f32 at a time (8 bytes); with contiguous columns, one.
ROW_TEST(WmmaStore, CountsPairsOrSingles) {
  for (const auto& [order, requests] : {std::pair{"row", 4u}, std::pair{"col", 8u}}) {
    const Outcome of = count_alone(
        fmt::format("wmma.store.d.sync.aligned.{}.m16n16k16.global.f32 [%rd63], {}, 16;\n", order, kEightFloats),
        false);
    EXPECT_EQ(of.count(Counter::global_store_requests), requests);
    EXPECT_EQ(of.count(Counter::l1_write_sectors), 32u);
    EXPECT_EQ(of.count(Counter::dram_write_bytes), 1024u);
  }
}

ROW_TEST(WmmaStore, FaultsBeyondItsBuffer) {
  Kernel kernel{.body = ".reg .f32 %wf<8>;\n", .out_bytes = 1000};
  for (int i = 0; i < 8; ++i) kernel.body += fmt::format("mov.f32 %wf{}, 0f00000000;\n", i);
  kernel.body += "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd63], " + kEightFloats + ", 16;\n";
  const Outcome outcome = run(kernel);
  ASSERT_TRUE(outcome.record.fault);
  EXPECT_EQ(outcome.record.fault->kind, FaultKind::out_of_bounds);
}
ROW_TEST(WmmaLoad, NeedsTheWholeWarp) {
  Kernel kernel{
      .body = ".reg .b32 %w<8>;\nsetp.lt.u32 %p1, %r63, 20;\n@%p1 wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " +
              kEight + ", [%rd62], 16;\n",
      .in = std::vector<std::uint8_t>(512)};
  const Outcome outcome = run(kernel);
  ASSERT_TRUE(outcome.record.fault);
  EXPECT_EQ(outcome.record.fault->message,
            "wmma.load reached by only 20 threads of the warp: all 32 must execute it together");
}

}  // namespace
}  // namespace roofwalk::isa
