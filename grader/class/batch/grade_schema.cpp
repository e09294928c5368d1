#include "grader/class/batch/grade_schema.h"

#include <fmt/format.h>

#include <array>

namespace roofwalk {
namespace {

constexpr const char* kSchema = R"sql(
  CREATE TABLE students (
    student TEXT NOT NULL UNIQUE,
    lms_id TEXT NOT NULL
  ) STRICT;
  CREATE TABLE grades (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    round INTEGER NOT NULL CHECK (round >= 1),
    chapter TEXT NOT NULL,
    source_sha256 TEXT NOT NULL,
    graded_at TEXT NOT NULL,
    result TEXT NOT NULL CHECK (json_valid(result)),
    plot TEXT NOT NULL,
    profile TEXT NOT NULL,
    row_sha256 TEXT NOT NULL,
    UNIQUE (key, round)
  ) STRICT;
  CREATE TABLE faults (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    round INTEGER NOT NULL,
    reason TEXT NOT NULL,
    at TEXT NOT NULL
  ) STRICT;
  CREATE TABLE settings (name TEXT NOT NULL UNIQUE, value TEXT NOT NULL) STRICT;
)sql";

// Added by schema 2.
constexpr const char* kSecondSchema = R"sql(
  CREATE TABLE exported (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    head TEXT NOT NULL,
    student_id TEXT NOT NULL,
    cell TEXT NOT NULL
  ) STRICT;
)sql";

// The table has this form since schema 3; in schema 2 it had no times.
constexpr const char* kLeftOut = R"sql(
  CREATE TABLE left_out (
    label TEXT NOT NULL,
    reason TEXT NOT NULL,
    student TEXT NOT NULL,
    handed_in_at_s INTEGER NOT NULL,
    UNIQUE (label, reason, student, handed_in_at_s)
  ) STRICT;
)sql";

// The table has this form since schema 4; before, it could not hold two rows that differ only in their late mark.
constexpr const char* kSubmissions = R"sql(
  CREATE TABLE submissions (
    student TEXT NOT NULL,
    lms_id TEXT NOT NULL,
    late_mark INTEGER NOT NULL CHECK (late_mark IN (0, 1, 2)),
    chapter TEXT NOT NULL,
    label TEXT NOT NULL,
    source_sha256 TEXT NOT NULL,
    submitted_at_s INTEGER NOT NULL,
    UNIQUE (student, chapter, source_sha256, submitted_at_s, label, late_mark)
  ) STRICT;
)sql";

// Added by schema 5. `unowned`: [label, reason] of each left-out file whose owner is unknown. A row counts until its
// path or a folder around it has a later one.
constexpr const char* kCollected = R"sql(
  CREATE TABLE collected (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL,
    unowned TEXT NOT NULL CHECK (json_valid(unowned))
  ) STRICT;
)sql";

// Before schema 5, left_out had these files, without their paths. So each label stands for a path.
constexpr const char* kMoveUnowned = R"sql(
  INSERT INTO collected (path, unowned)
  SELECT label, json_group_array(json_array(label, reason))
  FROM (SELECT DISTINCT label, reason FROM left_out WHERE student = '') GROUP BY label;
)sql";

constexpr std::array kTables = {"students", "grades", "faults", "settings"};
constexpr std::array kSecondTables = {"exported"};

template <class Tables>
bool make_tables(Database& database, const char* schema, const Tables& tables) {
  bool made = database.run(schema);
  for (const char* table : tables) {
    const std::string triggers = fmt::format(
        "CREATE TRIGGER {0}_are_kept BEFORE DELETE ON {0} BEGIN SELECT RAISE(ABORT, '{0} are never deleted'); END;"
        "CREATE TRIGGER {0}_stay BEFORE UPDATE ON {0} BEGIN SELECT RAISE(ABORT, '{0} are never changed'); END;",
        table);
    made = made && database.run(triggers.c_str());
  }
  return made;
}

// Replaces a table of an older schema and keeps its rows.
bool make_anew(Database& database, const std::string& table, const char* schema, const char* columns) {
  return database.run(fmt::format("ALTER TABLE {0} RENAME TO {0}_old; DROP TRIGGER IF EXISTS {0}_are_kept; "
                                  "DROP TRIGGER IF EXISTS {0}_stay",
                                  table)
                          .c_str()) &&
         make_tables(database, schema, std::array{table.c_str()}) &&
         database.run(
             fmt::format("INSERT INTO {0} SELECT {1} FROM {0}_old; DROP TABLE {0}_old", table, columns).c_str());
}

}  // namespace

bool move_unowned(Database& database, std::int64_t from) {
  constexpr std::int64_t kFirstCollected = 5;
  return from >= kFirstCollected || database.run(kMoveUnowned);
}

bool make_grade_schema(Database& database, std::int64_t from) {
  bool made = from >= 1 || make_tables(database, kSchema, kTables);
  made = made && (from >= 2 || make_tables(database, kSecondSchema, kSecondTables));
  made = made && (from >= 2 || make_tables(database, kLeftOut, std::array{"left_out"}));
  made = made && (from != 2 || make_anew(database, "left_out", kLeftOut, "label, reason, student, 0"));
  made = made && (from >= 1 || make_tables(database, kSubmissions, std::array{"submissions"}));
  made = made && (from < 1 || from > 3 || make_anew(database, "submissions", kSubmissions, "*"));
  made = made && make_tables(database, kCollected, std::array{"collected"}) && move_unowned(database, from);
  return made && database.run(fmt::format("PRAGMA user_version = {}", kGradeSchema).c_str());
}

}  // namespace roofwalk
