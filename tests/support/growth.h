// How the processor's time for something grows with its size: for tests that nothing is quadratic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <limits>
#include <utility>

namespace roofwalk::test {

// The least of three runs, in seconds of this process alone.
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

// What four times the size takes, in times of what the size takes; `prepare(size)` returns the task. Of what is linear
// about 4, of what is quadratic 16.
template <class Prepare>
double growth(std::size_t size, Prepare&& prepare) {
  auto&& small = prepare(size);
  const double of_small = processor_seconds(small);
  auto&& large = prepare(4 * size);
  return processor_seconds(large) / of_small;
}
inline constexpr double kNearlyLinear = 9;

}  // namespace roofwalk::test
