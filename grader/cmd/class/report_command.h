// `report`, which may keep its pages fresh.
#pragma once

#include "grader/cmd/class/class_options.h"

namespace roofwalk {

struct ReportCommand {
  ClassOptions places;
  bool names = false, watches = false;
};

// Keeps the pages as the record is until a signal ends the program, then ends it by that signal.
int watch_report(Session& session, const ReportCommand& command);

}  // namespace roofwalk
