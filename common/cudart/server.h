// Serves the programs that connect to a socket: one thread, one call after the other, a Session for each program.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "common/base/child.h"
#include "common/base/result.h"
#include "common/cudart/session.h"

namespace roofwalk::cudart {

class Server {
 public:
  // Listens in a new folder that only this user can enter. Error: it cannot be made.
  static Result<std::unique_ptr<Server>> start(SessionOptions options, KernelRecords& records);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::filesystem::path& socket() const { return socket_; }

  // Ends when no call is in progress. False: one still was after `seconds`, as when a program was killed in the middle
  // of a launch; then only the end of this process ends the thread.
  bool stop(double seconds);

 private:
  struct Program;

  Server(SessionOptions options, KernelRecords& records, std::filesystem::path folder, Descriptor listener,
         Descriptor wake);
  void serve();
  void accept_program();
  bool serve_call(Program& program);  // false: the program has gone

  SessionOptions options_;
  KernelRecords& records_;
  std::filesystem::path folder_, socket_;
  Descriptor listener_, wake_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::atomic<bool> is_stopping_ = false;
  std::thread thread_;
};

}  // namespace roofwalk::cudart
