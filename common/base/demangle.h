// Demangles symbol names.
#pragma once

#include <optional>
#include <string>

namespace roofwalk {

// Returns "void scale<128>(float*)" for _Z5scaleILi128EEvPf. nullopt if `symbol` is not a mangled name, or if its text
// could be extremely long: symbols are untrusted, and one that refers back to parts of itself can expand to any length.
std::optional<std::string> demangled(const std::string& symbol);

}  // namespace roofwalk
