// A thread that loads one word after the other, as it polls flags or walks along a list, while its block waits for it.
#include <fmt/format.h>

#include <algorithm>

#include "common/roofline/causes.h"
#include "common/roofline/explain.h"

namespace roofwalk {
namespace {

constexpr double kManyLoads = 3;            // at the line, for each block
constexpr double kHardlyMoreSectors = 1.1;  // sectors for each load: one word, in one lane or in all

// What the last warp at barriers does most: its part of that wait, and the line that it waits for. nullptr: the last
// warp does not load word after word, or its block hardly waits for it.
struct Lone {
  const DiagnosisInput::Waiting::Part* part = nullptr;
  const DiagnosisInput::Line* line = nullptr;
};
Lone lone_loads(const DiagnosisInput& in) {
  const auto* wait = wait_of(in, "barrier");
  const double memory = wait_share(in, "dram") + wait_share(in, "l2") + wait_share(in, "l1");
  if (wait == nullptr || wait->last_warp.empty() || wait->share <= memory) return {};
  const auto& part = wait->last_warp.front();
  if (!is_memory_wait(part.id)) return {};
  const auto line = std::find_if(in.lines.begin(), in.lines.end(), [&](const auto& l) { return l.line == part.line; });
  if (line == in.lines.end() || line->line == 0 || line->load_requests < kManyLoads * std::max(1.0, in.blocks) ||
      line->l1_sectors > kHardlyMoreSectors * (line->load_requests + line->store_requests))
    return {};
  return {&part, &*line};
}

bool is_lone_thread_behind_wait(const DiagnosisInput& in, std::string_view wait, bool) {
  const Lone lone = lone_loads(in);
  return lone.line != nullptr && (wait == "barrier" || wait == "issue" || wait == "issued" || wait == lone.part->id);
}

Explanation explain_lone_thread(const DiagnosisInput& in) {
  const Lone lone = lone_loads(in);
  const auto* wait = wait_of(in, "barrier");
  return {
      fmt::format("at the barrier{} warps wait {} of their time for one thread, which loads a word at line {}, waits "
                  "for it, and loads the next: {:.0f} times a block. Let the lanes of its warp load a word each, "
                  "all at once; __ballot_sync tells which of them found something.",
                  place_text(wait->line), percent_text(wait->share), lone.line->line,
                  lone.line->load_requests / std::max(1.0, in.blocks)),
      lone.line->line, "the block waits for one thread's loads"};
}

}  // namespace

const Cause cause::lone_thread = {
    .id = "lone_thread",
    .order = 95,
    .is_behind_wait = is_lone_thread_behind_wait,
    .explain = explain_lone_thread,
    .hints = {
        "One thread works and its block waits for it at a barrier. How many loads does it make at the line on the "
        "card, and which of them have to wait for the one before?",
        "A load takes as long for one lane as for 32. A thread that looks at one word after the other pays for "
        "each look; a warp that looks at 32 at once pays for one.",
        "Let lane i look at the i-th word. __ballot_sync tells which lanes found what ends the search, __ffs which "
        "of them is the nearest, and shuffles add up what the lanes before it have found."}};

}  // namespace roofwalk
