// Escapes text for HTML.
#pragma once

#include <string>
#include <string_view>

namespace roofwalk {

// Escapes text for an HTML element or a quoted attribute. Characters that are not harmless (characters.h) become "?",
// except line breaks and tabs.
std::string escaped(std::string_view text);

}  // namespace roofwalk
