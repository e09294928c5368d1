#include "grader/profile/profile_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "common/roofline/si.h"
#include "grader/profile/figure_columns.h"
#include "grader/profile/sheet.h"

namespace roofwalk {
namespace {

constexpr std::size_t kWidestProse = 100;  // longer lines are hard to read
constexpr int kLastAlways = 2;             // figures up to this rank are shown at every width
constexpr std::size_t kMostSource = 104;   // columns of a long source line for which figures leave room
// From this width on, a comparison that shows the files one above the other shows all figures.
constexpr std::size_t kRoomForMore = 110;
constexpr std::size_t kSideBySide = 160;      // from this width on, two sources fit side by side
constexpr std::string_view kBetween = " | ";  // between two sources

// Removes spaces at line ends, which are invisible.
std::string without_trailing_spaces(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      while (out.ends_with(' ')) out.pop_back();
    }
    out += c;
  }
  return out;
}

using Columns = std::vector<const FigureColumn*>;

// The column of time in a comparison. It is in ns, because shares of two different totals cannot be compared.
constexpr FigureColumn kElapsed{"time", "", 0, elapsed_cell};

const FigureColumn& column_of(std::string_view title) {
  const auto columns = figure_columns();
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.title == title; });
  ROOFWALK_CHECK(found != columns.end());
  return *found;
}

SheetRow row_of(const Profile& profile, const ProfileLine& line, const Columns& columns) {
  SheetRow row{.number = line.number,
               .source = shown_source(line.source),
               .note = line.note,
               .is_diagnosed = line.is_diagnosed,
               .cells = {},
               .does_nothing = !line.figures && !line.is_hot()};
  for (const FigureColumn* column : columns) {
    row.cells.push_back(line.figures ? column->cell(profile, *line.figures) : FigureCell{});
  }
  return row;
}

std::vector<SheetRow> rows_of(const Profile& profile, const Columns& columns) {
  std::vector<SheetRow> rows;
  for (const ProfileLine& line : profile.lines) rows.push_back(row_of(profile, line, columns));
  if (profile.elsewhere) {
    const ProfileLine rest{.source = elsewhere_text(*profile.elsewhere),
                           .figures = std::make_shared<const LineFigures>(*profile.elsewhere),
                           .note = {}};
    rows.push_back(row_of(profile, rest, columns));
  }
  return rows;
}

// A column's width, including the space before it; 0 if all its cells are empty. Sets `has_bad` if a cell of the column
// is bad in a hot line.
std::size_t width_of(const Profile& profile, const FigureColumn& column, bool& has_bad) {
  std::size_t width = 0;
  for (const ProfileLine& line : profile.lines) {
    if (!line.figures) continue;
    const FigureCell cell = column.cell(profile, *line.figures);
    if (!cell.text.empty()) width = std::max({width, shown_columns(cell.text), column.title.size()});
    has_bad = has_bad || (cell.is_bad && line.is_hot());
  }
  return width == 0 ? 0 : width + 1;
}

// Whether the column has the same text in every line, and so gives no information. False for time, waits and sectors,
// which are always shown.
bool is_constant(const Profile& profile, const FigureColumn& column) {
  if (column.rank <= kLastAlways) return false;
  std::optional<std::string> first;
  int cells = 0;
  for (const ProfileLine& line : profile.lines) {
    const std::string text = line.figures ? column.cell(profile, *line.figures).text : "";
    if (text.empty()) continue;
    if (first && *first != text) return false;
    first = text;
    ++cells;
  }
  return cells > 1;
}

// Chooses the most informative columns, as many as leave room for the source. The figure of the first diagnosis is
// always among them, and so are figures that are bad in a hot line, such as bank conflicts in `ways`. The figure of the
// second diagnosis is preferred to others.
Columns chosen(const Profile& profile, std::size_t columns) {
  struct Candidate {
    const FigureColumn* column;
    std::size_t width;
    int rank;
  };
  std::vector<Candidate> candidates;
  for (const FigureColumn& column : figure_columns()) {
    bool has_bad = false;
    const std::size_t width = width_of(profile, column, has_bad);
    const bool is_proof = column.title == profile.figure_of_diagnosis(0);
    const bool is_next = column.title == profile.figure_of_diagnosis(1);
    const int rank = has_bad || is_proof ? std::min(column.rank, kLastAlways)
                     : is_next           ? std::min(column.rank, kLastAlways + 1)
                                         : column.rank;
    if (rank == column.rank && is_constant(profile, column)) continue;
    if (width > 0) candidates.push_back({&column, width, rank});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.rank < b.rank; });
  std::size_t longest = Sheet::kLeastSource;
  for (const ProfileLine& line : profile.lines) {
    if (line.figures) longest = std::max(longest, shown_columns(shown_source(line.source)));
  }
  std::size_t used = Sheet::kMark + Sheet::kFewestDigits + 2 + std::min(longest, kMostSource);
  Columns taken;
  for (const Candidate& candidate : candidates) {
    if (candidate.rank > kLastAlways && used + candidate.width > columns) continue;
    used += candidate.width;
    taken.push_back(candidate.column);
  }
  std::sort(taken.begin(), taken.end());  // pointers into one array: display order
  return taken;
}

SheetTitles titles_of(const Columns& columns) {
  SheetTitles titles;
  for (const FigureColumn* column : columns) titles.columns.emplace_back(column->title);
  return titles;
}

// Puts the file on a line of its own if it does not fit.
std::string title_line(const Profile& profile, std::size_t columns, const Colors& colors) {
  const Attempt& attempt = profile.attempt;
  const std::string what =
      fmt::format("{} on {}, {}:", colors.strong(attempt.chapter), attempt.device, attempt.size.text());
  const std::string file = printable(attempt.file);
  const bool fits = shown_columns(what) + 1 + shown_columns(file) <= columns;
  return what + (fits ? " " : "\n  ") + file + "\n";
}

// The meanings of the marks that occur in this profile.
std::vector<std::string> meanings_of_marks(const Profile& profile) {
  const auto some_line = [&](auto has) { return std::any_of(profile.lines.begin(), profile.lines.end(), has); };
  std::vector<std::string> meanings;
  if (some_line([](const ProfileLine& line) { return line.is_hot() && line.is_diagnosed; })) {
    meanings.emplace_back("!: what to look at");
  }
  if (some_line([](const ProfileLine& line) { return line.is_hot() && !line.is_diagnosed; })) {
    meanings.emplace_back(meanings.empty() ? ">: where the time goes" : ">: where else the time goes");
  }
  return meanings;
}

std::string legend_text(const std::vector<std::string>& meanings, std::size_t width, const Colors& colors) {
  if (meanings.empty()) return "";
  const std::string text = fmt::format("{}.", fmt::join(meanings, ". "));
  std::string out;
  for (const std::string& line : wrapped(text, std::min(width, kWidestProse))) out += colors.faint(line) + "\n";
  return out;
}

std::string legend(const Profile& profile, const Columns& columns, std::size_t width, const Colors& colors) {
  std::vector<std::string> meanings = meanings_of_marks(profile);
  for (const FigureColumn* column : columns) {
    if (std::string meaning = meaning_of(*column, profile); !meaning.empty()) meanings.push_back(std::move(meaning));
  }
  return legend_text(meanings, width, colors);
}

std::string said(const std::vector<std::string>& says, std::size_t columns) {
  std::string text;
  for (const std::string& sentence : says) text += (text.empty() ? "" : " ") + sentence;
  std::string out;
  for (const std::string& line : wrapped(printable(text), std::min(columns, kWidestProse))) out += line + "\n";
  return out;
}

// The figures in a comparison: those of the diagnoses, or sectors if the diagnoses have none.
Columns compared_figures(const Profile& was, const Profile& now) {
  Columns figures;
  for (const FigureColumn& column : figure_columns()) {
    if (column.title == was.figure_of_diagnosis(0) || column.title == now.figure_of_diagnosis(0)) {
      figures.push_back(&column);
    }
  }
  if (figures.empty()) figures.push_back(&column_of("sectors"));
  return figures;
}

// The figures for sources that are shown one above the other. If there is little room, only one figure: the one that
// the old file's first diagnosis is about, if it has one.
Columns figures_one_above_the_other(const Profile& was, const Profile& now, std::size_t columns) {
  const Columns figures = compared_figures(was, now);
  if (columns >= kRoomForMore) return figures;
  const auto first = std::find_if(figures.begin(), figures.end(), [&](const FigureColumn* column) {
    return column->title == was.figure_of_diagnosis(0);
  });
  return {first != figures.end() ? *first : figures.front()};
}

// Marks a row of the old file, and its note, as past.
void make_past(SheetRow& row) {
  row.is_past = true;
  if (!row.note.empty()) row.note = "was: " + row.note;
}

// Two cells per figure: before and after.
SheetRow compared_row(const Profile& was, const Profile& now, const LinePair& pair, const Columns& figures) {
  const auto line_in = [](const Profile& profile, int number) {
    return number > 0 ? &profile.lines[static_cast<std::size_t>(number) - 1] : nullptr;
  };
  const ProfileLine* before = line_in(was, pair.was);
  const ProfileLine* after = line_in(now, pair.now);
  const ProfileLine& shown = after != nullptr ? *after : *before;
  const char* only_in_one = before == nullptr ? "+" : "-";
  SheetRow row{.sign = before != nullptr && after != nullptr ? " " : only_in_one,
               .number = shown.number,
               .source = shown_source(shown.source),
               .note = shown.note,
               .is_diagnosed = shown.is_diagnosed,
               .cells = {},
               .does_nothing = before != nullptr && after != nullptr && !before->figures && !after->figures};
  if (after == nullptr) make_past(row);
  for (const FigureColumn* column : figures) {
    for (const auto& [profile, line] : {std::pair{&was, before}, std::pair{&now, after}}) {
      row.cells.push_back(line != nullptr && line->figures ? column->cell(*profile, *line->figures) : FigureCell{});
    }
  }
  return row;
}

std::vector<SheetRow> compared_rows(const Profile& was, const Profile& now, const std::vector<LinePair>& pairs,
                                    const Columns& figures) {
  std::vector<SheetRow> rows;
  for (const LinePair& pair : pairs) rows.push_back(compared_row(was, now, pair, figures));
  return rows;
}

std::string stacked(const Profile& was, const Profile& now, std::size_t columns, const Colors& colors) {
  Columns figures = figures_one_above_the_other(was, now, columns);
  figures.insert(figures.begin(), &kElapsed);
  const std::vector<SheetRow> rows = compared_rows(was, now, matched(was, now), figures);
  SheetTitles titles;
  for (const FigureColumn* column : figures) {
    titles.columns.insert(titles.columns.end(), {"was", "now"});
    titles.groups.insert(titles.groups.end(), {std::string(column->title), ""});
  }
  const Sheet sheet(std::move(titles), rows, columns, /*has_signs=*/true, colors);
  return sheet_text(sheet, rows);
}

// The columns for two sources side by side: the time, the figures of the diagnoses, waits and sectors (each unless it
// is empty for both files), and the ways of bank conflicts if they are bad in a hot line.
Columns columns_side_by_side(const Profile& was, const Profile& now) {
  Columns shown{&kElapsed};
  const Columns figures = compared_figures(was, now);
  for (const FigureColumn& column : figure_columns()) {
    const bool is_compared = std::find(figures.begin(), figures.end(), &column) != figures.end();
    if (is_compared) {
      shown.push_back(&column);
      continue;
    }
    if (column.title != "wait" && column.title != "sectors" && column.title != "ways") continue;
    bool has_bad = false;
    const bool tells = width_of(was, column, has_bad) + width_of(now, column, has_bad) > 0;
    if (tells && (has_bad || column.title != "ways")) shown.push_back(&column);
  }
  return shown;
}

std::string side_by_side(const Profile& was, const Profile& now, std::size_t columns, const Colors& colors) {
  const std::size_t half = (columns - kBetween.size()) / 2;
  const std::string between = colors.faint(kBetween);
  const Columns shown = columns_side_by_side(was, now);
  std::vector<SheetRow> left, right;
  for (const ProfileLine& line : was.lines) {
    left.push_back(row_of(was, line, shown));
    make_past(left.back());
  }
  for (const ProfileLine& line : now.lines) right.push_back(row_of(now, line, shown));
  const Sheet left_sheet(titles_of(shown), left, half, /*has_signs=*/false, colors);
  const Sheet right_sheet(titles_of(shown), right, half, /*has_signs=*/false, colors);
  const auto both = [&](const std::vector<std::string>& before, const std::vector<std::string>& after) {
    std::string text;
    for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
      text += padded(i < before.size() ? before[i] : "", half) + between + (i < after.size() ? after[i] : "") + "\n";
    }
    return text;
  };
  const auto lines_of = [](const Sheet& sheet, const std::vector<SheetRow>& rows, int number) {
    return number > 0 ? sheet.lines(rows[static_cast<std::size_t>(number) - 1]) : std::vector<std::string>{};
  };
  const std::vector<LinePair> pairs = matched(was, now);
  const std::vector<SheetRow> rows = compared_rows(was, now, pairs, {&kElapsed});
  std::string text = both(left_sheet.head(), right_sheet.head());
  const auto parts = folded_rows(rows);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (p > 0) text += both({left_sheet.gap()}, {right_sheet.gap()});
    for (const SheetRow* row : parts[p]) {
      const LinePair& pair = pairs[static_cast<std::size_t>(row - rows.data())];
      text += both(lines_of(left_sheet, left, pair.was), lines_of(right_sheet, right, pair.now));
    }
  }
  return text;
}

// The marks in the legend are those of the new file.
std::string legend_of_both(const Profile& was, const Profile& now, std::size_t columns, const Colors& colors) {
  const bool is_stacked = columns < kSideBySide;
  std::vector<std::string> meanings = meanings_of_marks(now);
  meanings.emplace_back(is_stacked ? "-: lines that are gone. +: lines that are new" : "left: was. right: now");
  meanings.emplace_back("time: of the run; a wait counts at the line that is waited for");
  for (const FigureColumn* column :
       is_stacked ? figures_one_above_the_other(was, now, columns) : columns_side_by_side(was, now)) {
    if (!column->meaning.empty()) meanings.push_back(meaning_of(*column, now));
  }
  return legend_text(meanings, columns, colors);
}

// "  was  my/a.cu: 17.5 ms ..."; the totals are on a line of their own if one line is too short for both.
std::string attempt_line(const std::string& name, const Profile& profile, std::size_t columns) {
  constexpr std::size_t kIndent = 7;
  const std::string totals = totals_text(profile);
  if (shown_columns(name) + 2 + totals.size() <= columns) return name + ": " + totals + "\n";
  std::string text = name + ":\n";
  for (const std::string& line : wrapped(totals, columns - kIndent)) text += std::string(kIndent, ' ') + line + "\n";
  return text;
}

}  // namespace

std::string profile_text(const Profile& profile, std::size_t columns, const Colors& colors) {
  const Columns shown = chosen(profile, columns);
  const std::vector<SheetRow> rows = rows_of(profile, shown);
  const Sheet sheet(titles_of(shown), rows, columns, /*has_signs=*/false, colors);
  return without_trailing_spaces(title_line(profile, columns, colors) + totals_text(profile) + "\n\n" +
                                 sheet_text(sheet, rows) + "\n" + said(profile.says, columns) + "\n" +
                                 legend(profile, shown, columns, colors));
}

std::string comparison_text(const Profile& was, const Profile& now, std::size_t columns, const Colors& colors) {
  const Attempt& attempt = now.attempt;
  const std::string before = "  was  " + printable(was.attempt.file), after = "  now  " + printable(attempt.file);
  const std::string faster = ", " + colors.strong(speed_up(was, now));
  return without_trailing_spaces(
      fmt::format("{} on {}, {}\n", colors.strong(attempt.chapter), attempt.device, attempt.size.text()) +
      attempt_line(before, was, columns) + attempt_line(after + faster, now, columns) + "\n" +
      (columns < kSideBySide ? stacked(was, now, columns, colors) : side_by_side(was, now, columns, colors)) + "\n" +
      said(changes(was, now), columns) + "\n" + said(now.says, columns) + "\n" +
      legend_of_both(was, now, columns, colors));
}

}  // namespace roofwalk
