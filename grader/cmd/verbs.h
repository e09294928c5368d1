// The verbs of the program, one file each. Each but `help` registers itself, so no other file names it.
#pragma once

#include "grader/cmd/command_line.h"
#include "grader/cmd/session.h"

namespace roofwalk {

// Adds a verb to the program. When the verb runs, it stores its exit code in `exit_code`.
using AddVerb = void (*)(Verb& program, Session& session, int& exit_code);

struct VerbRegistration {
  VerbRegistration(int help_order, AddVerb add);
};

// `help_order`: the verb's position in the help, lowest first. `add` is an AddVerb.
#define ROOFWALK_VERB(help_order, add) const VerbRegistration registration_of_##add(help_order, add)

// Adds every verb that is linked into the program. The learners' program links neither grader/cmd/author nor
// grader/cmd/class.
void add_verbs(Verb& program, Session& session, int& exit_code);
void add_help_command(Verb& program, Session& session, const CommandLine& line, int& exit_code);

}  // namespace roofwalk
