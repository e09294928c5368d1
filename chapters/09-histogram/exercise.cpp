// counts[b] = how many keys are b, for b from 0 to 255: one key and four bytes per element.
#include "common/exercise/exercise.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "common/base/rng.h"

namespace roofwalk {
namespace {

constexpr std::int64_t kBins = 256;

// Keys are those of images of this many pixels each, the last one cut off. A key has far fewer than kWholeLimit pixels
// of an image, and images have different backgrounds, so that no count comes near that limit.
constexpr std::int64_t kImage = 1 << 23;
constexpr std::int64_t kStrips = 64;  // of an image

// Half of the strips are background, a quarter skewed, a quarter uniform, in an order that the seed chooses for each
// four. So no kernel does well that is made for one kind of keys.
enum class Kind { background, skewed, uniform };
using FourStrips = std::array<Kind, 4>;

// In strips that are not background, one key in this many is no bin, mostly just below or above the bins.
constexpr std::uint64_t kOneOutsideIn = 1024;

// In a strip of background of at least this many keys, one key is another: a kernel that looks at some of the keys and
// guesses that the rest are like them is wrong.
constexpr std::int64_t kFewestWithAnother = 256;

std::int32_t below(Rng& rng, std::int64_t limit) {
  return static_cast<std::int32_t>(rng.next() % static_cast<std::uint64_t>(limit));
}

std::int32_t outside(Rng& rng) {
  const std::int32_t far = below(rng, 2) == 0 ? 0 : below(rng, 1 << 20);
  return below(rng, 2) == 0 ? -1 - far : static_cast<std::int32_t>(kBins) + far;
}

// Draws from 0, 1 ... 255, where r is drawn 1 / (r + 1) times as often as 0 (Zipf's law).
class Ranks {
 public:
  Ranks() {
    double sum = 0;
    for (std::size_t rank = 0; rank < ends_.size(); ++rank) ends_[rank] = sum += 1 / static_cast<double>(rank + 1);
  }

  std::int32_t draw(Rng& rng) const {
    const double at = static_cast<double>(rng.next() >> 11) * 0x1p-53 * ends_.back();
    const auto end = std::upper_bound(ends_.begin(), ends_.end() - 1, at);
    return static_cast<std::int32_t>(end - ends_.begin());
  }

 private:
  std::array<double, kBins> ends_;
};

// An image's keys by how often skewed strips have them. The first is the background's.
struct Palette {
  std::int32_t first, step;  // the step is odd, so that all keys occur

  std::int32_t key(std::int32_t rank) const { return (first + step * rank) % static_cast<std::int32_t>(kBins); }
};

FourStrips shuffled(Rng& rng) {
  FourStrips kinds = {Kind::background, Kind::background, Kind::skewed, Kind::uniform};
  for (std::size_t i = kinds.size() - 1; i > 0; --i) {
    std::swap(kinds[i], kinds[rng.next() % (i + 1)]);
  }
  return kinds;
}

void add_strip(std::vector<float>& keys, std::int64_t size, Kind kind, const Palette& palette, const Ranks& ranks,
               Rng& rng) {
  for (std::int64_t i = 0; i < size; ++i) {
    std::int32_t key = palette.first;
    if (kind == Kind::skewed) key = palette.key(ranks.draw(rng));
    if (kind == Kind::uniform) key = below(rng, kBins);
    if (kind != Kind::background && rng.next() % kOneOutsideIn == 0) key = outside(rng);
    keys.push_back(static_cast<float>(key));
  }
}

std::vector<float> keys_to_count(std::int64_t count, std::uint64_t seed) {
  Rng rng(seed, "keys"), rng_of_others(seed, "the other keys");
  const Ranks ranks;
  // Backgrounds go on by an odd step from image to image, so that the first 256 images have different ones.
  const std::int32_t first = below(rng, kBins), background_step = 2 * below(rng, kBins / 2) + 1;
  const std::int64_t strip_size = (std::min(count, kImage) + kStrips - 1) / kStrips;
  std::vector<float> keys;
  keys.reserve(static_cast<std::size_t>(count));
  Palette palette{first, 1};
  FourStrips kinds{};
  for (std::int64_t strip = 0; std::ssize(keys) < count; ++strip) {
    const std::int64_t image = strip / kStrips;
    if (strip % kStrips == 0) {
      palette.first = static_cast<std::int32_t>((first + background_step * image) % kBins);
      palette.step = 2 * below(rng, kBins / 2) + 1;
    }
    if (strip % 4 == 0) kinds = shuffled(rng);
    const std::int64_t size = std::min(strip_size, count - std::ssize(keys));
    const Kind kind = kinds[static_cast<std::size_t>(strip % 4)];
    add_strip(keys, size, kind, palette, ranks, rng);
    if (kind != Kind::background || size < kFewestWithAnother) continue;
    const std::int32_t back = 1 + below(rng_of_others, size), rank = 1 + below(rng_of_others, kBins - 1);
    keys[keys.size() - static_cast<std::size_t>(back)] = static_cast<float>(palette.key(rank));
  }
  Rng rng_of_first(seed, "the first key");
  keys[0] = static_cast<float>(1 + below(rng_of_first, kBins - 1));  // even a single key is a bin, and not 0
  return keys;
}

// SOLVE(const int* keys, int* counts, int n). Extent "n", at least 1. The output begins unwritten, as in every chapter.
class Histogram final : public Exercise {
 public:
  Work work(const Size& size) const override {
    return {.useful_flops = size["n"], .compulsory_bytes = 4 * (size["n"] + kBins)};
  }

  Problem problem(const Size& size, std::uint64_t seed) const override {
    const std::int64_t n = size["n"];
    return {.parameters = {InputBuffer{"keys", keys_to_count(n, seed), Element::i32},
                           OutputBuffer{"counts", kBins, Element::i32}, Scalar{"n", static_cast<std::int32_t>(n)}}};
  }

  std::vector<Expected> reference(const Size&, const Problem& problem) const override {
    Expected counts{
        .name = "counts", .values = std::vector<double>(kBins), .tolerances = std::vector<double>(kBins)};  // exact
    for (const float key : problem.input("keys")) {
      if (key >= 0 && key < static_cast<float>(kBins)) ++counts.values[static_cast<std::size_t>(key)];
    }
    return {std::move(counts)};
  }
};

ROOFWALK_EXERCISE("histogram", Histogram);

}  // namespace
}  // namespace roofwalk
