#include "grader/programs/figures.h"

#include <fmt/format.h>

#include "common/base/json.h"

namespace roofwalk {
namespace {

Figure figure_from(const std::string& name, const Json& value) {
  if (value.is_number()) return {name, json_line(value), value.get<double>()};
  if (value.is_string()) return {name, value.text(), {}};
  if (value.is_boolean()) return {name, value.get<bool>() ? "true" : "false", {}};
  std::string text;
  if (value.is_array()) {
    for (const Json& each : value) text += (text.empty() ? "" : "x") + json_line(each);
  }
  return {name, text, {}};
}

}  // namespace

std::vector<Figure> figures_in(const Json& kernel) {
  std::vector<Figure> figures;
  for (const auto& [key, value] : kernel.items()) {
    if (value.is_null()) continue;
    if (!value.is_object()) {
      figures.push_back(figure_from(key, value));
      continue;
    }
    for (const auto& [inner, of_it] : value.items()) figures.push_back(figure_from(key + "." + inner, of_it));
  }
  return figures;
}

std::optional<double> figure_of(const Json& kernel, std::string_view name) {
  if (name == "time_ns") name = "elapsed_ns";
  const std::size_t dot = name.find('.');
  if (dot != std::string_view::npos) {
    const Json* const object = kernel.member(name.substr(0, dot));
    return object != nullptr && object->is_object() ? object->number_of(name.substr(dot + 1)) : std::nullopt;
  }
  if (const auto value = kernel.number_of(name)) return value;
  const Json* const counters = kernel.member("counters");
  return counters != nullptr && counters->is_object() ? counters->number_of(name) : std::nullopt;
}

}  // namespace roofwalk
