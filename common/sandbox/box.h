// A box: what a program sees and may use that reads what a stranger wrote. Everything that is not named here is absent:
// no other folder, no network, no process but its own, no descriptor, no variable. bubblewrap makes it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/child.h"
#include "common/base/result.h"

namespace roofwalk {

// How programs are run that read what a learner wrote. Somebody's own files on their own computer need limits, no box.
enum class Isolation { none, boxed };

// A folder or file of this machine that can be read inside, under a name of its own.
struct BoxMount {
  std::filesystem::path from;
  std::string to;
  bool may_be_absent = false;
};

// A file that exists inside only. Nobody can change it.
struct BoxFile {
  std::string to;  // below kBoxFolder
  std::string bytes;
  bool is_program = false;
};

// Of each process but where it says otherwise.
struct BoxLimits {
  double cpu_s = 10;                                // 0: no limit
  std::size_t memory_bytes = std::size_t{2} << 30;  // address space
  std::size_t file_bytes = 64 << 20;                // of each file that is written
  std::size_t temporary_bytes = 256 << 20;          // all files in /tmp together
  std::size_t stack_bytes = 64 << 20;
  int processes = 64;  // in the whole box, threads included
  int descriptors = 256;
};

struct Box {
  std::vector<BoxMount> mounts;
  std::map<std::string, std::string> links;  // name in the box, what it points to
  std::vector<BoxFile> files;
  std::map<std::string, std::string> environment;
  bool shows_processes = false;  // /proc of its own processes
  BoxLimits limits;
};

// The working folder of whatever runs in a box; it holds Box::files. Only /tmp can be written to.
inline constexpr const char* kBoxFolder = "/src";

// Whom root becomes before a box is made; nothing where it is somebody else who makes it.
std::optional<UserId> box_user();

// How bubblewrap is started so that it makes a box and runs a program there.
struct BoxStart {
  std::vector<std::string> arguments;
  std::vector<PassedDescriptor> passed;  // what bubblewrap reads, and where it says how it went
  std::optional<UserId> run_as;  // root gives its rights up first: in a box it could still read all of root's files
  std::vector<Descriptor> held;  // that `passed` names: to be kept until bubblewrap has started
  Descriptor status;             // what bubblewrap says, for BoxStatus
};

// `program` is run with no descriptor but 0 (empty), 1, 2 and, where the caller gives it one, kChannelDescriptor.
// Errors: bubblewrap is not installed; a file of the box cannot be prepared.
Result<BoxStart> prepare_box(const Box& box, const std::vector<std::string>& program);

// What became of a box.
class BoxStatus {
 public:
  explicit BoxStatus(Descriptor status) : status_(std::move(status)) {}

  // Whether the program was started in it. To be asked when bubblewrap has ended by itself.
  bool was_made();

  // bubblewrap has ended or was killed: the kernel ends everything in the box with it. Waits until that is done.
  // False where it takes longer.
  bool wait_until_gone(double seconds);

 private:
  void read_what_is_there();

  Descriptor status_;
  std::string said_;
};

}  // namespace roofwalk
