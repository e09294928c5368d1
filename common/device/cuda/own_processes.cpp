#include "common/device/cuda/own_processes.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

unsigned number_in(std::string_view text) {
  unsigned number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Returns the parent's PID of each process, by PID. Processes that end in the meantime are left out.
std::map<unsigned, unsigned> parents() {
  std::map<unsigned, unsigned> out;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const unsigned pid = number_in(at->path().filename().string());
    if (pid == 0) continue;
    std::ifstream in(at->path() / "stat");
    std::string line;
    std::getline(in, line);
    const auto name_end = line.rfind(')');  // the name may contain any characters; state and parent PID follow it
    if (name_end == std::string::npos || name_end + 4 >= line.size()) continue;
    out[pid] = number_in(std::string_view(line).substr(name_end + 4));
  }
  return out;
}

}  // namespace

OwnProcesses own_processes(std::size_t workers) {
  OwnProcesses own{
      .pids = {static_cast<unsigned>(::getpid())}, .pids_are_hosts = sees_host_pids(), .processes = workers};
  const auto parent_of = parents();
  for (std::size_t i = 0; i < own.pids.size(); ++i) {
    for (const auto& [pid, parent] : parent_of) {
      const bool is_new = std::find(own.pids.begin(), own.pids.end(), pid) == own.pids.end();
      if (parent == own.pids[i] && is_new) own.pids.push_back(pid);
    }
  }
  return own;
}

}  // namespace roofwalk
