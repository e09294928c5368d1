// Text inside a page.
#pragma once

#include <string>
#include <string_view>

namespace roofwalk {

// As it stands in an element or a quoted attribute of HTML; control characters but those of lines, and marks
// that turn or hide text (characters.h), become "?".
std::string escaped(std::string_view text);

}  // namespace roofwalk
