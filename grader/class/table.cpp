#include "grader/class/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "grader/text/characters.h"
namespace roofwalk {
namespace {

constexpr std::size_t kMostName = 32;

// The number of columns that UTF-8 text takes on the screen. Characters with first bytes 0xe3 to 0xed, or 0xf0 and
// above, are mostly East Asian or emoji, which are two columns wide.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80) width += (byte >= 0xe3 && byte <= 0xed) || byte >= 0xf0 ? 2 : 1;
  }
  return width;
}

// Pads according to width_of(), because names may contain wide characters.
std::string aligned(std::string text, std::size_t width, bool right = false) {
  const std::size_t has = width_of(text);
  const std::string space(width > has ? width - has : 0, ' ');
  return right ? space + text : text + space;
}

// Shortens a name but keeps its end, where the platform's number is.
std::string short_name(const std::string& name) {
  constexpr std::size_t kMostTail = 14;
  std::vector<std::string_view> characters;
  for (std::size_t i = 0; i < name.size();) {
    characters.push_back(std::string_view(name).substr(i, character_at(name, i).bytes));
    i += characters.back().size();
  }
  const auto width = [&](std::size_t from, std::size_t to) {
    std::size_t sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += width_of(characters[i]);
    return sum;
  };
  if (width(0, characters.size()) <= kMostName) return name;
  std::size_t tail = characters.size(), head = 0;
  while (tail > 0 && width(tail - 1, characters.size()) <= kMostTail) --tail;
  while (width(0, head + 1) + 3 + width(tail, characters.size()) <= kMostName) ++head;
  std::string text;
  for (std::size_t i = 0; i < head; ++i) text += characters[i];
  text += "...";
  for (std::size_t i = tail; i < characters.size(); ++i) text += characters[i];
  return text;
}

// The names of the rows: shortened, unless two would become equal.
std::vector<std::string> shown_names(const Gradebook& book) {
  std::map<std::string, std::size_t> count;
  for (const StudentRow& row : book.rows) ++count[short_name(printable(row.owner.student))];
  std::vector<std::string> names;
  for (const StudentRow& row : book.rows) {
    const std::string whole = printable(row.owner.student), brief = short_name(whole);
    names.push_back(count[brief] == 1 ? brief : whole);
  }
  return names;
}

std::string cell_text(const Cell& cell, const Column& column) {
  const Entry* entry = cell.counting();
  if (entry == nullptr) return cell.state == Cell::State::not_due ? "not due" : "-";
  const std::string late = entry->late_days > 0 ? fmt::format(", {} d late", entry->late_days) : "";
  const std::string points = entry->points ? points_text(*entry->points) : "?";
  return fmt::format("{} {}{}{}", points, entry->is_starter ? "starter" : verdict_words(*entry), late,
                     column.is_due ? "" : ", not due yet");
}

std::string painted(const Cell& cell, const std::string& text, const Colors& colors) {
  if (cell.state == Cell::State::not_graded) return colors.caution(text);
  if (cell.counting() == nullptr) return colors.faint(text);
  return cell.counting()->verdict == "pass" ? colors.good(text) : text;
}

// For example: "12 ace, 100 pass, 3 goal missed, 2 does not compile; median 8.1 of 10".
std::string statistics(const Gradebook& book, std::size_t column) {
  constexpr std::array kOrder = {"ace",          "pass",         "goal missed",       "starter unchanged",
                                 "wrong result", "kernel fault", "not allowed",       "does not compile",
                                 "not graded",   "too noisy",    "nothing submitted", "not due"};
  std::map<std::string, std::size_t> counts;
  std::vector<double> points;
  for (const StudentRow& row : book.rows) {
    const Cell& cell = row.cells[column];
    const Entry* entry = cell.counting();
    ++counts[entry == nullptr    ? std::string(state_name(cell.state))
             : entry->is_starter ? "starter unchanged"
                                 : verdict_words(*entry)];
    if (entry != nullptr && entry->points) points.push_back(*entry->points);
  }
  std::string text;
  for (const char* name : kOrder) {
    if (counts[name] > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[name], name);
  }
  std::sort(points.begin(), points.end());
  if (points.empty()) return text;
  const double median = (points[(points.size() - 1) / 2] + points[points.size() / 2]) / 2;
  return fmt::format("{}; median {} of {}", text, points_text(median), points_text(book.columns[column].points));
}

// One line for each file that several students handed in, byte for byte: its chapter and who they are.
std::string same_files(const Gradebook& book) {
  constexpr std::size_t kMostLines = 5;
  std::string text;
  std::size_t files = 0;
  for (std::size_t i = 0; i < book.columns.size(); ++i) {
    std::set<std::string> told;  // hashes of files
    for (const StudentRow& row : book.rows) {
      const Cell& cell = row.cells[i];
      if (cell.same_as.empty() || !told.insert(cell.counting()->source_sha256).second || ++files > kMostLines) continue;
      std::string names = printable(row.owner.student);
      for (const std::string& other : cell.same_as) names += ", " + printable(other);
      if (cell.same_as_count > cell.same_as.size())
        names += fmt::format(" and {} more", cell.same_as_count - cell.same_as.size());
      text += fmt::format("the same file, byte for byte: {}: {}\n", book.columns[i].chapter, names);
    }
  }
  if (files > kMostLines)
    text += fmt::format("and {} more such files (`same_as` in gradebook.json)\n", files - kMostLines);
  return text;
}

// One line a student: points and verdict by chapter, and the total.
std::string rows_of(const Gradebook& book, const Colors& colors) {
  const std::vector<std::string> names = shown_names(book);
  std::size_t name_width = width_of("student");
  for (const std::string& name : names) name_width = std::max(name_width, width_of(name));
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < book.columns.size(); ++i) {
    std::size_t width = book.columns[i].chapter.size();
    for (const StudentRow& row : book.rows) width = std::max(width, cell_text(row.cells[i], book.columns[i]).size());
    widths.push_back(width);
  }
  std::string text = aligned("student", name_width);
  for (std::size_t i = 0; i < widths.size(); ++i) text += "  " + aligned(book.columns[i].chapter, widths[i]);
  text += "   total\n";
  for (std::size_t at = 0; at < book.rows.size(); ++at) {
    const StudentRow& row = book.rows[at];
    text += aligned(names[at], name_width);
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string cell = cell_text(row.cells[i], book.columns[i]);
      text += "  " + painted(row.cells[i], cell, colors) + std::string(widths[i] - cell.size(), ' ');
    }
    text += aligned(total_text(book, row), 8, true) + "\n";
  }
  text += "\n";
  return text;
}

}  // namespace

std::string table(const Gradebook& book, const Colors& colors, std::size_t columns) {
  std::string text = book.columns.empty() ? "no file was graded\n" : rows_of(book, colors);
  for (std::size_t i = 0; i < book.columns.size(); ++i) {
    for (const std::string& line :
         wrapped(fmt::format("{}: {}", book.columns[i].chapter, statistics(book, i)), columns))
      text += line + "\n";
  }
  text += same_files(book);
  for (const StudentRow& row : book.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (row.cells[i].state != Cell::State::not_graded) continue;
      const Entry& entry = *row.cells[i].counting();
      std::string reason = entry.reasons.empty() ? verdict_words(entry) : entry.reasons.front();
      if (!entry.trouble.empty()) reason += ": " + entry.trouble;
      text += colors.caution("needs a look") + fmt::format(": {}, {}: {}\n", printable(row.owner.student),
                                                           book.columns[i].chapter,
                                                           printable(reason.substr(0, reason.find('\n'))));
    }
  }
  for (const RowDoubt& doubt : book.doubts)
    text += colors.caution("look at") + fmt::format(": {}: {}\n", printable(doubt.student), printable(doubt.reason));
  for (const LeftOut& out : book.left_out)
    text += fmt::format("left out: {}: {}\n", printable(out.label), printable(out.reason));
  if (std::any_of(book.left_out.begin(), book.left_out.end(),
                  [](const LeftOut& out) { return out.reason.starts_with(kTellsNoChapter); })) {
    text += "`grade FOLDER --chapter NAME` grades a student's only .cu file as that chapter's, whatever its name\n";
  }
  return text;
}

}  // namespace roofwalk
