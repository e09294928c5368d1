// Asks a question in a child process, because answering it may crash, hang or corrupt the process.
#pragma once

#include <functional>

#include "common/base/json.h"

namespace roofwalk {

struct ChildAnswer {
  enum class End { answered, not_started, late, crashed, unreadable };
  End end = End::not_started;
  int signal = 0;  // where `end` is crashed
  Json json;       // where `end` is answered; always an object
};

// Forks, calls `answer` in the child and returns the object that it produced. The child has no terminal, leaves no core
// file and dies with us. A child that is late is killed; one that even SIGKILL does not end (it hangs in a driver) is
// left behind. Call it before the program starts threads.
ChildAnswer ask_child(double timeout_s, const std::function<Json()>& answer);

}  // namespace roofwalk
