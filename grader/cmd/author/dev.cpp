// roofwalk dev check [NAME] [--quick]: proves to authors that every chapter is right.
#include <fmt/format.h>

#include "common/base/json.h"
#include "grader/attempt/pipeline.h"
#include "grader/author/chapter_check.h"
#include "grader/cmd/verbs.h"
#include "grader/rig/roofs.h"

namespace roofwalk {
namespace {

int check(Session& session, const std::string& only, CheckScope scope) {
  std::vector<const Chapter*> chapters;
  if (!only.empty()) {
    chapters.push_back(&session.chapter(only));
  } else {
    for (const Chapter& chapter : session.course().chapters) chapters.push_back(&chapter);
  }
  // Without a store (nullptr), because checking the course must neither use nor change the learner's progress.
  auto rig = open_rig(session.course(), session.options.device, session.options.threads, nullptr);
  if (!rig) throw Failure{rig.error(), session.options.device.starts_with("cuda") ? kSkipped : kUsage};
  value_or_fail(use_measured_roofs(*rig));
  const Colors colors = colors_for(session.options);
  Json json = Json::array();
  std::size_t held = 0, all = 0;
  for (const Chapter* chapter : chapters) {
    if (const auto reason = not_offered(*chapter, rig->machine)) {
      if (!only.empty()) throw Failure{Error{*reason}, kSkipped};
      if (!session.options.json) print(fmt::format("skip {}\n", *reason));
      continue;
    }
    for (const CheckLine& line : value_or_fail(check_chapter(*rig, *chapter, scope))) {
      ++all;
      held += line.holds ? 1 : 0;
      json.push_back({{"chapter", line.chapter}, {"what", line.what}, {"holds", line.holds}, {"found", line.found}});
      if (session.options.json) continue;
      print(fmt::format("{} {}: {}  [{}]\n", line.holds ? colors.good("ok  ") : colors.bad("FAIL"), line.chapter,
                        printable(line.what), printable(line.found)));
    }
  }
  if (session.options.json) {
    print_json(Json{{"schema", "roofwalk.check/1"}, {"held", held}, {"checks", json}});
  } else {
    print(fmt::format("{} of {} checks hold\n", held, all));
  }
  return held == all && all > 0 ? kAccepted : kNotAccepted;
}

void add_dev_command(Verb& program, Session& session, int& exit_code) {
  auto name = std::make_shared<std::string>();
  auto quick = std::make_shared<bool>(false);
  Verb dev = program.add_subcommand("dev", "For authors of chapters");
  dev.require_subcommand();
  Verb command = dev.add_subcommand("check", "Prove starters, solution steps and wrong solutions");
  command.add_option("name", *name, "chapter; default: all");
  command.add_flag("--quick", *quick, "Only the starter, the last step, one dodge and one idiom");
  command.callback([name, quick, &session, &exit_code] {
    exit_code = check(session, *name, *quick ? CheckScope::quick : CheckScope::everything);
  });
}

ROOFWALK_VERB(200, add_dev_command);

}  // namespace

}  // namespace roofwalk
