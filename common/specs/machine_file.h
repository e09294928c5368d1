// The contents of a machine file for display: each number with its unit and source.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/base/json.h"
#include "common/specs/machine.h"

namespace roofwalk {

// One line of a machine file.
struct MachineFigure {
  std::string key, unit, source;  // "arch" has no unit
  Json value;
};

// A machine and the sources of its figures, in file order.
struct MachineFile {
  Machine machine;
  std::vector<MachineFigure> figures;
  // Short names of sources used by the figures, and their full titles.
  std::vector<std::pair<std::string, std::string>> sources;
};

// Like load_machine.
Result<MachineFile> load_machine_file(const std::string& name);

}  // namespace roofwalk
