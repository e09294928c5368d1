// roofwalk plot NAME: the walk so far, as a picture and in the terminal.
#include <fmt/format.h>

#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

struct PlotCommand {
  std::string name;
  bool png = false;
};

Json roofs_json(const Roofs& roofs) {
  const auto or_null = [](std::optional<double> value) { return value ? Json(*value) : Json(nullptr); };
  Json json = Json::array();
  for (const MemoryRoof& roof : roofs.memory) {
    json.push_back({{"name", roof.level},
                    {"bytes_per_s", roof.bytes_per_s},
                    {"source", roof.source},
                    {"data_sheet_bytes_per_s", or_null(roof.data_sheet_bytes_per_s)}});
  }
  for (const ComputeRoof& roof : roofs.compute) {
    json.push_back({{"name", roof.name},
                    {"flops_per_s", roof.flops_per_s},
                    {"source", roof.source},
                    {"data_sheet_flops_per_s", or_null(roof.data_sheet_flops_per_s)}});
  }
  return json;
}

Json json_of(const Chart& chart, const std::string& chapter, const std::string& path) {
  Json walk = Json::array();
  for (const PlotPoint& point : chart.walk) {
    walk.push_back({{"label", point.label},
                    {"ai", point.point.ai},
                    {"flops_per_s", point.point.flops_per_s},
                    {"accepted", point.accepted}});
  }
  return {{"schema", "roofwalk.plot/1"},      {"chapter", chapter}, {"level", chart.level},
          {"roofs", roofs_json(chart.roofs)}, {"walk", walk},       {"plot", path}};
}

int plot(Session& session, const PlotCommand& command) {
  const Chapter& chapter = session.chapter(command.name);
  if (const auto why = not_offered(chapter, session.bench().machine)) throw Failure{{*why}, kSkipped};
  const Bench& bench = session.measured_bench();
  const Exercise* exercise = find_exercise(chapter.name);
  ROOFWALK_CHECK(exercise != nullptr);
  const Size size = measured_size(chapter, bench.machine);
  const auto dots = session.dots(chapter);
  const Dot* best = best_dot(dots);
  const Grade goal_for = best != nullptr && best->grade != Grade::none ? Grade::ace : Grade::pass;
  const Chart chart =
      walk_chart(bench, chapter, size, exercise->work(size), value_or_fail(starter_of(bench, chapter)), dots, goal_for);
  const auto path = session.course().plot(chapter, command.png ? ".png" : ".svg");
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  value_or_fail(write_plot(chart, path));
  if (session.options.json) {
    print_json(json_of(chart, chapter.name, path.string()));
  } else {
    print(text_plot(chart, 80, 22, colors_for(session.options).on()));
    print(fmt::format("plot: {}\n", path.string()));
  }
  return kAccepted;
}

}  // namespace

void add_plot_command(CLI::App& app, Session& session, int& exit_code) {
  auto options = std::make_shared<PlotCommand>();
  auto* command = app.add_subcommand("plot", "Draw a chapter's walk");
  command->add_option("name", options->name, "chapter")->required();
  command->add_flag("--png", options->png, "a PNG instead of an SVG");
  command->callback([options, &session, &exit_code] { exit_code = plot(session, *options); });
}

}  // namespace roofwalk
