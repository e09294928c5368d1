#include "common/ptx/source_map.h"

namespace roofwalk::ptx {
namespace {

constexpr std::uint64_t kMaxFiles = 4096;
constexpr std::uint64_t kMaxLine = 1u << 24;
constexpr std::size_t kMaxInlineDepth = 64;
constexpr std::size_t kMaxFrames = 4'000'000;

// Numbers that no compiler writes become "unknown", so that they are never used as an index.
SourceFrame frame_of(const Place& place) {
  if (place.file >= kMaxFiles || place.line > kMaxLine) return {};
  return {static_cast<int>(place.file), static_cast<int>(place.line)};
}

}  // namespace

void SourceMap::add_file(std::uint64_t index, std::string_view path) {
  if (index >= kMaxFiles) return;
  if (files_.size() <= index) files_.resize(index + 1);
  files_[index] = path;
}

void SourceMap::set_location(const Place& place, const Place* inlined_at) {
  int parent = -1;
  if (inlined_at != nullptr) {
    const auto found = latest_.find(*inlined_at);
    parent = found != latest_.end() ? found->second : intern(*inlined_at, -1);
  }
  current_ = intern(place, parent);
  latest_[place] = current_;
}

int SourceMap::intern(const Place& place, int parent) {
  const SourceFrame frame = frame_of(place);
  const Place key{place.file, place.line, static_cast<std::uint64_t>(parent + 1)};
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  std::vector<SourceFrame> frames{frame};
  if (parent >= 0) {
    const std::vector<SourceFrame>& outer = locations_[static_cast<std::size_t>(parent)];
    frames.insert(frames.end(), outer.begin(), outer.end());
  }
  if (frames.size() > kMaxInlineDepth || frames_ + frames.size() > kMaxFrames) return -1;
  frames_ += frames.size();
  locations_.push_back(std::move(frames));
  const int index = static_cast<int>(locations_.size()) - 1;
  known_.emplace(key, index);
  return index;
}

void SourceMap::move_to(Module& module) {
  for (std::vector<SourceFrame>& frames : locations_) {
    for (SourceFrame& frame : frames) {
      const auto file = static_cast<std::size_t>(frame.file);
      if (frame.file < 0 || file >= files_.size() || files_[file].empty()) frame = {};
    }
  }
  module.files = std::move(files_);
  module.locations = std::move(locations_);
}

bool is_source(std::string_view path, std::string_view source_name) {
  if (source_name.empty() || !path.ends_with(source_name)) return false;
  return path.size() == source_name.size() || path[path.size() - source_name.size() - 1] == '/';
}

}  // namespace roofwalk::ptx
