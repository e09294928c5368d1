// The page of supported PTX, book/ptx.md, made of the tables that the parser itself reads: opcodes.def, the modifiers
// of arithmetic, refused.def.
#pragma once

#include <string>

namespace roofwalk::ptx {

std::string supported_page();

}  // namespace roofwalk::ptx
