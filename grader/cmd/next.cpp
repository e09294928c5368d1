// roofwalk next: the first chapter that is not passed, and what to do about it.
#include <fmt/format.h>

#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

int next(Session& session) {
  const Chapter* chapter = session.next_chapter();
  if (session.options.json) {
    print_json(
        Json{{"schema", "roofwalk.next/1"}, {"chapter", chapter != nullptr ? Json(chapter->name) : Json(nullptr)}});
    return kAccepted;
  }
  if (chapter == nullptr) {
    print("every chapter is passed; `./roofwalk list` shows where an ace is still to be had\n");
    return kAccepted;
  }
  const auto file = session.course().my_file(*chapter);
  const bool started = std::filesystem::exists(file);
  print(fmt::format("next: {}: {}\n", chapter->name, printable(chapter->title)));
  print(fmt::format("  read  {}\n", chapter->lesson().string()));
  if (started) print(fmt::format("  edit  {}\n", file.string()));
  print(fmt::format("  run   ./roofwalk run {}{}\n", chapter->name,
                    started ? "" : fmt::format("   (it makes {} from the starter)", file.string())));
  if (started) print(fmt::format("  hint  ./roofwalk hint {}\n", chapter->name));
  return kAccepted;
}

}  // namespace

void add_next_command(CLI::App& app, Session& session, int& exit_code) {
  auto* command = app.add_subcommand("next", "Name the next chapter and what to do");
  command->callback([&] { exit_code = next(session); });
}

}  // namespace roofwalk
