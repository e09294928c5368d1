// The tables of grades.db, and how an older one is brought up to date. Rows are added, never changed or deleted.
#pragma once

#include <cstdint>

#include "common/store/sqlite.h"

namespace roofwalk {

inline constexpr std::int64_t kGradeSchema = 4;

// Adds what a database of schema `from` (0: an empty one) lacks, within the caller's transaction. False: the database's
// message says why.
bool make_grade_schema(Database& database, std::int64_t from);

}  // namespace roofwalk
