// Reads the sequence of a kernel's machine instructions (SASS, compute capability 7.0 and later): operation, branch
// target, PTX line and register reads of each. Malformed bytes only shorten the result.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "common/build/artifact.h"

namespace roofwalk {

inline constexpr std::size_t kInstructionBytes = 16;

// Instructions from this address up to the next row implement this `line`.
struct LineRow {
  std::uint64_t address = 0;
  std::uint32_t line = 0;
};

struct CodeAddress {
  std::uint32_t section = 0;
  std::uint64_t offset = 0;
};

// Returns the rows of a DWARF 2 line table, by section. `homes`: for each offset in the table that has a relocation,
// the code address to which the relocation refers.
std::map<std::uint32_t, std::vector<LineRow>> read_line_table(std::string_view table,
                                                              const std::map<std::uint64_t, CodeAddress>& homes);

// Reads the instructions of a code section, without the padding at its end. `architecture` comes from the ELF header's
// flags: 80 for compute capability 8.0.
std::vector<MachineInstruction> read_machine_code(std::string_view text, int architecture, std::vector<LineRow> rows);

}  // namespace roofwalk
