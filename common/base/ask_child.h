// Asks a question in a child process: what answers may crash, hang or spoil the process that it lives in.
#pragma once

#include <functional>

#include "common/base/json.h"

namespace roofwalk {

struct ChildAnswer {
  enum class End { answered, not_started, late, crashed, unreadable };
  End end = End::not_started;
  int signal = 0;  // of crashed
  Json json;       // of answered; always an object
};

// Forks, calls `answer` in the child and brings home the object that it returns. The child writes to nobody's terminal,
// leaves no core file and dies with us; one that is late is killed, and left behind where even that does not end it
// (it hangs in a driver). Call it before the program starts threads.
ChildAnswer ask_child(double timeout_s, const std::function<Json()>& answer);

}  // namespace roofwalk
