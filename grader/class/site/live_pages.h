// A folder of pages that is kept as it should be while people look at it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "common/base/child.h"
#include "common/base/result.h"
#include "grader/class/site/site.h"

namespace roofwalk {

class LivePages {
 public:
  // Locks the folder until this object's end, by a file beside it. Errors: another program keeps the folder, or the
  // file cannot be made.
  static Result<LivePages> open(const std::filesystem::path& folder);

  // Whether some program keeps the folder now.
  static bool are_kept(const std::filesystem::path& folder);

  // make(write) writes all pages that there should be. Of these, replaces each that differs from the one in the folder,
  // in one step, and then removes every other file from it. Returns how many it replaced. Errors: those of `make` and
  // of writing; what is in the folder then is a mix of old pages and new ones, which the next update() ends.
  Result<std::size_t> update(const std::function<Status(const WritePage&)>& make);

  // During update(): keeps a page that the last update() wrote, as it is. False: it did not, or another program has put
  // another folder in the place of this one.
  bool keep(const std::string& path);

  // Whether another program has put another folder in the place of this one since the last update().
  bool was_replaced() const { return identity() != identity_; }

 private:
  using Identity = std::pair<unsigned long, unsigned long>;
  LivePages(std::filesystem::path folder, Descriptor lock) : folder_(std::move(folder)), lock_(std::move(lock)) {}
  Identity identity() const;
  void remove_others();

  std::filesystem::path folder_;
  Descriptor lock_;
  Identity identity_{};                   // of the folder, when update() ended
  std::set<std::string> before_, pages_;  // the pages of the last update(), and of this one so far
};

}  // namespace roofwalk
