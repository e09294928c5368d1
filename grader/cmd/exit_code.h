// The exit codes of every verb. They are an interface: scripts and autograders rely on them.
#pragma once

namespace roofwalk {

enum ExitCode {
  kAccepted = 0,
  kNotAccepted = 1,
  kUsage = 2,     // the command line or a file that it names is wrong
  kOurFault = 3,  // nothing is said of the kernel
  kSkipped = 4,   // this machine lacks something; the message names it
};

}  // namespace roofwalk
