#include "grader/cmd/verbs.h"

#include <map>

namespace roofwalk {
namespace {

// All registered verbs. A variable inside a function, because verbs register themselves during static initialization,
// and a global variable might not be initialized yet.
std::multimap<int, AddVerb>& registered_verbs() {
  static std::multimap<int, AddVerb> verbs;
  return verbs;
}

}  // namespace

VerbRegistration::VerbRegistration(int help_order, AddVerb add) { registered_verbs().emplace(help_order, add); }

void add_verbs(Verb& program, Session& session, int& exit_code) {
  for (const auto& [help_order, add] : registered_verbs()) add(program, session, exit_code);
}

}  // namespace roofwalk
