#include "grader/class/exports/exporter.h"

#include <algorithm>

namespace roofwalk {

const Exporter* find_exporter(std::string_view format) {
  const auto all = exporters();
  const auto found = std::ranges::find(all, format, &Exporter::format);
  return found == all.end() ? nullptr : *found;
}

}  // namespace roofwalk
