#include "common/roofline/si.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace roofwalk {
namespace {

// Rounds to three significant digits, so that 999.7 becomes 1000 before its prefix is chosen.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(value))) - 2);
  return std::round(value / unit) * unit;
}

std::string with_prefix(double value, std::string_view unit, const std::array<const char*, 6>& prefixes) {
  double shown = rounded(value);
  std::size_t prefix = 0;
  while (std::fabs(shown) >= 1000 && prefix + 1 < prefixes.size()) {
    shown = rounded(shown / 1000);
    ++prefix;
  }
  const std::string suffix = prefixes[prefix] + std::string(unit);
  return suffix.empty() ? number_text(shown) : number_text(shown) + " " + suffix;
}

}  // namespace

std::string number_text(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (value == 0) return "0";
  const double magnitude = std::fabs(rounded(value));
  if (magnitude >= 1e15) return fmt::format("{:.3g}", value);
  if (magnitude >= 100) return fmt::format("{:.0f}", value);
  if (magnitude < 1e-6) return fmt::format("{:.3g}", value);
  const int decimals = 2 - static_cast<int>(std::floor(std::log10(magnitude)));
  std::string text = fmt::format("{:.{}f}", value, decimals);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string si_text(double value, std::string_view unit) {
  return with_prefix(value, unit, {"", "k", "M", "G", "T", "P"});
}

std::string time_text(double elapsed_ns) {
  constexpr std::array kUnits = {"ns", "us", "ms"};
  double shown = rounded(elapsed_ns);
  for (const char* unit : kUnits) {
    if (std::fabs(shown) < 1000) return number_text(shown) + " " + unit;
    shown = rounded(shown / 1000);
  }
  return number_text(shown) + " s";
}

}  // namespace roofwalk
