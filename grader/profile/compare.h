// Compares two attempts at one chapter line by line.
#pragma once

#include <string>
#include <vector>

#include "grader/profile/profile.h"

namespace roofwalk {

// A line of one or both files. Numbers count from 1; 0: not in that file.
struct LinePair {
  int was = 0, now = 0;
  bool operator==(const LinePair&) const = default;
};

// Pairs the lines of the longest common subsequence, ignoring indentation. Between common lines, old lines come
// before new ones. Every line of both files appears once, in file order. If the files are so long and different that
// the comparison would take much memory, only their common beginning and end are paired.
std::vector<LinePair> matched(const std::vector<std::string>& was, const std::vector<std::string>& now);
std::vector<LinePair> matched(const Profile& was, const Profile& now);

// The profile of `now`, with the profile of `was` as "against" and the matched lines as "pairs".
Json to_json(const Profile& was, const Profile& now);

// Sentences: which figures became better or worse, which diagnoses disappeared, and which diagnosis is first now.
std::vector<std::string> changes(const Profile& was, const Profile& now);

// "x4.2 faster", "x1.3 slower", "as fast".
std::string speed_up(const Profile& was, const Profile& now);

}  // namespace roofwalk
