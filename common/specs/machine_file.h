// A machine's file as it stands, each number with its unit and its source, for those who show it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/base/json.h"
#include "common/specs/machine.h"

namespace roofwalk {

// One line of a machine file.
struct MachineFigure {
  std::string key, unit, source;  // no unit for "arch"
  Json value;
};

// A machine with where its figures come from, in the order of the file.
struct MachineFile {
  Machine machine;
  std::vector<MachineFigure> figures;
  // Short names that the figures use, and what they stand for.
  std::vector<std::pair<std::string, std::string>> sources;
};

// As load_machine.
Result<MachineFile> load_machine_file(const std::string& name);

}  // namespace roofwalk
