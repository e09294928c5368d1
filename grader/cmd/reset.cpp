// roofwalk reset NAME: back to the starter. The learner's file is kept, and a new walk begins.
#include <fmt/format.h>

#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

// my/old/NAME-<n>.cu with the first n that is free.
fs::path free_name(const Course& course, const Chapter& chapter) {
  for (int n = 1;; ++n) {
    const fs::path path = course.old_files() / fmt::format("{}-{}.cu", chapter.name, n);
    if (!fs::exists(path)) return path;
  }
}

int reset(Session& session, const std::string& name) {
  const Chapter& chapter = session.chapter(name);
  const fs::path file = session.course().my_file(chapter);
  std::optional<fs::path> kept;
  std::error_code error;
  if (fs::exists(file)) {
    kept = free_name(session.course(), chapter);
    fs::create_directories(kept->parent_path(), error);
    fs::rename(file, *kept, error);
    if (error) throw Failure{{fmt::format("cannot move {}: {}", file.string(), error.message())}, kOurFault};
  }
  fs::create_directories(file.parent_path(), error);
  fs::copy_file(chapter.starter(), file, fs::copy_options::none, error);
  if (error) throw Failure{{fmt::format("cannot make {}: {}", file.string(), error.message())}, kOurFault};
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add, error);
  value_or_fail(session.store().start_new_walk(chapter.name));
  value_or_fail(session.store().cache("hints " + chapter.name, "0"));
  if (session.options.json) {
    print_json(Json{{"schema", "roofwalk.reset/1"},
                    {"chapter", chapter.name},
                    {"file", file.string()},
                    {"kept", kept ? Json(kept->string()) : Json(nullptr)}});
    return kAccepted;
  }
  if (kept) print(fmt::format("your file is kept as {}\n", kept->string()));
  print(fmt::format("{} is the starter again, and a new walk begins\n", file.string()));
  return kAccepted;
}

}  // namespace

void add_reset_command(CLI::App& app, Session& session, int& exit_code) {
  auto name = std::make_shared<std::string>();
  auto* command = app.add_subcommand("reset", "Begin a chapter again; your file is kept");
  command->add_option("name", *name, "chapter")->required();
  command->callback([name, &session, &exit_code] { exit_code = reset(session, *name); });
}

}  // namespace roofwalk
