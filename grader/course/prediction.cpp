#include "grader/course/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <istream>
#include <ostream>

#include "common/base/json.h"
#include "common/record/run_record.h"
#include "common/roofline/si.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

constexpr std::array<std::string_view, 3> kBounds = {"memory", "compute", "latency"};
constexpr std::array<std::string_view, 3> kDirections = {"right", "up", "both"};
constexpr std::string_view kBlanks = " \t\r";  // removed from both ends of typed text
constexpr double kRightAnswer = 1.1;           // an AI within this factor counts as right
constexpr double kMoved = 1.1;                 // a smaller ratio does not count as a movement
constexpr double kNearRoof = 2;  // if the device reports no time parts: a larger gap to the roof means latency

struct PartWords {
  std::string_view part;
  Bound bound;
  double TimeParts::*ns;
  std::string_view words;  // "... takes 98 % of the time"
};
constexpr PartWords kParts[] = {
    {"dram", Bound::memory, &TimeParts::dram_ns, "moving bytes through DRAM"},
    {"l2", Bound::memory, &TimeParts::l2_ns, "moving bytes through L2"},
    {"l1", Bound::memory, &TimeParts::l1_ns, "answering requests in L1"},
    {"shared", Bound::memory, &TimeParts::shared_ns, "answering requests in shared memory"},
    {"constant", Bound::memory, &TimeParts::constant_ns, "answering requests in the constant cache"},
    {"issue", Bound::compute, &TimeParts::issue_ns, "issuing instructions"},
    {"flops", Bound::compute, &TimeParts::flops_ns, "arithmetic"},
    {"contention", Bound::latency, &TimeParts::contention_ns, "waiting for a turn at one word"},
    {"latency", Bound::latency, &TimeParts::latency_ns, "waiting, with nothing else to do,"},
    {"launch", Bound::latency, &TimeParts::launch_ns, "launching"},
};

template <class Enum>
std::optional<Enum> named(const std::array<std::string_view, 3>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? std::nullopt : std::optional(static_cast<Enum>(found - names.begin()));
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The value for a full name or a prefix of one: "l", "lat", "latency".
template <class Enum>
std::optional<Enum> begun(const std::array<std::string_view, 3>& names, std::string_view typed) {
  const std::string text = lower_case(std::string(trimmed(typed, kBlanks)));
  for (std::size_t i = 0; i < names.size() && !text.empty(); ++i) {
    if (names[i].starts_with(text)) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

std::optional<double> number(std::string_view text) {
  std::string plain(trimmed(text, kBlanks));
  std::replace(plain.begin(), plain.end(), ',', '.');
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc() || end != plain.data() + plain.size() || !std::isfinite(value) || value <= 0) {
    return std::nullopt;
  }
  return value;
}

// Asks until the answer is valid or empty.
template <class Read>
auto ask(const std::string& question, const std::string& again, Read read, std::istream& in, std::ostream& out)
    -> decltype(read(std::string())) {
  out << question;
  while (true) {
    out << " > " << std::flush;
    std::string line;
    if (!std::getline(in, line)) {
      out << "\n";
      return std::nullopt;
    }
    line = std::string(trimmed(line, kBlanks));
    if (line.empty()) return std::nullopt;
    if (auto answer = read(line)) return answer;
    out << "   " << again << ", or Enter to skip";
  }
}

}  // namespace

std::string_view bound_name(Bound bound) { return kBounds[static_cast<std::size_t>(bound)]; }
std::optional<Bound> bound_from_name(std::string_view name) { return named<Bound>(kBounds, name); }
std::string_view direction_name(Direction direction) { return kDirections[static_cast<std::size_t>(direction)]; }
std::optional<Direction> direction_from_name(std::string_view name) { return named<Direction>(kDirections, name); }

std::optional<Bound> bound_from_text(std::string_view text) { return begun<Bound>(kBounds, text); }
std::optional<Direction> direction_from_text(std::string_view text) { return begun<Direction>(kDirections, text); }

std::optional<MeasuredBound> bound_of(const std::vector<KernelRecord>& kernels, const Measurement& measurement,
                                      const Roofs& roofs) {
  MeasuredBound most;
  double most_ns = 0, elapsed_ns = 0;
  for (const KernelRecord& kernel : kernels) elapsed_ns += kernel.elapsed_ns;
  for (const PartWords& part : kParts) {
    double ns = 0;
    for (const KernelRecord& kernel : kernels) ns += kernel.parts.*part.ns;
    if (ns <= most_ns) continue;
    most_ns = ns;
    most = {part.bound, std::string(part.part), 0};
  }
  if (most_ns > 0) {
    most.share = elapsed_ns > 0 ? std::min(1.0, most_ns / elapsed_ns) : 0;
    return most;
  }
  const MemoryRoof* dram = roofs.memory_roof("dram");
  const Quantity& ai = measurement.level("dram").ai;
  if (!measurement.vertical_gap.known() || !ai.known() || dram == nullptr || !roofs.peak()) return std::nullopt;
  if (measurement.vertical_gap.value > kNearRoof) return MeasuredBound{Bound::latency, "", 0};
  const double ridge = ridge_flops_per_byte(dram->bytes_per_s, *roofs.peak());
  return MeasuredBound{ai.value < ridge ? Bound::memory : Bound::compute, "", 0};
}

Json to_json(const Prediction& prediction) {
  if (prediction.empty()) return nullptr;
  Json json;
  json["ai"] = prediction.ai ? Json(*prediction.ai) : Json(nullptr);
  json["bound"] = prediction.bound ? Json(bound_name(*prediction.bound)) : Json(nullptr);
  json["moves"] = prediction.moves ? Json(direction_name(*prediction.moves)) : Json(nullptr);
  json["after_measuring"] = prediction.after_measuring;
  return json;
}

Json to_json(const MeasuredBound& bound) {
  return {{"by", bound_name(bound.bound)},
          {"part", bound.part.empty() ? Json(nullptr) : Json(bound.part)},
          {"share", bound.part.empty() ? Json(nullptr) : Json(bound.share)}};
}

Prediction prediction_from_json(const Json& json) {
  Prediction prediction;
  if (!json.is_object()) return prediction;
  prediction.ai = json.number_of("ai");
  prediction.bound = bound_from_name(json.text_of("bound"));
  prediction.moves = direction_from_name(json.text_of("moves"));
  if (const Json* after = json.member("after_measuring"); after != nullptr && after->is_boolean()) {
    prediction.after_measuring = after->get<bool>();
  }
  return prediction;
}

std::optional<MeasuredBound> bound_from_json(const Json& json) {
  const auto bound = bound_from_name(json.text_of("by"));
  if (!bound) return std::nullopt;
  return MeasuredBound{*bound, json.text_of("part"), json.number_of("share").value_or(0)};
}

std::optional<double> ai_from_text(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return number(text);
  const auto above = number(text.substr(0, slash)), below = number(text.substr(slash + 1));
  return above && below ? std::optional(*above / *below) : std::nullopt;
}

Prediction ask_prediction(const std::string& level, WorkUnit unit, Prediction known, std::istream& in,
                          std::ostream& out) {
  if (const auto ai = ask(
          fmt::format("1  What is its arithmetic intensity ({} for each byte) at {}? [a number]", words_of(unit).many,
                      level),
          fmt::format("a number such as {}", kAiExample), [](const std::string& line) { return ai_from_text(line); },
          in, out)) {
    known.ai = ai;
  }
  if (const auto bound = ask(
          "2  What takes its time? [memory (at any level), compute, latency (waiting)]", "m, c or l",
          [](const std::string& line) { return bound_from_text(line); }, in, out)) {
    known.bound = bound;
  }
  if (const auto moves = ask(
          "3  Where will the chapter's idea move the dot? [right, up, both]", "r, u or b",
          [](const std::string& line) { return direction_from_text(line); }, in, out)) {
    known.moves = moves;
  }
  return known;
}

std::optional<Direction> direction_of(const Movement& movement) {
  const bool right = movement.right >= kMoved, up = movement.up >= kMoved;
  if (right && up) return Direction::both;
  if (right) return Direction::right;
  return up ? std::optional(Direction::up) : std::nullopt;
}

std::string compare_ai(double said, double measured, const std::string& level) {
  const double ratio = said / measured;
  const std::string both =
      fmt::format("you said AI {}, it is {} at {}", number_text(said), number_text(measured), level);
  if (ratio <= kRightAnswer && ratio >= 1 / kRightAnswer) return both + ". You were right!";
  if (ratio > 1) {
    return fmt::format("{}: {} too high. More bytes crossed {} than you counted. Which ones?", both, factor(ratio),
                       level);
  }
  return fmt::format("{}: {} too low. Fewer bytes crossed {} than you counted. Who shares them?", both,
                     factor(1 / ratio), level);
}

std::string compare_bound(Bound said, const MeasuredBound& measured) {
  std::string why;
  for (const PartWords& part : kParts) {
    if (part.part == measured.part)
      why = fmt::format(": {} takes {:.0f} % of the time", part.words, measured.share * 100);
  }
  if (said == measured.bound) return fmt::format("{}, as you said{}.", bound_name(measured.bound), why);
  return fmt::format("you said {}, it is {}{}.", bound_name(said), bound_name(measured.bound), why);
}

std::string compare_moves(Direction said, Direction measured) {
  const auto words = [](Direction direction) {
    return direction == Direction::both ? std::string_view("right and up") : direction_name(direction);
  };
  if (said == measured) return fmt::format("you said the dot would go {}. It did!", words(said));
  return fmt::format("you said the dot would go {}, it went {}. The lesson says why.", words(said), words(measured));
}

}  // namespace roofwalk
