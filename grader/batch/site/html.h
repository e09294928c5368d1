// A page that needs nothing else: no request, no script, light and dark, wide screens and phones.
#pragma once

#include <string>
#include <string_view>

namespace roofwalk {

// Text as it stands in an element or a quoted attribute; control characters become "?".
std::string escaped(std::string_view text);

// `body` is HTML.
std::string class_page(const std::string& title, const std::string& body);

}  // namespace roofwalk
