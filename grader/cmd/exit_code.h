// The exit codes of every verb. They are an interface: scripts and autograders rely on them.
#pragma once

namespace roofwalk {

enum ExitCode {
  kAccepted = 0,
  kNotAccepted = 1,
  kUsage = 2,     // the command line or a file that it names is wrong
  kOurFault = 3,  // a fault of this program; tells nothing about the kernel
  kSkipped = 4,   // this machine lacks something, which the message names
};

}  // namespace roofwalk
