#include "grader/cmd/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "common/base/json.h"
#include "common/specs/slice.h"
#include "common/store/store.h"
#include "common/store/stored_attempt.h"
#include "grader/course/my_files.h"
#include "grader/rig/roofs.h"
#include "grader/walk/hints.h"

namespace roofwalk {

namespace fs = std::filesystem;
namespace {

std::string prediction_key(const Chapter& chapter, const Rig& rig) {
  return fmt::format("prediction {} {}", chapter.name, rig.device_name());
}

}  // namespace

const Course& Session::course() {
  if (!course_) course_ = value_or_fail(open_course({}));
  return *course_;
}

const Chapter& Session::chapter(const std::string& name) { return *value_or_fail(course().find(name), kUsage); }

const Chapter& Session::chapter_or_next(const std::string& name) {
  const Chapter* chosen = name.empty() ? next_chapter() : &chapter(name);
  if (chosen == nullptr) throw Failure{{"every chapter is passed; name one"}, kUsage};
  if (const auto why = not_offered(*chosen, rig().machine)) throw Failure{{*why}, kSkipped};
  return *chosen;
}

Store& Session::store() {
  if (!store_) {
    const fs::path file = course().database();
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    auto opened = Store::open(file);
    if (!opened && goes_on_unrecorded_) record_trouble_ = opened.error().text();
    store_ = value_or_fail(record_trouble_.empty() ? std::move(opened) : Store::in_memory());
  }
  return *store_;
}

const Rig& Session::rig() {
  if (!rig_) {
    const PhaseTimer timer(phases, "open the device");
    constexpr std::string_view kVirtual = "virtual:";
    std::string device = options.device;
    if (device.starts_with(kVirtual)) device = std::string(kVirtual) + machine_name(device.substr(kVirtual.size()));
    auto opened = open_rig(course(), device, options.threads, &store(), options.isolation);
    if (!opened) throw Failure{opened.error(), options.device.starts_with("cuda") ? kSkipped : kUsage};
    rig_ = std::move(*opened);
    rig_->phases = phases;
    rig_->while_waiting = [this](const std::string& line) {
      if (while_waiting) while_waiting(line);
    };
  }
  return *rig_;
}

const Rig& Session::measured_bench() {
  if (!has_measured_roofs_) {
    rig();
    const PhaseTimer timer(phases, "roofs");
    value_or_fail(use_measured_roofs(*rig_));
    has_measured_roofs_ = true;
  }
  return *rig_;
}

std::vector<Dot> Session::dots(const Chapter& chapter) {
  return dots_of(value_or_fail(store().walk(chapter.name, rig().device_name())));
}

Progress Session::progress(const Chapter& chapter) {
  Progress progress{"not started", Grade::none, std::nullopt, 0};
  auto history = value_or_fail(store().history(chapter.name, rig().device_name()));
  std::erase_if(history, [](const StoredAttempt& attempt) { return attempt.is_starter; });
  const auto dots = dots_of(history);
  progress.attempts = dots.size();
  if (const Dot* best = best_dot(dots)) {
    progress.grade = best->grade;
    const auto point = best->points.find(walk_level(chapter));
    if (point != best->points.end()) progress.best = point->second;
  }
  if (progress.grade != Grade::none) {
    progress.state = "passed";
    for (const StoredAttempt& attempt : history) {
      if (grade_from_name(attempt.attempt.value("grade", "")) != Grade::none) progress.last_pass = attempt.id;
    }
  } else if (!dots.empty() || fs::exists(course().my_file(chapter))) {
    progress.state = "started";
  }
  if (not_offered(chapter, rig().machine)) progress.state = "not offered";
  return progress;
}

const Chapter* Session::next_chapter() {
  const auto& chapters = course().chapters;
  std::vector<const Chapter*> open;
  std::size_t behind = 0;  // of `open`: the first one behind the chapter that was passed last
  std::int64_t latest = 0;
  for (const Chapter& chapter : chapters) {
    const Progress reached = progress(chapter);
    if (reached.last_pass > latest) latest = reached.last_pass, behind = open.size();
    if (reached.grade == Grade::none && !not_offered(chapter, rig().machine)) open.push_back(&chapter);
  }
  if (open.empty()) return nullptr;
  return behind < open.size() ? open[behind] : open.front();
}

std::string Session::places(const Chapter& chapter) {
  const fs::path file = course().my_file(chapter);
  return fmt::format("  read  {}\n", chapter.lesson().string()) +
         fmt::format("  edit  {}{}\n", file.string(),
                     fs::exists(file) ? "" : "   (made from the starter when you first run it)") +
         fmt::format("  type  ./roofwalk run {0}\n        ./roofwalk watch {0}   (checks at every save)\n",
                     chapter.name);
}

Outcome Session::check(const Chapter& chapter, const fs::path& file, bool joins,
                       std::shared_ptr<const Measured> measured) {
  const Rig& rig = measured_bench();
  Outcome outcome;
  outcome.attempt = value_or_fail(run_attempt(rig, {.chapter = &chapter,
                                                    .file = file,
                                                    .seed = options.seed,
                                                    .measured = std::move(measured),
                                                    .sanitizes_measured = options.as_graded,
                                                    .may_call_libraries = is_library_of(chapter, file)}));
  const PhaseTimer timer(phases, "record and plot");
  auto news = record(rig, chapter, store(), joins, outcome.attempt);
  if (!news && !goes_on_unrecorded_) throw Failure{news.error(), kOurFault};
  if (news) outcome.news = *std::move(news);
  outcome.news.record_trouble = news ? record_trouble_ : news.error().text();
  outcome.attempt.prediction = prediction(chapter).value_or(Prediction{});
  if (outcome.attempt.judgement.verdict == Verdict::pass) {
    const Chapter* next = next_chapter();
    if (next != nullptr && next != &chapter) outcome.news.next_chapter = next->name;
  }
  return outcome;
}

std::optional<Prediction> Session::prediction(const Chapter& chapter) {
  const auto note = store().note(prediction_key(chapter, rig()));
  if (!note) return std::nullopt;
  return prediction_from_json(parse_json(*note));
}

void Session::keep_prediction(const Chapter& chapter, const Prediction& prediction) {
  value_or_fail(store().set_note(prediction_key(chapter, rig()), json_line(to_json(prediction))));
}

void Session::provide_file(const Chapter& chapter) {
  if (!value_or_fail(roofwalk::provide_file(course(), chapter))) return;
  const std::string note = fmt::format("Made {} from the starter: it is the file to edit.\nThe lesson is {}.\n\n",
                                       course().my_file(chapter).string(), chapter.lesson().string());
  std::fputs(note.c_str(), options.json ? stderr : stdout);
  std::fflush(stdout);
}

std::optional<fs::path> Session::reset(const Chapter& chapter) {
  auto kept = value_or_fail(reset_file(course(), chapter));
  value_or_fail(store().start_new_walk(chapter.name));
  value_or_fail(HintGiver(store(), chapter, rig().device_name()).forget());
  return kept;
}

void Session::predict_first(const Chapter& chapter) {
  const bool can_ask = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && !options.json && !options.no_ask &&
                       std::getenv("ROOFWALK_YES") == nullptr;
  // A starter that faults has no figures.
  if (!can_ask || chapter.faulty_starter || prediction(chapter)) return;
  if (!value_or_fail(store().history(chapter.name, rig().device_name())).empty()) return;
  const std::string intro = fmt::format(
      "Predict first: three questions about the starter of {}, before it is measured. The lesson ({}) has all you "
      "need. A guess is fine, and Enter skips a question.",
      chapter.name, chapter.lesson().string());
  for (const std::string& line : wrapped(intro, 80)) std::cout << line << "\n";
  std::cout << "\n";
  keep_prediction(chapter, ask_prediction(level_title(walk_level(chapter)), chapter.unit, {}, std::cin, std::cout));
  std::cout << "\n" << std::flush;
}

fs::path Session::from_caller(const fs::path& typed) const {
  const fs::path full = (typed.is_absolute() ? typed : caller_folder_ / typed).lexically_normal();
  const fs::path inside = full.lexically_relative(fs::current_path());
  return inside.empty() || *inside.begin() == ".." ? full : inside;
}

std::string Session::machine_name(const std::string& typed) const {
  MachineName name = parse_machine_name(typed);
  if (name.chip.ends_with(".toml")) name.chip = from_caller(name.chip).string();
  return name.text();
}

Colors colors_for(const Options& options) { return Colors(!options.json && wants_color()); }

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }
void print_json(const Json& json) { print(json_text(json) + "\n"); }

}  // namespace roofwalk
