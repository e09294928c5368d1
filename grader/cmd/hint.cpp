// roofwalk hint NAME: one more hint each time.
#include <fmt/format.h>

#include <sstream>

#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

struct HintCommand {
  std::string name;
  bool all = false;
};

std::size_t hints_seen(const Store& store, const std::string& key) {
  const auto seen = store.cached(key);
  return seen ? static_cast<std::size_t>(std::strtoul(seen->c_str(), nullptr, 10)) : 0;
}

// Indented lines are code and stay as they are; the others are one paragraph, wrapped afresh.
void print_hint(std::string label, const std::string& text) {
  std::string paragraph;
  const auto put = [&](const std::string& line) {
    print(label + line + "\n");
    label.assign(label.size(), ' ');
  };
  const auto end_paragraph = [&] {
    for (const std::string& line : wrapped(paragraph, 80 - label.size())) put(line);
    paragraph.clear();
  };
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(' ')) {
      end_paragraph();
      put(printable(line));
    } else {
      paragraph += printable(line) + ' ';
    }
  }
  end_paragraph();
}

int hint(Session& session, const HintCommand& command) {
  const Chapter& chapter = session.chapter(command.name);
  const std::string key = "hints " + chapter.name;
  const std::size_t all = chapter.hints.size();
  const std::size_t shown = command.all ? all : std::min(hints_seen(session.store(), key) + 1, all);
  value_or_fail(session.store().cache(key, fmt::format("{}", shown)));
  if (session.options.json) {
    Json hints = Json::array();
    for (std::size_t i = 0; i < shown; ++i) hints.push_back(chapter.hints[i].text);
    print_json(Json{{"schema", "roofwalk.hint/1"}, {"chapter", chapter.name}, {"hints", hints}, {"of", all}});
    return kAccepted;
  }
  for (std::size_t i = 0; i < shown; ++i) print_hint(fmt::format("{}/{} ", i + 1, all), chapter.hints[i].text);
  print(shown < all ? "ask again for one more\n"
                    : fmt::format("that was the last one; the steps are in solutions/{}\n",
                                  chapter.folder.filename().string()));
  return kAccepted;
}

}  // namespace

void add_hint_command(CLI::App& app, Session& session, int& exit_code) {
  auto options = std::make_shared<HintCommand>();
  auto* command = app.add_subcommand("hint", "Give one more hint each time");
  command->add_option("name", options->name, "chapter")->required();
  command->add_flag("--all", options->all, "all hints at once");
  command->callback([options, &session, &exit_code] { exit_code = hint(session, *options); });
}

}  // namespace roofwalk
