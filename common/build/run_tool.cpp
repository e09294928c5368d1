#include "common/build/run_tool.h"

#include <algorithm>

#include "common/build/files.h"
#include "common/sandbox/compile_box.h"
#include "common/sandbox/run_boxed.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLogBytes = 64 << 10;
// Limit on the output discarded beyond kMaxLogBytes. A compiler that writes even more is killed: its log is useless.
constexpr std::size_t kMaxThrownBytes = 16 << 20;

Result<ToolOutcome> run_here(const Toolkit& toolkit, const fs::path& folder, ToolJob job) {
  const fs::path bin = toolkit.root / "bin";
  job.arguments.front() = (bin / job.arguments.front()).string();
  job.arguments.insert(job.arguments.end(), {"-o", job.makes});
  std::error_code error;
  fs::create_directory(folder / "tmp", error);
  for (const auto& [name, bytes] : job.files) {
    fs::create_directories((folder / name).parent_path(), error);
    if (!write_file(folder / name, bytes)) {
      return Error{.message = "cannot write to " + folder.string(), .advice = "is the disk full?"};
    }
  }
  ToolOutcome outcome;
  ROOFWALK_TRY(outcome.run, run_command({.arguments = std::move(job.arguments),
                                         .working_directory = folder,
                                         .environment = {{"PATH", bin.string() + ":/usr/local/bin:/usr/bin:/bin"},
                                                         {"HOME", folder.string()},
                                                         {"TMPDIR", (folder / "tmp").string()},
                                                         {"LC_ALL", "C"},
                                                         {"SOURCE_DATE_EPOCH", "0"}},
                                         .timeout_s = job.timeout_s,
                                         .max_output_bytes = kMaxLogBytes,
                                         .max_thrown_bytes = kMaxThrownBytes,
                                         .max_memory_bytes = kCompileLimits.memory_bytes,
                                         .max_file_bytes = kCompileLimits.file_bytes,
                                         .max_stack_bytes = kCompileLimits.stack_bytes,
                                         .max_cpu_s = static_cast<std::size_t>(kCompileLimits.cpu_s)}));
  if (outcome.run.exit_code == 0) outcome.made = read_file(folder / job.makes, job.max_made_bytes);
  const auto is_gone = [&](const auto& file) { return !fs::exists(folder / file.first, error); };
  if (outcome.run.exit_code != 0 && std::any_of(job.files.begin(), job.files.end(), is_gone)) {
    return Error{.message = folder.string() + " was cleaned while a compiler worked in it",
                 .advice = "give the same command again"};
  }
  return outcome;
}

// Runs the tool in a box, where it writes its output file. A shell that has not read any of the learner's data then
// copies that file to the one descriptor that leads out; the tool itself does not have that descriptor.
Result<ToolOutcome> run_in_box(const Toolkit& toolkit, ToolJob job) {
  Box box = compile_box(toolkit.root);
  for (auto& [name, bytes] : job.files) {
    box.files.push_back({.to = std::string(kBoxFolder) + "/" + name, .bytes = std::move(bytes)});
  }
  const std::string made = "/tmp/" + job.makes;
  std::vector<std::string> program = {"/bin/sh", "-c", R"(made=$1; shift; "$@" -o "$made" 3>&- && cat "$made" >&3)",
                                      "sh", made};
  program.insert(program.end(), job.arguments.begin(), job.arguments.end());
  ToolOutcome outcome;
  ROOFWALK_TRY(outcome.run, run_boxed(box, program,
                                      {.timeout_s = job.timeout_s,
                                       .max_log_bytes = kMaxLogBytes,
                                       .max_result_bytes = job.max_made_bytes,
                                       .max_thrown_bytes = kMaxThrownBytes}));
  if (outcome.run.exit_code == 0 && !outcome.run.channel_cut && !outcome.run.channel.empty()) {
    outcome.made = std::move(outcome.run.channel);
  }
  return outcome;
}

}  // namespace

Result<ToolOutcome> run_tool(const Toolkit& toolkit, const fs::path& folder, ToolJob job) {
  return toolkit.isolation == Isolation::boxed ? run_in_box(toolkit, std::move(job))
                                               : run_here(toolkit, folder, std::move(job));
}

}  // namespace roofwalk
