// roofwalk solution NAME [STEP]: shows the course's own steps to learners who passed.
#include <fmt/format.h>

#include <sstream>

#include "common/base/json.h"
#include "common/base/subprocess.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

struct SolutionCommand {
  std::string name;
  std::optional<int> step;
  bool anyway = false;
};

// The comment in a step's first line, without its slashes.
std::string claim_of(const fs::path& step) {
  std::istringstream in(file_text(step));
  std::string line;
  std::getline(in, line);
  return line.substr(std::min(line.find_first_not_of("/ "), line.size()));
}

// The changes from one file to the next, in the format of `diff -u`.
std::string difference(const fs::path& from, const fs::path& to) {
  const auto result = value_or_fail(run_command(
      {.arguments = {"diff", "-u", "--label", from.string(), "--label", to.string(), from.string(), to.string()}}));
  if (result.exit_code > 1) throw Failure{{"diff failed: " + result.output}, kOurFault};
  return result.output;
}

std::string colored(const std::string& difference, const Colors& colors) {
  std::istringstream in(difference);
  std::string text;
  for (std::string line; std::getline(in, line);) {
    const bool is_file = line.starts_with("---") || line.starts_with("+++");
    text += (is_file || line.starts_with("@@") ? colors.strong(line)
             : line.starts_with('+')           ? colors.good(line)
             : line.starts_with('-')           ? colors.bad(line)
                                               : line) +
            "\n";
  }
  return text;
}

int show_steps(const Session& session, const Chapter& chapter, const std::vector<fs::path>& steps) {
  Json rows = Json::array();
  std::string text;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string claim = printable(claim_of(steps[i]));
    rows.push_back({{"step", i + 1}, {"file", steps[i].string()}, {"claim", claim}});
    for (const std::string& line : wrapped(claim, 80)) text += line + "\n";
    text += fmt::format("    {}\n", steps[i].string());
  }
  if (session.options.json) {
    print_json(Json{{"schema", "roofwalk.solution/1"}, {"chapter", chapter.name}, {"steps", rows}});
    return kAccepted;
  }
  print(text);
  print(fmt::format("`./roofwalk solution {} {}` shows what a step changes\n", chapter.name, steps.size()));
  return kAccepted;
}

int show_step(const Session& session, const Chapter& chapter, const std::vector<fs::path>& steps, int step) {
  const auto index = static_cast<std::size_t>(step);
  if (step < 1 || index > steps.size()) {
    throw Failure{{fmt::format("`{}` has the steps 1 to {}", chapter.name, steps.size())}, kUsage};
  }
  const fs::path from = step == 1 ? chapter.starter() : steps[index - 2], to = steps[index - 1];
  const std::string changes = difference(from, to);
  if (session.options.json) {
    print_json(Json{{"schema", "roofwalk.solution/1"},
                    {"chapter", chapter.name},
                    {"step", step},
                    {"from", from.string()},
                    {"to", to.string()},
                    {"diff", changes}});
  } else {
    print(colored(changes, colors_for(session.options)));
  }
  return kAccepted;
}

int solution(Session& session, const SolutionCommand& command) {
  const Chapter& chapter = session.chapter(command.name);
  if (!command.anyway && session.progress(chapter).grade == Grade::none) {
    throw Failure{{fmt::format("the solutions of `{}` are shown once you have passed it", chapter.name), "", 0,
                   fmt::format("./roofwalk hint {} helps; instructors add --anyway", chapter.name)},
                  kNotAccepted};
  }
  const auto steps = chapter.solution_steps();
  if (steps.empty()) throw Failure{{fmt::format("`{}` has no solutions here", chapter.name)}, kSkipped};
  return command.step ? show_step(session, chapter, steps, *command.step) : show_steps(session, chapter, steps);
}

void add_solution_command(Verb& program, Session& session, int& exit_code) {
  auto options = std::make_shared<SolutionCommand>();
  Verb command = program.add_subcommand("solution", "Show the solution steps of a chapter that you passed");
  command.add_option("name", options->name, "chapter").required();
  command.add_option("step", options->step, "show what this step changes");
  command.add_flag("--anyway", options->anyway, "for instructors: before passing too");
  command.callback([options, &session, &exit_code] { exit_code = solution(session, *options); });
}

ROOFWALK_VERB(90, add_solution_command);

}  // namespace

}  // namespace roofwalk
