// Detects that a file was saved, for every way in which editors do it: written in place, moved into place, in several
// steps.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace roofwalk {

// Watches a file with inotify: the file's folder and, if the file is a symbolic link, the folder to which the link
// leads. In addition, examines the file every half second, because inotify does not report all changes in a folder that
// is shared with another machine.
class SaveWatch {
 public:
  using Clock = std::chrono::steady_clock;

  explicit SaveWatch(std::filesystem::path file);
  ~SaveWatch();
  SaveWatch(const SaveWatch&) = delete;
  SaveWatch& operator=(const SaveWatch&) = delete;

  int descriptor() const { return inotify_; }  // readable when there may be a change; -1 without inotify

  // How long to wait for the descriptor before calling saved() again.
  int patience_ms(Clock::time_point now) const;

  // True once for each save, after a tenth of a second without further changes (or after a second of changes). A
  // deleted file counts as saved only when it exists again; a file whose inode, time and size did not change does not
  // count.
  bool saved(Clock::time_point now);

  // Takes the file's present state as seen; call it before reading the file.
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
  std::vector<std::string> names_;  // names of the file in the watched folders
  int inotify_ = -1;
  std::optional<Identity> seen_;
  std::optional<Clock::time_point> first_change_, last_change_;
};

}  // namespace roofwalk
