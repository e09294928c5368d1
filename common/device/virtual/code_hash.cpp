#include "common/device/virtual/code_hash.h"

#include <algorithm>
#include <string>

#include "common/base/hash.h"

namespace roofwalk {
namespace {

bool is_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// Removes the eight digits from `__nv_static_27__98e06600_9_kernel_cu_name` and `_INTERNAL_98e06600_9_kernel_cu_name`.
std::string without_source_hash(std::string_view line) {
  constexpr std::size_t kDigits = 8;
  std::string out;
  while (!line.empty()) {
    const std::size_t bar = line.find('_');
    const std::size_t taken = bar == line.npos ? line.size() : bar + 1;
    out.append(line.substr(0, taken));
    line.remove_prefix(taken);
    if (line.size() > kDigits && line[kDigits] == '_' &&
        std::all_of(line.begin(), line.begin() + kDigits, is_hex_digit))
      line.remove_prefix(kDigits);
  }
  return out;
}

}  // namespace

std::uint64_t hash_of_code(std::string_view ptx) {
  std::string code;
  bool in_section = false;
  while (!ptx.empty()) {
    const std::string_view line = ptx.substr(0, ptx.find('\n'));
    ptx.remove_prefix(std::min(line.size() + 1, ptx.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == line.npos) continue;
    const std::string_view text = line.substr(first);
    in_section = in_section || text.starts_with(".section");
    if (in_section) {
      in_section = !text.ends_with('}');
      continue;
    }
    if (text.starts_with("//") || text.starts_with(".loc") || text.starts_with(".file")) continue;
    code.append(without_source_hash(text)).push_back('\n');
  }
  return std::stoull(sha256_hex(code).substr(0, 16), nullptr, 16);
}

}  // namespace roofwalk
