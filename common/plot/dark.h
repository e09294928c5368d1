// Dark variants of SVG pictures.
#pragma once

#include <string>

namespace roofwalk {

// Returns `svg` with the HSL lightness of every colour inverted and its hue kept.
std::string dark_of(const std::string& svg);

// Returns `svg` with a style sheet that gives it the colours of dark_of() where the reader prefers dark pages (CSS:
// prefers-color-scheme). Browsers follow it in a file of its own and in an <img>.
std::string with_dark_scheme(const std::string& svg);

// Returns `svg` without that style sheet.
std::string without_dark_scheme(const std::string& svg);

}  // namespace roofwalk
