// Measures how processor time grows with the size of the input, to test that nothing is quadratic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <limits>
#include <utility>

namespace roofwalk::test {

// Returns the shortest of three runs, in processor seconds of this process.
template <class Task>
double processor_seconds(Task&& task) {
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();
    task();
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

inline constexpr double kNearlyLinear = 9;

// Returns the time for 4 * size divided by the time for size: about 4 if linear, 16 if quadratic. `prepare(size)`
// returns the task. Measures up to three times until the ratio is below kNearlyLinear, because other work on the host
// takes cache from the larger task.
template <class Prepare>
double growth(std::size_t size, Prepare&& prepare) {
  auto&& small = prepare(size);
  auto&& large = prepare(4 * size);
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < 3 && least >= kNearlyLinear; ++i) {
    const double of_small = processor_seconds(small);
    least = std::min(least, processor_seconds(large) / of_small);
  }
  return least;
}

}  // namespace roofwalk::test
