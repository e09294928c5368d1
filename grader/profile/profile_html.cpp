#include "grader/profile/profile_html.h"

#include <fmt/format.h>

#include "common/roofline/si.h"
#include "grader/profile/figure_columns.h"

namespace roofwalk {
namespace {

// Every pair of text and ground below has a contrast of 4.5 or more in both schemes (WCAG 2.1, 1.4.3). On a phone each
// line becomes a block: its code, then its figures with their names.
constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ground: #ffffff; --ink: #1c2024; --quiet: #59636e; --rule: #d9dee3;
  --hot: #fff1e2; --note: #8f3a00; --bar: #f2b27a; --bad: #b02a1a; --new: #e6f6ec; --gone: #fdeceb; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14171a; --ink: #e7eaed; --quiet: #a4aeb8; --rule: #343b42;
    --hot: #3a2716; --note: #ffb987; --bar: #8a5420; --bad: #ff9d90; --new: #14301f; --gone: #3b1d1b; }
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
th, td { padding: .1rem .6rem; text-align: right; vertical-align: top; white-space: nowrap; font-size: .875rem; }
thead th { position: sticky; top: 0; background: var(--ground); border-bottom: 2px solid var(--rule);
  color: var(--quiet); font-weight: 600; }
th.number { color: var(--quiet); font-weight: 400; }
td.source, thead th.source { text-align: left; white-space: pre-wrap; overflow-wrap: anywhere; }
td { font-variant-numeric: tabular-nums; }
tr.hot > * { background: var(--hot); }
tr.hot > .number { color: var(--note); font-weight: 700; box-shadow: inset .25rem 0 var(--note); }
tr.new > * { background: var(--new); }
tr.gone > * { background: var(--gone); }
tr.idle > .source { color: var(--quiet); }
.note { display: block; font: 600 .875rem/1.5 system-ui, sans-serif; color: var(--note); }
.bad { color: var(--bad); font-weight: 600; }
.bar { display: block; height: .25rem; background: var(--bar); margin-left: auto; }
.apart { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
dt { font-weight: 600; float: left; clear: left; margin-right: .5rem; }
dd { margin: 0 0 .25rem; }
@media (max-width: 60rem) {
  body { padding: 1rem; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, caption { display: block; }
  tr { display: flex; flex-wrap: wrap; column-gap: .75rem; border-bottom: 1px solid var(--rule); }
  tr.hot { background: var(--hot); }
  tr.new { background: var(--new); }
  tr.gone { background: var(--gone); }
  tr.idle { border-bottom: 0; }
  th, td { padding: .1rem .25rem; }
  td.source { flex: 1 0 calc(100% - 4rem); max-width: calc(100% - 4rem); }
  th.number { width: 2.75rem; }
  td.figure:empty, .bar { display: none; }
  td.figure::before { content: attr(data-name) " "; color: var(--quiet); font-weight: 400; }
  td.figure { padding-left: 0; }
  td.first { padding-left: 3.5rem; }
}
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// A file may hold bytes that are no UTF-8; the page says that it is UTF-8, as JSON does.
std::string valid_utf8(const std::string& text) {
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

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

std::string says(const Profile& profile) {
  std::string html = "<section>\n<h2>What the hot lines say</h2>\n";
  for (const std::string& sentence : profile.says) html += fmt::format("<p>{}</p>\n", escaped(sentence));
  return html + "</section>\n";
}

// The roles stand in words since browsers take them from tables that are laid out as blocks.
std::string table(const std::string& caption, const std::vector<std::string>& names, const std::string& rows) {
  std::string html = fmt::format(
      "<table role=\"table\">\n<caption>{}</caption>\n<thead role=\"rowgroup\"><tr "
      "role=\"row\"><th role=\"columnheader\" scope=\"col\" class=\"number\">line</th>"
      "<th role=\"columnheader\" scope=\"col\" class=\"source\">source</th>",
      escaped(caption));
  for (const std::string& name : names) {
    html += fmt::format("<th role=\"columnheader\" scope=\"col\">{}</th>", escaped(name));
  }
  return html + "</tr></thead>\n<tbody role=\"rowgroup\">\n" + rows + "</tbody>\n</table>\n";
}

struct PageCell {
  FigureCell figure;
  double bar = 0;  // share that is drawn below it
};

std::string row(const std::string& kind, const std::string& spoken, int number, const std::string& source,
                const std::string& note, const std::vector<std::string>& names, const std::vector<PageCell>& cells) {
  std::string html = fmt::format(
      "<tr role=\"row\" class=\"{}\"><th role=\"rowheader\" scope=\"row\" class=\"number\">"
      "{}{}</th><td role=\"cell\" class=\"source\">{}{}</td>",
      kind, number > 0 ? fmt::format("{}", number) : "",
      spoken.empty() ? "" : fmt::format("<span class=\"apart\"> {}</span>", spoken), escaped(source),
      note.empty() ? "" : fmt::format("<span class=\"note\">{}</span>", escaped(note)));
  bool is_first = true;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const FigureCell& figure = cells[c].figure;
    html += fmt::format(
        "<td role=\"cell\" class=\"figure{}{}\" data-name=\"{}\">{}{}</td>", figure.is_bad ? " bad" : "",
        is_first && !figure.text.empty() ? " first" : "", escaped(names[c]), escaped(figure.text),
        cells[c].bar > 0 ? fmt::format("<span class=\"bar\" style=\"width:{:.0f}%\"></span>", 100 * cells[c].bar) : "");
    is_first = is_first && figure.text.empty();
  }
  return html + "</tr>\n";
}

std::string legend() {
  std::string html = "<section>\n<h2>The figures</h2>\n";
  for (const FigureColumn& column : figure_columns()) {
    if (!column.meaning.empty()) html += fmt::format("<p class=\"quiet\">{}</p>\n", escaped(column.meaning));
  }
  return html + "</section>\n";
}

std::vector<PageCell> cells_of(const Profile& profile, const std::optional<LineFigures>& figures) {
  std::vector<PageCell> cells;
  for (const FigureColumn& column : figure_columns()) {
    PageCell& cell = cells.emplace_back();
    if (figures) cell.figure = column.cell(profile, *figures);
    const bool is_time = cells.size() == 1;
    if (is_time && !cell.figure.text.empty()) cell.bar = profile.share_of_time(*figures);
  }
  return cells;
}

const ProfileLine* line_in(const Profile& profile, int number) {
  return number > 0 ? &profile.lines[static_cast<std::size_t>(number) - 1] : nullptr;
}

FigureCell before_and_now(const FigureCell& before, const FigureCell& now) {
  if (before.text.empty() && now.text.empty()) return {};
  const auto shown = [](const FigureCell& cell) { return cell.text.empty() ? "\u2013" : cell.text; };
  return {shown(before) + " \u2192 " + shown(now), now.is_bad};
}

}  // namespace

std::string profile_page(const Profile& profile) {
  std::vector<std::string> names;
  for (const FigureColumn& column : figure_columns()) names.emplace_back(column.title);
  std::string rows;
  for (const ProfileLine& line : profile.lines) {
    rows += row(line.is_hot()  ? "hot"
                : line.figures ? ""
                               : "idle",
                line.is_hot() ? "hot" : "", line.number, shown_source(line.source), line.note, names,
                cells_of(profile, line.figures));
  }
  if (profile.elsewhere) {
    rows += row("", "", 0, elsewhere_text(*profile.elsewhere), "", names, cells_of(profile, profile.elsewhere));
  }
  return page(profile.attempt.chapter + ", line by line",
              heading(profile, fmt::format("<p>{}</p>\n", escaped(totals_text(profile)))) + says(profile) +
                  table("Each line of the source, and what it did.", names, rows) + legend());
}

std::string comparison_page(const Profile& was, const Profile& now) {
  std::vector<std::string> names{"time"};
  for (const FigureColumn& column : figure_columns().subspan(1)) names.emplace_back(column.title);
  std::string rows;
  for (const LinePair& pair : matched(was, now)) {
    const ProfileLine* before = line_in(was, pair.was);
    const ProfileLine* after = line_in(now, pair.now);
    const ProfileLine& shown = after != nullptr ? *after : *before;
    std::vector<PageCell> cells;
    bool is_idle = true;
    for (const FigureColumn& column : figure_columns()) {
      const auto figure = [&](const Profile& profile, const ProfileLine* line) {
        if (line == nullptr || !line->figures) return FigureCell{};
        return (cells.empty() ? elapsed_cell : column.cell)(profile, *line->figures);
      };
      const FigureCell old_figure = figure(was, before), new_figure = figure(now, after);
      is_idle = is_idle && old_figure.text.empty() && new_figure.text.empty();
      cells.push_back({before != nullptr && after != nullptr ? before_and_now(old_figure, new_figure)
                       : after != nullptr                    ? new_figure
                                                             : old_figure});
    }
    const char* kind = before == nullptr ? "new" : after == nullptr ? "gone" : shown.is_hot() ? "hot" : "";
    rows += row(is_idle && *kind == '\0' ? "idle" : kind, kind, shown.number, shown_source(shown.source), shown.note,
                names, cells);
  }
  const std::string facts =
      fmt::format("<p>was {}: {}</p>\n<p>now {}: {}, <strong>{}</strong></p>\n", escaped(was.attempt.file),
                  escaped(totals_text(was)), escaped(now.attempt.file), escaped(totals_text(now)), speed_up(was, now));
  return page(now.attempt.chapter + ", two attempts line by line",
              heading(now, facts) + says(now) +
                  table("Each line of both files: what it did before, and now. Lines that are gone and lines that are "
                        "new have figures of their own only.",
                        names, rows) +
                  legend());
}

}  // namespace roofwalk
