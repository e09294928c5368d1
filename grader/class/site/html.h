// A self-contained page without requests and scripts, in light and dark colours, for wide screens and phones.
#pragma once

#include <string>

#include "grader/text/markup.h"

namespace roofwalk {

// `body` is HTML. `reload_s` > 0: the page loads itself again after so many seconds, with a server or without.
std::string class_page(const std::string& title, const std::string& body, int reload_s = 0);

}  // namespace roofwalk
