#include "book/truth/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "book/truth/drawings.h"
#include "book/truth/pictures.h"
#include "common/base/json.h"
#include "common/plot/dark.h"
#include "grader/author/figures.h"

namespace roofwalk::book {
namespace {

std::string first_difference(const std::vector<std::string>& shown, const std::vector<std::string>& real) {
  for (std::size_t i = 0; i < std::max(shown.size(), real.size()); ++i) {
    const std::string a = i < shown.size() ? "`" + shown[i] + "`" : "no more lines";
    const std::string b = i < real.size() ? "`" + real[i] + "`" : "no more lines";
    if (a != b) return fmt::format("line {}: the page has {}, in truth it is {}", i + 1, a, b);
  }
  return {};
}

Result<AttemptJsons> records_of(const Page& page, const Outputs& outputs) {
  AttemptJsons records;
  for (const Mark& mark : page.marks) {
    if (mark.kind != MarkKind::let) continue;
    if (records.contains(mark.name)) return Error{fmt::format("{} is named twice", mark.name), "", mark.line};
    Json json = parse_json(outputs.at(mark.line).text);
    if (json.is_discarded()) return Error{fmt::format("{} prints no JSON", mark.subject), "", mark.line};
    records[mark.name] = std::move(json);
  }
  return records;
}

// Checks the figures in the prose. Uses page.prose, where marks and code blocks are blank, because parse_figures does
// not understand those.
Status check_figures_of(const Page& page, const AttemptJsons& records, std::vector<std::string>& lines,
                        std::vector<Difference>& differences) {
  for (const Result<Figure>& figure : parse_figures(page.prose)) {
    if (!figure) return figure.error();
    const auto real = true_figure(*figure, records);
    if (!real) return Error{real.error().message, "", figure->line};
    if (*real == figure->shown) continue;
    differences.push_back({figure->line, fmt::format("{}: in truth it is {}", figure->text(), *real)});
    // The line may show the same number several times; this corrects the one right before the figure's comment.
    const std::string comment =
        fmt::format("<!-- {}{}{} {} -->", figure->kernel, figure->over.empty() ? "" : "/", figure->over, figure->key);
    for (int i = figure->line; i >= std::max(figure->line - 1, 1); --i) {  // the figure may end the line above
      std::string& line = lines[static_cast<std::size_t>(i) - 1];
      const std::size_t stop = i == figure->line ? line.find(comment) : line.size();
      const std::size_t place = stop == std::string::npos ? stop : line.rfind(figure->shown, stop);
      if (place == std::string::npos) continue;
      line.replace(place, figure->shown.size(), *real);
      break;
    }
  }
  return kOk;
}

// Checks that the light and the dark picture of `mark` are what would be drawn now.
Status check_picture(const std::filesystem::path& folder, const Mark& mark, const Outputs& outputs,
                     const AttemptJsons& records, Checked& checked) {
  const std::string shown = text_of(folder / mark.image), dark = dark_name(mark.image);
  std::string real = shown, why;
  if (mark.kind == MarkKind::draw) {
    std::istringstream in(mark.subject);
    const auto picture = drawing({std::istream_iterator<std::string>(in), {}}, records);
    if (!picture) return Error{picture.error().message, "", mark.line};
    real = *picture;
    why = shown == real ? "" : "another one would be drawn now";
  } else {
    const Output& output = outputs.at(mark.line);
    why = broken_seal(shown, output.script);
    if (!why.empty()) real = sealed(output.text, output.script);
  }
  if (!why.empty()) {
    checked.differences.push_back({mark.line, fmt::format("{}: {}", mark.image, why)});
    checked.pictures[mark.image] = real;
  }
  if (const std::string turned = dark_of(unsealed(real)); text_of(folder / dark) != turned) {
    if (why.empty()) checked.differences.push_back({mark.line, fmt::format("{} is not the dark one of it", dark)});
    checked.pictures[dark] = turned;
  }
  return kOk;
}

}  // namespace

std::string dark_name(const std::string& image) { return image.substr(0, image.rfind('.')) + "-dark.svg"; }

Result<Checked> check_page(const std::filesystem::path& folder, const std::string& text, const Page& page,
                           const Outputs& outputs) {
  Checked checked;
  std::vector<std::string> lines = page.lines;
  ROOFWALK_TRY(const AttemptJsons records, records_of(page, outputs));
  ROOFWALK_TRY_STATUS(check_figures_of(page, records, lines, checked.differences));
  for (const Mark& mark : page.marks) {
    if (mark.kind == MarkKind::holds && outputs.at(mark.line).text.find(mark.text) == std::string::npos) {
      const std::string what = fmt::format("{} no longer holds `{}`: see what the page says of it, and change both",
                                           mark.subject, mark.text);
      checked.differences.push_back({.line = mark.line, .what = what, .is_for_people = true});
    }
    if (mark.image.empty()) continue;
    ROOFWALK_TRY_STATUS(check_picture(folder, mark, outputs, records, checked));
  }
  // Goes backwards, so that replacing a block does not move the blocks that are still to be checked.
  for (auto mark = page.marks.rbegin(); mark != page.marks.rend(); ++mark) {
    if (mark->end == 0) continue;
    ROOFWALK_TRY(const auto real, true_block(*mark, outputs.at(mark->line).text));
    const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(mark->begin);
    const auto end = lines.begin() + static_cast<std::ptrdiff_t>(mark->end);
    const std::vector<std::string> shown(begin, end);
    if (shown == real) continue;
    checked.differences.push_back({mark->line, fmt::format("the block of `{}` is another one now; {}", mark->subject,
                                                           first_difference(shown, real))});
    lines.insert(lines.erase(begin, end), real.begin(), real.end());
  }
  std::sort(checked.differences.begin(), checked.differences.end(),
            [](const Difference& a, const Difference& b) { return a.line < b.line; });
  checked.text = checked.differences.empty() ? text : joined(lines);
  return checked;
}

}  // namespace roofwalk::book
