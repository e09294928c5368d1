// roofwalk predict NAME: what you expect of a chapter, beside what was measured.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "common/roofline/si.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

struct PredictCommand {
  std::string name, ai, bound, moves;
};

// What runs have told so far about the same three questions.
struct Known {
  std::optional<double> ai;
  std::optional<MeasuredBound> bound;
  std::optional<Direction> moves;
};

Known known_of(Session& session, const Chapter& chapter) {
  Known known;
  const auto history = value_or_fail(session.store().history(chapter.name, session.bench().device_name()));
  for (const StoredAttempt& stored : history) {
    const Json& attempt = stored.attempt;
    const auto point = stored_point(attempt, walk_level(chapter));
    if (!point) continue;
    if (stored.is_starter) {
      known.ai = point->ai;
      known.bound = bound_from_json(attempt.value("bound", Json()));
    } else if (const Json moved = attempt.value("moved", Json()); !known.moves && moved.is_object()) {
      known.moves = direction_of({moved.value("right", 1.0), moved.value("up", 1.0)});
    }
  }
  return known;
}

// The prediction with what the command line says in place of what was said before.
Prediction told(const PredictCommand& command, Prediction prediction) {
  if (!command.ai.empty()) {
    prediction.ai = ai_from_text(command.ai);
    if (!prediction.ai) throw Failure{{"--ai takes a number above 0, such as 0.25 or 1/12"}, kUsage};
  }
  if (!command.bound.empty()) prediction.bound = bound_from_name(command.bound);
  if (!command.moves.empty()) prediction.moves = direction_from_name(command.moves);
  return prediction;
}

Json json_of(const Chapter& chapter, const Prediction& said, const Known& known) {
  return {{"schema", "roofwalk.prediction/1"},
          {"chapter", chapter.name},
          {"level", walk_level(chapter)},
          {"prediction", to_json(said)},
          {"measured",
           {{"ai", known.ai ? Json(*known.ai) : Json(nullptr)},
            {"bound", known.bound ? Json(bound_name(known.bound->bound)) : Json(nullptr)},
            {"moves", known.moves ? Json(direction_name(*known.moves)) : Json(nullptr)}}}};
}

std::string table(const Chapter& chapter, const Prediction& said, const Known& known) {
  const std::string level = level_title(walk_level(chapter));
  std::string text = fmt::format("{:<38} {:<12} {}\n", chapter.name, "you said", "measured");
  const auto row = [&](const std::string& what, const std::string& mine, const std::string& theirs) {
    text += fmt::format("  {:<36} {:<12} {}\n", what, mine.empty() ? "-" : mine, theirs.empty() ? "not yet" : theirs);
  };
  row(fmt::format("AI of the starter at {}, FLOP/B", level), said.ai ? number_text(*said.ai) : "",
      known.ai ? number_text(*known.ai) : "");
  row("what takes the starter's time", said.bound ? std::string(bound_name(*said.bound)) : "",
      known.bound ? std::string(bound_name(known.bound->bound)) : "");
  row("where the idea moves the dot", said.moves ? std::string(direction_name(*said.moves)) : "",
      known.moves ? std::string(direction_name(*known.moves)) : "");
  std::vector<std::string> words;
  if (said.ai && known.ai) words.push_back(compare_ai(*said.ai, *known.ai, level));
  if (said.bound && known.bound) words.push_back(compare_bound(*said.bound, *known.bound));
  if (said.moves && known.moves) words.push_back(compare_moves(*said.moves, *known.moves));
  for (const std::string& sentence : words) {
    for (const std::string& line : wrapped(sentence, 80)) text += line + "\n";
  }
  if (!known.ai)
    text += fmt::format("the starter is measured by `./roofwalk run {}` before you change it\n", chapter.name);
  return text;
}

int predict(Session& session, const PredictCommand& command) {
  const Chapter& chapter = session.chapter(command.name);
  const Prediction before = session.prediction(chapter).value_or(Prediction{});
  Prediction said = told(command, before);
  const bool says = !command.ai.empty() || !command.bound.empty() || !command.moves.empty();
  const bool asks = !says && !session.options.json && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  if (asks) said = ask_prediction(level_title(walk_level(chapter)), said, std::cin, std::cout);
  if (says || asks) session.keep_prediction(chapter, said);
  const Known known = known_of(session, chapter);
  if (session.options.json) {
    print_json(json_of(chapter, said, known));
  } else {
    print((asks ? "\n" : "") + table(chapter, said, known));
  }
  return kAccepted;
}

}  // namespace

void add_predict_command(CLI::App& app, Session& session, int& exit_code) {
  auto options = std::make_shared<PredictCommand>();
  auto* command =
      app.add_subcommand("predict", "Say what you expect of a chapter, and see it beside what was measured");
  command->add_option("name", options->name, "chapter")->required();
  command->add_option("--ai", options->ai, "AI of the starter at the chapter's level, such as 0.25 or 1/12");
  command->add_option("--bound", options->bound, "what takes the starter's time")
      ->check(CLI::IsMember({"memory", "compute", "latency"}));
  command->add_option("--moves", options->moves, "where the chapter's idea moves the dot")
      ->check(CLI::IsMember({"right", "up", "both"}));
  command->callback([options, &session, &exit_code] { exit_code = predict(session, *options); });
}

}  // namespace roofwalk
