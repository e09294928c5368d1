// In place of class_verbs.cpp, for learners: what grades a class is a sixth of a first build.
#include "grader/cmd/verbs.h"

namespace roofwalk {

void add_class_verbs(Verb&, Session&, int&) {}

}  // namespace roofwalk
