// Pictures of the book: light ones as programs draw them, dark ones made from those, and a seal on what gnuplot drew.
#pragma once

#include <string>

namespace roofwalk::book {

// `svg` with every colour's lightness turned round and its hue kept.
std::string dark_of(const std::string& svg);

// gnuplot's pictures differ from one of its releases to the next, its scripts do not. The seal, a comment at the end,
// holds the hashes of the script and of the picture: whoever has another gnuplot can compare the script, and nobody can
// edit the picture unnoticed.
std::string sealed(const std::string& svg, const std::string& script);

// Empty where `picture` is one that was drawn from `script` and left alone; else what is wrong with it.
std::string broken_seal(const std::string& picture, const std::string& script);

}  // namespace roofwalk::book
