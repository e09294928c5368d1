// Names of kernels: as people type them, and as tables show them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/pattern.h"
#include "common/base/result.h"

namespace roofwalk {

// Chooses kernels by name: "gemm", "ns::gemm", "gemm<128>" or "regex:^gemm".
class KernelFilter {
 public:
  // Error: no name, or an invalid expression.
  static Result<KernelFilter> read(const std::string& typed);

  // `name`: as in KernelRecord. A typed name may leave out namespaces and the arguments of the template; an expression
  // matches anywhere in the name with both.
  bool matches(const std::string& name) const;
  const std::string& typed() const { return typed_; }

 private:
  std::string typed_, plain_;
  std::optional<Pattern> pattern_;
};

// Whether one of the filters matches, or there is none.
bool any_matches(const std::vector<KernelFilter>& filters, const std::string& name);

// Without namespaces, in the arguments of templates, too: "scale<Tile<128>>" for "my::scale<my::Tile<128> >".
std::string without_namespaces(std::string_view name);

// At most `columns` columns, harmless on a terminal. What is too long loses namespaces, then the arguments of inner
// templates, then the last arguments: "scale<Tile<...>, int, ...>".
std::string shown_kernel_name(std::string_view name, std::size_t columns);

// The same for several, in their order. Those that would look alike get a number: "scale<...> (2)".
std::vector<std::string> shown_kernel_names(const std::vector<std::string>& names, std::size_t columns);

}  // namespace roofwalk
