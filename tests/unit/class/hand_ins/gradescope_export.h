// The metadata of an export from Gradescope.
#pragma once

namespace roofwalk::test {

// Keys are Ruby symbols, folders are named by numbers, and there are groups.
inline constexpr const char* kGradescope =
    "---\nsubmission_331:\n  :submitters:\n  - :name: Ada Lovelace\n    :sid: '77'\n    :email: ada@example.edu\n"
    "  :created_at: 2026-10-01 23:59:01.906498000 +02:00\n  :score: 0.0\n"
    "  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess\n    tests: []\n"
    "submission_332:\n  :submitters:\n  - :name: Bob\n    :email: bob@example.edu\n  - :name: Cy\n    :sid: '79'\n"
    "  :created_at: 2026-10-01 10:00:00.5 Z\n";

}  // namespace roofwalk::test
