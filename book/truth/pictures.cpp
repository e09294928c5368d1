#include "book/truth/pictures.h"

#include <fmt/format.h>

#include "common/base/hash.h"

namespace roofwalk::book {
namespace {

constexpr std::string_view kSeal = "<!-- roofwalk: script ";

}  // namespace

std::string unsealed(const std::string& picture) { return picture.substr(0, picture.find(kSeal)); }

std::string sealed(const std::string& svg, const std::string& script) {
  return svg + fmt::format("{}{} picture {} -->\n", kSeal, sha256_hex(script), sha256_hex(svg));
}

std::string broken_seal(const std::string& picture, const std::string& script) {
  const std::size_t seal = picture.find(kSeal);
  if (seal == std::string::npos) return "no program drew it";
  const std::string svg = picture.substr(0, seal);
  if (picture.find("script " + sha256_hex(script)) == std::string::npos) return "another one would be drawn now";
  return picture == sealed(svg, script) ? "" : "it was changed after it was drawn";
}

}  // namespace roofwalk::book
