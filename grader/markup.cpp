#include "grader/markup.h"

namespace roofwalk {

std::string escaped(std::string_view text) {
  constexpr std::string_view kOfLines = "\n\r\t";
  std::string out;
  for (const char c : text) {
    switch (c) {
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
        out += static_cast<unsigned char>(c) < ' ' && kOfLines.find(c) == std::string_view::npos ? '?' : c;
    }
  }
  return out;
}

}  // namespace roofwalk
