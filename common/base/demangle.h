// Symbols as their authors wrote them.
#pragma once

#include <optional>
#include <string>

namespace roofwalk {

// "void scale<128>(float*)" for _Z5scaleILi128EEvPf; nothing where it is no such symbol, or one whose text might be
// absurdly long: a symbol that refers back to parts of itself can stand for a text of any length, and symbols come from
// strangers.
std::optional<std::string> demangled(const std::string& symbol);

}  // namespace roofwalk
