// roofwalk help [VERB]: prints the same text as `roofwalk --help` and `roofwalk VERB --help`; for the name of a
// chapter, where its lesson is.
#include <fmt/format.h>

#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

// Returns the chapter that someone has typed in place of a verb; nullptr if it is none.
const Chapter* chapter_of(Session& session, const CommandLine& line, const std::string& typed) {
  if (typed.empty() || line.has_verb(typed)) return nullptr;
  const auto found = session.course().find(typed);
  return found ? *found : nullptr;
}

}  // namespace

void add_help_command(Verb& program, Session& session, const CommandLine& line, int& exit_code) {
  auto verb = std::make_shared<std::string>();
  Verb command = program.add_subcommand("help", "Show this, or the options of a verb");
  command.add_option("verb", *verb, "such as run");
  command.callback([verb, &session, &line, &exit_code] {
    if (const Chapter* chapter = chapter_of(session, line, *verb)) {
      print(fmt::format("{} is a chapter: {}\n{}        ./roofwalk hint {}    (when stuck)\n", chapter->name,
                        printable(chapter->title), session.places(*chapter), chapter->name));
    } else {
      print(line.help(*verb));
    }
    exit_code = kAccepted;
  });
}

}  // namespace roofwalk
