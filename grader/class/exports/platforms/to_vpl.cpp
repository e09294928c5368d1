// What Moodle's VPL reads of an evaluation's output, line by line: "Comment :=>>" before a line of the comment, and
// "Grade :=>>" before the grade, of which the last one counts, also inside of a block of comments. Within a comment, a
// line that begins with "-" is a title, with a reduction of the grade if it ends in a negative number in brackets, and
// one that begins with ">" is shown as it is. Lines end in LF: if a CR stood anywhere, VPL would split at other places.
//
// Every line here begins with one of the two marks, and texts of students stand behind "Comment :=>>>", so that none of
// them can begin a line or a title. Without a grade, VPL proposes none: a fault of the grader is no zero.
#include <fmt/format.h>

#include "grader/class/exports/platforms/platforms.h"

namespace roofwalk {
namespace {

std::string title(const std::string& text) { return "Comment :=>>-" + text + ".\n"; }
std::string quoted(const std::string& text) { return "Comment :=>>> " + text + "\n"; }

}  // namespace

std::string to_vpl(const Sheet& sheet) {
  std::string text = sheet.all_boxed ? "" : quoted("Graded without a sandbox.");
  bool has_points = sheet.most_points() > 0;
  for (const SheetPart& part : sheet.parts) {
    has_points = has_points && part.points.has_value();
    const std::string points =
        part.points ? fmt::format("{} of {} points", points_text(*part.points), points_text(part.most_points))
                    : "no points yet";
    text += title(fmt::format("{}, {}", part.chapter, points));
    text += quoted(part.headline);
    for (const std::string& line : part.lines) text += quoted(line);
    for (const Check& goal : part.goals) text += quoted(fmt::format("{}: {}", state_name(goal.state), goal.words));
    for (const Remark& remark : part.remarks) {
      if (remark.kind == Remark::Kind::hint || remark.kind == Remark::Kind::warning)
        text += quoted(remark.placed_text());
    }
  }
  if (has_points) text += fmt::format("Grade :=>>{}\n", points_text(100 * sheet.points() / sheet.most_points()));
  return text;
}

}  // namespace roofwalk
