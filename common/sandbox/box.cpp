#include "common/sandbox/box.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/base/json.h"
#include "common/sandbox/seccomp_filter.h"

namespace roofwalk {
namespace {

constexpr std::size_t kFolderBytes = 64 << 20;  // size of kBoxFolder, including a program of this project
constexpr const char* kLimiter = "/usr/bin/prlimit";

// Makes an unnamed file with these contents, positioned at its start. -1 on failure, with errno.
Descriptor memory_file(const std::string& bytes) {
  Descriptor file(::memfd_create("roofwalk", MFD_CLOEXEC));
  for (std::size_t at = 0; file.get() >= 0 && at < bytes.size();) {
    const ssize_t count = ::pwrite(file.get(), bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (count < 0 && errno != EINTR) return Descriptor();
    if (count > 0) at += static_cast<std::size_t>(count);
  }
  return file;
}

// Returns the user `nobody`, who owns no files, to be used instead of root.
UserId nobody() {
  constexpr UserId kUsual{65534, 65534};
  const passwd* entry = ::getpwnam("nobody");
  return entry != nullptr ? UserId{entry->pw_uid, entry->pw_gid} : kUsual;
}

class CommandLine {
 public:
  explicit CommandLine(BoxStart& start) : start_(start) {}

  template <class... Words>
  void add(Words&&... words) {
    (start_.arguments.emplace_back(std::forward<Words>(words)), ...);
  }

  // Adds an option and the number of a descriptor that bubblewrap inherits.
  void add_descriptor(const char* option, int ours) {
    start_.passed.push_back({ours, next_number_});
    add(option, std::to_string(next_number_++));
  }

  // Adds an option with the descriptor of a file that has these contents.
  Status add_bytes(const char* option, const std::string& bytes) {
    Descriptor file = memory_file(bytes);
    if (file.get() < 0) return Error{.message = fmt::format("cannot prepare a sandbox: {}", std::strerror(errno))};
    add_descriptor(option, file.get());
    start_.held.push_back(std::move(file));
    return kOk;
  }

 private:
  BoxStart& start_;
  int next_number_ = kSharedDescriptor + 1;
};

// Sets the limits from inside the box, where only the box's own processes are counted.
void add_limits(CommandLine& line, const BoxLimits& limits) {
  line.add(kLimiter);
  // The first limit ends a process with SIGXCPU, so that SIGKILL comes from the system alone, when it lacks memory.
  constexpr long kMore_s = 5;
  if (limits.cpu_s > 0) {
    const auto cpu_s = static_cast<long>(limits.cpu_s);
    line.add(fmt::format("--cpu={}:{}", cpu_s, cpu_s + kMore_s));
  }
  line.add(fmt::format("--as={}", limits.memory_bytes), fmt::format("--fsize={}", limits.file_bytes),
           fmt::format("--nproc={}", limits.processes), fmt::format("--nofile={}", limits.descriptors),
           fmt::format("--stack={}", limits.stack_bytes), "--core=0");
}

}  // namespace

std::optional<UserId> box_user() { return ::geteuid() == 0 ? std::optional<UserId>(nobody()) : std::nullopt; }

Result<BoxStart> prepare_box(const Box& box, const std::vector<std::string>& program) {
  const auto bubblewrap = find_program("bwrap");
  if (!bubblewrap) {
    return Error{.message = "bubblewrap, which makes the sandbox for other people's code, is not installed",
                 .advice = "sudo apt-get install bubblewrap"};
  }
  BoxStart start;
  CommandLine line(start);
  line.add(bubblewrap->string());
  // The box shares no namespace with the system, and cannot create any, because it would have privileges in these.
  line.add("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
           "--disable-userns");
  // The box is killed when this process dies. It has no terminal into which it could put input, since bubblewrap leads
  // a session of its own (ChildStart::group_line). The box is not to lead another one: then it is in one process group,
  // and what is not killed with bubblewrap is killed by the guard.
  line.add("--die-with-parent");
  line.add("--clearenv");
  for (const auto& [name, value] : box.environment) line.add("--setenv", name, value);
  for (const BoxMount& mount : box.mounts) {
    line.add(mount.may_be_absent ? "--ro-bind-try" : "--ro-bind", mount.from.string(), mount.to);
  }
  line.add("--ro-bind", kLimiter, kLimiter);
  for (const auto& [name, target] : box.links) line.add("--symlink", target, name);
  if (box.shows_processes) line.add("--proc", "/proc");
  // Without /dev/pts, no file of the box makes whoever reads it wait for ever.
  line.add("--dev", "/dev", "--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts");
  line.add("--size", std::to_string(box.limits.temporary_bytes), "--tmpfs", "/tmp");
  line.add("--size", std::to_string(kFolderBytes), "--tmpfs", kBoxFolder);
  for (const BoxFile& file : box.files) {
    line.add("--perms", file.is_program ? "0555" : "0444");
    ROOFWALK_TRY_STATUS(line.add_bytes("--file", file.bytes));
    line.add(file.to);
  }
  // kBoxFolder is complete now. / and /dev, which also are tmpfs but have no size limit, become read-only, too.
  line.add("--remount-ro", kBoxFolder, "--chdir", kBoxFolder, "--remount-ro", "/dev", "--remount-ro", "/");
  ROOFWALK_TRY(const std::string filter, system_call_filter());
  ROOFWALK_TRY_STATUS(line.add_bytes("--seccomp", filter));

  int status[2];
  if (::pipe2(status, O_CLOEXEC) != 0) {
    return Error{.message = fmt::format("cannot prepare a sandbox: {}", std::strerror(errno))};
  }
  start.status.reset(status[0]);
  start.held.emplace_back(status[1]);
  ::fcntl(status[0], F_SETFL, O_NONBLOCK);
  line.add_descriptor("--json-status-fd", status[1]);

  line.add("--");
  add_limits(line, box.limits);
  line.add("--");
  for (const std::string& word : program) line.add(word);
  start.run_as = box_user();
  ROOFWALK_TRY(start.guard, BoxGuard::start(start.run_as));
  return start;
}

void BoxStatus::read_what_is_there() {
  char buffer[1024];
  for (ssize_t count; (count = ::read(status_.get(), buffer, sizeof buffer)) > 0;) {
    said_.append(buffer, static_cast<std::size_t>(count));
  }
}

bool BoxStatus::was_made() {
  read_what_is_there();
  return said_.find("\"exit-code\"") != std::string::npos;
}

bool BoxStatus::wait_until_gone(double seconds) {
  read_what_is_there();
  // { "child-pid": 4711, ... } is the box's first process, which ends after all others.
  const Json first = parse_json(said_.substr(0, said_.find('\n')));
  if (!first.is_object() || !first.contains("child-pid") || !first["child-pid"].is_number_integer()) return true;
  const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, first["child-pid"].get<int>(), 0)));
  if (process.get() < 0) return true;
  pollfd waiting{process.get(), POLLIN, 0};
  return ::poll(&waiting, 1, static_cast<int>(seconds * 1000)) > 0;
}

}  // namespace roofwalk
