// Asks a question in a child process, because answering it may crash, hang or corrupt the process that does so.
#pragma once

#include <functional>

#include "common/base/json.h"

namespace roofwalk {

struct ChildAnswer {
  enum class End { answered, not_started, late, crashed, unreadable };
  End end = End::not_started;
  int signal = 0;  // if `end` is crashed
  Json json;       // if `end` is answered; always an object
};

// Forks, calls `answer` in the child and returns the object that it produced. The child has no terminal, leaves no core
// file and is killed when this process dies. After `timeout_s` the child is killed; if even SIGKILL does not end it,
// because it hangs in a driver, it is left behind. Call this before the program starts threads.
ChildAnswer ask_child(double timeout_s, const std::function<Json()>& answer);

}  // namespace roofwalk
