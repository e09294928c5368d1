#include "common/device/queue_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "common/base/check.h"
#include "common/base/json.h"
#include "common/base/network_file_system.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLine = 256;
// Lines for tickets; if there are more processes, they share lines.
constexpr std::int64_t kLines = 256;
constexpr std::int64_t kTicketBytes = std::int64_t{1} << 40;  // ticket t is the byte kTicketBytes + t
constexpr std::int64_t kMostTickets = std::int64_t{1} << 50;
constexpr std::size_t kMostTold = 1000;  // limit on tickets that are listed, even if a hostile program holds more
constexpr const char* kFolderAdvice =
    "set ROOFWALK_LOCK_DIR to a folder on a disk of this machine that all users of the GPU may write to (chmod 1777)";

// Locks or unlocks a byte. As with flock, the lock belongs to the open file and not to the process: fcntl(2),
// F_OFD_SETLK.
bool lock_byte(int descriptor, std::int64_t ticket, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = kTicketBytes + ticket;
  lock.l_len = 1;
  return ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

// A range of adjacent tickets. This program locks one; other programs with access to the file may lock any range.
struct Tickets {
  std::int64_t first = 0, last = 0;
};

// Returns a range of tickets within these that another process holds.
std::optional<Tickets> held_within(int descriptor, const Tickets& tickets) {
  if (tickets.first > tickets.last) return std::nullopt;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kTicketBytes + tickets.first;
  lock.l_len = tickets.last - tickets.first + 1;
  if (::fcntl(descriptor, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
  const std::int64_t first = lock.l_start - kTicketBytes;
  const std::int64_t last = lock.l_len == 0 ? kMostTickets : first + lock.l_len - 1;
  return Tickets{std::max(first, tickets.first), std::min(last, tickets.last)};
}

std::string name_of(uid_t uid) {
  const passwd* entry = ::getpwuid(uid);
  return entry != nullptr ? plain_text(entry->pw_name, 32) : fmt::format("user {}", uid);
}

// Whether all users can create files in the folder but not remove each other's: it is world-writable and sticky, like
// /tmp.
bool serves_all(const struct stat& info) {
  return S_ISDIR(info.st_mode) && (info.st_mode & S_IWOTH) != 0 && (info.st_mode & S_ISVTX) != 0;
}

// Returns the folder of the queue files. It is the same for every user, including root, because separate folders would
// make separate queues.
Result<fs::path> queue_folder() {
  struct stat info {};
  if (const char* named = std::getenv("ROOFWALK_LOCK_DIR"); named != nullptr && *named != '\0') {
    const fs::path folder = named;
    if (!folder.is_absolute() || ::stat(named, &info) != 0 || !S_ISDIR(info.st_mode)) {
      return Error{.message = "ROOFWALK_LOCK_DIR is not the absolute path of a folder: " + folder.string(),
                   .advice = kFolderAdvice};
    }
    if ((info.st_mode & S_IWOTH) != 0 && !serves_all(info)) {
      return Error{.message = "anybody may remove what is in ROOFWALK_LOCK_DIR: " + folder.string(),
                   .advice = "chmod +t " + folder.string()};
    }
    return folder;
  }
  for (const char* folder : {"/run/lock", "/tmp"}) {
    if (::stat(folder, &info) == 0 && serves_all(info)) return fs::path(folder);
  }
  return Error{.message = "neither /run/lock nor /tmp is a folder that everybody may write to",
               .advice = kFolderAdvice};
}

// Opens the file, or creates it with access for everybody, whatever the umask is. Tries to open it without O_CREAT
// first: under fs.protected_regular, O_CREAT fails for other users' files in such folders, even for root. -1: see
// errno.
int open_or_make(const fs::path& path) {
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  using namespace std::chrono_literals;
  for (int attempt = 0;; ++attempt) {
    int descriptor = ::open(path.c_str(), kFlags);
    if (descriptor >= 0) return descriptor;
    // Another user's process may have created the file and not yet called fchmod, which gives access to everybody.
    if (errno == EACCES && attempt < 50) {
      std::this_thread::sleep_for(10ms);
      continue;
    }
    if (errno != ENOENT) return -1;
    descriptor = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0666);
    if (descriptor >= 0) {
      ::fchmod(descriptor, 0666);
      return descriptor;
    }
    if (errno != EEXIST) return -1;
  }
}

Error cannot_open(const fs::path& path, int reason) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && reason != ELOOP) {
    return {.message = fmt::format("{} belongs to {} and cannot be opened: {}", path.string(), name_of(info.st_uid),
                                   std::strerror(reason)),
            .advice = "ask its owner or an administrator to remove it"};
  }
  if (reason == ELOOP) {
    return {.message = path.string() + " is a link, which is not followed",
            .advice = "ask its owner or an administrator to remove it"};
  }
  return {.message = fmt::format("the queue for the GPU cannot be made: {}: {}", path.string(), std::strerror(reason)),
          .advice = kFolderAdvice};
}

std::string line_of(const Json& json) {
  std::string line = json_line_ascii(json);
  ROOFWALK_CHECK(line.size() < kLine);
  line.resize(kLine - 1, ' ');
  return line + '\n';
}

// Returns the record in line `line`; null if no instance of this program wrote it.
Json read_line(int descriptor, std::int64_t line) {
  char text[kLine];
  const auto size = ::pread(descriptor, text, kLine, line * static_cast<std::int64_t>(kLine));
  if (size <= 0) return nullptr;
  Json json = parse_json({text, static_cast<std::size_t>(size)});
  return json.is_object() ? json : nullptr;
}

// Writes one line. Errors are ignored: a missing line does no harm, and a full disk must not prevent measurements.
void write_line(int descriptor, std::int64_t line, const Json& json) {
  const std::string text = line_of(json);
  [[maybe_unused]] const auto written =
      ::pwrite(descriptor, text.data(), text.size(), line * static_cast<std::int64_t>(kLine));
}

std::optional<double> number_in(const Json& json, const char* key) {
  const auto value = json.number_of(key);
  return value && *value >= 0 && *value < 1e12 ? value : std::nullopt;
}

std::string text_in(const Json& json, const char* key, std::size_t most) { return plain_text(json.text_of(key), most); }

}  // namespace

double queue_seconds() {
  timespec now{};
  ROOFWALK_CHECK(::clock_gettime(CLOCK_BOOTTIME, &now) == 0);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string plain_text(std::string_view text, std::size_t most) {
  std::string plain(text.substr(0, most));
  for (char& c : plain) {
    if (c < ' ' || c > '~' || c == '"' || c == '\\') c = '?';
  }
  return plain;
}

Result<std::unique_ptr<QueueFile>> QueueFile::open(std::string_view gpu_uuid) {
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  };
  if (gpu_uuid.empty() || gpu_uuid.size() > 80 || !std::all_of(gpu_uuid.begin(), gpu_uuid.end(), allowed)) {
    return Error{.message = fmt::format("'{}' is not the UUID of a GPU", plain_text(gpu_uuid, 80)),
                 .advice = "`nvidia-smi -L` lists those of this machine"};
  }
  ROOFWALK_TRY(const fs::path folder, queue_folder());
  if (const char* const name = network_file_system(folder); name != nullptr) {
    return Error{.message = fmt::format("{} is on a file system of several machines ({})", folder.string(), name),
                 .advice = kFolderAdvice};
  }
  const fs::path path = folder / fmt::format("roofwalk-{}.lock", gpu_uuid);
  const int descriptor = open_or_make(path);
  if (descriptor < 0) return cannot_open(path, errno);
  auto file = std::make_unique<QueueFile>(path, descriptor);
  // This program writes to the file, so the path must not be a second name (a hard link) of somebody's own file.
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink > 1) {
    return Error{.message = path.string() + " is not a regular file of its own",
                 .advice = "ask its owner or an administrator to remove it"};
  }
  return file;
}

QueueFile::QueueFile(fs::path path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor), owner_(::getpid()) {}

// Releases each lock explicitly: closing the file is not enough if a forked child still has it open.
QueueFile::~QueueFile() {
  if (owner_ == ::getpid()) {
    if (has_turn_ && record_.since_s) add_turn(queue_seconds() - *record_.since_s);
    if (has_turn_) give_turn();
    if (record_.ticket > 0) lock_byte(descriptor_, record_.ticket, F_UNLCK);
  }
  ::close(descriptor_);
}

Status QueueFile::take_ticket(QueueRecord record) {
  ROOFWALK_CHECK(record_.ticket == 0);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    record.ticket = 1;
    while (const auto held = held_within(descriptor_, {record.ticket, kMostTickets})) record.ticket = held->last + 1;
    errno = ENOLCK;
    if (record.ticket <= kMostTickets && lock_byte(descriptor_, record.ticket, F_WRLCK)) {
      record_ = std::move(record);
      write_record();
      return kOk;
    }
    if (errno != EAGAIN && errno != EACCES) break;
  }
  return Error{.message = fmt::format("{} cannot be locked: {}", path_.string(), std::strerror(errno)),
               .advice = kFolderAdvice};
}

// Lists the held tickets. The kernel reports only one held lock of a range, so the ranges on both sides of it are
// searched for more.
std::vector<std::int64_t> QueueFile::tickets_of_others() const {
  std::vector<std::int64_t> found;
  std::vector<Tickets> open = {{1, kMostTickets}};
  while (!open.empty() && found.size() < kMostTold) {
    const Tickets within = open.back();
    open.pop_back();
    const auto held = held_within(descriptor_, within);
    if (!held) continue;
    found.push_back(held->first);
    open.push_back({held->last + 1, within.last});
    open.push_back({within.first, held->first - 1});
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool QueueFile::anyone_before() const { return held_within(descriptor_, {1, record_.ticket - 1}).has_value(); }

bool QueueFile::try_turn() {
  has_turn_ = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
  return has_turn_;
}

void QueueFile::give_turn() {
  ::flock(descriptor_, LOCK_UN);
  has_turn_ = false;
}

void QueueFile::mark_turn() {
  record_.since_s = queue_seconds();
  write_record();
}

void QueueFile::write_record() const {
  Json json = {{"ticket", record_.ticket},
               {"pid", record_.pid},
               {"user", plain_text(record_.user, 32)},
               {"doing", plain_text(record_.doing, 48)}};
  if (record_.since_s) json["since_s"] = *record_.since_s;
  write_line(descriptor_, 1 + record_.ticket % kLines, json);
}

std::optional<QueueRecord> QueueFile::record_of(std::int64_t ticket) const {
  const Json json = read_line(descriptor_, 1 + ticket % kLines);
  const auto written = number_in(json, "ticket"), pid = number_in(json, "pid");
  if (!written || static_cast<std::int64_t>(*written) != ticket || !pid) return std::nullopt;
  QueueRecord record{.ticket = ticket, .pid = static_cast<std::int64_t>(*pid)};
  record.user = text_in(json, "user", 32);
  record.doing = text_in(json, "doing", 48);
  record.since_s = number_in(json, "since_s");
  if (record.user.empty()) return std::nullopt;
  return record;
}

std::optional<double> QueueFile::usual_turn_s() const { return number_in(read_line(descriptor_, 0), "usual_turn_s"); }

// Updates the moving average of turn lengths, in which each turn weighs 0.7 times as much as the next one.
void QueueFile::add_turn(double turn_s) const {
  const auto usual = usual_turn_s();
  write_line(descriptor_, 0, {{"queue", "roofwalk"}, {"usual_turn_s", usual ? 0.7 * *usual + 0.3 * turn_s : turn_s}});
}

bool QueueFile::still_there() const {
  struct stat ours {
  }, named{};
  return ::fstat(descriptor_, &ours) == 0 && ::lstat(path_.c_str(), &named) == 0 && ours.st_ino == named.st_ino &&
         ours.st_dev == named.st_dev;
}

}  // namespace roofwalk
