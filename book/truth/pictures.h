// Seals of the book's pictures that gnuplot drew.
#pragma once

#include <string>

namespace roofwalk::book {

// Appends a seal to `svg`: a comment with the hashes of the gnuplot script and of the picture. Pictures differ between
// releases of gnuplot, but scripts do not, so the script's hash shows whether the picture is up to date. The picture's
// hash reveals edits.
std::string sealed(const std::string& svg, const std::string& script);

// Returns `picture` without its seal.
std::string unsealed(const std::string& picture);

// Returns what is wrong with `picture`; empty if it was drawn from `script` and not edited.
std::string broken_seal(const std::string& picture, const std::string& script);

}  // namespace roofwalk::book
