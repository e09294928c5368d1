// roofwalk run [NAME]: builds, checks, measures, judges and draws an attempt.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "common/base/json.h"
#include "grader/cmd/verbs.h"
#include "grader/terminal/measuring_spinner.h"
#include "grader/terminal/report.h"
#include "grader/terminal/terminal.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

struct RunCommand {
  std::string name;
  std::string kernel;
  bool save = false;
  bool all = false;
  bool timings = false;
};

// The plot to print below the card, on a terminal that has room for both; `./roofwalk plot` always shows it.
std::string plot_below(const std::string& card, const Outcome& outcome, const Colors& colors) {
  constexpr int kFewestRows = 14, kMostRows = 26, kPrompt = 2;
  if (isatty(STDOUT_FILENO) != 1 || !outcome.news.chart) return {};
  const TerminalSize size = terminal_size();
  const int rows = size.rows - static_cast<int>(std::count(card.begin(), card.end(), '\n')) - kPrompt - 1;
  if (rows < kFewestRows) return {};
  return "\n" + text_plot(*outcome.news.chart, std::min(size.columns, 100), std::min(rows, kMostRows), colors.on());
}

Outcome check_with_patience(Session& session, const Chapter& chapter, const fs::path& file, bool joins) {
  const MeasuringSpinner patience(session.while_waiting,
                                  fmt::format("measuring {} on {}", chapter.name, session.rig().machine.name));
  return session.check(chapter, file, joins);
}

int run_one(Session& session, const RunCommand& command) {
  std::optional<Phases> phases;
  if (command.timings) session.phases = &phases.emplace();
  const Chapter& chapter = session.chapter_or_next(command.name);
  fs::path file = session.course().my_file(chapter);
  if (command.kernel.empty()) {
    session.provide_file(chapter);
    session.predict_first(chapter);
  } else {
    file = session.from_caller(command.kernel);
    if (!fs::is_regular_file(file))
      throw Failure{{fmt::format("there is no file {}", printable(file.string()))}, kUsage};
  }
  const Outcome outcome = check_with_patience(session, chapter, file, command.kernel.empty() || command.save);
  if (session.options.json) {
    Json json = to_json(outcome.attempt);
    if (chapter.has_library()) {
      json["library"] = outcome.news.library ? to_json(*outcome.news.library) : Json(nullptr);
    }
    if (phases) json["timings"] = timings_json(phases->all(), phases->now_s());
    print_json(json);
  } else {
    const Colors colors = colors_for(session.options);
    const std::string card =
        report(outcome.attempt, outcome.news, colors, static_cast<std::size_t>(terminal_size().columns));
    print(card + plot_below(card, outcome, colors));
    if (phases) print(timings_text(phases->all(), phases->now_s()));
  }
  return outcome.attempt.judgement.verdict == Verdict::pass ? kAccepted : kNotAccepted;
}

// Runs every chapter for which the learner has a file, and prints one line each.
int run_all(Session& session) {
  const Rig& rig = session.measured_bench();
  Json attempts = Json::array();
  bool all_pass = true;
  std::string text;
  for (const Chapter& chapter : session.course().chapters) {
    const fs::path file = session.course().my_file(chapter);
    if (!fs::exists(file) || not_offered(chapter, rig.machine)) continue;
    const Attempt attempt = check_with_patience(session, chapter, file, true).attempt;
    all_pass = all_pass && attempt.judgement.verdict == Verdict::pass;
    const std::string reason = attempt.judgement.reasons.empty() ? "" : attempt.judgement.reasons.front();
    const std::string verdict =
        attempt.judgement.grade == Grade::ace ? "pass (ace)" : std::string(verdict_name(attempt.judgement.verdict));
    text += fmt::format("{:<20} {}{}\n", chapter.name, verdict,
                        reason.empty() ? "" : ": " + printable(reason.substr(0, reason.find('\n'))));
    attempts.push_back(to_json(attempt));
  }
  if (session.options.json) {
    print_json(Json{{"schema", "roofwalk.attempts/1"}, {"attempts", attempts}});
  } else {
    print(text.empty() ? "there is nothing in my/ yet; `./roofwalk next` says where to begin\n" : text);
  }
  return all_pass ? kAccepted : kNotAccepted;
}

void add_run_command(Verb& program, Session& session, int& exit_code) {
  auto options = std::make_shared<RunCommand>();
  Verb command = program.add_subcommand("run", "Build, check, measure and judge your kernel, and draw its dot");
  const Option name = command.add_option("name", options->name, "chapter; default: the next one that is not passed");
  const Option kernel = command.add_option("--kernel", options->kernel, "measure this file instead of my/NAME.cu");
  command.add_flag("--save", options->save, "with --kernel: add the dot to the walk, and draw it").needs(kernel);
  command.add_flag("--no-ask", session.options.no_ask, "do not ask for a prediction");
  const Option timings = command.add_flag("--timings", options->timings, "show where the time went, up to this report");
  command.add_flag("--as-graded", session.options.as_graded,
                   "run large sizes as `grade` does: it finds more races, and missing tails");
  command.add_flag("--all", options->all, "run every chapter that has a file in my/").excludes({name, kernel, timings});
  command.callback([options, &session, &exit_code] {
    session.go_on_unrecorded();
    exit_code = options->all ? run_all(session) : run_one(session, *options);
  });
}

ROOFWALK_VERB(30, add_run_command);

}  // namespace

}  // namespace roofwalk
