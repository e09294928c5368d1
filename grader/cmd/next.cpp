// roofwalk next: names the next chapter that is not passed, and what to do about it.
#include <fmt/format.h>

#include "common/base/json.h"
#include "common/roofline/si.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

Json json_of(const Course& course, const Chapter* chapter, const Progress& progress) {
  Json json;
  json["schema"] = "roofwalk.next/1";
  json["chapter"] = chapter != nullptr ? Json(chapter->name) : Json(nullptr);
  if (chapter == nullptr) return json;
  json["title"] = chapter->title;
  json["state"] = progress.state;
  json["lesson"] = chapter->lesson().string();
  json["file"] = course.my_file(*chapter).string();
  return json;
}

int next(Session& session) {
  const Chapter* chapter = session.next_chapter();
  const Progress progress = chapter != nullptr ? session.progress(*chapter) : Progress{};
  if (session.options.json) {
    print_json(json_of(session.course(), chapter, progress));
    return kAccepted;
  }
  if (chapter == nullptr) {
    print("every chapter is passed; `./roofwalk list` shows where an ace is still possible\n");
    return kAccepted;
  }
  print(fmt::format("next: {}: {}, {}\n", chapter->name, printable(chapter->title), progress.state));
  if (progress.best) {
    print(fmt::format("  best  {} at {} ({})\n",
                      si_text(progress.best->flops_per_s, words_of(chapter->unit).per_second),
                      si_text(progress.best->ai, words_of(chapter->unit).per_byte), walk_level(*chapter)));
  }
  print(session.places(*chapter));
  if (progress.attempts > 0) print(fmt::format("        ./roofwalk hint {}    (when stuck)\n", chapter->name));
  return kAccepted;
}

void add_next_command(Verb& program, Session& session, int& exit_code) {
  Verb command = program.add_subcommand("next", "Name the next chapter and what to do");
  command.callback([&] { exit_code = next(session); });
}

ROOFWALK_VERB(20, add_next_command);

}  // namespace

}  // namespace roofwalk
