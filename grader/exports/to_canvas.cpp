// A gradebook as Canvas exports and imports it: the first column's head holds "Student", then "ID", optional columns of
// SIS and login, and the last of the student's columns holds "Section"; then columns of assignments, "Title (number)";
// a row "Points Possible" may stand above the students. Columns of totals are read-only and are left as they are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "common/base/pattern.h"
#include "grader/batch/lms_names.h"
#include "grader/exports/csv.h"
#include "grader/exports/exports.h"
#include "grader/text.h"

namespace roofwalk {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// "Roofwalk (1234)" -> "Roofwalk".
std::string without_number(const std::string& head) {
  static const Pattern number(R"( \(\d{1,18}\)$)");
  return head.size() > 300 ? head : number.replace_all(head, "");
}

struct Heads {
  std::size_t student = 0, id = 0, section = 0, column = 0;
  std::optional<std::size_t> login, sis;
};

Result<Heads> heads_of(const CsvRow& row, const std::string& wanted) {
  constexpr const char* kAdvice = "export the gradebook from Canvas (Grades, Export) and give that file";
  const auto find = [&](const std::string& name) -> std::optional<std::size_t> {
    const auto at =
        std::find_if(row.begin(), row.end(), [&](const std::string& cell) { return trimmed(cell) == name; });
    return at == row.end() ? std::nullopt : std::optional<std::size_t>(static_cast<std::size_t>(at - row.begin()));
  };
  Heads heads;
  if (row.empty() || row.front().find("Student") == std::string::npos)
    return Error{.message = "the first column is not `Student`", .file = "", .line = 1, .advice = kAdvice};
  const auto id = find("ID");
  if (!id || *id != 1)
    return Error{.message = "the second column is not `ID`", .file = "", .line = 1, .advice = kAdvice};
  heads.id = *id;
  const auto section = find("Section");
  if (!section) return Error{.message = "there is no column `Section`", .file = "", .line = 1, .advice = kAdvice};
  heads.section = *section;
  heads.login = find("SIS Login ID");
  heads.sis = find("SIS User ID");
  std::vector<std::size_t> fits;
  std::vector<std::string> names;
  for (std::size_t i = *section + 1; i < row.size(); ++i) {
    const std::string name = trimmed(row[i]);
    names.push_back(without_number(name));
    if (name == wanted || without_number(name) == wanted) fits.push_back(i);
  }
  if (fits.empty()) {
    const auto near = near_names(wanted, names);
    return Error{.message = fmt::format("there is no column `{}`", wanted),
                 .file = "",
                 .line = 1,
                 .advice = near.empty() ? "make the assignment in Canvas first, then export"
                                        : fmt::format("did you mean {}?", fmt::join(near, " or "))};
  }
  if (fits.size() > 1)
    return Error{.message = fmt::format("{} columns are called `{}`", fits.size(), wanted),
                 .file = "",
                 .line = 1,
                 .advice = "give the number behind it, too"};
  heads.column = fits.front();
  return heads;
}

// "Doe, Jane" and "Jane Doe" are one, and so is "doejane" as Canvas calls files.
std::string name_key(const std::string& name) {
  std::string text = name;
  if (const std::size_t comma = name.find(", "); comma != std::string::npos)
    text = name.substr(comma + 2) + name.substr(0, comma);
  std::string key;
  for (const char c : text) {
    if (c != ' ' && c != '-' && c != '\'') key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return key;
}

// Whether two spellings may be of one name: in either order, with or without accents, or as Canvas calls files, which
// leaves some letters out.
bool may_be_one(const std::string& a, const std::string& b) {
  const auto forms = [](const std::string& name) {
    const std::size_t comma = std::min(name.find(", "), name.size());
    std::set<std::string> all{name_letters(name), name_letters(name.substr(comma) + name.substr(0, comma))};
    for (std::string form : std::set(all)) {
      std::erase_if(form, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
      if (!form.empty()) all.insert(form);
    }
    for (const std::string& raw : {name, name.substr(comma) + name.substr(0, comma)}) {
      std::string form;
      for (const char c : raw) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) form += static_cast<char>(std::tolower(c));
      }
      if (!form.empty()) all.insert(form);
    }
    return all;
  };
  const std::set<std::string> own = forms(a), other = forms(b);
  return std::any_of(own.begin(), own.end(), [&](const std::string& form) { return other.contains(form); });
}

// Canvas writes 9.50 for 9.5.
bool is_same(const std::string& a, const std::string& b) {
  const std::string x = trimmed(a), y = trimmed(b);
  if (x == y) return true;
  char *x_end = nullptr, *y_end = nullptr;
  const double x_value = std::strtod(x.c_str(), &x_end), y_value = std::strtod(y.c_str(), &y_end);
  return !x.empty() && !y.empty() && *x_end == '\0' && *y_end == '\0' && x_value == y_value;
}

bool is_address(const std::string& id) { return id.find('@') != std::string::npos; }

// Addresses are written in small and large letters.
std::string id_key(const std::string& text) {
  std::string key = trimmed(text);
  if (is_address(key))
    std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
  return key;
}

// What a platform may call the student of a row by.
std::set<std::string> ids_of(const CsvRow& row, const Heads& heads) {
  std::set<std::string> ids{id_key(row[heads.id])};
  for (const auto& head : {heads.login, heads.sis}) {
    if (head && !trimmed(row[*head]).empty()) ids.insert(id_key(row[*head]));
  }
  return ids;
}

// "Jane Doe (7)" -> "Jane Doe"; empty where there is nothing but a number.
std::string without_id(const Owner& owner) {
  const std::string id = "(" + number_of(owner.lms_id) + ")";
  if (owner.lms_id.empty() || !owner.student.ends_with(id)) return owner.student;
  return trimmed(owner.student.substr(0, owner.student.size() - id.size()));
}

struct Placed {
  const StudentRow* student = nullptr;
  std::string trouble;  // why nobody can say who it is
};

// The file's numbers and names, those of all its rows.
struct Known {
  std::set<std::string> ids;
  std::multiset<std::string> names;
};

// A quiz's number stands right behind a name: where that ends with digits, the number that the file knows is the end of
// it.
bool ends_with_known(const std::string& id, const Known& known) {
  for (std::size_t at = 1; at < id.size(); ++at) {
    if (known.ids.contains(id.substr(at))) return true;
  }
  return false;
}

// By a number, where the name does not say another: a student may have typed it, or it is another platform's. Whoever
// has one that the whole file does not know goes by name, as others do: platforms number people differently; only
// addresses are the same everywhere. Only where nobody has a number may what the student is called be one: names are
// people's own. A number that its student may have chosen is no more than a name is.
Placed student_of(const CsvRow& row, const Heads& heads, const Gradebook& book, const Known& known) {
  const std::set<std::string> own = ids_of(row, heads);
  const std::string name = name_key(row[heads.student]);
  const bool has_address = std::any_of(own.begin(), own.end(), is_address);
  std::vector<const StudentRow*> by_number, by_name;
  std::string trouble;
  for (const StudentRow& one : book.rows) {
    const std::string called = without_id(one.owner), id = id_key(number_of(one.owner.lms_id));
    const bool is_number = one.owner.lms_id.empty() && own.contains(called);
    if (own.contains(id)) {
      if (called.empty() || may_be_one(called, row[heads.student])) {
        (is_persons(one.owner.lms_id) ? by_number : by_name).push_back(&one);
      } else {
        trouble = fmt::format("the number is {}'s, whose name is another", one.owner.student);
      }
    } else if (!is_persons(one.owner.lms_id) && ends_with_known(id, known)) {
      if (name_key(called) == name) trouble = fmt::format("the number of {} may be another's", one.owner.student);
    } else if (!known.ids.contains(id) && (is_number || name_key(called) == name)) {
      if (has_address && is_address(id)) {
        trouble = fmt::format("the name is {}'s, whose address is another", one.owner.student);
      } else if (!is_number && known.names.count(name) > 1) {
        trouble = "another row has that name";
      } else {
        by_name.push_back(&one);
      }
    }
  }
  const auto& fits = by_number.empty() ? by_name : by_number;
  if (fits.size() > 1) return {nullptr, "several students of that name or number"};
  if (fits.empty()) return {nullptr, trouble};
  return {fits.front(), ""};
}

// Rows that are no student: what is possible, and what Canvas adds for its own test student.
bool is_student(const CsvRow& row, const Heads& heads) {
  return row.size() > heads.section && trimmed(row[heads.student]) != "Points Possible" &&
         !trimmed(row[heads.id]).empty();
}

}  // namespace

Result<std::string> canvas_head(const std::string& exported, const std::string& column) {
  ROOFWALK_TRY(const CsvTable table, read_csv(exported));
  if (table.rows.empty()) return Error{.message = "the file is empty"};
  ROOFWALK_TRY(const Heads heads, heads_of(table.rows.front(), column));
  return trimmed(table.rows.front()[heads.column]);
}

Result<CanvasResult> fill_canvas(const Gradebook& book, const std::string& exported, const CanvasWanted& wanted) {
  const std::string& chapter = wanted.chapter;
  ROOFWALK_TRY(CsvTable table, read_csv(exported));
  if (table.rows.empty()) return Error{.message = "the file is empty"};
  ROOFWALK_TRY(const Heads heads, heads_of(table.rows.front(), wanted.column));
  const auto at =
      std::find_if(book.columns.begin(), book.columns.end(), [&](const Column& c) { return c.chapter == chapter; });
  if (!chapter.empty() && at == book.columns.end())
    return Error{.message = fmt::format("`{}` is not among the chapters", chapter)};

  double possible = 100;
  for (const CsvRow& row : table.rows) {
    if (row.size() <= heads.column || trimmed(row.front()) != "Points Possible") continue;
    const std::string text = trimmed(row[heads.column]);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end != text.c_str() && value > 0) possible = value;
  }
  const auto cell_of = [&](const StudentRow& row) -> std::optional<double> {
    if (chapter.empty())
      return row.total_percent ? std::optional<double>(*row.total_percent * possible / 100) : std::nullopt;
    return row.cells[static_cast<std::size_t>(at - book.columns.begin())].points();
  };

  Known known;
  for (const CsvRow& row : table.rows) {
    if (!is_student(row, heads)) continue;
    known.ids.merge(ids_of(row, heads));
    known.names.insert(name_key(row[heads.student]));
  }
  CanvasResult result;
  std::map<const StudentRow*, std::size_t> placed;
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    CsvRow& row = table.rows[i];
    if (!is_student(row, heads)) continue;
    const std::string id = trimmed(row[heads.id]);
    const auto [found, trouble] = student_of(row, heads, book, known);
    if (found == nullptr) {
      result.notes.push_back(fmt::format("{}: {}; the cell stays as it was", row[heads.student],
                                         trouble.empty() ? "no submission was found" : trouble));
      continue;
    }
    if (!placed.emplace(found, i).second) {
      result.notes.push_back(fmt::format("{}: two rows of the file fit {}", row[heads.student], found->owner.student));
      continue;
    }
    const auto points = cell_of(*found);
    if (!points) {
      result.notes.push_back(fmt::format("{}: not graded yet; the cell stays as it was", row[heads.student]));
      continue;
    }
    row.resize(std::max(row.size(), heads.column + 1));
    const std::string fresh = points_text(*points);
    const auto before = wanted.written.find(id);
    const bool is_ours = trimmed(row[heads.column]).empty() || is_same(row[heads.column], fresh) ||
                         (before != wanted.written.end() && is_same(row[heads.column], before->second));
    if (!is_ours && !wanted.replaces) {
      result.notes.push_back(fmt::format("{}: the cell holds {}, which we did not write; it stays, in place of {}",
                                         row[heads.student], trimmed(row[heads.column]), fresh));
      ++result.kept;
      continue;
    }
    row[heads.column] = fresh;
    result.written[id] = fresh;
    ++result.filled;
  }
  for (const StudentRow& one : book.rows) {
    if (placed.count(&one) == 0) result.notes.push_back(fmt::format("{}: is not in the file", one.owner.student));
  }
  result.csv = write_csv(table);
  return result;
}

}  // namespace roofwalk
