// roofwalk hint NAME: gives one more hint each time, about the last attempt if possible.
#include <fmt/format.h>

#include "common/base/json.h"
#include "grader/cmd/verbs.h"
#include "grader/walk/hints.h"

namespace roofwalk {
namespace {

struct HintCommand {
  std::string name;
  bool all = false;
  bool again = false;
};

void print_about(const OfferedHint& hint) {
  print(hint.leads_on        ? "you passed; what follows leads on to the ace:\n"
        : hint.cause.empty() ? "about the chapter:\n"
                             : "about your last attempt:\n");
}

void print_hint(const OfferedHint& hint) {
  std::string label = fmt::format("{}/{} ", hint.number, hint.of);
  for (const std::string& line : paragraphs(hint.text, 80 - label.size())) {
    print(label + line + "\n");
    label.assign(label.size(), ' ');
  }
}

// The last line, which tells what the next call would give.
std::string closing(const HintGiver& hints, const OfferedHint* given, const std::string& chapter) {
  if (!hints.all_given()) return "ask again for one more\n";
  if (hints.offered().empty()) {
    return fmt::format("you have the ace: no hint is left; `./roofwalk solution {}` shows how the chapter went there\n",
                       chapter);
  }
  const std::string again = fmt::format("`./roofwalk hint {} --again` begins again\n", chapter);
  std::string text =
      fmt::format("{}; {}", given != nullptr ? "that was the last one" : "you have had all of them", again);
  if (hints.situation().is_wrong) text += "the chapter's own hints go on once the kernel is correct\n";
  return text;
}

int hint(Session& session, const HintCommand& command) {
  const Chapter& chapter = session.chapter(command.name);
  HintGiver hints(session.store(), chapter, session.rig().device_name());
  const auto& offered = hints.offered();
  if (command.again) value_or_fail(hints.forget());
  if (command.all) value_or_fail(hints.give_all());
  const OfferedHint* next = command.all ? nullptr : value_or_fail(hints.next());
  if (session.options.json) {
    Json given = Json::array();
    for (const OfferedHint& hint : offered) {
      if (hints.was_given(hint)) given.push_back(hint.text);
    }
    print_json(
        Json{{"schema", "roofwalk.hint/1"}, {"chapter", chapter.name}, {"hints", given}, {"of", offered.size()}});
    return kAccepted;
  }
  if (command.all) {
    for (std::size_t i = 0; i < offered.size(); ++i) {
      const bool is_next = i > 0 && offered[i].cause == offered[i - 1].cause;
      if (!is_next) print_about(offered[i]);
      print_hint(offered[i]);
    }
    if (offered.empty()) print(closing(hints, nullptr, chapter.name));
    return kAccepted;
  }
  if (next != nullptr) {
    print_about(*next);
    print_hint(*next);
  }
  print(closing(hints, next, chapter.name));
  return kAccepted;
}

void add_hint_command(Verb& program, Session& session, int& exit_code) {
  auto options = std::make_shared<HintCommand>();
  Verb command = program.add_subcommand("hint", "Give one more hint each time");
  command.add_option("name", options->name, "chapter").required();
  command.add_flag("--all", options->all, "all hints at once");
  command.add_flag("--again", options->again, "begin again with the gentlest");
  command.callback([options, &session, &exit_code] { exit_code = hint(session, *options); });
}

ROOFWALK_VERB(60, add_hint_command);

}  // namespace

}  // namespace roofwalk
