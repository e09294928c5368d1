// Reads and writes a gradebook in the form that Canvas exports and imports. The heading of the first column contains
// "Student"; then come "ID", optional SIS and login columns, and "Section" as the last of the student's columns; then
// assignments, "Title (number)". A row "Points Possible" may precede the students. Columns of totals are read-only
// and stay unchanged.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/base/pattern.h"
#include "grader/class/exports/csv.h"
#include "grader/class/exports/exports.h"
#include "grader/class/hand_ins/lms_names.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

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
    const std::string name(trimmed(row[i]));
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
    return Error{.message = fmt::format("{} columns are named `{}`", fits.size(), wanted),
                 .file = "",
                 .line = 1,
                 .advice = "give the number after it, too"};
  heads.column = fits.front();
  return heads;
}

// A key that is the same for "Doe, Jane", "Jane Doe" and "jane-doe".
std::string name_key(const std::string& name) {
  std::string text = name;
  if (const std::size_t comma = name.find(", "); comma != std::string::npos)
    text = name.substr(comma + 2) + name.substr(0, comma);
  std::string key = small_letters(text);
  std::erase_if(key, [](char c) { return c == ' ' || c == '-' || c == '\''; });
  return key;
}

// Whether two texts may be the same name: with first and last name in either order, with or without accents, or as in
// Canvas' file names, which leave out some letters.
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

// Reads a number as Canvas writes it in the course's language: 9.50, 9,50, 1,000.00 or 1.000,00. nullopt: not a
// number.
std::optional<double> number_in(const std::string& cell) {
  constexpr std::size_t kGroup = 3;
  std::string text(trimmed(cell));
  const std::size_t mark = text.find_last_of(".,");
  if (mark != std::string::npos) {
    const bool has_both = text.find('.') != std::string::npos && text.find(',') != std::string::npos;
    const bool is_group = !has_both && text[mark] == ',' && text.size() - mark - 1 == kGroup;
    const std::string behind = text.substr(mark + 1);
    std::erase_if(text, [](char c) { return c == '.' || c == ','; });
    if (!is_group) text.insert(text.size() - behind.size(), ".");
  }
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// Whether two cells are the same, as text or as numbers: Canvas writes 9.50 for 9.5.
bool is_same(const std::string& a, const std::string& b) {
  if (trimmed(a) == trimmed(b)) return true;
  const std::optional<double> x = number_in(a), y = number_in(b);
  return x && y && *x == *y;
}

bool is_address(const std::string& id) { return id.find('@') != std::string::npos; }

bool is_number_of_canvas(const std::string& id) { return id.find_first_not_of("0123456789") == std::string::npos; }

// A key that is the same for two spellings of an id: in e-mail addresses, small and capital letters are the same.
std::string id_key(const std::string& text) {
  std::string key(trimmed(text));
  if (is_address(key))
    std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
  return key;
}

// The ids by which a platform may identify the student of a row.
std::set<std::string> ids_of(const CsvRow& row, const Heads& heads) {
  std::set<std::string> ids{id_key(row[heads.id])};
  for (const auto& head : {heads.login, heads.sis}) {
    if (head && !trimmed(row[*head]).empty()) ids.insert(id_key(row[*head]));
  }
  return ids;
}

// The id in small letters (of A to Z), and without leading zeros if it is a number, because schools and people write
// ids in several ways.
std::string plain_id(const std::string& id) {
  std::string key = small_address(std::string(trimmed(id)));
  if (is_number_of_canvas(key)) key.erase(0, std::min(key.find_first_not_of('0'), key.size()));
  return key;
}

// Returns the id without parts that people leave out or add: an address's domain, spaces, dashes and apostrophes.
std::string loose_id(const std::string& id) { return name_key(plain_id(id.substr(0, id.find('@')))); }

std::set<std::string> loose_ids_of(const CsvRow& row, const Heads& heads) {
  std::set<std::string> loose;
  for (const std::string& id : ids_of(row, heads)) loose.insert(loose_id(id));
  loose.erase("");
  return loose;
}

// "Jane Doe (7)" -> "Jane Doe"; empty if there is only a number.
std::string without_id(const Owner& owner) {
  const std::string id = "(" + number_of(owner.lms_id) + ")";
  if (owner.lms_id.empty() || !owner.student.ends_with(id)) return owner.student;
  return std::string(trimmed(owner.student.substr(0, owner.student.size() - id.size())));
}

// The name of a student in the gradebook, and other ways to write it.
struct Called {
  std::string as_it_is, name, plain, loose, id;
  explicit Called(const Owner& owner)
      : as_it_is(without_id(owner)),
        name(name_key(as_it_is)),
        plain(plain_id(as_it_is)),
        loose(loose_id(as_it_is)),
        id(id_key(number_of(owner.lms_id))) {}
};

struct Placed {
  const StudentRow* student = nullptr;
  bool by_id = false;   // matched by Canvas' own number
  std::string trouble;  // why it is uncertain who the student is
};

// The numbers and names in all rows of the file.
struct Known {
  std::set<std::string> ids;  // Canvas' ids, logins and SIS ids
  std::set<std::string> canvas_ids;
  std::multiset<std::string> names;
  std::map<std::string, int> loose_ids;  // by id: the number of rows that have it
  bool numbers_are_canvas = false;       // whether a proven number in the gradebook is the ID of a row with that name
};

// Whether the end of `id`, without its first digit or digits, is a known number of at least `fewest` digits. That may
// then be the true number: in the name of a quiz's file, the number directly follows the student's name, which may
// itself end with digits.
bool ends_with_known(const std::string& id, const Known& known, std::size_t fewest) {
  for (std::size_t at = 1; at + fewest <= id.size(); ++at) {
    if (known.ids.contains(id.substr(at))) return true;
  }
  return false;
}

// A row of the file, and the ids and names that its student may have in the gradebook.
struct FileRow {
  std::set<std::string> ids, plain_ids, loose_ids;  // plain_ids: of login and SIS id only
  std::string student, name, canvas_id;

  FileRow(const CsvRow& row, const Heads& heads)
      : ids(ids_of(row, heads)),
        loose_ids(loose_ids_of(row, heads)),
        student(row[heads.student]),
        name(name_key(student)),
        canvas_id(id_key(row[heads.id])) {
    for (const auto& head : {heads.login, heads.sis}) {
      if (head) plain_ids.insert(plain_id(row[*head]));
    }
    plain_ids.erase("");
  }
  bool has(const std::string& id, const Known& known) const {
    return ids.contains(id) && (id == canvas_id || !known.canvas_ids.contains(id));
  }
};

// Whether the student's name in the gradebook may be an id, in some spelling, of another row.
bool is_anothers_id(const Called& called, const FileRow& row, const Known& known) {
  const auto rows = known.loose_ids.find(called.loose);
  return rows != known.loose_ids.end() && rows->second > (row.loose_ids.contains(called.loose) ? 1 : 0);
}

bool is_anothers_name(const Called& called, const FileRow& row, const Known& known) {
  return known.names.count(called.name) > (called.name == row.name ? 1u : 0u);
}

// Whether the student's name in the gradebook is the row's login or SIS id but for capitals and leading zeros, and is
// not exactly the id of any row.
bool is_id_in_other_letters(const Called& called, const FileRow& row, const Known& known) {
  return row.plain_ids.contains(called.plain) && !known.ids.contains(called.as_it_is);
}

// Finds the student of a row, by number if possible. A number does not count if the names differ, because a student may
// have typed it, or it may be another platform's. If it counts, a number that Canvas wrote identifies one person, but
// one that the student may have typed counts only as much as a name. A student whose number is not in the file is found
// by name, because platforms number people differently. This is not done if both the row and the student have e-mail
// addresses, which are the same on every platform, or if the submissions have Canvas' own numbers. The name of a
// student without a number may be the row's login or id, unless it may also be another row's.
Placed student_of(const FileRow& row, const Gradebook& book, const std::vector<Called>& all_called,
                  const Known& known) {
  constexpr std::size_t kCanvasDigits = 4;  // a shorter one is often the end of another number
  const bool has_address = std::any_of(row.ids.begin(), row.ids.end(), is_address);
  std::vector<const StudentRow*> by_id, by_number, by_name;
  std::string trouble;
  bool is_namesake = false;  // whether the student has the row's name, but another row has it, too
  for (std::size_t i = 0; i < book.rows.size(); ++i) {
    const StudentRow& one = book.rows[i];
    const Called& called = all_called[i];
    const std::string& id = called.id;
    const bool has_no_id = one.owner.lms_id.empty(), has_name = called.name == row.name;
    const bool may_be_id = has_no_id && is_id_in_other_letters(called, row, known);
    const bool is_doubtful = is_anothers_id(called, row, known);
    const bool is_number = has_no_id && (row.has(called.as_it_is, known) ||
                                         (may_be_id && !is_doubtful && !is_anothers_name(called, row, known)));
    const bool is_named = is_number || (has_name && (!is_doubtful || row.has(called.as_it_is, known)));
    if (!is_named && (may_be_id || has_name))
      trouble = fmt::format("{} may be the name, the login or the number in another row", one.owner.student);
    const bool is_proven = is_persons(one.owner.lms_id);
    if (!is_proven && ends_with_known(id, known, row.ids.contains(id) ? kCanvasDigits : 1)) {
      if (row.ids.contains(id) || has_name)
        trouble = fmt::format("the number of {} may be somebody else's", one.owner.student);
    } else if (row.has(id, known)) {
      const bool is_called_so = may_be_one(called.as_it_is, row.student) ||
                                std::any_of(one.also_called.begin(), one.also_called.end(), [&](const Owner& other) {
                                  return may_be_one(without_id(other), row.student);
                                });
      if (called.as_it_is.empty() || is_called_so) {
        (!is_proven ? by_name : id == row.canvas_id ? by_id : by_number).push_back(&one);
      } else {
        trouble = fmt::format("the number is {}'s, who has another name", one.owner.student);
      }
    } else if (!known.ids.contains(id) && is_named) {
      if (has_address && is_address(id)) {
        trouble = fmt::format("the name is {}'s, who has another address", one.owner.student);
      } else if (known.numbers_are_canvas && is_proven && is_number_of_canvas(id)) {
        trouble = fmt::format("the name is {}'s, who has another number", one.owner.student);
      } else if (!is_number && known.names.count(row.name) > 1) {
        trouble = "another row has that name";
        is_namesake = true;
      } else {
        by_name.push_back(&one);
      }
    }
  }
  const auto& fits = !by_id.empty() ? by_id : !by_number.empty() ? by_number : by_name;
  // Another row has this name, too, so a student found only by name or login may be a different person.
  if (is_namesake && by_id.empty() && by_number.empty()) return {nullptr, false, trouble};
  if (fits.size() > 1) return {nullptr, false, "several students have that name or number"};
  if (fits.empty()) return {nullptr, false, trouble};
  return {fits.front(), !by_id.empty(), ""};
}

// Whether the row is a student's. Rows that describe columns, such as the row of possible points, have no ID, in
// whichever language they are. Canvas' test student counts as a student.
bool is_student(const CsvRow& row, const Heads& heads) {
  return row.size() > heads.section && !trimmed(row[heads.id]).empty();
}

Result<double> points_possible(const CsvTable& table, const Heads& heads) {
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    const CsvRow& row = table.rows[i];
    if (row.size() <= heads.column || trimmed(row[heads.id]) != "" || trimmed(row.front()) != "Points Possible")
      continue;
    if (trimmed(row[heads.column]).empty()) break;
    const std::optional<double> possible = number_in(row[heads.column]);
    if (possible && *possible > 0) return *possible;
    return Error{
        .message = fmt::format("the points possible, `{}`, are not a number above 0", trimmed(row[heads.column])),
        .file = "",
        .line = static_cast<int>(i + 1),
        .advice = "set the assignment's points in Canvas, then export"};
  }
  return 100.0;
}

// Finds the student of each row. If several rows match one student, all of them are dropped, except a row that matches
// by Canvas' own number if no other row does.
std::vector<Placed> place_rows(const CsvTable& table, const Heads& heads, const Gradebook& book) {
  Known known;
  std::map<std::string, std::string> names_by_id;  // by Canvas' ID
  for (const CsvRow& row : table.rows) {
    if (!is_student(row, heads)) continue;
    names_by_id[id_key(row[heads.id])] = row[heads.student];
    known.ids.merge(ids_of(row, heads));
    known.canvas_ids.insert(id_key(row[heads.id]));
    known.names.insert(name_key(row[heads.student]));
    for (const std::string& id : loose_ids_of(row, heads)) ++known.loose_ids[id];
  }
  known.numbers_are_canvas = std::any_of(book.rows.begin(), book.rows.end(), [&](const StudentRow& one) {
    const auto name = names_by_id.find(id_key(number_of(one.owner.lms_id)));
    return is_persons(one.owner.lms_id) && name != names_by_id.end() && may_be_one(without_id(one.owner), name->second);
  });
  std::vector<Called> called;
  for (const StudentRow& one : book.rows) called.emplace_back(one.owner);
  std::vector<Placed> placed(table.rows.size());
  // By student: number of rows that match, and number of those that match by Canvas' own number.
  std::map<const StudentRow*, std::pair<int, int>> fits;
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    if (!is_student(table.rows[i], heads)) continue;
    placed[i] = student_of(FileRow(table.rows[i], heads), book, called, known);
    if (placed[i].student == nullptr) continue;
    auto& [all, by_id] = fits[placed[i].student];
    ++all;
    by_id += placed[i].by_id ? 1 : 0;
  }
  for (Placed& one : placed) {
    if (one.student == nullptr) continue;
    const auto& [all, by_id] = fits.at(one.student);
    if (all == 1 || (one.by_id && by_id == 1)) continue;
    one.trouble = fmt::format("two rows of the file match {}", one.student->owner.student);
    one.student = nullptr;
  }
  return placed;
}

}  // namespace

Result<std::string> canvas_head(const std::string& exported, const std::string& column) {
  ROOFWALK_TRY(const CsvTable table, read_csv(exported));
  if (table.rows.empty()) return Error{.message = "the file is empty"};
  ROOFWALK_TRY(const Heads heads, heads_of(table.rows.front(), column));
  return std::string(trimmed(table.rows.front()[heads.column]));
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

  ROOFWALK_TRY(const double possible, points_possible(table, heads));
  const auto cell_of = [&](const StudentRow& row) -> std::optional<double> {
    if (chapter.empty())
      return row.total_percent ? std::optional<double>(*row.total_percent * possible / 100) : std::nullopt;
    return row.cells[static_cast<std::size_t>(at - book.columns.begin())].points();
  };

  CanvasResult result;
  std::set<const StudentRow*> found_ones;
  const std::vector<Placed> placed = place_rows(table, heads, book);
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    CsvRow& row = table.rows[i];
    if (!is_student(row, heads)) continue;
    const std::string id(trimmed(row[heads.id]));
    const StudentRow* const found = placed[i].student;
    if (found == nullptr) {
      const std::string& trouble = placed[i].trouble;
      result.notes.push_back(fmt::format("{}: {}; the cell stays as it was", row[heads.student],
                                         trouble.empty() ? "no submission was found" : trouble));
      continue;
    }
    found_ones.insert(found);
    const auto points = cell_of(*found);
    if (!points) {
      const bool is_early =
          !chapter.empty() &&
          found->cells[static_cast<std::size_t>(at - book.columns.begin())].state == Cell::State::not_due;
      result.notes.push_back(fmt::format("{}: {}; the cell stays as it was", row[heads.student],
                                         is_early                             ? "nothing handed in, and not due yet"
                                         : chapter.empty() && !book.has_due() ? "nothing is due yet"
                                                                              : "not graded yet"));
      continue;
    }
    row.resize(std::max(row.size(), heads.column + 1));
    const std::string fresh = points_text(*points);
    const auto before = wanted.written.find(id);
    const bool is_ours = trimmed(row[heads.column]).empty() || is_same(row[heads.column], fresh) ||
                         (before != wanted.written.end() && is_same(row[heads.column], before->second));
    if (!is_ours && !wanted.replaces) {
      result.notes.push_back(
          fmt::format("{}: the cell holds {}, which roofwalk did not write; it is kept, not replaced by {}",
                      row[heads.student], trimmed(row[heads.column]), fresh));
      ++result.kept;
      continue;
    }
    row[heads.column] = fresh;
    result.written[id] = fresh;
    ++result.filled;
  }
  for (const StudentRow& one : book.rows) {
    if (!found_ones.contains(&one)) result.notes.push_back(fmt::format("{}: is not in the file", one.owner.student));
  }
  result.csv = write_csv(table);
  return result;
}

}  // namespace roofwalk
