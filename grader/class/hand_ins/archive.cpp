#include "grader/class/hand_ins/archive.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "common/base/child.h"
#include "grader/class/hand_ins/zip/zip_cost.h"
#include "grader/class/hand_ins/zip/zip_records.h"
#include "grader/course/course.h"
#include "grader/text/characters.h"

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

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>((value >> (8 * i)) & 0xff);
  return text;
}

constexpr unsigned kIsUtf8 = 0x08;  // bit in the second byte of an entry's flags

// Returns the positions of the flags of names that contain a control character or are not UTF-8. If such a name is
// flagged as UTF-8, libzip refuses the whole zip. The name of one file must not make a class unreadable, so these flags
// are cleared, and the names are read as bytes.
std::vector<std::uint64_t> flags_of_odd_names(std::string_view bytes, const EntryList& list) {
  constexpr std::uint64_t kFlags = 9;
  std::vector<std::uint64_t> flags;
  for_each_head(bytes, list, [&](std::uint64_t at, std::uint64_t) {
    const auto place = static_cast<std::size_t>(at);
    if (place + kHeadBytes > bytes.size()) return false;
    if (!is_plain_text(bytes.substr(place + kHeadBytes, static_cast<std::size_t>(number_at(bytes, at + 28, 2)))))
      flags.push_back(at + kFlags);
    return true;
  });
  return flags;
}

// The end records for an archive of these entries, with the true position and size of its list. libzip searches the
// last 64 KiB for an end record, and looks for a locator only directly before the last one. The comment of these
// records fills the 64 KiB, so libzip cannot take bytes in some file or name for such records.
std::string end_records(const EntryList& list, std::uint64_t entries, std::uint64_t at) {
  constexpr std::uint64_t kNoNumber = 0xffffffff, kNoCount = 0xffff;  // "see the 64-bit record"
  std::string records;
  if (list.at >= kNoNumber || list.bytes >= kNoNumber || entries >= kNoCount) {
    constexpr std::uint64_t kVersion = 45;  // the first version with these records
    records += std::string(kEnd64) + little_endian(kEnd64Bytes - 12, 8) + little_endian(kVersion, 2) +
               little_endian(kVersion, 2) + little_endian(0, 8) + little_endian(entries, 8) +
               little_endian(entries, 8) + little_endian(list.bytes, 8) + little_endian(list.at, 8);
    records += std::string(kLocator) + little_endian(0, 4) + little_endian(at, 8) + little_endian(1, 4);
  } else {
    records.append(kLocatorBytes, '\0');
  }
  const std::string count = little_endian(std::min(entries, kNoCount), 2);
  records += std::string(kEnd) + little_endian(0, 4) + count + count +
             little_endian(std::min(list.bytes, kNoNumber), 4) + little_endian(std::min(list.at, kNoNumber), 4) +
             little_endian(kLongestComment, 2);
  return records.append(kLongestComment, '\0');
}

// The name as it is if it is UTF-8, otherwise decoded by libzip's guess at its encoding. nullopt if it is too long.
std::optional<std::string> name_of(zip_t* zip, zip_uint64_t index, bool& is_utf8) {
  const char* raw = zip_get_name(zip, index, ZIP_FL_ENC_RAW);
  if (raw == nullptr) return std::string();
  if (std::strlen(raw) > kLongestName) return std::nullopt;
  const std::string name = raw;
  for (std::size_t i = 0; i < name.size();) {
    const Character one = character_at(name, i);
    if (!one.code) {
      is_utf8 = false;
      const char* guessed = zip_get_name(zip, index, ZIP_FL_ENC_GUESS);
      if (guessed == nullptr) return name;
      return std::strlen(guessed) <= kLongestName ? std::optional<std::string>(guessed) : std::nullopt;
    }
    i += one.bytes;
  }
  return name;
}

// The time at which an entry was written, if the archive gives it in UTC: in Info-ZIP's extra field "UT" (a mask of
// times, then seconds since 1970). An entry's own time is local time in an unknown zone, in steps of two seconds.
std::optional<std::int64_t> written_at(zip_t* zip, zip_uint64_t index) {
  constexpr zip_uint16_t kTimes = 0x5455;
  constexpr zip_uint8_t kHasWritten = 1;
  zip_uint16_t size = 0;
  const zip_uint8_t* field = zip_file_extra_field_get_by_id(zip, index, kTimes, 0, &size, ZIP_FL_CENTRAL);
  if (field == nullptr || size < 5 || (field[0] & kHasWritten) == 0) return std::nullopt;
  const std::string_view bytes(reinterpret_cast<const char*>(field), size);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(number_at(bytes, 1, 4)));
}

}  // namespace

// The bytes that libzip reads instead of the file: all bytes before the end record, then newly made records.
struct Archive::Served {
  std::string_view file;
  std::string records;
  std::vector<std::uint64_t> odd_flags;  // sorted; these bytes are read without kIsUtf8
  std::uint64_t at = 0;
  zip_error_t error = {};

  std::uint64_t size() const { return file.size() + records.size(); }

  std::uint64_t read(char* to, std::uint64_t most_bytes) {
    const std::uint64_t count = std::min(most_bytes, size() - std::min(size(), at));
    for (std::uint64_t done = 0; done < count;) {
      const std::uint64_t from = at + done;
      const std::string_view piece =
          from < file.size() ? file.substr(from) : std::string_view(records).substr(from - file.size());
      done += piece.copy(to + done, count - done);
    }
    for (auto flag = std::lower_bound(odd_flags.begin(), odd_flags.end(), at);
         flag != odd_flags.end() && *flag < at + count; ++flag) {
      char& byte = to[*flag - at];
      byte = static_cast<char>(static_cast<unsigned char>(byte) & ~kIsUtf8);
    }
    at += count;
    return count;
  }

  static zip_int64_t answer(void* user, void* data, zip_uint64_t bytes, zip_source_cmd_t command);
};

zip_int64_t Archive::Served::answer(void* user, void* data, zip_uint64_t bytes, zip_source_cmd_t command) {
  Served& served = *static_cast<Served*>(user);
  switch (command) {
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(ZIP_SOURCE_SUPPORTS, ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                            ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK,
                                            ZIP_SOURCE_TELL, -1);
    case ZIP_SOURCE_OPEN:
      served.at = 0;
      return 0;
    case ZIP_SOURCE_READ:
      return static_cast<zip_int64_t>(served.read(static_cast<char*>(data), bytes));
    case ZIP_SOURCE_TELL:
      return static_cast<zip_int64_t>(served.at);
    case ZIP_SOURCE_SEEK: {
      const zip_int64_t to = zip_source_seek_compute_offset(served.at, served.size(), data, bytes, &served.error);
      if (to < 0) return -1;
      served.at = static_cast<std::uint64_t>(to);
      return 0;
    }
    case ZIP_SOURCE_STAT: {
      auto& stat = *static_cast<zip_stat_t*>(data);
      zip_stat_init(&stat);
      stat.size = served.size();
      stat.valid |= ZIP_STAT_SIZE;
      return sizeof stat;
    }
    case ZIP_SOURCE_ERROR:
      return zip_error_to_data(&served.error, data, bytes);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
      return 0;
    default:
      zip_error_set(&served.error, ZIP_ER_OPNOTSUPP, 0);
      return -1;
  }
}

struct Archive::Impl {
  std::string bytes;      // the archive, if it is in memory
  void* pages = nullptr;  // the archive, if it is a file
  std::size_t page_bytes = 0;
  Served served;
  zip_t* zip = nullptr;
  ~Impl() {
    if (zip != nullptr) zip_discard(zip);
    if (pages != nullptr) ::munmap(pages, page_bytes);
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
    bool is_utf8 = true;
    const std::optional<std::string> found = name_of(zip, index, is_utf8);
    if (!found) {
      ++archive.too_long_;
      continue;
    }
    const std::string& name = *found;
    zip_stat_t stat;
    if (name.empty() || zip_stat_index(zip, index, 0, &stat) != 0) continue;
    const std::int64_t said = (stat.valid & ZIP_STAT_MTIME) != 0 ? static_cast<std::int64_t>(stat.mtime) : 0;
    const std::int64_t written = written_at(zip, index).value_or(said);
    ArchiveEntry::Kind kind = name.ends_with('/') ? ArchiveEntry::Kind::folder : ArchiveEntry::Kind::file;
    zip_uint8_t system = 0;
    zip_uint32_t attributes = 0;
    if (zip_file_get_external_attributes(zip, index, 0, &system, &attributes) == 0 &&
        (system == ZIP_OPSYS_UNIX || system == ZIP_OPSYS_OS_X) && S_ISLNK(attributes >> 16)) {
      kind = ArchiveEntry::Kind::link;
    }
    const std::uint64_t packed = (stat.valid & ZIP_STAT_COMP_SIZE) != 0 ? stat.comp_size : 0;
    archive.entries_.push_back({name, written, index, packed, kind, is_utf8});
  }
  return archive;
}

Result<Archive> Archive::open(const fs::path& file, std::size_t most_entries) {
  // O_NONBLOCK: if the file is a pipe, open() must not wait for a writer.
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (opened.get() < 0 || ::fstat(opened.get(), &info) != 0)
    return Error{.message = fmt::format("cannot be read: {}", std::strerror(errno)), .file = file.string()};
  if (!S_ISREG(info.st_mode)) return Error{.message = "is not a regular file", .file = file.string()};
  auto impl = std::make_unique<Impl>();
  impl->page_bytes = static_cast<std::size_t>(info.st_size);
  if (impl->page_bytes != 0) {
    void* const pages = ::mmap(nullptr, impl->page_bytes, PROT_READ, MAP_PRIVATE, opened.get(), 0);
    if (pages == MAP_FAILED)
      return Error{.message = fmt::format("cannot be read: {}", std::strerror(errno)), .file = file.string()};
    impl->pages = pages;
  }
  const std::string_view all(static_cast<const char*>(impl->pages), impl->page_bytes);
  auto archive = of_bytes(std::move(impl), all, most_entries);
  if (!archive)
    return Error{.message = archive.error().message, .file = file.string(), .advice = archive.error().advice};
  return archive;
}

Result<Archive> Archive::in_memory(std::string bytes, std::size_t most_entries) {
  auto impl = std::make_unique<Impl>();
  impl->bytes = std::move(bytes);
  const std::string_view all(impl->bytes);
  return of_bytes(std::move(impl), all, most_entries);
}

// Shows libzip only the true end record. In the whole file, libzip would choose an end record from anywhere in the last
// 64 KiB, and the records before it, by rules of its own.
Result<Archive> Archive::of_bytes(std::unique_ptr<Impl> impl, std::string_view all, std::size_t most_entries) {
  const auto end = end_of(all);
  if (!end && !all.empty()) return Error{.message = "is not a readable zip: it has no central directory"};
  const EntryList list = end ? list_of(all, *end) : EntryList{};
  // A truncated download may end with bytes, inside some file, that look like the end of an empty archive.
  if (end && list.bytes == 0 && all.starts_with(kEntry))
    return Error{.message = "is not a readable zip: it starts with a file, but its central directory is empty"};
  constexpr const char* kUnpack = "unpack it and name the folder";
  std::uint64_t count = 0;
  for_each_head(all, list, [&](std::uint64_t, std::uint64_t) { return ++count <= most_entries; });
  if (count > most_entries) {
    return Error{.message = fmt::format("is a zip of more than {} entries, and is not opened", most_entries),
                 .advice = kUnpack};
  }
  constexpr const char* kOtherEntries =
      "is not a readable zip: its central directory does not hold as many entries as it says";
  if (list.said_entries != (list.is_64 ? count : count % 65'536)) return Error{.message = kOtherEntries};
  const bool is_own = most_entries <= kMostOwnEntries;
  if (const std::string why = why_costly(all, list, is_own ? kOwnCost : kClassCost); !why.empty()) {
    return Error{.message = "is a zip that " + why + ", and is not opened",
                 .advice = is_own ? "pack only what is handed in" : kUnpack};
  }
  Served& served = impl->served;
  served.file = all.substr(0, end.value_or(0));
  served.records = end_records(list, count, served.file.size());
  served.odd_flags = flags_of_odd_names(all, list);
  zip_error_init(&served.error);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_function_create(Served::answer, &served, &error);
  if (source != nullptr) impl->zip = zip_open_from_source(source, ZIP_RDONLY, &error);
  const std::string words = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (impl->zip == nullptr) {
    if (source != nullptr) zip_source_free(source);
    return Error{.message = "is not a readable zip: " + words};
  }
  if (static_cast<std::uint64_t>(zip_get_num_entries(impl->zip, 0)) != count) return Error{.message = kOtherEntries};
  return listed(std::move(impl));
}

Result<std::string> Archive::read(const ArchiveEntry& entry, std::size_t most_bytes, std::size_t& cost_bytes) const {
  // The number of packed bytes comes from a header, which may state any number, so this limits what is added to the
  // cost. The limit exceeds all limits on the cost.
  constexpr std::uint64_t kDearest = 1u << 30;
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
