// Reads machine code (SASS, compute capability 7.0 and later) as far as the order of a kernel's instructions goes: what
// each does, where it branches to, and which PTX line it was made for. Hostile bytes give less, no more.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "common/build/artifact.h"

namespace roofwalk {

inline constexpr std::size_t kInstructionBytes = 16;

// From this address of a code section on, its instructions were made for a line.
struct LineRow {
  std::uint64_t address = 0;
  std::uint32_t line = 0;
};

struct CodeAddress {
  std::uint32_t section = 0;
  std::uint64_t offset = 0;
};

// The rows of a DWARF 2 line table, by section. `homes` says what is meant where the table names an address, by the
// offset at which it does, as its relocations tell.
std::map<std::uint32_t, std::vector<LineRow>> read_line_table(std::string_view table,
                                                              const std::map<std::uint64_t, CodeAddress>& homes);

// `architecture` is that of the ELF header's flags: 80 for compute capability 8.0. Padding behind the code is left out.
std::vector<MachineInstruction> read_machine_code(std::string_view text, int architecture, std::vector<LineRow> rows);

}  // namespace roofwalk
