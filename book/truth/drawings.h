// Drawings for the book: memory accesses on sectors and banks, tiles, machines, and kernels as slopes. All positions
// and counts in a drawing are computed here from the numbers on the page.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/json.h"
#include "common/base/result.h"

namespace roofwalk::book {

using Records = std::map<std::string, Json>;  // records of the page, by name

// Draws an SVG in light colours. `words` is one of:
//   sectors STRIDE...          which 32-byte sectors the 32 floats of a warp touch, STRIDE elements apart
//   banks WORDS...             the banks that a warp uses when it reads down a column of rows of WORDS words
//   tile EDGE DEPTH            a block's square of c, the strips of a and b that it needs, and its tile of each
//   rows LENGTH...             rows of a sparse matrix, as many as a small warp has lanes: a thread for each row, a
//                              warp for each row, and equal shares
//   machine RECORD             a GPU's parts and the paths between them; RECORD comes from `machines NAME`
//   slopes RECORD:LABEL...     attempts as dots on linear axes, each with its line from the origin
// Errors: an unknown word, missing numbers, a missing record.
Result<std::string> drawing(const std::vector<std::string>& words, const Records& records);

}  // namespace roofwalk::book
