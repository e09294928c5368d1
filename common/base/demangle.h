// Symbol names as written in the source.
#pragma once

#include <optional>
#include <string>

namespace roofwalk {

// "void scale<128>(float*)" for _Z5scaleILi128EEvPf. Nothing where `symbol` is not a mangled name, or where its text
// could be absurdly long: symbols are untrusted, and one that refers back to parts of itself can expand to any length.
std::optional<std::string> demangled(const std::string& symbol);

}  // namespace roofwalk
