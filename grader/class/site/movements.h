// The dots of one chapter by how they moved, as HTML.
#pragma once

#include <string>
#include <vector>

#include "common/roofline/roofline.h"

namespace roofwalk {

struct MovedDot {
  std::string shown;  // the student, as on the pages
  std::string kind;   // as in ClassDot
  Movement moved;     // from the starter
};

// One line that counts the dots of each direction and, folded, whose they are and how far each moved. Empty without
// dots. `from`: what they moved from, such as "starter". The dots' order stays.
std::string movements_html(const std::vector<MovedDot>& dots, const std::string& from);

}  // namespace roofwalk
