// How the parser leaves a hostile or unsupported text. Private to this layer: parse() turns a Refusal into an Error, so
// that no exception crosses the layer's border. Thrown, because a recursive descent that must stop at its first error
// would otherwise test for it after every token.
#pragma once

#include <string>
#include <string_view>

namespace roofwalk::ptx {

struct Refusal {
  std::string message;  // without the "PTX line N: " in front
  int ptx_line = 0;
  std::string advice = {};
};

// A name or number of the text, quoted for a message and cut where it is absurdly long.
std::string in_quotes(std::string_view text);

}  // namespace roofwalk::ptx
