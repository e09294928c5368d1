// roofwalk reset NAME: goes back to the starter. The learner's file is kept, a new walk begins, and a pass stays a
// pass.
#include <fmt/format.h>

#include "common/base/json.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

int reset(Session& session, const std::string& name) {
  const Chapter& chapter = session.chapter(name);
  const Progress progress = session.progress(chapter);
  const auto kept = session.reset(chapter);
  const std::string file = session.course().my_file(chapter).string();
  if (session.options.json) {
    print_json(Json{{"schema", "roofwalk.reset/1"},
                    {"chapter", chapter.name},
                    {"file", file},
                    {"kept", kept ? Json(kept->string()) : Json(nullptr)},
                    {"grade", grade_name(progress.grade)}});
    return kAccepted;
  }
  if (kept) print(fmt::format("your file is kept as {}\n", kept->string()));
  print(fmt::format("{} is the starter again, and a new walk begins\n", file));
  if (progress.grade != Grade::none) {
    print(fmt::format("your grade stays: {}\n", progress.grade == Grade::ace ? "ace" : "passed"));
  }
  return kAccepted;
}

void add_reset_command(Verb& program, Session& session, int& exit_code) {
  auto name = std::make_shared<std::string>();
  Verb command = program.add_subcommand("reset", "Begin a chapter again; your file and your grade are kept");
  command.add_option("name", *name, "chapter").required();
  command.callback([name, &session, &exit_code] { exit_code = reset(session, *name); });
}

ROOFWALK_VERB(100, add_reset_command);

}  // namespace

}  // namespace roofwalk
