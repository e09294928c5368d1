#include "common/build/assemble.h"

#include "common/base/hash.h"
#include "common/build/compile_folder.h"
#include "common/build/diagnostics.h"
#include "common/build/run_tool.h"

namespace roofwalk {

Result<ChipCode> assemble_for(const Toolkit& toolkit, const Artifact& artifact, std::string_view text,
                              const std::string& chip) {
  const std::string key = sha256_hex(toolkit.version + "\n" + chip + "\n" + std::string(text));
  ROOFWALK_TRY(const CompileFolder compile_folder, CompileFolder::open(key.substr(0, 32), toolkit.isolation));
  ROOFWALK_TRY(ToolOutcome outcome, run_tool(toolkit, compile_folder.path(),
                                             {.arguments = {"ptxas", "-arch=" + chip, "kernel.ptx"},
                                              .files = {{"kernel.ptx", std::string(text)}},
                                              .makes = "kernel.cubin",
                                              .max_made_bytes = kMaxCubinBytes,
                                              .timeout_s = kCompilerWallSeconds}));
  const CommandResult& run = outcome.run;
  if (run.exit_code != 0 && run.output.find("'gpu-name'") != std::string::npos) return ChipCode{{}, false};
  if (run.exit_code != 0) return explain_ptxas(run, artifact.source_path, artifact.ptx, kCompilerWallSeconds);
  if (!outcome.made) {
    return Error{.message = "the file assembles to more machine code than is allowed", .file = artifact.source_path};
  }
  return ChipCode{*std::move(outcome.made), true};
}

}  // namespace roofwalk
