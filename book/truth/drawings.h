// What the book draws by itself: how accesses meet the memory's units, and kernels as slopes. All places and counts in
// a drawing are worked out here, from the numbers that the page gives.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/json.h"
#include "common/base/result.h"

namespace roofwalk::book {

using Records = std::map<std::string, Json>;  // the page's, by their names

// An SVG in light colours. `words`, one of:
//   sectors STRIDE...          which 32-byte sectors the 32 floats of a warp touch, STRIDE elements apart
//   banks WORDS...             which of 32 banks a warp reads down a column, in rows of WORDS words
//   tile EDGE DEPTH            a block's square of c, the strips of a and b that it needs, and its tile of each
//   machine RECORD             a GPU's parts and the roads between them; the record is that of `machines NAME`
//   slopes RECORD:LABEL...     attempts as dots on linear axes, each with its line from the origin
// Errors: another word, no numbers, a record that is not there.
Result<std::string> drawing(const std::vector<std::string>& words, const Records& records);

}  // namespace roofwalk::book
