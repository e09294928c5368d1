#include "grader/terminal/save_watch.h"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kSettled{100}, kLongest{1000}, kLook{500};

}  // namespace

SaveWatch::SaveWatch(fs::path file) : file_(std::move(file)), inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  std::error_code error;
  std::vector<fs::path> places = {fs::absolute(file_)};
  if (const fs::path target = fs::canonical(file_, error); !error && target != places.front()) places.push_back(target);
  for (const fs::path& place : places) {
    names_.push_back(place.filename().string());
    if (inotify_ >= 0) {
      ::inotify_add_watch(inotify_, place.parent_path().c_str(),
                          IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_MODIFY | IN_ONLYDIR);
    }
  }
  look();
}

SaveWatch::~SaveWatch() {
  if (inotify_ >= 0) ::close(inotify_);
}

std::optional<SaveWatch::Identity> SaveWatch::identity() const {
  struct stat info {};
  if (::stat(file_.c_str(), &info) != 0) return std::nullopt;
  return Identity{info.st_ino, info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec, info.st_size};
}

void SaveWatch::look() {
  seen_ = identity();
  first_change_ = last_change_ = std::nullopt;
}

bool SaveWatch::read_events() {
  bool ours = false;
  alignas(inotify_event) char buffer[4096];
  for (ssize_t count = 0; inotify_ >= 0 && (count = ::read(inotify_, buffer, sizeof buffer)) > 0;) {
    for (ssize_t at = 0; at < count;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      const std::string name = event->len > 0 ? event->name : "";
      ours = ours || std::find(names_.begin(), names_.end(), name) != names_.end();
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
  return ours;
}

int SaveWatch::patience_ms(Clock::time_point now) const {
  if (!last_change_) return static_cast<int>(kLook.count());
  const auto left = std::min(*last_change_ + kSettled, *first_change_ + kLongest) - now;
  return std::max(1, static_cast<int>(std::chrono::ceil<milliseconds>(left).count()));
}

bool SaveWatch::saved(Clock::time_point now) {
  const auto there = identity();
  if (read_events() || (!last_change_ && there && there != seen_)) {
    if (!first_change_) first_change_ = now;
    last_change_ = now;
  }
  if (!last_change_ || (now < *last_change_ + kSettled && now < *first_change_ + kLongest)) return false;
  first_change_ = last_change_ = std::nullopt;
  if (!there || there == seen_) return false;
  look();
  return true;
}

}  // namespace roofwalk
