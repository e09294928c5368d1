#include "common/build/run_tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "common/build/files.h"
#include "common/sandbox/compile_box.h"
#include "common/sandbox/run_boxed.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLogBytes = 64 << 10;
// Limit on the output discarded beyond kMaxLogBytes. A compiler that writes even more is killed: its log is useless.
constexpr std::size_t kMaxThrownBytes = 16 << 20;

// The space that a file may take in a box for all that its compilers write.
constexpr std::size_t kRoomBytes = kCompileLimits.temporary_bytes;
// The part of it that is asked for, because a quota shows only so, and some file systems are memory.
constexpr std::size_t kAskedBytes = kCompileLimits.file_bytes;

// Whether the disk has room for what compilers write, however much of it one may use.
bool has_room(const fs::path& folder) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error || space.available < kRoomBytes) return false;
  rlimit most{};
  if (::getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < kAskedBytes) return false;
  const fs::path file = folder / "room";
  const Descriptor asked(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const bool is_there = asked.get() >= 0 && (::fallocate(asked.get(), 0, 0, static_cast<off_t>(kAskedBytes)) == 0 ||
                                             errno == EOPNOTSUPP || errno == ENOSYS);
  ::unlink(file.c_str());
  return is_there;
}

// Whether a compiler may have failed because it cannot write. Some crash then, for they write to files as to memory.
bool may_lack_room(const CommandResult& run) {
  const bool crashed =
      run.exit_code == 128 + SIGSEGV || run.exit_code == 128 + SIGBUS || run.exit_code == 128 + SIGABRT;
  const auto says = [&](const char* words) { return run.output.find(words) != std::string::npos; };
  const bool says_so = run.exit_code != 0 && (says("No space left on device") || says("Disk quota exceeded"));
  return !run.timed_out && !run.flooded && (crashed || says_so);
}

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
  if (may_lack_room(outcome.run) && !has_room(folder)) {
    return Error{.message = fmt::format("a compiler failed, and the disk has less than {} MiB for it in {}",
                                        kRoomBytes >> 20, folder.parent_path().string()),
                 .advice = "free some space, and give the same command again"};
  }
  const auto is_gone = [&](const auto& file) { return !fs::exists(folder / file.first, error); };
  const bool made_nothing = outcome.run.exit_code == 0 && is_gone(std::pair(job.makes, 0));
  if (made_nothing || (outcome.run.exit_code != 0 && std::any_of(job.files.begin(), job.files.end(), is_gone))) {
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
