// roofwalk help [VERB]: prints the same text as `roofwalk --help` and `roofwalk VERB --help`.
#include "grader/cmd/verbs.h"

namespace roofwalk {

void add_help_command(Verb& program, const CommandLine& line, int& exit_code) {
  auto verb = std::make_shared<std::string>();
  Verb command = program.add_subcommand("help", "Show this, or the options of a verb");
  command.add_option("verb", *verb, "such as run");
  command.callback([verb, &line, &exit_code] {
    print(line.help(*verb));
    exit_code = kAccepted;
  });
}

}  // namespace roofwalk
