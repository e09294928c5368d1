// roofwalk list: lists every chapter, with its progress and its best dot.
#include <fmt/format.h>

#include "common/base/json.h"
#include "common/roofline/si.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

Json json_of(const Chapter& chapter, const Progress& progress) {
  Json json;
  json["chapter"] = chapter.name;
  json["number"] = chapter.number;
  json["title"] = chapter.title;
  json["state"] = progress.state;
  json["grade"] = grade_name(progress.grade);
  json["attempts"] = progress.attempts;
  json["best"] = nullptr;
  if (progress.best) {
    json["best"] = {
        {"level", walk_level(chapter)}, {"ai", progress.best->ai}, {"flops_per_s", progress.best->flops_per_s}};
  }
  json["useful_unit"] = words_of(chapter.unit).one;
  json["roof"] = chapter_roof_name(chapter.roof);
  return json;
}

int list(Session& session) {
  Json rows = Json::array();
  std::string text = fmt::format("{:<3} {:<18} {:<12} {:<6} {}\n", "", "chapter", "state", "grade", "best dot");
  for (const Chapter& chapter : session.course().chapters) {
    const Progress row = session.progress(chapter);
    rows.push_back(json_of(chapter, row));
    const std::string best =
        row.best ? fmt::format("{} at {} ({})", si_text(row.best->flops_per_s, words_of(chapter.unit).per_second),
                               si_text(row.best->ai, words_of(chapter.unit).per_byte), walk_level(chapter))
                 : std::string("-");
    text += fmt::format("{:<3} {:<18} {:<12} {:<6} {}\n", chapter.number, chapter.name, row.state,
                        row.grade == Grade::none ? "-" : grade_name(row.grade), best);
  }
  if (session.options.json) {
    print_json(Json{{"schema", "roofwalk.list/1"}, {"device", session.rig().device_name()}, {"chapters", rows}});
  } else {
    print(text);
  }
  return kAccepted;
}

void add_list_command(Verb& program, Session& session, int& exit_code) {
  Verb command = program.add_subcommand("list", "Show every chapter, its progress and its best dot");
  command.callback([&] { exit_code = list(session); });
}

ROOFWALK_VERB(10, add_list_command);

}  // namespace

}  // namespace roofwalk
