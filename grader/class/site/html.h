// A self-contained page without requests and scripts, in light and dark colours, for wide screens and phones.
#pragma once

#include <string>

#include "grader/text/markup.h"

namespace roofwalk {

// `body` is HTML.
std::string class_page(const std::string& title, const std::string& body);

}  // namespace roofwalk
