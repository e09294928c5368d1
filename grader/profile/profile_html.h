// A profile as one page that needs nothing else: no request, no script, light and dark, wide screens and phones.
#pragma once

#include <string>

#include "grader/profile/compare.h"

namespace roofwalk {

std::string profile_page(const Profile& profile);
std::string comparison_page(const Profile& was, const Profile& now);

}  // namespace roofwalk
