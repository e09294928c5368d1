// Generates the page of supported PTX, book/ptx.md, from the parser's own tables: opcodes.def, modifiers.def and
// refused.def.
#pragma once

#include <string>

namespace roofwalk::ptx {

std::string supported_page();

}  // namespace roofwalk::ptx
