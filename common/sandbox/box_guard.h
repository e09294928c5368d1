// Ends a box whose maker was killed while the box was made. bubblewrap asks the kernel to kill the box with its parent
// only after it has made the box's first process, which then waits for bubblewrap: if bubblewrap dies in between, that
// process would wait for ever.
#pragma once

#include <sys/types.h>

#include <optional>
#include <utility>

#include "common/base/child.h"
#include "common/base/result.h"

namespace roofwalk {

// A process that outlives this one, and then kills the process group that was written to `line()`.
class BoxGuard {
 public:
  // `run_as`: the box's user, whose processes the guard may kill.
  static Result<BoxGuard> start(const std::optional<UserId>& run_as);
  BoxGuard(BoxGuard&& other) noexcept : line_(std::move(other.line_)), pid_(std::exchange(other.pid_, -1)) {}
  BoxGuard& operator=(BoxGuard&& other) noexcept;
  // The box has ended, or its processes end with this one: no guard is needed any more.
  ~BoxGuard() { dismiss(); }

  // For ChildStart::group_line. As long as this process lives, nobody else holds its other end open.
  int line() const { return line_.get(); }

 private:
  BoxGuard(Descriptor line, pid_t pid) : line_(std::move(line)), pid_(pid) {}
  void dismiss();

  Descriptor line_;
  pid_t pid_;
};

}  // namespace roofwalk
