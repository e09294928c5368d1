// Many dots under one roofline, as a figure for a page: an SVG and its legend, without scripts, fonts or other files.
#pragma once

#include <string>
#include <vector>

#include "common/plot/plot.h"

namespace roofwalk {

struct ClassDot {
  Point point;
  std::string kind;      // "starter", "none", "pass", "ace": sets its colour
  std::string label;     // text next to the dot; empty: none
  std::string who = {};  // shown for a dot under the pointer; empty: nothing
};

// `chart` gives the roofs, the level and the title; its own dots are not drawn. `is_walk`: a line connects the dots.
std::string class_chart(const Chart& chart, const std::vector<ClassDot>& dots, bool is_walk);

}  // namespace roofwalk
