// roofwalk report --watch.
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

#include "common/base/json.h"
#include "grader/class/results.h"
#include "grader/cmd/class/report_command.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using WatchedTime = std::chrono::duration<double>;

// Between looks. A large class's pages take longer to make, and then looks are rarer, so that watching takes no more
// than a fifth of a core from those who grade.
constexpr WatchedTime kBetweenLooks{1};
constexpr double kRestForWork = 4;

// While an object lives, the signals that end a program wait to be taken.
class EndSignals {
 public:
  EndSignals() {
    ::sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set_, signal);
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~EndSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // The signal that comes within that time; nullopt: none does.
  std::optional<int> wait_for(WatchedTime time) const {
    const double whole_s = std::floor(time.count());
    const timespec wait{static_cast<time_t>(whole_s), static_cast<long>((time.count() - whole_s) * 1e9)};
    const int signal = ::sigtimedwait(&set_, nullptr, &wait);
    return signal > 0 ? std::optional(signal) : std::nullopt;
  }

 private:
  sigset_t set_{}, before_{};
};

// What a file is at the moment, by its metadata, which a network file system gives as well.
struct FileState {
  unsigned long inode = 0;
  long long modified_ns = 0, bytes = 0;
  bool operator==(const FileState&) const = default;
};

FileState state_of(const fs::path& file) {
  struct stat info {};
  if (file.empty() || ::stat(file.c_str(), &info) != 0) return {};
  return {info.st_ino, info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec, info.st_size};
}

std::string progress_of(const Gradebook& book) {
  std::size_t all = 0, graded = 0;
  for (const StudentRow& row : book.rows) {
    for (const Cell& cell : row.cells) {
      all += cell.entries.size();
      graded += static_cast<std::size_t>(std::count_if(cell.entries.begin(), cell.entries.end(),
                                                       [](const Entry& entry) { return !entry.verdict.empty(); }));
    }
  }
  return fmt::format("{} of {} graded", graded, all);
}

class ReportWatch {
 public:
  ReportWatch(Session& session, const ReportCommand& command)
      : session_(session),
        places_(places_of(session, command.places)),
        batch_(graded_class(session, places_)),
        site_(value_or_fail(LiveSite::open(*batch_, command.names), kUsage)) {
    look();
  }

  fs::path page() const { return site_.page(); }

  // Makes the pages of the record as it is. What goes wrong is told once, and tried again at the next look: grades may
  // be written at this moment, or a file edited.
  bool update(int reload_s) {
    const auto updated = [&]() -> Result<std::size_t> {
      ROOFWALK_TRY(const Gradebook book, batch_->gradebook());
      progress_ = progress_of(book);
      return site_.update(*batch_, session_.measured_bench(), book, reload_s);
    }();
    tell_once(updated ? "" : updated.error().text());
    return updated.ok();
  }

  // Whether the record, course.toml or the time has changed what the pages have to say. The record is looked at first,
  // so that what changes while pages are made is a change at the next look.
  bool look() {
    const std::int64_t version = batch_->store().version();
    const FileState record = state_of(batch_->folder() / "grades.db"), terms = state_of(places_.course_file);
    const std::int64_t now_s = std::time(nullptr);
    const bool is_another = record.inode != record_inode_, has_new_terms = terms != terms_;
    bool has_changed = version != version_ || now_s >= next_deadline_s_ || site_.was_replaced();
    if (record_inode_ == 0) {  // the first look
      has_changed = true;
    } else if (is_another || has_new_terms) {
      if (record == FileState{} || !open_again()) return false;  // is being replaced, or edited
      has_changed = true;
    }
    version_ = is_another ? batch_->store().version() : version;
    record_inode_ = record.inode;
    terms_ = terms;
    next_deadline_s_ = std::numeric_limits<std::int64_t>::max();
    for (const ChapterTerms& one : batch_->terms().chapters) {
      if (one.deadline_s && *one.deadline_s > now_s) next_deadline_s_ = std::min(next_deadline_s_, *one.deadline_s);
    }
    return has_changed;
  }

  const std::string& progress() const { return progress_; }

 private:
  bool open_again() {
    auto opened = Batch::open(session_.course(), places_);
    if (opened && opened->terms().device != batch_->terms().device) {
      throw Failure{{.message = "course.toml names another device now", .advice = "give the same command again"},
                    kUsage};
    }
    tell_once(opened ? "" : opened.error().text());
    if (!opened) return false;
    batch_.emplace(*std::move(opened));
    batch_->use_bench(session_.measured_bench());
    site_.forget_starters();
    return true;
  }

  void tell_once(const std::string& trouble) {
    if (trouble != told_ && !trouble.empty()) tell("the pages stay as they are: " + trouble);
    told_ = trouble;
  }

  Session& session_;
  const BatchPlaces places_;
  std::optional<Batch> batch_;
  LiveSite site_;
  std::int64_t version_ = -1, next_deadline_s_ = 0;
  unsigned long record_inode_ = 0;
  FileState terms_;
  std::string progress_, told_;
};

void show_progress(const Session& session, const std::string& progress) {
  if (session.options.json) return;
  const bool on_terminal = ::isatty(STDOUT_FILENO) == 1;
  print(on_terminal ? "\r\033[K" + progress : progress + "\n");
  std::fflush(stdout);
}

// Keeps the pages fresh until a signal comes that ends a program; returns it.
int keep_fresh(const Session& session, ReportWatch& watch) {
  const EndSignals signals;
  bool is_fresh = watch.update(kReload_s);
  const fs::path folder = watch.page().parent_path().parent_path();
  const std::string page = session.from_caller(watch.page()).string();
  if (session.options.json) {
    print_json(Json{{"schema", "roofwalk.report/1"},
                    {"page", page},
                    {"names", session.from_caller(folder / "report-names.csv").string()}});
  } else {
    print(page + "\nis kept fresh until you type Ctrl-C\n");
  }
  std::string shown = watch.progress();
  show_progress(session, shown);
  for (WatchedTime pause = kBetweenLooks;;) {
    if (const auto signal = signals.wait_for(pause)) return *signal;
    pause = kBetweenLooks;
    if (!watch.look() && is_fresh) continue;
    const auto begin = std::chrono::steady_clock::now();
    is_fresh = watch.update(kReload_s);
    pause = std::max(pause, kRestForWork * WatchedTime(std::chrono::steady_clock::now() - begin));
    if (watch.progress() != shown) show_progress(session, shown = watch.progress());
  }
}

}  // namespace

int watch_report(Session& session, const ReportCommand& command) {
  int signal = 0;
  {
    ReportWatch watch(session, command);
    signal = keep_fresh(session, watch);
    // Nobody keeps them from now on, so they must not load themselves again for ever. A second Ctrl-C ends this at
    // once.
    watch.update(0);
  }
  if (!session.options.json) print("\n");
  std::fflush(stdout);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  return kAccepted;
}

}  // namespace roofwalk
