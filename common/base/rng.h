// Seeded random numbers that are the same on every machine and compiler (std's distributions are not).
#pragma once

#include <cstdint>
#include <string_view>

namespace roofwalk {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  // A separate stream for each name, so that adding an input does not change the values of other inputs.
  Rng(std::uint64_t seed, std::string_view stream) : state_(seed) {
    for (const char c : stream) {
      const std::uint64_t mixed = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
      state_ = mixed + next();  // next() changes state_, so it comes second
    }
  }

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

  // Returns a uniform value in [0, 1) with 24 bits, exact in float.
  float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }

  // Returns a uniform value in [-1, 1). The mean is 0 on purpose: if a mean dominated the sums, fp32 rounding errors
  // would look like those of half precision, and no tolerance could tell them apart.
  float symmetric() { return 2.0f * uniform() - 1.0f; }

 private:
  std::uint64_t state_;
};

}  // namespace roofwalk
