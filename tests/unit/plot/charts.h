// Charts for several tests.
#pragma once

#include "common/plot/plot.h"

namespace roofwalk {

inline Chart classroom_chart(const std::string& level) {
  Chart chart;
  chart.level = level;
  chart.roofs.memory = {{"dram", 128e9, "data sheet"}, {"l2", 384e9, "data sheet"}, {"l1", 1024e9, "data sheet"}};
  chart.roofs.compute = {{"fp32", 2.048e12, "data sheet"}};
  return chart;
}

// Returns a chart whose dot moves straight up to the roof.
inline Chart vector_add_chart() {
  Chart chart = classroom_chart("dram");
  chart.title = "vector-add on virtual:classroom (n=1048576)";
  chart.algorithmic_ai = 1.0 / 12;
  chart.goal = GoalRegion{.min_ai = 0, .share_of_roof = 0.6, .min_flops_per_s = 0, .label = "pass"};
  chart.walk = {{.label = "starter", .point = {1.0 / 12, 0.57e9}},
                {.label = "1", .point = {1.0 / 12, 5.9e9}},
                {.label = "2", .point = {1.0 / 12, 10.4e9}, .accepted = true}};
  return chart;
}

// Returns a chart whose dot moves right and up at L1.
inline Chart gemm_chart() {
  Chart chart = classroom_chart("l1");
  chart.title = "naive-gemm on virtual:classroom (m=n=k=512)";
  chart.algorithmic_ai = 85.3333;
  chart.goal = GoalRegion{.min_ai = 0.3, .share_of_roof = 0, .min_flops_per_s = 40e9, .label = "pass"};
  chart.walk = {{.label = "starter", .point = {0.0606, 15.6e9}},
                {.label = "1", .point = {0.4, 256e9}, .accepted = true}};
  return chart;
}

// Returns a chart of keys under memory roofs alone.
inline Chart keys_chart() {
  Chart chart = vector_add_chart();
  chart.title = "mini-keys on virtual:classroom (n=1048576)";
  chart.roofs.compute.clear();
  chart.roofs.is_memory_only = true;
  chart.roofs.unit = WorkUnit::key;
  return chart;
}

// Returns roofs as if measured by microkernels, below the data sheet's.
inline Roofs measured_roofs() {
  Roofs roofs;
  roofs.memory = {
      {"dram", 110e9, "measured", 128e9}, {"l2", 250e9, "measured", 384e9}, {"l1", 1020e9, "measured", 1024e9}};
  roofs.compute = {{"fp32", 1.8e12, "measured", 2.048e12}};
  return roofs;
}

}  // namespace roofwalk
