#include "grader/class/hand_ins/found_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "common/base/child.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

std::string lower_extension(const std::string& name) {
  std::string extension = fs::path(name).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return extension;
}

// Opens a file for reading. Its last `own_parts` names must not be links at this moment: whoever can write into a
// folder may have replaced it by a link since it was listed.
Descriptor open_behind_no_link(const fs::path& path, std::size_t own_parts) {
  std::vector<fs::path> names(path.begin(), path.end());
  const std::size_t own = std::min(own_parts, names.size());
  fs::path base;
  for (std::size_t i = 0; i + own < names.size(); ++i) base /= names[i];
  Descriptor folder(::open(base.empty() ? "." : base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (std::size_t i = names.size() - own; i + 1 < names.size() && folder.get() >= 0; ++i) {
    folder = Descriptor(::openat(folder.get(), names[i].c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  }
  if (folder.get() < 0 || names.empty()) return Descriptor();
  return Descriptor(::openat(folder.get(), names.back().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

}  // namespace

bool is_source(const std::string& name) { return lower_extension(name) == ".cu"; }
bool is_zip(const std::string& name) { return lower_extension(name) == ".zip"; }

bool is_debris(const std::string& name) {
  constexpr std::array kNames = {"__MACOSX", ".DS_Store", ".git", ".svn", ".vscode", ".idea", ".cache", ".venv"};
  return name.starts_with("._") || std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

Result<std::string> read_plain_file(const fs::path& path, std::size_t most_bytes, std::size_t own_parts) {
  const Descriptor file = open_behind_no_link(path, own_parts);
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) return Error{.message = "cannot be opened"};
  if (!S_ISREG(info.st_mode)) return Error{.message = "is not a regular file"};
  const Error too_large{.message = fmt::format("is larger than {} bytes", most_bytes)};
  if (static_cast<std::uint64_t>(info.st_size) > most_bytes) return too_large;
  std::string bytes;
  std::string part(1 << 16, '\0');
  ssize_t count = 0;
  while ((count = ::read(file.get(), part.data(), part.size())) > 0 && bytes.size() <= most_bytes) {
    bytes.append(part, 0, static_cast<std::size_t>(count));
  }
  if (count < 0) return Error{.message = "cannot be read"};
  if (bytes.size() > most_bytes) return too_large;
  return bytes;
}

decltype(Found::read) reader_of(fs::path path, std::size_t own_parts) {
  return [path = std::move(path), own_parts](std::size_t most_bytes, std::size_t& cost_bytes) {
    auto bytes = read_plain_file(path, most_bytes, own_parts);
    cost_bytes += bytes ? bytes->size() : most_bytes;
    return bytes;
  };
}

EntryPlace place_of_entry(const std::string& name, Backslash backslash) {
  constexpr std::size_t kMostParts = 32;  // more levels than this program descends
  EntryPlace place;
  const auto separates = [&](std::size_t at) {
    if (name[at] != '\\') return name[at] == '/';
    const bool is_behind_ascii = at == 0 || static_cast<unsigned char>(name[at - 1]) < 0x80;
    return backslash == Backslash::separates || (backslash == Backslash::separates_behind_ascii && is_behind_ascii);
  };
  for (std::size_t begin = 0; begin <= name.size();) {
    std::size_t end = begin;
    while (end < name.size() && !separates(end)) ++end;
    const std::string_view part = std::string_view(name).substr(begin, end - begin);
    place.leads_up = place.leads_up || part == "..";
    const bool is_name = !part.empty() && part != "." && part != "..";
    if (is_name && place.parts.size() == kMostParts) {
      place.parts.back() = part;
    } else if (is_name) {
      place.parts.emplace_back(part);
    }
    begin = end + 1;
  }
  return place;
}

}  // namespace roofwalk
