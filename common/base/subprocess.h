// Runs a program and waits for its end, with a time limit and limited output. No shell is involved.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/child.h"
#include "common/base/result.h"

namespace roofwalk {

struct Command {
  // [0] is the program, searched on this process's PATH unless it contains a slash.
  std::vector<std::string> arguments;
  std::filesystem::path working_directory = {};  // empty: inherits this process's
  // Replaces this process's environment unless empty.
  std::map<std::string, std::string> environment = {};
  bool has_environment = true;             // false: it gets no environment variable at all
  double timeout_s = 60;                   // of wall time
  std::size_t max_output_bytes = 1 << 20;  // output beyond this is read and discarded
  // A program is killed if more than this of its output has been discarded.
  std::size_t max_thrown_bytes = std::numeric_limits<std::size_t>::max();
  // If > 0, the program gets a pipe at kChannelDescriptor, and this many bytes of what it writes there are kept.
  std::size_t max_channel_bytes = 0;
  std::vector<PassedDescriptor> passed = {};  // further descriptors that it inherits
  std::optional<UserId> run_as = {};          // see ChildStart
  int group_line = -1;                        // see ChildStart
  std::size_t max_memory_bytes = 0;           // address space of each process; 0 unlimited
  std::size_t max_file_bytes = 0;             // of each file written; 0 unlimited
  std::size_t max_stack_bytes = 0;            // of each process; 0 inherits ours
  std::size_t max_cpu_s = 0;                  // processor time of each process; 0 unlimited
};

struct CommandResult {
  int exit_code = -1;       // 128 + signal if a signal ended the program
  bool timed_out = false;   // the limit passed and the whole group was killed
  bool output_cut = false;  // the output exceeded max_output_bytes and was cut
  std::string output = {};  // stdout and stderr together
  bool channel_cut = false;
  std::string channel = {};  // what it wrote to kChannelDescriptor
  bool flooded = false;      // it exceeded max_thrown_bytes, and the whole group was killed
};

// Runs the program with an empty stdin and only the descriptors in `passed`, in a process group of its own. The group
// is killed at the time limit and when the program has ended, so that none of the program's children keeps running or
// delays the caller. The program is killed when this process dies. Errors: the program cannot be found or started.
Result<CommandResult> run_command(const Command& command);

}  // namespace roofwalk
