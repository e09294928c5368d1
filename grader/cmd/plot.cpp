// roofwalk plot NAME...: draws the walk so far, as a picture and in the terminal; several chapters as one walk.
#include <fmt/format.h>

#include "common/base/json.h"
#include "grader/attempt/measured_size.h"
#include "grader/cmd/verbs.h"
#include "grader/terminal/measuring_spinner.h"

namespace roofwalk {
namespace {

struct PlotCommand {
  std::vector<std::string> names;
  std::string level;
  bool png = false;
  bool library = false;
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

// A chart, and the library's dot in it.
struct Drawn {
  Chart chart;
  std::optional<LibraryDot> library;  // nullopt: not measured, or none
};

Json json_of(const Chart& chart, const std::string& chapter, const std::string& path) {
  Json walk = Json::array();
  for (const PlotPoint& point : chart.walk) {
    walk.push_back({{"label", point.label},
                    {"ai", point.point.ai},
                    {"flops_per_s", point.point.flops_per_s},
                    {"accepted", point.accepted}});
  }
  return {{"schema", "roofwalk.plot/1"},
          {"chapter", chapter},
          {"level", chart.level},
          {"roofs", roofs_json(chart.roofs)},
          {"walk", walk},
          {"plot", path},
          {"useful_unit", words_of(chart.roofs.unit).one}};
}

// A chapter's work at its measured size.
struct Task {
  Size size;
  Work work;
};

Task task_of(const Chapter& chapter, const Machine& machine) {
  const Exercise* exercise = find_exercise(chapter.name);
  ROOFWALK_CHECK(exercise != nullptr);
  const Size size = measured_size(chapter, machine);
  return {size, exercise->work(size)};
}

// Fails if the chapters' work differs: they then have different algorithmic AIs, so their dots in one chart could not
// be compared.
void check_same_work(const Chapter& first, const Task& task, const Chapter& other, const Machine& machine) {
  const Task its = task_of(other, machine);
  if (its.size == task.size && its.work.useful_flops == task.work.useful_flops &&
      its.work.compulsory_bytes == task.work.compulsory_bytes && other.unit == first.unit && other.roof == first.roof)
    return;
  throw Failure{{.message = fmt::format("{} and {} do not compute the same ({}; {})", first.name, other.name,
                                        task.size.text(), its.size.text()),
                 .advice = "plot them one by one"},
                kUsage};
}

Drawn chart_of(Session& session, const std::vector<const Chapter*>& chapters, const PlotCommand& command) {
  const Rig& rig = session.measured_bench();
  const Chapter& first = *chapters.front();
  const Task task = task_of(first, rig.machine);
  const LevelPoints starter = value_or_fail(starter_of(rig, first));
  const std::string level = command.level.empty() ? walk_level(first) : command.level;
  if (chapters.size() == 1) {
    const auto dots = session.dots(first);
    const Dot* best = best_dot(dots);
    const Grade goal_for = best != nullptr && best->grade != Grade::none ? Grade::ace : Grade::pass;
    Drawn drawn{.chart = walk_chart(rig, first, level, task.size, task.work, starter, dots, goal_for),
                .library = command.library ? value_or_fail(library_dot(rig, first)) : kept_library_dot(rig, first)};
    if (drawn.library) add_library(rig, *drawn.library, drawn.chart);
    return drawn;
  }
  std::vector<ChapterWalk> walks;
  for (const Chapter* chapter : chapters) {
    check_same_work(first, task, *chapter, rig.machine);
    walks.push_back({chapter->name, session.dots(*chapter)});
  }
  return {.chart = joint_chart(rig, first, level, task.size, task.work, starter, walks), .library = {}};
}

int plot(Session& session, const PlotCommand& command) {
  std::vector<const Chapter*> chapters;
  std::string names;
  for (const std::string& name : command.names) {
    chapters.push_back(&session.chapter(name));
    names += (names.empty() ? "" : "+") + chapters.back()->name;
    if (const auto why = not_offered(*chapters.back(), session.rig().machine)) throw Failure{{*why}, kSkipped};
  }
  const bool has_library = chapters.size() == 1 && chapters.front()->has_library();
  if (command.library && !has_library) {
    throw Failure{{.message = fmt::format("no library's kernel is measured for {}", names),
                   .advice = "./roofwalk plot reduction --library is one of the few"},
                  kUsage};
  }
  const auto [chart, library] = [&] {
    const MeasuringSpinner patience(session.while_waiting,
                                    fmt::format("measuring {} on {}", names, session.rig().machine.name));
    return chart_of(session, chapters, command);
  }();
  const std::string ending = (command.level.empty() ? "" : "-" + command.level) + (command.png ? ".png" : ".svg");
  const auto path = session.rig().picture(names, ending);
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  value_or_fail(write_plot(chart, path));
  if (session.options.json) {
    Json json = json_of(chart, names, path.string());
    if (has_library) json["library"] = library ? to_json(*library) : Json(nullptr);
    print_json(json);
  } else {
    print(text_plot(chart, 80, 22, colors_for(session.options).on()));
    if (library) print(fmt::format("library: {}\n", library_phrase(*library)));
    print(fmt::format("plot: {}\n", path.string()));
  }
  return kAccepted;
}

void add_plot_command(Verb& program, Session& session, int& exit_code) {
  auto options = std::make_shared<PlotCommand>();
  Verb command = program.add_subcommand("plot", "Draw the walk of a chapter, or of several in one picture");
  command.add_option("name", options->names, "chapter; several that compute the same: the best dot of each").required();
  command.add_option("--level", options->level, "memory level of the AI; default: the chapter's own")
      .one_of({"dram", "l2", "l1"});
  command.add_flag("--png", options->png, "a PNG instead of an SVG");
  command.add_flag("--library", options->library, "with the dot of a library's own kernel, if the chapter has one");
  command.callback([options, &session, &exit_code] { exit_code = plot(session, *options); });
}

ROOFWALK_VERB(70, add_plot_command);

}  // namespace

}  // namespace roofwalk
