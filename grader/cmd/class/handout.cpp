// roofwalk handout FOLDER: makes a tree of files for learners.
#include "grader/class/handout/handout.h"

#include <fmt/format.h>

#include <set>

#include "common/base/atomic_file.h"
#include "common/base/json.h"
#include "grader/class/handout/handout_pages.h"
#include "grader/cmd/class/class_options.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

struct HandoutCommand {
  ClassOptions places;
  std::string folder;
  std::vector<std::string> chapters;
};

int hand_out(Session& session, const HandoutCommand& command) {
  const BatchPlaces places = places_of(session, command.places);
  const Course& course = session.course();
  const CourseTerms terms = places.course_file.empty()
                                ? plain_terms(course)
                                : value_or_fail(read_terms(places.course_file, course, fs::current_path()), kUsage);
  std::vector<const Chapter*> chapters;
  for (const Chapter& chapter : course.chapters) {
    const auto is_named = [&](const std::string& name) { return value_or_fail(course.find(name), kUsage) == &chapter; };
    const bool chosen = command.chapters.empty()
                            ? terms.find(chapter.name) != nullptr
                            : std::any_of(command.chapters.begin(), command.chapters.end(), is_named);
    if (chosen) chapters.push_back(&chapter);
  }
  const fs::path folder = fs::absolute(session.from_caller(command.folder));
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_empty(folder, error)) {
    throw Failure{
        {.message = "already exists, and is not empty", .file = folder.string(), .advice = "give a new folder"},
        kUsage};
  }
  const auto files = value_or_fail(handout_files(fs::current_path(), chapters));
  std::set<std::string> names{"README.md"};
  for (const fs::path& file : files) names.insert(file.string());
  for (const fs::path& file : files) {
    fs::create_directories((folder / file).parent_path(), error);
    if (file.extension() == ".md") {
      value_or_fail(replace_file(folder / file, page_for_learners(file_text(file), file, names)));
      continue;
    }
    fs::copy_file(file, folder / file, error);
    if (error) throw Failure{{.message = "cannot be copied: " + error.message(), .file = (folder / file).string()}};
  }
  value_or_fail(replace_file(folder / "README.md", handout_readme(terms, chapters)));
  const auto notes = spoilers(chapters);
  if (session.options.json) {
    Json json{{"schema", "roofwalk.handout/1"},
              {"folder", session.from_caller(folder).string()},
              {"files", files.size() + 1},
              {"notes", notes}};
    json["chapters"] = Json::array();
    for (const Chapter* chapter : chapters) json["chapters"].push_back(chapter->name);
    print_json(json);
    return kAccepted;
  }
  std::string text = fmt::format("{} files in {}\n", files.size() + 1, printable(session.from_caller(folder).string()));
  for (const Chapter* chapter : chapters) text += fmt::format("  {} {}\n", chapter->number, chapter->name);
  for (const std::string& note : notes) text += "note: " + note + "\n";
  print(text);
  return kAccepted;
}

void add_handout_command(Verb& program, Session& session, int& exit_code) {
  auto options = std::make_shared<HandoutCommand>();
  Verb command =
      program.add_subcommand("handout", "Write a tree for learners: chosen chapters, no solutions, no secrets");
  command.add_option("folder", options->folder, "the folder to write: a new or an empty one").required();
  command.add_option("--chapter", options->chapters, "these chapters; default: those of course.toml, or all");
  add_class_options(command, options->places);
  command.callback([options, &session, &exit_code] { exit_code = hand_out(session, *options); });
}

ROOFWALK_VERB(140, add_handout_command);

}  // namespace

}  // namespace roofwalk
