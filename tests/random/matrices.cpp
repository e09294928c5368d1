#include "tests/random/matrices.h"

#include <algorithm>

#include "tests/random/numbers.h"

namespace roofwalk::random {
namespace {

using Factor = MatrixShape::Factor;

struct Place {
  int row, column;
};

// Returns the position in a of element i of thread `lane`; group and in_group are the ISA's groupID and
// threadID_in_group.
Place place_in_a(Factor factor, int lane, int i) {
  const int group = lane >> 2, in_group = lane % 4;
  switch (factor) {
    case Factor::tf32:
      return {i == 0 || i == 2 ? group : group + 8, i < 2 ? in_group : in_group + 4};
    case Factor::s8:
      return {i < 4 || (i >= 8 && i < 12) ? group : group + 8, in_group * 4 + (i & 3) + (i < 8 ? 0 : 16)};
    default:
      return {i < 2 || (i >= 4 && i < 6) ? group : group + 8, in_group * 2 + (i & 1) + (i < 4 ? 0 : 8)};
  }
}

Place place_in_b(Factor factor, int lane, int i) {
  const int group = lane >> 2, in_group = lane % 4;
  switch (factor) {
    case Factor::tf32:
      return {i == 0 ? in_group : in_group + 4, group};
    case Factor::s8:
      return {in_group * 4 + (i & 3) + (i < 4 ? 0 : 16), group};
    default:
      return {in_group * 2 + (i & 1) + (i < 2 ? 0 : 8), group};
  }
}

Place place_in_c(int lane, int i) { return {i < 2 ? lane >> 2 : (lane >> 2) + 8, lane % 4 * 2 + (i & 1)}; }

int bits_of(Factor factor) { return factor == Factor::s8 ? 8 : factor == Factor::tf32 ? 32 : 16; }

long double value_of(Factor factor, std::uint64_t bits) {
  switch (factor) {
    case Factor::f16:
      return decode(bits, kHalf);
    case Factor::bf16:
      return decode(bits, kBrain);
    case Factor::tf32:
      return decode(bits, kSingle);
    case Factor::s8:
      return static_cast<long double>(value_of(bits, kS8));
  }
  return 0;
}

// Calls visit(lane, index of the element within the thread, value).
template <class Visit>
void each_element(Factor factor, const std::vector<WarpRegister>& registers, Visit visit) {
  const int bits = bits_of(factor), in_register = 32 / bits;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < in_register * static_cast<int>(registers.size()); ++i) {
      const std::uint64_t word = registers[static_cast<std::size_t>(i / in_register)][static_cast<std::size_t>(lane)];
      visit(lane, i, value_of(factor, low_bits(word >> (i % in_register * bits), bits)));
    }
  }
}

}  // namespace

std::array<WarpRegister, 4> multiplied(const MatrixShape& shape, const std::vector<WarpRegister>& a,
                                       const std::vector<WarpRegister>& b, const std::vector<WarpRegister>& c) {
  long double left[16][32] = {}, right[32][8] = {};
  each_element(shape.factor, a, [&](int lane, int i, long double value) {
    const Place at = place_in_a(shape.factor, lane, i);
    left[at.row][at.column] = value;
  });
  each_element(shape.factor, b, [&](int lane, int i, long double value) {
    const Place at = place_in_b(shape.factor, lane, i);
    right[at.row][at.column] = value;
  });
  std::array<WarpRegister, 4> out{};
  const bool whole = shape.factor == Factor::s8;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t before = c[static_cast<std::size_t>(i)][static_cast<std::size_t>(lane)];
      const Place at = place_in_c(lane, i);
      long double sum = whole ? static_cast<long double>(value_of(before, kS32)) : decode(before, kSingle);
      for (int x = 0; x < shape.k; ++x) sum += left[at.row][x] * right[x][at.column];
      std::uint64_t& after = out[static_cast<std::size_t>(i)][static_cast<std::size_t>(lane)];
      if (whole) {
        const auto exact = static_cast<Wide>(sum);
        after = low_bits(shape.clamps ? clamped(exact, kS32) : exact, 32);
      } else {
        after = encode(rounded(sum, kSingle, FE_TONEAREST), kSingle, kNanOfSingle);
      }
    }
  }
  return out;
}

WarpRegister loaded(const std::array<std::array<std::uint16_t, 8>, 8>& rows, bool transposed) {
  WarpRegister out{};
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::size_t row = lane / 4, first = lane % 4 * 2;
    const std::uint64_t low = transposed ? rows[first][row] : rows[row][first];
    const std::uint64_t high = transposed ? rows[first + 1][row] : rows[row][first + 1];
    out[lane] = high << 16 | low;
  }
  return out;
}

}  // namespace roofwalk::random
