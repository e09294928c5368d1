// printf of kernels: our own formatter, and the buffer for the printed text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "common/record/printed.h"

namespace roofwalk::vgpu {

// Source of the arguments of conversions. Its functions return nullopt if no argument is left or memory cannot be read.
struct PrintSource {
  // The next argument, of 4 or 8 bytes, as in varargs.
  std::function<std::optional<std::uint64_t>(std::uint32_t bytes)> next;
  // The string at an address, without its NUL; for %s.
  std::function<std::optional<std::string>(std::uint64_t address)> text;
};

struct Formatted {
  std::string text;
  int arguments = 0;  // number of arguments used
};

// Supports flags, width, precision (both also as `*`), h l ll, and c d i o u x X p e E f F g G a A s, as CUDA documents
// them; anything else is printed as written. The text is always at most kMostPrinted bytes of valid UTF-8, without
// control characters except line ends and tabs. At most 32 arguments, as in CUDA.
inline constexpr std::size_t kMostPrinted = 4096;
Formatted format_print(std::string_view format, const PrintSource& source);

// Keeps the first part of the output, in the order of launches, blocks and threads, and counts the printf calls of the
// rest.
class Printer {
 public:
  static constexpr std::size_t kMostBytes = 64 << 10;

  void begin_launch() { ++launch_; }
  // Whether output that this thread adds now may be kept.
  bool wants(std::uint64_t block, std::uint32_t thread) const;
  void add(std::uint64_t block, std::uint32_t thread, std::string text);
  void count_only() { ++more_; }
  Printed take();

 private:
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::uint64_t>;  // launch, block, thread, order

  std::uint64_t launch_ = 0, order_ = 0, more_ = 0;
  std::size_t bytes_ = 0;
  std::map<Key, std::string> kept_;
};

}  // namespace roofwalk::vgpu
