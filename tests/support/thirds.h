// Which cases of a long list are quick tests.
#pragma once

#include <cstddef>
#include <iterator>
#include <vector>

namespace roofwalk::test {

// Suites of dozens of similar kernels instantiate the first, fourth, seventh ... case as quick tests, and the others
// with a prefix that begins with "Long", for `./roofwalk test --all`.
template <typename Cases, typename Kept>
auto cases_by_place(const Cases& cases, Kept kept) {
  std::vector<typename std::iterator_traits<decltype(std::begin(cases))>::value_type> some;
  std::size_t place = 0;
  for (const auto& each : cases) {
    if (kept(place++)) some.push_back(each);
  }
  return some;
}

template <typename Cases>
auto every_third(const Cases& cases) {
  return cases_by_place(cases, [](std::size_t place) { return place % 3 == 0; });
}

template <typename Cases>
auto all_but_every_third(const Cases& cases) {
  return cases_by_place(cases, [](std::size_t place) { return place % 3 != 0; });
}

}  // namespace roofwalk::test
