#include "grader/profile/profile_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "common/base/json.h"
#include "common/roofline/si.h"
#include "grader/profile/figure_columns.h"
#include "grader/text/markup.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

// Every pair of text and background colours below has a contrast of 4.5 or more in both colour schemes (WCAG 2.1,
// 1.4.3). On a phone, each line becomes a block: its code, then its figures with their names.
constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ground: #ffffff; --ink: #1c2024; --quiet: #59636e; --rule: #d9dee3;
  --first: #ffd9b0; --foremost: #7a2a00; --hot: #fff8ef; --note: #6b4a1f; --bar: #f2b27a; --bad: #b02a1a;
  --new: #e6f6ec; --gone: #fdeceb; --link: #0b57a4; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14171a; --ink: #e7eaed; --quiet: #a4aeb8; --rule: #343b42;
    --first: #5a3410; --foremost: #ffd2ad; --hot: #241d16; --note: #dcb98f; --bar: #8a5420; --bad: #ff9d90;
    --new: #14301f; --gone: #3b1d1b; --link: #8fc1ff; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 110rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .25rem; }
p { margin: .25rem 0; max-width: 48rem; }
.quiet { color: var(--quiet); }
.source, .number { font: .875rem/1.5 ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; margin-top: 1rem; }
caption { text-align: left; color: var(--quiet); padding-bottom: .5rem; }
th, td { padding: .1rem .45rem; text-align: right; vertical-align: top; white-space: nowrap; font-size: .875rem; }
thead th { position: sticky; top: 0; background: var(--ground); border-bottom: 2px solid var(--rule);
  color: var(--quiet); font-weight: 600; }
th.number { color: var(--quiet); font-weight: 400; }
td.source, thead th.source { text-align: left; white-space: pre-wrap; overflow-wrap: anywhere; min-width: 26rem; }
td.figure[data-name=time] { min-width: 4rem; }
td { font-variant-numeric: tabular-nums; }
td.figure { white-space: normal; }
tr.hot > * { background: var(--hot); }
tr.hot > .number { color: var(--note); font-weight: 700; box-shadow: inset .125rem 0 var(--note); }
tr.first > * { background: var(--first); }
tr.first > .number { color: var(--foremost); font-weight: 700; box-shadow: inset .5rem 0 var(--foremost); }
tr.first .note { color: var(--foremost); font-weight: 700; }
tr:target > .source { outline: 2px solid var(--link); outline-offset: -2px; }
a { color: var(--link); }
tr.new > * { background: var(--new); }
tr.gone > * { background: var(--gone); }
tr.idle > .source { color: var(--quiet); }
.note { display: block; font: 500 .875rem/1.5 system-ui, sans-serif; color: var(--note); }
.bad { color: var(--bad); font-weight: 600; }
.bar { display: block; height: .25rem; background: var(--bar); margin-left: auto; }
.apart { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (max-width: 80rem) {
  body { padding: 1rem; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, caption { display: block; }
  tr { display: flex; flex-wrap: wrap; column-gap: .75rem; position: relative; padding-left: 3.25rem; min-height: 1.5rem;
    border-bottom: 1px solid var(--rule); }
  tr.hot { background: var(--hot); }
  tr.first { background: var(--first); }
  tr.new { background: var(--new); }
  tr.gone { background: var(--gone); }
  tr.idle { border-bottom: 0; }
  th, td { padding: .1rem 0; }
  td.source { flex: 1 0 100%; min-width: 0; max-width: 100%; }
  th.number { position: absolute; left: 0; top: 0; bottom: 0; width: 2.75rem; padding-right: .25rem; }
  td.figure:empty, .bar { display: none; }
  td.figure::before { content: attr(data-name) " "; color: var(--quiet); font-weight: 400; }
}
)";

std::string page(const std::string& title, const std::string& body) {
  return valid_utf8(
      fmt::format("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
                  escaped(title), kStyle, body));
}

std::string heading(const Profile& profile, const std::string& facts) {
  const Attempt& attempt = profile.attempt;
  return fmt::format("<h1>{}, line by line</h1>\n<p class=\"quiet\">{} on {}, {}</p>\n{}", escaped(attempt.chapter),
                     escaped(attempt.file), escaped(attempt.device), escaped(attempt.size.text()), facts);
}

// Makes "line 17" a link to its row if the file has that line.
std::string linked(const std::string& sentence, std::size_t lines) {
  constexpr std::string_view kLine = "line ";
  std::string html;
  std::size_t done = 0;
  for (std::size_t at = sentence.find(kLine); at != std::string::npos; at = sentence.find(kLine, at + 1)) {
    const std::size_t first = at + kLine.size();
    const std::size_t end = std::min(sentence.find_first_not_of("0123456789", first), sentence.size());
    constexpr std::size_t kMostDigits = 9;
    if (end == first || end - first > kMostDigits) continue;
    const std::string number = sentence.substr(first, end - first);
    if (std::stoul(number) == 0 || std::stoul(number) > lines) continue;
    html += fmt::format("{}<a href=\"#line-{}\">{}</a>", escaped(std::string_view(sentence).substr(done, at - done)),
                        number, escaped(std::string_view(sentence).substr(at, end - at)));
    done = end;
  }
  return html + escaped(std::string_view(sentence).substr(done));
}

std::string paragraphs(const std::vector<std::string>& sentences, const Profile& profile) {
  std::string html;
  for (const std::string& sentence : sentences) {
    html += fmt::format("<p>{}</p>\n", linked(sentence, profile.lines.size()));
  }
  return html;
}

std::string says(const Profile& profile) {
  return "<section>\n<h2>What the hot lines say</h2>\n" + paragraphs(profile.says, profile) + "</section>\n";
}

struct PageRow {
  std::string kind;  // "hot first", "hot", "new", "gone", "idle"; empty: none of them
  int number = 0;    // 0: not a line of the file
  std::string source, note;
  std::vector<FigureCell> cells;  // one per figure_columns()
  double time_share = 0;          // drawn as a bar
};

// The sign of a row's kind, with a label for screen readers, so that kinds are not shown by colour alone.
std::string spoken(const std::string& kind) {
  if (kind == "new") return "<span role=\"img\" aria-label=\"new\">+</span> ";
  if (kind == "gone") return "<span role=\"img\" aria-label=\"gone\">\u2212</span> ";
  if (kind == "hot first") return "<span role=\"img\" aria-label=\"look here first\">!</span> ";
  return kind == "hot" ? "<span role=\"img\" aria-label=\"hot\">&gt;</span> " : "";
}

std::string html_of(const PageRow& row, const std::vector<std::size_t>& shown) {
  // Code without figures takes the whole width of the table.
  const bool is_bare =
      std::all_of(shown.begin(), shown.end(), [&](std::size_t c) { return row.cells[c].text.empty(); });
  std::string html = fmt::format(
      "<tr role=\"row\" class=\"{}\"{}><th role=\"rowheader\" scope=\"row\" class=\"number\">{}{}</th>"
      "<td role=\"cell\" class=\"source\"{}>{}{}</td>",
      row.kind, row.number > 0 && row.kind != "gone" ? fmt::format(" id=\"line-{}\"", row.number) : "",
      spoken(row.kind), row.number > 0 ? fmt::format("{}", row.number) : "",
      is_bare ? fmt::format(" colspan=\"{}\"", shown.size() + 1) : "", escaped(row.source),
      row.note.empty() ? ""
                       : fmt::format("<span class=\"note\">{}{}</span>",
                                     row.kind == "hot first" ? "look here first: " : "", escaped(row.note)));
  for (const std::size_t c : shown) {
    if (is_bare) break;
    const FigureCell& cell = row.cells[c];
    const bool has_bar = c == 0 && row.time_share >= kShownShare;
    html += fmt::format(
        "<td role=\"cell\" class=\"figure{}\" data-name=\"{}\">{}{}</td>", cell.is_bad ? " bad" : "",
        figure_columns()[c].title, escaped(cell.text),
        has_bar ? fmt::format("<span class=\"bar\" style=\"width:{:.0f}%\"></span>", 100 * row.time_share) : "");
  }
  return html + "</tr>\n";
}

// Leaves out columns that are empty in all rows. Sets the ARIA roles of the table explicitly, because browsers drop the
// usual ones if a table is laid out as blocks.
std::string table(const std::string& caption, const std::vector<PageRow>& rows) {
  std::vector<std::size_t> shown;
  for (std::size_t c = 0; c < figure_columns().size(); ++c) {
    const auto tells = [c](const PageRow& row) { return !row.cells[c].text.empty(); };
    if (std::any_of(rows.begin(), rows.end(), tells)) shown.push_back(c);
  }
  std::string html = fmt::format(
      "<table role=\"table\">\n<caption>{}</caption>\n<thead role=\"rowgroup\"><tr role=\"row\">"
      "<th role=\"columnheader\" scope=\"col\" class=\"number\">line</th>"
      "<th role=\"columnheader\" scope=\"col\" class=\"source\">source</th>",
      escaped(caption));
  for (const std::size_t c : shown) {
    html += fmt::format("<th role=\"columnheader\" scope=\"col\">{}</th>", figure_columns()[c].title);
  }
  html += "</tr></thead>\n<tbody role=\"rowgroup\">\n";
  for (const PageRow& row : rows) html += html_of(row, shown);
  return html + "</tbody>\n</table>\n";
}

std::string legend(const Profile& profile) {
  std::string html =
      "<section>\n<h2>The marks and figures</h2>\n<p class=\"quiet\">! look here first. &gt; where else the time "
      "goes. Bars: the line's share of the time</p>\n";
  for (const FigureColumn& column : figure_columns()) {
    const std::string meaning = meaning_of(column, profile);
    if (!meaning.empty()) html += fmt::format("<p class=\"quiet\">{}</p>\n", escaped(meaning));
  }
  return html + "</section>\n";
}

// Keeps "4 of 4" on one line.
FigureCell unbroken(FigureCell cell) {
  std::string text;
  for (const char c : cell.text) text += c == ' ' ? std::string("\u00a0") : std::string(1, c);
  cell.text = std::move(text);
  return cell;
}

std::vector<FigureCell> cells_of(const Profile& profile, const LineFigures* figures) {
  std::vector<FigureCell> cells;
  for (const FigureColumn& column : figure_columns()) {
    cells.push_back(figures ? unbroken(column.cell(profile, *figures)) : FigureCell{});
  }
  return cells;
}

PageRow row_of(const Profile& profile, const ProfileLine& line) {
  return {.kind = line.is_diagnosed ? "hot first"
                  : line.is_hot()   ? "hot"
                  : line.figures    ? ""
                                    : "idle",
          .number = line.number,
          .source = shown_source(line.source),
          .note = line.note,
          .cells = cells_of(profile, line.figures.get()),
          .time_share = line.figures ? profile.share_of_time(*line.figures) : 0};
}

// The content of a row: nothing, figures, or a mark.
enum class Telling { nothing, figures, mark };

constexpr std::size_t kMostRows = 2000;  // per page: a kernel has a few hundred lines, but an unknown person's file
                                         // may have a million
constexpr std::size_t kAround = 5;       // rows shown above and below a row with content

// The rows to show: all if they fit on a page, otherwise those with most content and the rows around them.
std::vector<bool> rows_to_show(const std::vector<Telling>& rows) {
  if (rows.size() <= kMostRows) return std::vector<bool>(rows.size(), true);
  std::vector<bool> shown(rows.size(), false);
  std::size_t count = 0;
  for (const Telling wanted : {Telling::mark, Telling::figures}) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] != wanted) continue;
      for (std::size_t j = i - std::min(i, kAround); j < std::min(rows.size(), i + kAround + 1); ++j) {
        if (shown[j] || count == kMostRows) continue;
        shown[j] = true;
        ++count;
      }
    }
  }
  return shown;
}

// Makes only the rows that are shown, because the rows of a file with a million lines would fill the memory.
std::vector<PageRow> folded(const std::vector<Telling>& rows, const std::function<PageRow(std::size_t)>& row) {
  const std::vector<bool> shown = rows_to_show(rows);
  std::vector<PageRow> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (shown[i]) {
      all.push_back(row(i));
      continue;
    }
    const std::size_t first = i;
    while (i + 1 < rows.size() && !shown[i + 1]) ++i;
    all.push_back({.kind = "idle",
                   .source = fmt::format("({} lines are not shown)", grouped(static_cast<double>(i + 1 - first))),
                   .note = {},
                   .cells = std::vector<FigureCell>(figure_columns().size())});
  }
  return all;
}

Telling telling(const ProfileLine& line) {
  return line.is_hot() ? Telling::mark : line.figures ? Telling::figures : Telling::nothing;
}

// The cells of a line in a comparison. The time is in ns, because shares of two different totals cannot be compared.
std::vector<FigureCell> compared_cells(const Profile& profile, const ProfileLine* line) {
  if (line == nullptr || !line->figures) return std::vector<FigureCell>(figure_columns().size());
  std::vector<FigureCell> cells = cells_of(profile, line->figures.get());
  cells.front() = unbroken(elapsed_cell(profile, *line->figures));
  return cells;
}

FigureCell before_and_now(const FigureCell& before, const FigureCell& now) {
  if (before.text == now.text) return now;
  const auto shown = [](const FigureCell& cell) { return cell.text.empty() ? "\u2013" : cell.text; };
  return {shown(before) + " \u2192\u00a0" + shown(now), now.is_bad};
}

PageRow compared_row(const Profile& was, const Profile& now, const LinePair& pair) {
  const auto line_in = [](const Profile& profile, int number) {
    return number > 0 ? &profile.lines[static_cast<std::size_t>(number) - 1] : nullptr;
  };
  const ProfileLine* before = line_in(was, pair.was);
  const ProfileLine* after = line_in(now, pair.now);
  if (before == nullptr || after == nullptr) {
    PageRow row = before == nullptr ? row_of(now, *after) : row_of(was, *before);
    row.kind = before == nullptr ? "new" : "gone";
    row.cells = before == nullptr ? compared_cells(now, after) : compared_cells(was, before);
    if (before == nullptr && after->is_diagnosed) row.kind = "hot first";
    if (after == nullptr) row.time_share = 0;
    return row;
  }
  PageRow row = row_of(now, *after);
  if (before->figures && row.kind == "idle") row.kind.clear();
  row.cells = compared_cells(now, after);
  const std::vector<FigureCell> cells = compared_cells(was, before);
  for (std::size_t c = 0; c < cells.size(); ++c) row.cells[c] = before_and_now(cells[c], row.cells[c]);
  return row;
}

}  // namespace

std::string profile_page(const Profile& profile) {
  std::vector<Telling> told;
  for (const ProfileLine& line : profile.lines) told.push_back(telling(line));
  std::vector<PageRow> rows = folded(told, [&](std::size_t i) { return row_of(profile, profile.lines[i]); });
  if (profile.elsewhere) {
    rows.push_back(row_of(profile, {.source = elsewhere_text(*profile.elsewhere),
                                    .figures = std::make_shared<const LineFigures>(*profile.elsewhere),
                                    .note = {}}));
  }
  return page(profile.attempt.chapter + ", line by line",
              heading(profile, fmt::format("<p>{}</p>\n", escaped(totals_text(profile)))) + says(profile) +
                  table("Each line of the source, and what it did.", rows) + legend(profile));
}

std::string comparison_page(const Profile& was, const Profile& now) {
  const std::vector<LinePair> pairs = matched(was, now);
  std::vector<Telling> told;
  for (const LinePair& pair : pairs) {
    Telling most = Telling::nothing;
    if (pair.was > 0) most = std::max(most, telling(was.lines[static_cast<std::size_t>(pair.was) - 1]));
    if (pair.now > 0) most = std::max(most, telling(now.lines[static_cast<std::size_t>(pair.now) - 1]));
    told.push_back(most);
  }
  const std::vector<PageRow> rows = folded(told, [&](std::size_t i) { return compared_row(was, now, pairs[i]); });
  const std::string facts =
      fmt::format("<p>was {}: {}</p>\n<p>now {}: {}, <strong>{}</strong></p>\n", escaped(was.attempt.file),
                  escaped(totals_text(was)), escaped(now.attempt.file), escaped(totals_text(now)), speed_up(was, now));
  return page(
      now.attempt.chapter + ", two attempts line by line",
      heading(now, facts) + paragraphs(changes(was, now), now) + says(now) +
          table("Each line of both files, with its figures before and now. Lines that are gone (\u2212) and lines "
                "that are new (+) have figures of one file only.",
                rows) +
          legend(now));
}

}  // namespace roofwalk
