#include "grader/class/site/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/hash.h"
#include "common/roofline/si.h"
#include "grader/class/batch/stored_grade.h"
#include "grader/class/site/class_chart.h"
#include "grader/class/site/html.h"
#include "grader/class/site/movements.h"

namespace roofwalk {
namespace {

struct Alias {
  std::string shown, page;  // "student 17", "students/3f2a....html"
};

// Numbers the students in the order of salted hashes of their names, so that the numbers reveal nothing about the
// names.
std::vector<Alias> aliases_of(const SiteInput& input) {
  const auto& rows = input.book.rows;
  std::vector<std::pair<std::string, std::size_t>> order;
  for (std::size_t i = 0; i < rows.size(); ++i) order.emplace_back(sha256_hex(input.salt + rows[i].owner.student), i);
  std::sort(order.begin(), order.end());
  std::vector<Alias> aliases(rows.size());
  for (std::size_t number = 0; number < order.size(); ++number) {
    const auto& [hash, row] = order[number];
    aliases[row] = {input.shows_names ? rows[row].owner.student : fmt::format("student {}", number + 1),
                    fmt::format("students/{}.html", hash.substr(0, 16))};
  }
  return aliases;
}

// Nothing is wrong with it; its turn has not come.
bool is_still_to_grade(const Entry& entry) { return entry.verdict.empty() && entry.trouble.empty(); }

// The rows in the order in which pages show them, which is that of what is shown, number or name: if numbers were in
// the order of the names, they would reveal something about them.
std::vector<std::size_t> shown_order(const SiteInput& input, const std::vector<Alias>& aliases) {
  std::vector<std::size_t> order(input.book.rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return input.shows_names ? a < b : aliases[a].page < aliases[b].page;
  });
  return order;
}

std::string verdict_html(const Entry* entry, const Cell& cell) {
  if (entry == nullptr) return fmt::format("<span class=\"quiet\">{}</span>", state_name(cell.state));
  if (is_still_to_grade(*entry)) return "<span class=\"quiet\">not graded yet</span>";
  if (cell.state == Cell::State::not_graded)
    return "<span class=\"caution\">not graded: a person will look at it</span>";
  if (entry->grade == "ace") return "<span class=\"ace\">ace</span>";
  if (entry->verdict == "pass") return "<span class=\"pass\">pass</span>";
  return escaped(verdict_words(*entry));
}

std::string points_html(const Cell& cell, const Column& column) {
  const auto points = cell.points();
  if (cell.state == Cell::State::not_due) return "-";
  return points ? fmt::format("{} of {}", points_text(*points), points_text(column.points)) : "?";
}

// Marks points that do not count yet.
std::string not_due_html(const Cell& cell, const Column& column) {
  return column.is_due || cell.entries.empty() ? "" : ", <span class=\"quiet\">not due yet</span>";
}

std::string kind_of(const Entry& entry) { return entry.grade.empty() ? "none" : entry.grade; }

// The students' dots in a column, in the order `order` of the rows.
std::vector<ClassDot> students_dots(const SiteInput& input, std::size_t column, const std::vector<std::size_t>& order,
                                    const std::vector<Alias>& aliases) {
  std::vector<ClassDot> dots;
  for (const std::size_t row : order) {
    const Entry* entry = input.book.rows[row].cells[column].counting();
    if (entry != nullptr && entry->dot) dots.push_back({*entry->dot, kind_of(*entry), "", aliases[row].shown});
  }
  return dots;
}

// The chart of a column with everybody's dot, and who moved where.
std::string dots_html(const SiteInput& input, std::size_t column, const std::vector<std::size_t>& order,
                      const std::vector<Alias>& aliases) {
  std::vector<ClassDot> dots = students_dots(input, column, order, aliases);
  std::vector<MovedDot> moved;
  const auto& starter = input.starters[column];
  const Chart& chart = input.charts[column];
  for (const ClassDot& dot : dots) {
    if (starter) moved.push_back({dot.who, dot.kind, movement(*starter, dot.point)});
  }
  if (starter) dots.insert(dots.begin(), {*starter, "starter", ""});
  return class_chart(chart, dots, false) + movements_html(moved, chart.baseline);
}

std::vector<ClassDot> own_dots(const SiteInput& input, const Cell& cell, std::size_t column) {
  std::vector<ClassDot> dots;
  if (input.starters[column]) dots.push_back({*input.starters[column], "starter", ""});
  for (std::size_t i = 0; i < cell.entries.size(); ++i) {
    if (cell.entries[i].dot) dots.push_back({*cell.entries[i].dot, kind_of(cell.entries[i]), std::to_string(i + 1)});
  }
  return dots;
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

std::string statistics_line(const Gradebook& book, std::size_t column) {
  std::map<std::string, std::size_t> verdicts;
  std::vector<double> points;
  for (const StudentRow& row : book.rows) {
    const Cell& cell = row.cells[column];
    const Entry* entry = cell.counting();
    ++verdicts[entry == nullptr                        ? std::string(state_name(cell.state))
               : is_still_to_grade(*entry)             ? "not graded yet"
               : cell.state == Cell::State::not_graded ? "not graded"
               : entry->is_starter                     ? "starter unchanged"
                                                       : verdict_words(*entry)];
    if (entry != nullptr && entry->points) points.push_back(*entry->points);
  }
  std::string text;
  for (const auto& [verdict, count] : verdicts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, verdict);
  std::string html = fmt::format("<p>{}.</p>\n", escaped(text));
  if (points.empty()) return html;
  std::sort(points.begin(), points.end());
  return html +
         fmt::format("<p>Points of those who handed in: median {}, the middle half from {} to {}, most {} of {}.</p>\n",
                     points_text(quantile(points, 0.5)), points_text(quantile(points, 0.25)),
                     points_text(quantile(points, 0.75)), points_text(points.back()),
                     points_text(book.columns[column].points));
}

std::string roofs_html(const Chart& chart) {
  const MemoryRoof* memory = chart.roofs.memory_roof(chart.level);
  if (memory == nullptr || !chart.roofs.peak()) return {};
  const std::string arithmetic =
      chart.roofs.is_memory_only ? ""
                                 : fmt::format(", {} of arithmetic", si_text(chart.roofs.compute.front().flops_per_s,
                                                                             words_of(chart.roofs.unit).per_second));
  return fmt::format("<p class=\"quiet\">The roof: {} of {}{} ({}).</p>\n", si_text(memory->bytes_per_s, "B/s"),
                     level_title(chart.level), arithmetic, escaped(memory->source));
}

std::string due_html(const Column& column) {
  if (!column.deadline_s) return {};
  return fmt::format("<p class=\"quiet\">Due {}.</p>\n", moment_text(*column.deadline_s, column.deadline_offset_min));
}

std::string notices(const Gradebook& book) {
  std::string html = fmt::format("<p class=\"quiet\">Graded on {}. Of several submissions the {} counts.</p>\n",
                                 escaped(book.device), book.counts);
  if (book.device.starts_with("virtual"))
    html += "<p class=\"quiet\">FLOPs and bytes are counted; the times of this virtual GPU are modelled.</p>\n";
  if (const std::size_t stale = book.graded_by(GradedBy::other_terms); stale > 0)
    html += fmt::format("<p class=\"caution\">Graded under terms that have changed since: {}.</p>\n", stale);
  if (!book.all_boxed) html += "<p class=\"caution\">Compiled without a sandbox.</p>\n";
  return html;
}

std::string class_html(const SiteInput& input, const std::vector<Alias>& aliases) {
  const Gradebook& book = input.book;
  const std::string title = book.title.empty() ? "The class" : book.title;
  std::string body = fmt::format("<h1>{}</h1>\n", escaped(title)) + notices(book);
  const std::vector<std::size_t> order = shown_order(input, aliases);
  for (std::size_t i = 0; i < book.columns.size(); ++i) {
    body +=
        fmt::format("<h2 id=\"{0}\">{0}: {1}</h2>\n", escaped(book.columns[i].chapter), escaped(book.columns[i].title));
    body += due_html(book.columns[i]);
    body += statistics_line(book, i) + dots_html(input, i, order, aliases) + roofs_html(input.charts[i]);
  }
  body += "<h2>Everybody</h2>\n<table>\n<thead><tr><th>student</th>";
  for (const Column& column : book.columns) body += fmt::format("<th>{}</th>", escaped(column.chapter));
  body += "<th>total</th></tr></thead>\n<tbody>\n";
  for (const std::size_t row : order) {
    // A student's page shows the student's source, which may reveal the name. So without names, the class's page has no
    // links to students' pages.
    const std::string shown = escaped(aliases[row].shown);
    body += input.shows_names ? fmt::format("<tr><th><a href=\"{}\">{}</a></th>", aliases[row].page, shown)
                              : fmt::format("<tr><th>{}</th>", shown);
    for (std::size_t i = 0; i < book.columns.size(); ++i) {
      const Cell& cell = book.rows[row].cells[i];
      const Entry* entry = cell.counting();
      const std::string late = entry != nullptr && entry->late_days > 0
                                   ? fmt::format(", <span class=\"caution\">{} d late</span>", entry->late_days)
                                   : std::string();
      body += fmt::format("<td data-name=\"{}\">{} {}{}{}</td>", escaped(book.columns[i].chapter),
                          points_html(cell, book.columns[i]), verdict_html(entry, cell), late,
                          not_due_html(cell, book.columns[i]));
    }
    body += fmt::format("<td data-name=\"total\">{}</td></tr>\n", total_text(book, book.rows[row]));
  }
  return class_page(title, body + "</tbody>\n</table>\n", input.reload_s);
}

// Where an entry's plot or profile is, relative to the site's folder; empty if there is none.
Result<std::string> page_of(const Entry& entry, std::string GradePages::*page, const SiteInput& input,
                            const WritePage& write) {
  if (entry.key.empty()) return std::string();
  const std::string name = entry.key.substr(0, 32);
  const std::string path =
      page == &GradePages::plot ? fmt::format("plots/{}.svg", name) : fmt::format("profiles/{}.html", name);
  if (input.is_there && input.is_there(entry.key, path)) return path;
  ROOFWALK_TRY(const GradePages pages, input.pages(entry.key));
  if ((pages.*page).empty()) return std::string();
  ROOFWALK_TRY_STATUS(write(path, pages.*page));
  return path;
}

Result<std::string> entries_html(const Cell& cell, const Column& column, const SiteInput& input,
                                 const WritePage& write) {
  std::string html =
      "<table>\n<thead><tr><th>submission</th><th>handed "
      "in</th><th>verdict</th><th>credit</th><th>points</th><th>dot</th></tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < cell.entries.size(); ++i) {
    const Entry& entry = cell.entries[i];
    const bool counts = cell.counts == i;
    ROOFWALK_TRY(const std::string profile, page_of(entry, &GradePages::profile, input, write));
    const std::string links =
        profile.empty() ? std::string() : fmt::format(" <a href=\"../{}\">line by line</a>", profile);
    html += fmt::format(
        "<tr><th>{}{}</th><td data-name=\"handed in\">{}</td><td data-name=\"verdict\">{}{}</td><td "
        "data-name=\"credit\">{}</td>"
        "<td data-name=\"points\">{}</td><td data-name=\"dot\">{}</td></tr>\n",
        i + 1, counts ? " (counts)" : "", handed_in_words(entry, column), escaped(verdict_words(entry)), links,
        entry.credit ? fmt::format("{:.0f} %", 100 * *entry.credit) : "?",
        entry.points ? points_text(*entry.points) : "?",
        entry.dot ? fmt::format("{} at {}", si_text(entry.dot->flops_per_s, words_of(column.unit).per_second),
                                si_text(entry.dot->ai, words_of(column.unit).per_byte))
                  : "none");
  }
  html += "</tbody>\n</table>\n";
  const Entry* entry = cell.counting();
  if (const std::string penalty = penalty_words(*entry); !penalty.empty())
    html += fmt::format("<p>{}.</p>\n", escaped(penalty));
  if (!entry->reasons.empty()) {
    html += "<ul class=\"told\">\n";
    for (const std::string& reason : entry->reasons) html += fmt::format("<li>{}</li>\n", escaped(reason));
    html += "</ul>\n";
  }
  if (!entry->scales.empty()) {
    html += "<p>Its goals; the least of them is the credit:</p>\n<ul>\n";
    for (const GoalScale& scale : entry->scales) {
      html +=
          fmt::format("<li>{}</li>\n", escaped(words_of(scale, column.pass_share, column.unit, column.has_reference)));
    }
    html += "</ul>\n";
  }
  ROOFWALK_TRY(const std::string plot, page_of(*entry, &GradePages::plot, input, write));
  if (!plot.empty()) {
    html += fmt::format(
        "<div class=\"wide\"><img class=\"plot\" src=\"../{}\" alt=\"the roofline of {} with the starter, this "
        "submission and the "
        "goal\"></div>\n",
        plot, escaped(column.chapter));
  }
  return html;
}

// Lists files that could not be assigned, so that their owner does not look like a student without files.
std::string left_out_html(const StudentRow& row) {
  std::string html;
  for (const std::string& line : left_out_words(row)) html += fmt::format("<li>{}</li>\n", escaped(line));
  return html.empty() ? html : fmt::format("<p>Handed in, but could not be graded:</p>\n<ul>\n{}</ul>\n", html);
}

Result<std::string> student_html(const SiteInput& input, const StudentRow& row, const std::string& shown,
                                 const WritePage& write) {
  std::string body = fmt::format("<h1>{}</h1>\n", escaped(shown));
  if (!input.book.title.empty()) body += fmt::format("<p class=\"quiet\">{}</p>\n", escaped(input.book.title));
  body += notices(input.book);
  const char* total = input.book.all_due() ? "Total" : "Total of what is due";
  body += row.total_percent      ? fmt::format("<p>{}: {} %.</p>\n", total, points_text(*row.total_percent))
          : input.book.has_due() ? "<p>There is no total yet.</p>\n"
                                 : "<p>There is no total yet: nothing is due yet.</p>\n";
  for (std::size_t i = 0; i < input.book.columns.size(); ++i) {
    const Column& column = input.book.columns[i];
    const Cell& cell = row.cells[i];
    body += fmt::format("<h2>{}: {}</h2>\n<p>{}, {}{}.</p>\n", escaped(column.chapter), escaped(column.title),
                        points_html(cell, column), verdict_html(cell.counting(), cell), not_due_html(cell, column));
    body += due_html(column);
    if (cell.entries.empty()) {
      body += left_out_html(row);
      continue;
    }
    body += fmt::format(
        "<p class=\"quiet\">A pass earns {:.0f} % of the points, an ace all of them; below and between, credit grows "
        "with the logarithm of what is reached, from nothing at the starter.</p>\n",
        100 * column.pass_share);
    ROOFWALK_TRY(const std::string entries, entries_html(cell, column, input, write));
    body += entries;
    const auto dots = own_dots(input, cell, i);
    if (dots.size() > 2) body += "<p>The walk:</p>\n" + class_chart(input.charts[i], dots, true);
  }
  return class_page(shown, body, input.reload_s);
}

}  // namespace

Result<PageNames> make_site(const SiteInput& input, const WritePage& write) {
  PageNames names;
  const auto aliases = aliases_of(input);
  // If a folder had no page of its own, a web server would list its files.
  for (const char* folder : {"students", "plots", "profiles"}) {
    ROOFWALK_TRY_STATUS(write(
        fmt::format("{}/index.html", folder),
        class_page("Nothing to list", "<p>Nothing is listed here. <a href=\"../index.html\">The class</a></p>\n")));
  }
  for (std::size_t i = 0; i < input.book.rows.size(); ++i) {
    const StudentRow& row = input.book.rows[i];
    ROOFWALK_TRY(const std::string page, student_html(input, row, aliases[i].shown, write));
    ROOFWALK_TRY_STATUS(write(aliases[i].page, page));
    names.push_back({row.owner.student, aliases[i].shown, aliases[i].page});
  }
  ROOFWALK_TRY_STATUS(write("index.html", class_html(input, aliases)));
  return names;
}

}  // namespace roofwalk
