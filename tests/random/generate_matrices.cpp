#include "tests/random/generator.h"

namespace roofwalk::random {

// Returns a register of factors whose sums of products are exact in any order: they have random signs, few significant
// bits, and exponents close to each other.
Register Generator::exact_factors(MatrixShape::Factor factor) {
  using Factor = MatrixShape::Factor;
  const Register out = fresh(Kind::b32);
  Bits keep = 0, set = 0;
  switch (factor) {
    case Factor::f16:  // 2^-3 to 2^0, with two more fraction bits
      keep = 0x8f00'8f00, set = 0x3000'3000;
      break;
    case Factor::bf16:  // the same values
      keep = 0x81e0'81e0, set = 0x3e00'3e00;
      break;
    case Factor::tf32:
      keep = 0x81f8'0000, set = 0x3e00'0000;
      break;
    case Factor::s8:  // any sum of integers is exact
      return pool(Kind::b32);
  }
  put(form("and.b32", out, {of(pool(Kind::b32)), number(keep, "b32")}));
  put(form("or.b32", out, {of(out), number(set, "b32")}));
  return out;
}

std::vector<Operand> Generator::distinct_words(int count) {
  std::vector<Operand> out;
  while (static_cast<int>(out.size()) < count) {
    const Operand word = of(target(Kind::b32));
    if (std::none_of(out.begin(), out.end(), [&](const Operand& o) { return o.reg == word.reg; })) out.push_back(word);
  }
  return out;
}

// Generates an mma. All threads of the warp are active here.
void Generator::multiply_matrices() {
  const MatrixShape& shape = one_of(kMatrixShapes);
  group([&] {
    Instruction in;
    in.what = Do::multiply_matrices;
    in.text = shape.text;
    in.shape = &shape;
    for (int i = shape.a_registers + shape.b_registers; i > 0; --i)
      in.sources.push_back(of(exact_factors(shape.factor)));
    for (int i = 0; i < 4; ++i) {
      const bool whole = shape.factor == MatrixShape::Factor::s8;
      in.sources.push_back(of(whole ? pool(Kind::b32) : exact_factors(MatrixShape::Factor::tf32)));
    }
    in.results = distinct_words(4);
    put(std::move(in));
  });
}

// Generates an ldmatrix of rows anywhere in shared memory, after all threads of the block have written to it and passed
// a barrier.
void Generator::load_matrices() {
  Instruction in;
  in.what = Do::load_matrices;
  const int matrices = 1 << between(0, 2), row_bytes = 16;
  in.transposed = chance(40);
  in.text = fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16", matrices, in.transposed ? ".trans" : "");
  in.space = Space::shared;
  in.element_bytes = row_bytes;
  const Register address = fresh(Kind::b32), row = index_below(static_cast<int>(out_.shared_bytes) / row_bytes);
  put(form("mad.lo.u32", address, {of(row), number(static_cast<Bits>(row_bytes), "u32"), of(near_)}));
  in.base = address;
  in.has_base = true;
  in.results = distinct_words(matrices);
  put(std::move(in));
}

}  // namespace roofwalk::random
