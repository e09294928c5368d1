// The verbs of the program, one file each. A verb registers itself; no other file names it.
#pragma once

#include "grader/cmd/command_line.h"
#include "grader/cmd/session.h"

namespace roofwalk {

// Adds a subcommand that stores its exit code when it is the one called.
using AddVerb = void (*)(Verb& program, Session& session, int& exit_code);

struct VerbRegistration {
  VerbRegistration(int help_order, AddVerb add);
};

// `help_order`: the verb's place in the help, lowest first. `add` is an AddVerb.
#define ROOFWALK_VERB(help_order, add) const VerbRegistration registration_of_##add(help_order, add)

// Adds every verb that is linked into the program. The learner's program links none of grader/cmd/class.
void add_verbs(Verb& program, Session& session, int& exit_code);
void add_help_command(Verb& program, const CommandLine& line, int& exit_code);

}  // namespace roofwalk
