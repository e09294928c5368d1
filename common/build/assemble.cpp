#include "common/build/assemble.h"

#include "common/base/hash.h"
#include "common/build/compile_folder.h"
#include "common/build/diagnostics.h"
#include "common/build/files.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxTemporaryBytes = 64 << 20;  // each file that a compiler writes
constexpr std::size_t kMaxLogBytes = 64 << 10;
constexpr std::size_t kMaxMemoryBytes = std::size_t{4} << 30;  // address space; CUB and the mma headers take 0.5 GB
constexpr double kAssemblySeconds = 60;

}  // namespace

Result<CommandResult> run_tool(const Toolkit& toolkit, const fs::path& folder, double timeout_s,
                               std::vector<std::string> arguments) {
  const fs::path bin = toolkit.root / "bin";
  arguments.front() = (bin / arguments.front()).string();
  return run_command({.arguments = std::move(arguments),
                      .working_directory = folder,
                      .environment = {{"PATH", bin.string() + ":/usr/local/bin:/usr/bin:/bin"},
                                      {"HOME", folder.string()},
                                      {"TMPDIR", (folder / "tmp").string()},
                                      {"LC_ALL", "C"},
                                      {"SOURCE_DATE_EPOCH", "0"}},
                      .timeout_s = timeout_s,
                      .max_output_bytes = kMaxLogBytes,
                      .max_memory_bytes = kMaxMemoryBytes,
                      .max_file_bytes = kMaxTemporaryBytes});
}

Result<ChipCode> assemble_for(const Toolkit& toolkit, const Artifact& artifact, std::string_view text,
                              const std::string& chip) {
  const std::string key = sha256_hex(toolkit.version + "\n" + chip + "\n" + std::string(text));
  ROOFWALK_TRY(const CompileFolder compile_folder, CompileFolder::open(key.substr(0, 32)));
  const fs::path& folder = compile_folder.path();
  std::error_code error;
  fs::create_directory(folder / "tmp", error);
  if (!write_file(folder / "kernel.ptx", text)) {
    return Error{.message = "cannot write", .file = folder.string(), .advice = "is the disk full?"};
  }
  ROOFWALK_TRY(const CommandResult run, run_tool(toolkit, folder, kAssemblySeconds,
                                                 {"ptxas", "-arch=" + chip, "kernel.ptx", "-o", "kernel.cubin"}));
  if (run.exit_code != 0 && run.output.find("'gpu-name'") != std::string::npos) return ChipCode{{}, false};
  if (run.exit_code != 0) return explain_ptxas(run, artifact.source_path, artifact.ptx, kAssemblySeconds);
  auto cubin = read_file(folder / "kernel.cubin", kMaxTemporaryBytes);
  if (!cubin) {
    return Error{.message = "the file assembles to more machine code than is allowed", .file = artifact.source_path};
  }
  return ChipCode{*std::move(cubin), true};
}

}  // namespace roofwalk
