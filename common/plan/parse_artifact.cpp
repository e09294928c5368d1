#include "common/plan/parse_artifact.h"

namespace roofwalk {

Result<ptx::Module> parse_artifact(const Artifact& artifact) {
  auto module = ptx::parse(artifact.ptx, artifact.source_name);
  if (module) return module;
  Error error = module.error();
  error.file = artifact.source_path;
  return error;
}

}  // namespace roofwalk
