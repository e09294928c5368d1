// roofwalk list: every chapter, how far it is, its best dot.
#include <fmt/format.h>

#include "common/roofline/si.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

struct Row {
  const Chapter* chapter = nullptr;
  std::string state;
  std::optional<Point> best;
  Grade grade = Grade::none;
  std::size_t attempts = 0;
};

Row row_of(Session& session, const Chapter& chapter) {
  Row row{&chapter, "not started", std::nullopt, Grade::none, 0};
  const auto dots = session.dots(chapter);
  row.attempts = dots.size();
  if (const Dot* best = best_dot(dots)) {
    row.grade = best->grade;
    const auto point = best->points.find(walk_level(chapter));
    if (point != best->points.end()) row.best = point->second;
  }
  if (row.grade != Grade::none) {
    row.state = "passed";
  } else if (!dots.empty() || std::filesystem::exists(session.course().my_file(chapter))) {
    row.state = "started";
  }
  if (not_offered(chapter, session.bench().machine)) row.state = "not offered";
  return row;
}

Json json_of(const Row& row) {
  Json json;
  json["chapter"] = row.chapter->name;
  json["number"] = row.chapter->number;
  json["title"] = row.chapter->title;
  json["state"] = row.state;
  json["grade"] = grade_name(row.grade);
  json["attempts"] = row.attempts;
  json["best"] = nullptr;
  if (row.best) {
    json["best"] = {{"level", walk_level(*row.chapter)}, {"ai", row.best->ai}, {"flops_per_s", row.best->flops_per_s}};
  }
  return json;
}

int list(Session& session) {
  Json rows = Json::array();
  std::string text = fmt::format("{:<3} {:<20} {:<12} {:<6} {}\n", "", "chapter", "state", "grade", "best dot");
  for (const Chapter& chapter : session.course().chapters) {
    const Row row = row_of(session, chapter);
    rows.push_back(json_of(row));
    const std::string best = row.best ? fmt::format("{} at {} ({})", si_text(row.best->flops_per_s, "FLOP/s"),
                                                    si_text(row.best->ai, "FLOP/B"), walk_level(chapter))
                                      : std::string("-");
    text += fmt::format("{:<3} {:<20} {:<12} {:<6} {}\n", chapter.number, chapter.name, row.state,
                        row.grade == Grade::none ? "-" : grade_name(row.grade), best);
  }
  if (session.options.json) {
    print_json(Json{{"schema", "roofwalk.list/1"}, {"device", session.bench().device_name()}, {"chapters", rows}});
  } else {
    print(text);
  }
  return kAccepted;
}

}  // namespace

void add_list_command(CLI::App& app, Session& session, int& exit_code) {
  auto* command = app.add_subcommand("list", "Show every chapter, how far it is and its best dot");
  command->callback([&] { exit_code = list(session); });
}

}  // namespace roofwalk
