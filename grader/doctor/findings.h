// What the surroundings mean for a person who wants to learn, measure or grade on this machine.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_fwd.h"
#include "grader/doctor/surroundings.h"
#include "grader/text/text.h"

namespace roofwalk {

enum class Condition { ok, could_be_better, broken, not_here };

enum class Area { machine, toolkit, gpu, counters, sharing, plots, grading };
inline constexpr std::array kAreas = {Area::machine, Area::toolkit, Area::gpu,    Area::counters,
                                      Area::sharing, Area::plots,   Area::grading};
std::string_view area_name(Area area);   // "counters"
std::string_view area_title(Area area);  // "Counters: the bytes and instructions that the GPU counts itself"

struct MachineFinding {
  std::string id;  // key in the JSON; stable
  Area area = Area::machine;
  Condition condition = Condition::ok;
  std::string title;                // one or two words
  std::string what;                 // one sentence or less
  std::vector<std::string> advice;  // what to do; a line that starts with "$ " is a command, and is not wrapped
};

std::vector<MachineFinding> findings_of(const Surroundings& around);

// The one or two sentences at the top of the page.
std::string headline(const Surroundings& around, const std::vector<MachineFinding>& findings);

bool is_broken(const std::vector<MachineFinding>& findings);

// The whole page, at most `columns` wide, except for longer commands and words.
std::string doctor_text(const Surroundings& around, const std::vector<MachineFinding>& findings, const Colors& colors,
                        std::size_t columns);

// Format roofwalk.doctor/1; keys may be added, never renamed or removed.
Json doctor_json(const Surroundings& around, const std::vector<MachineFinding>& findings);

}  // namespace roofwalk
