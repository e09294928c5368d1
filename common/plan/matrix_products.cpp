#include "common/plan/matrix_products.h"

#include <algorithm>

#include "common/build/diagnostics.h"
#include "common/plan/parse_artifact.h"

namespace roofwalk {

Result<bool> multiply_matrices(const Artifact& artifact, const std::vector<KernelRecord>& launched) {
  ROOFWALK_TRY(const ptx::Module module, parse_artifact(artifact));
  return std::any_of(module.functions.begin(), module.functions.end(), [&](const ptx::Function& function) {
    if (!function.is_entry) return false;
    const std::string name = written_name(function.name);
    return std::any_of(launched.begin(), launched.end(), [&](const KernelRecord& one) { return one.name == name; }) &&
           multiplies_matrices(module, function);
  });
}

}  // namespace roofwalk
