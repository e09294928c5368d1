// The tables of grades.db, and upgrades from older schemas. Rows are added, never changed or deleted.
#pragma once

#include <cstdint>

#include "common/store/sqlite.h"

namespace roofwalk {

inline constexpr std::int64_t kGradeSchema = 5;

// Upgrades a database from schema `from` (0: an empty database) within the caller's transaction. False on failure:
// the database's message gives the reason.
bool make_grade_schema(Database& database, std::int64_t from);

// Files of unknown owner were in another table before schema 5. Copies them to where they are now, if the rows are from
// schema `from`, an older one.
bool move_unowned(Database& database, std::int64_t from);

}  // namespace roofwalk
