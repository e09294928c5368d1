// The fixture for paths that an instructor names.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "tests/support/collecting.h"

namespace roofwalk::test {

class NamedPaths : public Collecting {
 protected:
  std::filesystem::path at(const char* name) const { return folder_.path() / name; }
  void hand_in(const char* name, const std::string& bytes) const {
    const std::chrono::sys_seconds time{std::chrono::seconds(kHandedIn)};
    std::filesystem::last_write_time(folder_.write(name, bytes), std::chrono::file_clock::from_sys(time));
  }
};

}  // namespace roofwalk::test
