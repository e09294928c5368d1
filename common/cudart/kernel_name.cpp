#include "common/cudart/kernel_name.h"

#include <cctype>
#include <charconv>

namespace roofwalk::cudart {
namespace {

// The last of the names that a nested name begins with, as in _ZN3cub3one6KernelIiEE...; empty: it is none.
std::string_view last_of_nested(std::string_view mangled) {
  constexpr std::string_view kNested = "_ZN";
  std::string_view last;
  if (!mangled.starts_with(kNested)) return last;
  mangled.remove_prefix(kNested.size());
  while (!mangled.empty() && std::isdigit(static_cast<unsigned char>(mangled.front())) != 0) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(mangled.data(), mangled.data() + mangled.size(), length);
    mangled.remove_prefix(static_cast<std::size_t>(end - mangled.data()));
    if (error != std::errc() || length > mangled.size()) return last;
    last = mangled.substr(0, length);
    mangled.remove_prefix(length);
  }
  return last;
}

}  // namespace

std::string short_kernel_name(std::string_view name) {
  if (const std::string_view last = last_of_nested(name); !last.empty()) return std::string(last);
  const std::size_t colons = name.substr(0, name.find('<')).rfind("::");
  return std::string(colons == std::string_view::npos ? name : name.substr(colons + 2));
}

}  // namespace roofwalk::cudart
