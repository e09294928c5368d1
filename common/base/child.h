// Starts a program as a child with a clean state, independent of the parent's descriptors and signal handling.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  void reset(int fd) {
    close();
    fd_ = fd;
  }
  void close();

 private:
  int fd_;
};

// Returns the absolute path of a program, so that changing the directory does not change which program runs. Searches
// this process's PATH unless the name contains a slash.
std::optional<std::filesystem::path> find_program(const std::string& name);

// A descriptor of this process, and the number that it has in the child.
struct PassedDescriptor {
  int ours = -1;
  int number = -1;  // below kMostDescriptors
};
inline constexpr int kMostDescriptors = 256;

struct UserId {
  unsigned user = 0, group = 0;
};

struct ChildStart {
  std::filesystem::path program;                                  // the path that find_program() returns
  std::vector<std::string> arguments;                             // [0] is the name by which the program is called
  std::optional<std::map<std::string, std::string>> environment;  // nullopt: inherits this process's
  std::filesystem::path working_directory = {};                   // empty: inherits this process's
  int output = -1;                                                // becomes the child's stdout and stderr
  int channel = -1;                                               // becomes the child's descriptor 3; -1: none
  std::vector<PassedDescriptor> passed = {};                      // further descriptors
  std::optional<UserId> run_as = {};  // the user to run as, without groups and unable to gain privileges; only for
                                      // root
  // If >= 0: a socket to which the child writes the number of its process group, and a line break, before it runs the
  // program. The child then leads a session of its own, too, without a terminal.
  int group_line = -1;
  bool outlives_parent = false;      // it is not killed when the thread that started it ends
  std::size_t max_memory_bytes = 0;  // address space of each process; 0 unlimited
  std::size_t max_file_bytes = 0;    // of each file written; 0 unlimited
  std::size_t max_stack_bytes = 0;   // of each process; 0 inherits ours
  std::size_t max_cpu_s = 0;         // processor time of each process; 0 unlimited
};

// The child's number for `channel`.
inline constexpr int kChannelDescriptor = 3;

// The child's number for memory that it shares with this process, if `passed` has such memory.
inline constexpr int kSharedDescriptor = 4;

// Starts the program in a process group of its own, with an empty stdin and only the descriptors named above. The
// program leaves no core dump and, by default, is killed when the thread that started it ends. The caller must reap the
// process. Error: the program cannot be started.
Result<pid_t> start_child(const ChildStart& child);

// Whether the program has ended. Does not reap it: as long as it is a zombie, its process group's number cannot be
// reused, so the caller can safely kill the group.
bool has_ended(pid_t pid);

}  // namespace roofwalk
