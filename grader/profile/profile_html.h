// A profile as one self-contained page without requests and scripts, in light and dark colours, for wide screens and
// phones.
#pragma once

#include <string>

#include "grader/profile/compare.h"

namespace roofwalk {

std::string profile_page(const Profile& profile);
std::string comparison_page(const Profile& was, const Profile& now);

}  // namespace roofwalk
