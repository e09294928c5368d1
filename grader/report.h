// What a learner reads after `run`, and in `watch`: the attempt in fewer than 25 lines of 80 columns.
#pragma once

#include <string>
#include <vector>

#include "grader/text.h"
#include "grader/walk.h"

namespace roofwalk {

// What a line of the card is worth where not all of them fit, most first.
enum class Worth { verdict, advice, movement, figures, details, places, next };

struct CardLine {
  std::string text;  // at most 80 columns, colours not counted
  Worth worth = Worth::verdict;
};

std::vector<CardLine> card(const Attempt& attempt, const WalkNews& news, const Colors& colors);

// At most `rows` of the lines, in their order: what is worth least is left out first.
std::vector<CardLine> fitted(std::vector<CardLine> lines, std::size_t rows);

// The whole card.
std::string report(const Attempt& attempt, const WalkNews& news, const Colors& colors);

}  // namespace roofwalk
