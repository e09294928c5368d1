// What a person at a terminal is told while something is measured: that it takes a while, or who has the GPU now.
#pragma once

#include <string>

#include "grader/cmd/session.h"
#include "grader/terminal/waiting.h"

namespace roofwalk {

class Patience {
 public:
  // `what` takes a while: "measuring vector-add". The session must outlive this.
  Patience(Session& session, std::string what) : session_(session), waiting_(std::move(what)) {
    session_.while_waiting = [this](const std::string& line) { waiting_.say(line); };
  }
  ~Patience() { session_.while_waiting = nullptr; }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  Session& session_;
  Waiting waiting_;
};

}  // namespace roofwalk
