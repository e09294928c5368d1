#include "grader/class/exports/xml.h"

#include "grader/text/markup.h"

namespace roofwalk {

std::string escaped_xml(const std::string& text) {
  std::string held;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // U+FFFE and U+FFFF are not XML characters.
    const bool is_no_character = c == 0xef && i + 2 < text.size() && static_cast<unsigned char>(text[i + 1]) == 0xbf &&
                                 static_cast<unsigned char>(text[i + 2]) >= 0xbe;
    if (is_no_character) i += 2;
    held += is_no_character || c == '\r' || c == 0x7f ? '?' : text[i];
  }
  std::string out;
  for (const char c : escaped(held)) {
    if (c == '\n') {
      out += "&#10;";
    } else if (c == '\t') {
      out += "&#9;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace roofwalk
