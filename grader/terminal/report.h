// What a learner reads after `run`, and in `watch`: the attempt in fewer than 25 lines where there are 80 columns.
#pragma once

#include <string>
#include <vector>

#include "grader/text/text.h"
#include "grader/walk/walk.h"

namespace roofwalk {

// What a line of the card is worth where not all of them fit, most first.
enum class Worth { verdict, advice, movement, figures, details, places, next };

struct CardLine {
  std::string text;  // colours take no columns
  Worth worth = Worth::verdict;
};

inline constexpr std::size_t kCardColumns = 80;  // and no more, however wide the terminal is

// At most `columns` wide, but for words that are longer, such as paths.
std::vector<CardLine> card(const Attempt& attempt, const WalkNews& news, const Colors& colors,
                           std::size_t columns = kCardColumns);

// At most `rows` of the lines, in their order: what is worth least is left out first.
std::vector<CardLine> fitted(std::vector<CardLine> lines, std::size_t rows);

// The whole card.
std::string report(const Attempt& attempt, const WalkNews& news, const Colors& colors,
                   std::size_t columns = kCardColumns);

}  // namespace roofwalk
