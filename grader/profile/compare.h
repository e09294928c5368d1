// Two attempts at one chapter, line by line: which lines of the one are lines of the other.
#pragma once

#include <string>
#include <vector>

#include "grader/profile/profile.h"

namespace roofwalk {

// A line of either file, or of both. Numbers count from 1; 0: it is not in that file.
struct LinePair {
  int was = 0, now = 0;
  bool operator==(const LinePair&) const = default;
};

// The longest common run of lines, indentation aside; between common lines, what is gone stands before what is new.
// Every line of both files is there once, in the order of its file. Files so long and so different that comparing them
// would take much memory share only what they begin and end with.
std::vector<LinePair> matched(const std::vector<std::string>& was, const std::vector<std::string>& now);
std::vector<LinePair> matched(const Profile& was, const Profile& now);

// The profile of `now`, with that of `was` as "against", and their lines as "pairs".
Json to_json(const Profile& was, const Profile& now);

// Sentences: which figures got better, which worse, which diagnoses are gone, and what is in the way now.
std::vector<std::string> changes(const Profile& was, const Profile& now);

// "x4.2 faster", "x1.3 slower", "as fast".
std::string speed_up(const Profile& was, const Profile& now);

}  // namespace roofwalk
