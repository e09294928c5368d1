// Generates the page of supported PTX, book/ptx.md, from the parser's own tables: opcodes.def, the modifiers of
// arithmetic, refused.def.
#pragma once

#include <string>

namespace roofwalk::ptx {

std::string supported_page();

}  // namespace roofwalk::ptx
