// Slices: some of a chip's SMs with their share of L2 and DRAM. A small problem fills a slice as a large one fills the
// chip, so a slice tells in seconds what the chip would take minutes to simulate.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/specs/machine.h"

namespace roofwalk {

struct MachineFile;  // common/specs/machine_file.h

// The parts of a machine's name as users type it: "h100-sxm/8" is 8 SMs of h100-sxm, "mine.toml/8" of a file's machine.
struct MachineName {
  std::string chip;
  std::optional<int> sms;  // nullopt: the whole chip

  std::string text() const;  // the parts together
};
MachineName parse_machine_name(const std::string& name);

// The slice with so many of the chip's SMs. It has the chip's latencies, and the same share of L2 (whole sets), device
// memory, and the rates of L2, DRAM, atomics and block dispatch as it has of the SMs. Everything of an SM is unchanged.
// The figures that differ say in their sources what they are a share of. Errors: fewer than one SM, or not fewer than
// the chip has.
Result<MachineFile> slice_of(MachineFile chip, int sms);

}  // namespace roofwalk
