// A profile on a terminal: the source with a narrow gutter of figures, hot lines marked, and sentences below.
#pragma once

#include <string>

#include "grader/profile/compare.h"
#include "grader/text/text.h"

namespace roofwalk {

// At 80 columns, the three or four most informative figures; more if the lines of code leave room.
std::string profile_text(const Profile& profile, std::size_t columns, const Colors& colors);

// Side by side if two sources have room, otherwise one above the other, as a diff.
std::string comparison_text(const Profile& was, const Profile& now, std::size_t columns, const Colors& colors);

}  // namespace roofwalk
