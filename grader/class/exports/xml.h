// Escapes text for XML 1.0.
#pragma once

#include <string>

namespace roofwalk {

// Escapes an attribute or text, which must be valid UTF-8. U+FFFE, U+FFFF and control characters except \n and \t
// become "?"; \n and \t become character references, so that attributes keep them, too.
std::string escaped_xml(const std::string& text);

}  // namespace roofwalk
