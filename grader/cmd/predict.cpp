// roofwalk predict NAME: records the learner's predictions about a chapter, and compares them with measurements.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "common/base/json.h"
#include "common/roofline/si.h"
#include "common/store/stored_attempt.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

struct PredictCommand {
  std::string name, ai, bound, moves;
  bool again = false;

  bool says() const { return !ai.empty() || !bound.empty() || !moves.empty(); }
};

// The true answers to the three questions, as far as runs have shown them.
struct Known {
  std::optional<double> ai;
  std::optional<MeasuredBound> bound;
  std::optional<Direction> moves;
};

Known known_of(Session& session, const Chapter& chapter) {
  Known known;
  const auto history = value_or_fail(session.store().history(chapter.name, session.rig().device_name()));
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

// The predictions that the options on the command line give.
Prediction told(const PredictCommand& command) {
  const auto failure = [](const char* option, std::string_view takes) {
    return Failure{{fmt::format("{} takes {}", option, takes)}, kUsage};
  };
  Prediction said;
  if (!command.ai.empty()) {
    said.ai = ai_from_text(command.ai);
    if (!said.ai) throw failure("--ai", fmt::format("a number above 0, such as {}", kAiExample));
  }
  if (!command.bound.empty()) {
    said.bound = bound_from_text(command.bound);
    if (!said.bound) throw failure("--bound", "memory, compute or latency");
  }
  if (!command.moves.empty()) {
    said.moves = direction_from_text(command.moves);
    if (!said.moves) throw failure("--moves", "right, up or both");
  }
  return said;
}

// The result of with(), which adds the new answers to the old ones. A prediction is useful only if it is made before
// the result is known, so if a run has already shown the result, with() keeps the old answer, unless `again` is set.
struct Kept {
  Prediction prediction;
  bool kept_first = false;  // a new answer was ignored
};

Kept with(const Prediction& before, const Prediction& said, const Known& known, bool again) {
  Kept kept{before, false};
  const auto take = [&](auto& answer, const auto& now, bool is_measured) {
    if (!now || now == answer) return;
    if (answer && is_measured && !again) {
      kept.kept_first = true;
      return;
    }
    answer = now;
    kept.prediction.after_measuring |= is_measured;
  };
  take(kept.prediction.ai, said.ai, known.ai.has_value());
  take(kept.prediction.bound, said.bound, known.bound.has_value());
  take(kept.prediction.moves, said.moves, known.moves.has_value());
  return kept;
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
  row(fmt::format("AI of the starter at {}, {}", level, words_of(chapter.unit).per_byte),
      said.ai ? number_text(*said.ai) : "", known.ai ? number_text(*known.ai) : "");
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
  if (chapter.faulty_starter) {
    throw Failure{{fmt::format("the starter of {} faults, so it has no figures to predict", chapter.name)}, kUsage};
  }
  const Prediction before = session.prediction(chapter).value_or(Prediction{});
  const Known known = known_of(session, chapter);
  const bool is_terminal = !session.options.json && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  const bool is_settled = known.ai && !before.empty() && !command.again;
  const bool asks = !command.says() && is_terminal && !is_settled;
  const Prediction said =
      asks ? ask_prediction(level_title(walk_level(chapter)), chapter.unit, before, std::cin, std::cout)
           : told(command);
  const Kept kept = with(before, said, known, command.again);
  if (asks || command.says()) session.keep_prediction(chapter, kept.prediction);
  if (session.options.json) {
    print_json(json_of(chapter, kept.prediction, known));
    return kAccepted;
  }
  print((asks ? "\n" : "") + table(chapter, kept.prediction, known));
  if (known.ai && !kept.prediction.empty()) {
    print(fmt::format("answered {} the starter was measured{}\n", kept.prediction.after_measuring ? "after" : "before",
                      kept.kept_first ? "; that stays (--again to answer again)" : ""));
  }
  return kAccepted;
}

void add_predict_command(Verb& program, Session& session, int& exit_code) {
  auto options = std::make_shared<PredictCommand>();
  Verb command =
      program.add_subcommand("predict", "Predict a chapter's figures, and compare them with what was measured");
  command.add_option("name", options->name, "chapter").required();
  command.add_option("--ai", options->ai,
                     fmt::format("AI of the starter at the chapter's level, such as {}", kAiExample));
  command.add_option("--bound", options->bound, "what takes the starter's time: memory, compute or latency");
  command.add_option("--moves", options->moves, "where the chapter's idea moves the dot: right, up or both");
  command.add_flag("--again", options->again, "answer again, even if the starter has been measured");
  command.callback([options, &session, &exit_code] { exit_code = predict(session, *options); });
}

ROOFWALK_VERB(50, add_predict_command);

}  // namespace

}  // namespace roofwalk
