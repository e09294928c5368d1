// How the parser rejects hostile or unsupported text. Private to this layer: parse() turns a Refusal into an Error, so
// that no exception leaves the layer. Refusal is an exception because the recursive descent parser would otherwise have
// to check for an error after every token.
#pragma once

#include <string>
#include <string_view>

namespace roofwalk::ptx {

struct Refusal {
  std::string message;  // without the prefix "PTX line N: "
  int ptx_line = 0;
  std::string advice = {};
  bool is_unsupported = false;  // valid PTX that this machine does not have: its function is refused, not the module
};

// Returns a name or number from the text, quoted for a message and truncated if very long.
std::string in_quotes(std::string_view text);

}  // namespace roofwalk::ptx
