#include "grader/batch/archive.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>

#include "common/base/child.h"
#include "grader/characters.h"
#include "grader/course.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

std::string words_of(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string words = zip_error_strerror(&error);
  zip_error_fini(&error);
  return words;
}

std::uint64_t number_at(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (at + i < bytes.size()) value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return value;
}

// Where the list of entries begins (PKWARE's APPNOTE, 4.3.14 to 4.3.16); nothing where there is none.
std::optional<std::size_t> directory_of(const std::string& bytes) {
  const std::size_t end = bytes.rfind("PK\5\6");
  if (end == std::string::npos) return std::nullopt;
  std::uint64_t at = number_at(bytes, end + 16, 4);
  if (at == 0xffffffff && end >= 20 && bytes.compare(end - 20, 4, "PK\6\7") == 0)
    at = number_at(bytes, static_cast<std::size_t>(number_at(bytes, end - 20 + 8, 8)) + 48, 8);
  return at < end ? std::optional<std::size_t>(static_cast<std::size_t>(at)) : std::nullopt;
}

// Any part of an archive; shorter at its end.
using ReadAt = std::function<std::string(std::uint64_t at, std::size_t size)>;

ReadAt read_at(const std::string& bytes) {
  return [&bytes](std::uint64_t at, std::size_t size) {
    return at < bytes.size() ? bytes.substr(static_cast<std::size_t>(at), size) : std::string();
  };
}

ReadAt read_at(int file) {
  return [file](std::uint64_t at, std::size_t size) {
    std::string part(size, '\0');
    const bool is_place = at <= static_cast<std::uint64_t>(std::numeric_limits<::off_t>::max());
    const ssize_t count = is_place ? ::pread(file, part.data(), size, static_cast<::off_t>(at)) : 0;
    part.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return part;
  };
}

// How many entries libzip reads to open an archive: those of each list that may be the archive's, as they stand there
// (PKWARE's APPNOTE, 4.3.12 to 4.3.16). The number that the archive gives may be anything, and only libzip believes the
// one of 64 bits, for which it takes memory. Stops where there are more than `most`.
std::uint64_t count_entries(const ReadAt& read, std::uint64_t size, std::uint64_t most) {
  constexpr std::size_t kHead = 46, kEnd = 22, kLocator = 20, kEnd64 = 56, kLongestComment = 0xffff;
  constexpr std::size_t kTail = kLongestComment + kEnd + kLocator;
  const std::string tail = read(size - std::min<std::uint64_t>(size, kTail), kTail);
  std::uint64_t count = 0;
  for (std::size_t at = tail.find("PK\5\6"); at != std::string::npos && count <= most;
       at = tail.find("PK\5\6", at + 1)) {
    if (number_at(tail, at + 4, 4) != 0) continue;  // of several disks, which libzip does not read
    std::uint64_t left = number_at(tail, at + 12, 4), place = number_at(tail, at + 16, 4);
    if (at >= kLocator && tail.compare(at - kLocator, 4, "PK\6\7") == 0) {
      const std::string end = read(number_at(tail, at - kLocator + 8, 8), kEnd64);
      if (number_at(end, 32, 8) > most) return most + 1;
      left = number_at(end, 40, 8), place = number_at(end, 48, 8);
    }
    while (left >= kHead && count <= most) {
      const std::string head = read(place, kHead);
      if (!head.starts_with("PK\1\2")) break;
      const std::uint64_t bytes = kHead + number_at(head, 28, 2) + number_at(head, 30, 2) + number_at(head, 32, 2);
      place += bytes;
      left -= std::min(left, bytes);
      ++count;
    }
  }
  return count;
}

Status require_few(const ReadAt& read, std::uint64_t size, std::size_t most_entries) {
  if (count_entries(read, size, most_entries) <= most_entries) return kOk;
  return Error{.message = fmt::format("is a zip of more than {} entries, and is not opened", most_entries),
               .advice = "unpack it and name the folder"};
}

bool is_plain_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const Character one = character_at(text, i);
    if (!one.code || *one.code < ' ') return false;
    i += one.bytes;
  }
  return true;
}

// libzip refuses a whole zip where one name that is said to be UTF-8 holds a control character, or is none. One file's
// name must not refuse a class: nothing is said of such a name any more, and it is read as it stands.
void allow_any_names(std::string& bytes) {
  constexpr std::size_t kHead = 46;
  constexpr unsigned kIsUtf8 = 0x08;  // of the second byte of the flags
  std::optional<std::size_t> at = directory_of(bytes);
  while (at && *at + kHead <= bytes.size() && bytes.compare(*at, 4, "PK\1\2") == 0) {
    const auto length = static_cast<std::size_t>(number_at(bytes, *at + 28, 2));
    const auto more = static_cast<std::size_t>(number_at(bytes, *at + 30, 2) + number_at(bytes, *at + 32, 2));
    if (!is_plain_text(std::string_view(bytes).substr(*at + kHead, length)))
      bytes[*at + 9] = static_cast<char>(static_cast<unsigned char>(bytes[*at + 9]) & ~kIsUtf8);
    *at += kHead + length + more;
  }
}

// As it stands where it is UTF-8, else as old programs meant it.
std::string name_of(zip_t* zip, zip_uint64_t index) {
  const char* raw = zip_get_name(zip, index, ZIP_FL_ENC_RAW);
  if (raw == nullptr) return {};
  const std::string name = raw;
  for (std::size_t i = 0; i < name.size();) {
    const Character one = character_at(name, i);
    if (!one.code) {
      const char* guessed = zip_get_name(zip, index, ZIP_FL_ENC_GUESS);
      return guessed != nullptr ? guessed : name;
    }
    i += one.bytes;
  }
  return name;
}

}  // namespace

struct Archive::Impl {
  std::string bytes;  // that the archive is read from, where it is in memory
  zip_t* zip = nullptr;
  ~Impl() {
    if (zip != nullptr) zip_discard(zip);
  }
};

Archive::Archive(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Archive::~Archive() = default;
Archive::Archive(Archive&&) noexcept = default;

Archive Archive::listed(std::unique_ptr<Impl> impl) {
  zip_t* const zip = impl->zip;
  const zip_int64_t count = zip_get_num_entries(zip, 0);
  Archive archive(std::move(impl));
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const std::string name = name_of(zip, index);
    zip_stat_t stat;
    if (name.empty() || zip_stat_index(zip, index, 0, &stat) != 0) continue;
    const std::int64_t written = (stat.valid & ZIP_STAT_MTIME) != 0 ? static_cast<std::int64_t>(stat.mtime) : 0;
    ArchiveEntry::Kind kind = name.ends_with('/') ? ArchiveEntry::Kind::folder : ArchiveEntry::Kind::file;
    zip_uint8_t system = 0;
    zip_uint32_t attributes = 0;
    if (zip_file_get_external_attributes(zip, index, 0, &system, &attributes) == 0 && system == ZIP_OPSYS_UNIX &&
        S_ISLNK(attributes >> 16)) {
      kind = ArchiveEntry::Kind::link;
    }
    const std::uint64_t packed = (stat.valid & ZIP_STAT_COMP_SIZE) != 0 ? stat.comp_size : 0;
    archive.entries_.push_back({name, written, index, packed, kind});
  }
  return archive;
}

Result<Archive> Archive::open(const fs::path& file, std::size_t most_entries) {
  {
    const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info {};
    if (opened.get() >= 0 && ::fstat(opened.get(), &info) == 0) {
      Status few = require_few(read_at(opened.get()), static_cast<std::uint64_t>(info.st_size), most_entries);
      if (!few) return Error{.message = few.error().message, .file = file.string(), .advice = few.error().advice};
    }
  }
  int code = 0;
  auto impl = std::make_unique<Impl>();
  impl->zip = zip_open(file.c_str(), ZIP_RDONLY, &code);
  if (impl->zip == nullptr && code == ZIP_ER_INCONS) return in_memory(file_text(file), most_entries);
  if (impl->zip == nullptr)
    return Error{.message = "is no zip that can be read: " + words_of(code), .file = file.string()};
  return listed(std::move(impl));
}

Result<Archive> Archive::in_memory(std::string bytes, std::size_t most_entries) {
  ROOFWALK_TRY_STATUS(require_few(read_at(bytes), bytes.size(), most_entries));
  auto impl = std::make_unique<Impl>();
  impl->bytes = std::move(bytes);
  allow_any_names(impl->bytes);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(impl->bytes.data(), impl->bytes.size(), 0, &error);
  if (source != nullptr) impl->zip = zip_open_from_source(source, ZIP_RDONLY, &error);
  const std::string words = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (impl->zip == nullptr) {
    if (source != nullptr) zip_source_free(source);
    return Error{.message = "is no zip that can be read: " + words};
  }
  return listed(std::move(impl));
}

Result<std::string> Archive::read(const ArchiveEntry& entry, std::size_t most_bytes, std::size_t& cost_bytes) const {
  constexpr std::uint64_t kDearest = 1u << 30;  // whatever a header says: more than anybody may spend
  zip_file_t* file = zip_fopen_index(impl_->zip, entry.index, 0);
  if (file == nullptr) return Error{.message = std::string("cannot be read: ") + zip_strerror(impl_->zip)};
  std::string bytes;
  std::string part(1 << 16, '\0');
  zip_int64_t count = 0;
  while ((count = zip_fread(file, part.data(), part.size())) > 0 && bytes.size() <= most_bytes) {
    bytes.append(part, 0, static_cast<std::size_t>(count));
  }
  cost_bytes += bytes.size() + static_cast<std::size_t>(std::min(entry.packed_bytes, kDearest));
  const std::string words = count < 0 ? zip_file_strerror(file) : "";
  zip_fclose(file);
  if (!words.empty()) return Error{.message = "cannot be read: " + words};
  if (bytes.size() > most_bytes) return Error{.message = fmt::format("is larger than {} bytes", most_bytes)};
  return bytes;
}

Status write_archive(const fs::path& file, const std::vector<ArchiveFile>& files) {
  constexpr zip_uint32_t kRegular = 0100000, kProgram = 0755, kPlain = 0644;
  int code = 0;
  zip_t* zip = zip_open(file.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (zip == nullptr) return Error{.message = "cannot be written: " + words_of(code), .file = file.string()};
  const auto failed = [&] {
    const Error error{.message = std::string("cannot be written: ") + zip_strerror(zip), .file = file.string()};
    zip_discard(zip);
    return error;
  };
  for (const ArchiveFile& one : files) {
    const auto written = static_cast<std::time_t>(one.written_at_s);
    if (one.name.ends_with('/')) {
      const zip_int64_t folder = zip_dir_add(zip, one.name.c_str(), ZIP_FL_ENC_UTF_8);
      if (folder < 0) return failed();
      zip_file_set_mtime(zip, static_cast<zip_uint64_t>(folder), written, 0);
      continue;
    }
    zip_source_t* source = zip_source_buffer(zip, one.bytes.data(), one.bytes.size(), 0);
    if (source == nullptr) return failed();
    const zip_int64_t index = zip_file_add(zip, one.name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      return failed();
    }
    const auto place = static_cast<zip_uint64_t>(index);
    zip_file_set_mtime(zip, place, written, 0);
    zip_file_set_external_attributes(zip, place, 0, ZIP_OPSYS_UNIX,
                                     (kRegular | (one.is_program ? kProgram : kPlain)) << 16);
  }
  if (zip_close(zip) != 0) return failed();
  return kOk;
}

}  // namespace roofwalk
