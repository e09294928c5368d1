#include "tests/random/generator.h"

namespace roofwalk::random {

void Generator::choose_shape() {
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
  out_.shared_bytes = static_cast<std::uint32_t>(slots_) * 20;  // 16 bytes per thread, then 4 bytes per thread
  out_.local_bytes = kLocalBytes;
}

Bits Generator::single_number() {
  switch (below(8)) {
    case 0:
      return one_of(std::array<Bits, 16>{0, 0x8000'0000, 0x3f80'0000, 0xbf80'0000, 0x7f80'0000, 0xff80'0000,
                                         0x7fff'ffff, 0x7fc0'0001, 1, 0x8000'0001, 0x007f'ffff, 0x0080'0000,
                                         0x7f7f'ffff, 0x3f7f'ffff, 0x3f00'0000, 0x4b80'0001});
    case 1:
      return rng_.next() >> 32;
    default:  // a number of moderate size
      return (below(2) << 31) | ((117 + below(20)) << 23) | (below(3) == 0 ? 0 : rng_.next() >> 41);
  }
}

Bits Generator::double_number() {
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

Bits Generator::integer_number(int bits) {
  const Bits all = bits == 64 ? ~Bits{0} : (Bits{1} << bits) - 1;
  switch (below(7)) {
    case 0:
      return below(70);
    case 1:
      return (0 - below(40)) & all;
    case 2:  // near the ends of the range
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

// Returns four packed fp16 values of moderate size.
Bits Generator::half_numbers() {
  Bits out = 0;
  for (int i = 0; i < 4; ++i) out = out << 16 | below(2) << 15 | (12 + below(7)) << 10 | rng_.next() >> 54;
  return out;
}

void Generator::fill_memory() {
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

}  // namespace roofwalk::random
