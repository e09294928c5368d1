// A box: a sandbox for programs that read untrusted input. Inside are only the files, folders and environment variables
// that a Box lists, the program prlimit, /tmp and a minimal /dev; there is no network, and there are no other processes
// or descriptors. bubblewrap creates it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/child.h"
#include "common/base/result.h"
#include "common/sandbox/box_guard.h"

namespace roofwalk {

// How to run programs that read a learner's files. Users' own files on their own computers need limits but no box.
enum class Isolation { none, boxed };

// A folder or file of this machine, readable inside the box at the path `to`.
struct BoxMount {
  std::filesystem::path from;
  std::string to;
  bool may_be_absent = false;
};

// A file that exists only in the box; read-only.
struct BoxFile {
  std::string to;  // below kBoxFolder
  std::string bytes;
  bool is_program = false;
};

// Limits per process, unless noted otherwise.
struct BoxLimits {
  double cpu_s = 10;                                // 0: no limit
  std::size_t memory_bytes = std::size_t{2} << 30;  // address space
  std::size_t file_bytes = 64 << 20;                // of each file written
  std::size_t temporary_bytes = 256 << 20;          // of all files in /tmp together
  std::size_t stack_bytes = 64 << 20;
  int processes = 64;  // in the whole box, including threads
  int descriptors = 256;
};

struct Box {
  std::vector<BoxMount> mounts;
  std::map<std::string, std::string> links;  // path in the box, target
  std::vector<BoxFile> files;
  std::map<std::string, std::string> environment;
  bool shows_processes = false;  // /proc with the box's own processes
  BoxLimits limits;
};

// The working folder inside a box; contains Box::files. Only /tmp is writable.
inline constexpr const char* kBoxFolder = "/src";

// Returns the user to which root switches before creating a box; nullopt if this process is not root's.
std::optional<UserId> box_user();

// How to start bubblewrap so that it creates a box and runs a program in it.
struct BoxStart {
  std::vector<std::string> arguments;
  std::vector<PassedDescriptor> passed;  // descriptors that bubblewrap reads or reports its status to
  std::optional<UserId> run_as;   // root switches to this user first, because in a box it could still read all of
                                  // root's files
  std::vector<Descriptor> held;   // referred to by `passed`; keep open until bubblewrap has started
  Descriptor status;              // bubblewrap's status messages, for BoxStatus
  std::optional<BoxGuard> guard;  // keep until the box has ended; its line() becomes ChildStart::group_line
};

// Prepares to run `program` in a box. The program gets only the descriptors 0 (empty), 1, 2 and, if the caller passes
// them, kChannelDescriptor and kSharedDescriptor. Errors: bubblewrap is not installed; a file for the box cannot be
// prepared.
Result<BoxStart> prepare_box(const Box& box, const std::vector<std::string>& program);

// Tells from bubblewrap's status messages whether a box was made and when it is gone.
class BoxStatus {
 public:
  explicit BoxStatus(Descriptor status) : status_(std::move(status)) {}

  // Whether the program was started. Call it after bubblewrap has ended by itself.
  bool was_made();

  // Waits until all processes in the box have ended: the kernel kills them once bubblewrap has ended or been killed.
  // False on timeout.
  bool wait_until_gone(double seconds);

 private:
  void read_what_is_there();

  Descriptor status_;
  std::string said_;
};

}  // namespace roofwalk
