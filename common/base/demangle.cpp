#include "common/base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace roofwalk {
namespace {

// A back reference at most doubles the text, so a short symbol with many of them can demangle to a huge text.
constexpr std::size_t kMostBytes = 1024, kMostText = 1 << 20;

// Whether the demangled text could become very long. Estimates an upper bound on its length: every S_ and T_ counts
// as a reference, even if it is part of a name. Only references inside template arguments and function types (I, F)
// can make the text grow, so symbols without these are harmless.
bool may_explode(const std::string& symbol) {
  if (symbol.find_first_of("IF") == std::string::npos) return false;
  std::size_t text = symbol.size();
  for (std::size_t i = 0; i + 1 < symbol.size() && text <= kMostText; ++i) {
    const char c = symbol[i], next = symbol[i + 1];
    const bool refers =
        (c == 'S' || c == 'T') && (next == '_' || (next >= '0' && next <= '9') || (next >= 'A' && next <= 'Z'));
    if (refers) text *= 2;
  }
  return text > kMostText;
}

}  // namespace

std::optional<std::string> demangled(const std::string& symbol) {
  if (symbol.size() > kMostBytes || may_explode(symbol)) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  if (status != 0 || text == nullptr) return std::nullopt;
  return std::string(text.get());
}

}  // namespace roofwalk
