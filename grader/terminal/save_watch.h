// Tells when a file was saved, however an editor saves it: written in place, moved into place, in several steps.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace roofwalk {

// Changes come from inotify, in the file's folder and in the one that a symbolic link leads to; a look at the file
// every half second finds those that inotify does not report (folders shared with another machine).
class SaveWatch {
 public:
  using Clock = std::chrono::steady_clock;

  explicit SaveWatch(std::filesystem::path file);
  ~SaveWatch();
  SaveWatch(const SaveWatch&) = delete;
  SaveWatch& operator=(const SaveWatch&) = delete;

  int descriptor() const { return inotify_; }  // readable when there may be news; -1 where there is no inotify

  // How long to wait for the descriptor before saved() should be asked again.
  int patience_ms(Clock::time_point now) const;

  // True once for each save, when no more has happened for a tenth of a second (or changes go on for a second). A file
  // that is gone is not saved until it is back, and one that is as it was has not been saved.
  bool saved(Clock::time_point now);

  // The file as it is now counts as seen: call before reading it.
  void look();

  bool exists() const { return identity().has_value(); }

 private:
  struct Identity {
    unsigned long inode = 0;
    long long modified_ns = 0, bytes = 0;
    bool operator==(const Identity&) const = default;
  };
  std::optional<Identity> identity() const;
  bool read_events();

  std::filesystem::path file_;
  std::vector<std::string> names_;  // of the file, in the folders watched
  int inotify_ = -1;
  std::optional<Identity> seen_;
  std::optional<Clock::time_point> first_change_, last_change_;
};

}  // namespace roofwalk
