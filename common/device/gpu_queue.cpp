#include "common/device/gpu_queue.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>
#include <vector>

#include "common/device/queue_file.h"

namespace roofwalk {
namespace {

constexpr double kPoll = 0.02;  // seconds; interval of checks whether the GPU is free
constexpr double kTell = 0.5;   // seconds; interval of calls to while_waiting
// Seconds for which a free GPU is left to the next in line, which may be suspended (Ctrl-Z).
constexpr double kAsleep = 2.0;

std::string own_name() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry != nullptr ? entry->pw_name : fmt::format("user {}", ::geteuid());
}

// Formats a duration for people: "12 s", "3 min", "2 h".
std::string for_people(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} h", std::min(seconds / 3600, 9999.0));
}

std::string who(const GpuHolder& holder) { return holder.same_user ? "your other run" : holder.user; }

// Describes the wait of the process that holds this file's ticket; `tickets` are those of all other processes.
GpuWait look(const QueueFile& file, const std::vector<std::int64_t>& tickets, std::string_view user, double waited_s) {
  GpuWait wait{.waited_s = waited_s};
  const double now = queue_seconds();
  for (const std::int64_t ticket : tickets) {
    const auto record = wait.holder ? std::nullopt : file.record_of(ticket);
    if (record && record->since_s && *record->since_s <= now) {
      wait.holder = GpuHolder{.user = record->user,
                              .doing = record->doing,
                              .pid = record->pid,
                              .held_s = now - *record->since_s,
                              .same_user = record->user == user};
    } else if (ticket < file.ticket()) {
      ++wait.before;
    }
  }
  if (const auto usual = file.usual_turn_s()) {
    const double left = wait.holder ? std::max(0.0, *usual - wait.holder->held_s) : 0;
    wait.estimate_s = left + wait.before * *usual;
  }
  return wait;
}

Error waited_too_long(const QueueFile& file, const GpuWait& wait) {
  if (!wait.holder) {
    return {.message = fmt::format("the GPU was not free for {}; {} before you, and a program that is not roofwalk may "
                                   "have locked {}",
                                   for_people(wait.waited_s), wait.before, file.path().string()),
            .advice = "try again later"};
  }
  const GpuHolder& holder = *wait.holder;
  return {.message = fmt::format("the GPU was not free for {}: {} has had it for {} (process {}{}), {} before you",
                                 for_people(wait.waited_s), who(holder), for_people(holder.held_s), holder.pid,
                                 holder.doing.empty() ? "" : ", " + holder.doing, wait.before),
          .advice = "try again later; a run that was stopped with Ctrl-Z keeps the GPU"};
}

// Detects that the GPU is free but the next process in line is suspended, and lets the processes behind it go ahead, in
// order.
class IdleWatch {
 public:
  // Takes the turn, ahead of others in line, once the GPU has been free for long enough; otherwise returns false. Must
  // be called regularly, with the tickets of all other processes.
  bool take(QueueFile& file, const std::vector<std::int64_t>& tickets) {
    if (tickets.empty() || tickets.front() > file.ticket()) return false;
    const double now = queue_seconds();
    if (!file.try_turn()) {
      head_ = 0;
      return false;
    }
    if (tickets.front() != head_) {
      head_ = tickets.front();
      since_s_ = now;
    }
    const auto awake = std::lower_bound(tickets.begin(), tickets.end(), file.ticket()) - tickets.begin() - 1;
    if (now - since_s_ >= kAsleep + 2 * kTell * static_cast<double>(awake)) return true;
    file.give_turn();
    return false;
  }

 private:
  std::int64_t head_ = 0;
  double since_s_ = 0;
};

}  // namespace

std::string waiting_line(const GpuWait& wait) {
  constexpr std::size_t kColumns = 80;
  std::string line = "waiting for the GPU";
  if (wait.holder) {
    const std::string name = who(*wait.holder);
    line += name.size() > 16 ? fmt::format(": {:.13}...", name) : ": " + name;
    line += " has had it for " + for_people(wait.holder->held_s);
  }
  if (wait.before > 0) line += fmt::format("{} {} before you", wait.holder ? "," : ":", wait.before);
  if (wait.estimate_s && *wait.estimate_s >= 1) {
    const std::string left = ", about " + for_people(*wait.estimate_s) + " to go";
    if (line.size() + left.size() <= kColumns) line += left;
  }
  if (wait.holder && !wait.holder->doing.empty()) {
    const std::string doing = " (" + wait.holder->doing + ")";
    if (line.size() + doing.size() <= kColumns) line += doing;
  }
  return line;
}

Result<GpuTurn> GpuTurn::wait(const GpuRequest& request, const std::function<void(const GpuWait&)>& while_waiting) {
  const double start = queue_seconds();
  const std::string user = plain_text(request.user.empty() ? own_name() : request.user, 32);
  const auto join = [&]() -> Result<std::unique_ptr<QueueFile>> {
    ROOFWALK_TRY(auto file, QueueFile::open(request.gpu_uuid));
    ROOFWALK_TRY_STATUS(file->take_ticket({.pid = ::getpid(), .user = user, .doing = request.doing}));
    return file;
  };
  ROOFWALK_TRY(auto file, join());
  IdleWatch idle;
  for (double tell = start;; std::this_thread::sleep_for(std::chrono::duration<double>(kPoll))) {
    bool ours = !file->anyone_before() && file->try_turn();
    const double now = queue_seconds();
    if (!ours && now < tell) continue;
    const std::vector<std::int64_t> tickets = file->tickets_of_others();
    ours = ours || idle.take(*file, tickets);
    if (!file->still_there()) {  // the file was removed: newcomers join a new file, so this process must, too
      ROOFWALK_TRY(file, join());
      continue;
    }
    if (ours) {
      file->mark_turn();
      return GpuTurn(std::move(file));
    }
    const GpuWait wait = look(*file, tickets, user, now - start);
    if (wait.waited_s >= request.most_seconds) return waited_too_long(*file, wait);
    if (while_waiting) while_waiting(wait);
    tell = std::min(now + kTell, start + request.most_seconds);
  }
}

GpuTurn::GpuTurn(std::unique_ptr<QueueFile> file) : file_(std::move(file)) {}

GpuTurn::GpuTurn(GpuTurn&&) noexcept = default;

GpuTurn::~GpuTurn() = default;

}  // namespace roofwalk
