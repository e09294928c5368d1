// The form of /grade/results/results.json: `score`, a number from 0 to 1; `gradable`, which is false if the student
// loses no attempt; `format_errors`, which are shown then; `message` and `output`, texts whose ANSI colours are
// rendered; `images` of {label, url}; `tests` of {name, description, points, max_points, message, output, images}.
// The file has at most 1 MB. PrairieLearn shows the sum of the tests' points beside the score, so only the tests that
// give points have any; a test of 0 of 0 points is shown without a colour. If one test lacks points, no points are
// shown at all.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grader/class/exports/platforms/platforms.h"

namespace roofwalk {
namespace {

// Leaves room for all but the pictures. The file's limit is 1 MB.
constexpr std::size_t kMostPictureBytes = 700'000;

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

Json learn_test(const std::string& name, double points, double most, const std::string& message) {
  return {{"name", name}, {"points", points}, {"max_points", most}, {"message", message}};
}

std::string said_of(const SheetPart& part) {
  std::string text = part.headline;
  for (const std::string& line : part.lines) text += "\n" + line;
  for (const Remark& remark : part.remarks) {
    if (remark.kind == Remark::Kind::hint || remark.kind == Remark::Kind::warning) text += "\n" + remark.placed_text();
  }
  return text;
}

// Whether the hand-in costs an attempt: something of it was compiled and run.
bool was_run(const SheetPart& part) { return part.state == Cell::State::graded && part.verdict != "compile_error"; }

}  // namespace

Json to_prairielearn(const Sheet& sheet) {
  Json tests = Json::array(), errors = Json::array(), images = Json::array();
  std::size_t picture_bytes = 0;
  bool is_gradable = false, lacks_points = false, leaves_out = false;
  for (const SheetPart& part : sheet.parts) {
    is_gradable = is_gradable || was_run(part);
    lacks_points = lacks_points || part.state == Cell::State::not_graded;
    if (!was_run(part)) errors.push_back(part.chapter + ": " + said_of(part));
    tests.push_back(learn_test(part.chapter, part.points.value_or(0), part.most_points, said_of(part)));
    for (const auto* checks : {&part.checks, &part.goals}) {
      for (const Check& check : *checks) {
        tests.push_back(learn_test(fmt::format("{}: {}, {}", part.chapter, check.name, state_name(check.state)), 0, 0,
                                   check.words));
      }
    }
    if (part.plot.empty()) continue;
    const std::string url = "data:image/svg+xml;base64," + base64(part.plot);
    if (picture_bytes + url.size() > kMostPictureBytes) {
      leaves_out = true;
      continue;
    }
    picture_bytes += url.size();
    images.push_back({{"label", part.chapter + " under its roofs"}, {"url", url}});
  }
  // A fault of the grader must cost neither points nor an attempt.
  is_gradable = is_gradable && !lacks_points;
  const double most = sheet.most_points();
  const double score = most > 0 && is_gradable ? std::clamp(sheet.points() / most, 0.0, 1.0) : 0;
  Json json{{"gradable", is_gradable}, {"score", std::round(score * 1e4) / 1e4}};
  if (!is_gradable) json["format_errors"] = std::move(errors);
  std::string message = sheet.all_boxed ? "" : "Graded without a sandbox.";
  if (leaves_out) message += "\nSome pictures are left out: together they are too large for PrairieLearn.";
  if (!message.empty()) json["message"] = message;
  if (!images.empty()) json["images"] = std::move(images);
  json["tests"] = std::move(tests);
  return json;
}

}  // namespace roofwalk
