#include "grader/text/markup.h"

#include "grader/text/characters.h"

namespace roofwalk {

std::string escaped(std::string_view text) {
  constexpr std::string_view kOfLines = "\n\r\t";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const Character one = character_at(text, i);
    switch (text[i]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += !one.code || is_harmless(*one.code) || kOfLines.find(text[i]) != std::string_view::npos
                   ? text.substr(i, one.bytes)
                   : "?";
    }
    i += one.bytes;
  }
  return out;
}

}  // namespace roofwalk
