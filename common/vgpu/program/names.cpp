#include "common/vgpu/program/names.h"
#include "common/base/demangle.h"

namespace roofwalk::vgpu {

std::string display_name(const std::string& mangled) {
  // In the name of a `static` kernel, a hash of its file precedes the actual name, which starts at the last "_Z".
  std::string name = mangled;
  if (name.starts_with("__nv_static_")) {
    if (const auto at = name.rfind("_Z"); at != std::string::npos && at != 0) name = name.substr(at);
  }
  const auto text = demangled(name);
  if (!text) return name;
  std::string out = *text;
  // Drop the parameter list: it starts at the parenthesis that matches the final one.
  if (!out.empty() && out.back() == ')') {
    int depth = 0;
    for (std::size_t i = out.size(); i-- > 0;) {
      if (out[i] == ')') ++depth;
      if (out[i] == '(' && --depth == 0) {
        out.resize(i);
        break;
      }
    }
    // Drop the return type, which only template functions have: it ends at the last space outside angle brackets.
    int angle = 0;
    for (std::size_t i = out.size(); i-- > 0;) {
      if (out[i] == '>') ++angle;
      if (out[i] == '<') --angle;
      if (out[i] == ' ' && angle == 0) {
        out.erase(0, i + 1);
        break;
      }
    }
  }
  return out;
}

}  // namespace roofwalk::vgpu
