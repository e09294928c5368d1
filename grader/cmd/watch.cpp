// roofwalk watch [NAME]: checks the learner's file at every save, on a screen with keys or as lines of JSON.
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <mutex>

#include "common/base/json.h"
#include "common/roofline/si.h"
#include "grader/cmd/verbs.h"
#include "grader/course/my_files.h"
#include "grader/terminal/save_watch.h"
#include "grader/terminal/terminal.h"
#include "grader/terminal/watch_screen.h"
#include "grader/walk/hints.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;
using WatchClock = std::chrono::steady_clock;

// A chapter that is being watched, and the data that one check keeps for the next.
class WatchedChapter {
 public:
  WatchedChapter(Session& session, const Chapter& chapter)
      : session_(&session), chapter_(&chapter), file_(session.course().my_file(chapter)) {
    session.provide_file(chapter);
    session.predict_first(chapter);
    saves_ = std::make_unique<SaveWatch>(file_);
  }

  const Chapter& chapter() const { return *chapter_; }
  const fs::path& file() const { return file_; }
  SaveWatch& saves() { return *saves_; }

  Outcome check() {
    if (!measured_) {
      measured_ = prepare(*chapter_, session_->rig().machine, session_->options.seed, session_->options.threads);
    }
    return session_->check(*chapter_, file_, true, measured_);
  }

 private:
  Session* session_;
  const Chapter* chapter_;
  fs::path file_;
  std::unique_ptr<SaveWatch> saves_;
  std::shared_ptr<const Measured> measured_;
};

// The screen and its keys. A check runs on a thread of its own, so that the main thread can handle keys and changes of
// the screen's size during the check. The main thread uses the session only between checks.
class WatchLoop {
 public:
  WatchLoop(Session& session, const Chapter& chapter)
      : session_(session), colors_(colors_for(session.options)), watched_(session, chapter) {}

  int run() {
    try {
      start_check();
      while (!ends_) wait();
    } catch (...) {
      leave_screen();  // so that the exception's message is on a line of its own
      throw;
    }
    leave_screen();
    // A running check is abandoned: its processes end with this one, and the store stays intact.
    if (running_.valid()) std::_Exit(kAccepted);
    return kAccepted;
  }

 private:
  void leave_screen() {
    terminal_.pause();
    print("\n");
    std::fflush(stdout);
  }

  void wait() {
    pollfd news[] = {{terminal_.signal_descriptor(), POLLIN, 0},
                     {STDIN_FILENO, POLLIN, 0},
                     {done_, POLLIN, 0},
                     {watched_.saves().descriptor(), POLLIN, 0}};
    ::poll(news, std::size(news), watched_.saves().patience_ms(WatchClock::now()));
    while (const auto signal = terminal_.next_signal()) on_signal(*signal);
    if (news[1].revents != 0) on_input();
    if (news[2].revents != 0) on_check();
    if (!ends_ && watched_.saves().saved(WatchClock::now())) start_check();
  }

  void start_check() {
    asks_reset_ = false;
    if (running_.valid()) {
      again_ = true;  // after any number of saves, one more check sees the latest state
      return;
    }
    again_ = false;
    watched_.saves().look();
    if (!watched_.saves().exists()) {
      outcome_.reset();
      note_ = {fmt::format("{} is gone; waiting for it to come back", watched_.file().string())};
      draw();
      return;
    }
    started_ = WatchClock::now();
    check_has_ended_ = false;
    session_.while_waiting = [this](const std::string& line) {
      {
        const std::lock_guard lock(gpu_wait_mutex_);
        gpu_wait_ = line;
      }
      ::eventfd_write(done_, 1);
    };
    running_ = std::async(std::launch::async, [this] {
      const auto at_end = [](WatchLoop* self) {
        self->check_has_ended_ = true;
        ::eventfd_write(self->done_, 1);
      };
      const std::unique_ptr<WatchLoop, decltype(at_end)> tell(this, at_end);
      return watched_.check();
    });
    draw();
  }

  // Called when the check has ended or has reported something.
  void on_check() {
    eventfd_t ignored = 0;
    ::eventfd_read(done_, &ignored);
    if (!check_has_ended_) return draw();
    outcome_ = running_.get();
    elapsed_ns_ = static_cast<double>(std::chrono::nanoseconds(WatchClock::now() - started_).count());
    has_passed_ = session_.progress(watched_.chapter()).grade != Grade::none;
    if (again_) {
      start_check();
      return;
    }
    note_ = std::move(note_for_card_);
    note_for_card_.clear();
    draw();
    const std::string waiting = std::move(waiting_keys_);
    waiting_keys_.clear();
    for (const char key : waiting) on_key(key);
  }

  void on_signal(int signal) {
    if (signal == SIGWINCH || signal == SIGCONT) {
      if (signal == SIGCONT) terminal_.resume();
    } else {
      print("\n");
      std::fflush(stdout);
      terminal_.obey(signal);
    }
    draw();
  }

  void on_input() {
    const auto keys = terminal_.keys();
    if (!keys) {
      ends_ = true;  // the terminal is gone
      return;
    }
    for (const char key : *keys) on_key(key);
  }

  void on_key(char typed) {
    constexpr char kEndOfInput = 4, kFormFeed = 12;
    const char key = static_cast<char>(std::tolower(static_cast<unsigned char>(typed)));
    if (key == 'q' || key == kEndOfInput) {
      ends_ = true;
    } else if (key == kFormFeed) {
      draw();
    } else if (running_.valid()) {
      waiting_keys_ = key;  // after the check, only the last key is handled
    } else if (asks_reset_) {
      asks_reset_ = false;
      key == 'y' ? reset() : draw();
    } else if (key == 'h') {
      hint();
    } else if (key == 'p') {
      toggle_plot();
    } else if (key == 'n') {
      has_passed_ ? next() : tell("the next chapter opens here when this one is passed");
    } else if (key == 'r') {
      asks_reset_ = true;
      draw();
    }
  }

  void hint() {
    HintGiver hints(session_.store(), watched_.chapter(), session_.rig().device_name());
    const OfferedHint* hint = value_or_fail(hints.next());
    if (hint == nullptr) {
      tell(fmt::format("you have had all hints about this; `./roofwalk hint {} --again` begins again",
                       watched_.chapter().name));
      return;
    }
    const std::string label =
        fmt::format("{} {}/{}  ", hint->leads_on ? "for the ace, hint" : "hint", hint->number, hint->of);
    note_.clear();
    for (const std::string& line : paragraphs(hint->text, note_columns() - label.size())) {
      note_.push_back((note_.empty() ? label : std::string(label.size(), ' ')) + line);
    }
    draw();
  }

  void toggle_plot() {
    if (!outcome_ || !outcome_->news.chart) {
      tell("there is no dot to draw: this attempt was not measured");
      return;
    }
    plot_ = has_plot_ ? WatchView::Plot::hidden : WatchView::Plot::shown;
    note_.clear();
    draw();
    if (plot_ == WatchView::Plot::shown && !has_plot_) {
      tell(fmt::format("the plot needs a larger window; the picture is {}", outcome_->attempt.plot));
    }
  }

  void next() {
    const Chapter* next = session_.next_chapter();
    if (next == nullptr) {
      tell("every chapter is passed; `./roofwalk list` shows where an ace is still possible");
      return;
    }
    terminal_.pause();
    print(kClear);
    watched_ = WatchedChapter(session_, *next);
    terminal_.resume();
    outcome_.reset();
    has_passed_ = false;
    plot_ = WatchView::Plot::where_it_fits;
    note_for_card_ = wrapped(fmt::format("read {}, then edit {}", next->lesson().string(), watched_.file().string()),
                             note_columns());
    start_check();
  }

  void reset() {
    const auto kept = session_.reset(watched_.chapter());
    const std::string text = fmt::format("{}{} is the starter again: reload it in your editor.{}",
                                         kept ? fmt::format("your file is kept as {}. ", kept->string()) : "",
                                         watched_.file().string(), has_passed_ ? " Your grade stays." : "");
    note_for_card_ = wrapped(text, note_columns());
    start_check();
  }

  void tell(const std::string& text) {
    note_ = wrapped(printable(text), note_columns());
    draw();
  }

  static std::size_t note_columns() { return static_cast<std::size_t>(std::clamp(terminal_size().columns, 20, 80)); }

  std::string key_line() const {
    if (asks_reset_) {
      return fmt::format("back to the starter? your file is kept as {} (y/n)",
                         kept_name(session_.course(), watched_.chapter()).string());
    }
    const auto key = [&](const char* name, const char* what) { return colors_.strong(name) + " " + what + "  "; };
    return key("h", "hint") + key("p", "plot") + (has_passed_ ? key("n", "next") : "") + key("r", "reset") +
           key("q", "quit");
  }

  void draw() {
    WatchView view;
    view.note = note_;
    view.plot = plot_;
    view.keys = key_line();
    if (running_.valid()) {
      view.note.clear();
      view.card = {{fmt::format("{}: checking {} ...", colors_.strong(watched_.chapter().name),
                                printable(watched_.file().string())),
                    Worth::verdict}};
      const std::lock_guard lock(gpu_wait_mutex_);
      if (!gpu_wait_.empty()) view.card.push_back({gpu_wait_, Worth::verdict});
    } else if (outcome_) {
      view.card = card(outcome_->attempt, outcome_->news, colors_, static_cast<std::size_t>(terminal_size().columns));
      if (outcome_->attempt.judgement.verdict != Verdict::pass) {
        std::erase_if(view.card, [](const CardLine& line) { return line.worth == Worth::next; });
      }
      if (outcome_->news.chart) view.chart = &*outcome_->news.chart;
      view.status = colors_.faint(fmt::format("took {}; save to check again", time_text(elapsed_ns_)));
    }
    const WatchScreen screen = watch_screen(view, terminal_size(), colors_.on());
    has_plot_ = screen.has_plot;
    print(kClear + screen.text);
    std::fflush(stdout);
  }

  static constexpr const char* kClear = "\x1b[H\x1b[2J";

  Session& session_;
  Colors colors_;
  WatchedChapter watched_;  // constructed before the terminal, because it may ask questions
  KeyTerminal terminal_;
  int done_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);  // readable when a check has ended or reported something
  std::atomic<bool> check_has_ended_ = false;
  std::mutex gpu_wait_mutex_;
  std::string gpu_wait_;  // who uses the GPU, while the check waits for it
  std::future<Outcome> running_;
  std::optional<Outcome> outcome_;
  WatchClock::time_point started_;
  double elapsed_ns_ = 0;
  bool again_ = false, ends_ = false, has_passed_ = false, asks_reset_ = false, has_plot_ = false;
  std::string waiting_keys_;
  std::vector<std::string> note_, note_for_card_;  // shown now; shown with the running check's card
  WatchView::Plot plot_ = WatchView::Plot::where_it_fits;
};

// Prints one line per attempt, until the reader closes the output.
int watch_as_json(Session& session, const Chapter& chapter) {
  WatchedChapter watched(session, chapter);
  const auto check = [&] {
    watched.saves().look();
    if (!watched.saves().exists()) return;
    const Json json = to_json(watched.check().attempt);
    print(json_line(json) + "\n");
    std::fflush(stdout);
  };
  check();
  while (true) {
    pollfd news[] = {{watched.saves().descriptor(), POLLIN, 0}, {STDOUT_FILENO, 0, 0}};
    ::poll(news, std::size(news), watched.saves().patience_ms(WatchClock::now()));
    if (news[1].revents != 0) return kAccepted;
    if (watched.saves().saved(WatchClock::now())) check();
  }
}

int watch(Session& session, const std::string& name) {
  if (!session.options.json && !is_screen()) {
    throw Failure{{.message = "watch needs a terminal for its screen and its keys",
                   .advice = "`--format json` prints one line an attempt anywhere"},
                  kUsage};
  }
  session.go_on_unrecorded();
  const Chapter& chapter = session.chapter_or_next(name);
  return session.options.json ? watch_as_json(session, chapter) : WatchLoop(session, chapter).run();
}

void add_watch_command(Verb& program, Session& session, int& exit_code) {
  auto name = std::make_shared<std::string>();
  Verb command = program.add_subcommand("watch", "Check your kernel at every save");
  command.add_option("name", *name, "chapter; default: the next one that is not passed");
  command.add_flag("--no-ask", session.options.no_ask, "do not ask for a prediction");
  command.callback([name, &session, &exit_code] { exit_code = watch(session, *name); });
}

ROOFWALK_VERB(40, add_watch_command);

}  // namespace

}  // namespace roofwalk
