// The output for a learner after `run` and in `watch`: the attempt in fewer than 25 lines at 80 columns.
#pragma once

#include <string>
#include <vector>

#include "grader/text/text.h"
#include "grader/walk/walk.h"

namespace roofwalk {

// How much a line of the card is worth, most important first. If not all lines fit, those worth least are dropped.
enum class Worth { verdict, advice, movement, figures, details, places, next };

struct CardLine {
  std::string text;  // may contain colours, which take no columns
  Worth worth = Worth::verdict;
};

inline constexpr std::size_t kCardColumns = 80;  // also on a wider terminal

// Lines of at most `columns`, except for longer words such as paths.
std::vector<CardLine> card(const Attempt& attempt, const WalkNews& news, const Colors& colors,
                           std::size_t columns = kCardColumns);

// Keeps at most `rows` of the lines, in order. Lines with the lowest worth are dropped first.
std::vector<CardLine> fitted(std::vector<CardLine> lines, std::size_t rows);

// The whole card as text.
std::string report(const Attempt& attempt, const WalkNews& news, const Colors& colors,
                   std::size_t columns = kCardColumns);

}  // namespace roofwalk
