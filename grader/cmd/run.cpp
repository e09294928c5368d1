// roofwalk run [NAME]: build, check, measure, judge, draw.
#include <fmt/format.h>

#include <cstdio>

#include "grader/cmd/verbs.h"
#include "grader/report.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

struct RunCommand {
  std::string name;
  std::string kernel;
  bool save = false;
  bool all = false;
};

// Makes my/NAME.cu from the starter where there is none. Never writes over a file.
void provide_file(const Session& session, const Course& course, const Chapter& chapter) {
  const fs::path file = course.my_file(chapter);
  if (fs::exists(file)) return;
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  fs::copy_file(chapter.starter(), file, fs::copy_options::none, error);
  if (error) throw Failure{{fmt::format("cannot make {}: {}", file.string(), error.message())}, kOurFault};
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add, error);
  const std::string note = fmt::format("Made {} from the starter: it is the file to edit.\nThe lesson is {}.\n\n",
                                       file.string(), chapter.lesson().string());
  std::fputs(note.c_str(), session.options.json ? stderr : stdout);
}

const Chapter& chosen_chapter(Session& session, const std::string& name) {
  if (!name.empty()) return session.chapter(name);
  const Chapter* next = session.next_chapter();
  if (next == nullptr) throw Failure{{"every chapter is passed; say which one to run"}, kUsage};
  return *next;
}

int run_one(Session& session, const RunCommand& command) {
  const Chapter& chapter = chosen_chapter(session, command.name);
  if (const auto why = not_offered(chapter, session.bench().machine)) throw Failure{{*why}, kSkipped};
  Request request;
  request.chapter = &chapter;
  request.seed = session.options.seed;
  if (command.kernel.empty()) {
    provide_file(session, session.course(), chapter);
    request.file = session.course().my_file(chapter);
  } else {
    request.file = session.from_caller(command.kernel);
    if (!fs::is_regular_file(request.file)) {
      throw Failure{{fmt::format("there is no file {}", printable(request.file.string()))}, kUsage};
    }
  }
  const Bench& bench = session.measured_bench();
  Attempt attempt = value_or_fail(run_attempt(bench, request));
  const bool joins = command.kernel.empty() || command.save;
  const WalkNews news = value_or_fail(record(bench, chapter, session.store(), joins, attempt));
  if (session.options.json) {
    print_json(to_json(attempt));
  } else {
    print(report(attempt, news, colors_for(session.options)));
  }
  return attempt.judgement.verdict == Verdict::pass ? kAccepted : kNotAccepted;
}

// Every chapter that the learner has a file for: one line each.
int run_all(Session& session) {
  const Bench& bench = session.measured_bench();
  Json attempts = Json::array();
  bool all_pass = true;
  std::string text;
  for (const Chapter& chapter : session.course().chapters) {
    const fs::path file = session.course().my_file(chapter);
    if (!fs::exists(file) || not_offered(chapter, bench.machine)) continue;
    Attempt attempt = value_or_fail(run_attempt(bench, {&chapter, file, session.options.seed}));
    value_or_fail(record(bench, chapter, session.store(), true, attempt));
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

}  // namespace

void add_run_command(CLI::App& app, Session& session, int& exit_code) {
  auto options = std::make_shared<RunCommand>();
  auto* command = app.add_subcommand("run", "Build, check, measure and judge your kernel, and draw its dot");
  auto* name = command->add_option("name", options->name, "chapter; default: the next one that is not passed");
  auto* kernel = command->add_option("--kernel", options->kernel, "measure this file instead of my/NAME.cu");
  command->add_flag("--save", options->save, "with --kernel: let the dot join the walk")->needs(kernel);
  command->add_flag("--all", options->all, "run every chapter that my/ holds a file for")->excludes(name, kernel);
  command->callback(
      [options, &session, &exit_code] { exit_code = options->all ? run_all(session) : run_one(session, *options); });
}

}  // namespace roofwalk
