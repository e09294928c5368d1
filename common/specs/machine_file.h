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
  // [data_sheet]: the peaks (dense) and the bandwidth that the vendor promises. The model does not use them; tests
  // compare the machine's peaks with them. Empty if the file has no such section.
  std::vector<MachineFigure> data_sheet;
  // Short names of sources used by the figures, and their full titles.
  std::vector<std::pair<std::string, std::string>> sources;
};

// Loads a machine with its sources; for `name` and errors see load_machine.
Result<MachineFile> load_machine_file(const std::string& name);

}  // namespace roofwalk
