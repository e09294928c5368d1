// A profile on a terminal: the source with a narrow gutter of figures, hot lines marked, and sentences below.
#pragma once

#include <string>

#include "grader/profile/compare.h"
#include "grader/text/text.h"

namespace roofwalk {

// Shows the three or four most informative figures at 80 columns; more if the lines of code leave room.
std::string profile_text(const Profile& profile, std::size_t columns, const Colors& colors);

// Shows the sources side by side if there is room for two, otherwise one above the other, as a diff.
std::string comparison_text(const Profile& was, const Profile& now, std::size_t columns, const Colors& colors);

}  // namespace roofwalk
