// How a warp's 32 threads hold a matrix. Layouts are those of mma.sync in the PTX ISA ("Matrix Fragments for mma..."):
// tiles of eight rows, of which thread l holds `together` neighbours of row l / 4, and tiles one below the other first.
// Of wmma the ISA leaves the layout open; it is the same here, with b turned on its side.
#pragma once

#include <cstdint>

#include "common/ptx/module.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

struct FragmentLayout {
  int rows = 0, columns = 0;
  int together = 1;  // elements of one thread in a tile
  int held = 0;      // elements of one thread: where there are more than there are in all, they repeat

  struct Place {
    int row, column;
  };
  Place place(int lane, int element) const {
    const int own = rows * columns / kWarpSize, number = element % own, tile = number / together;
    const int down = rows / 8;
    return {tile % down * 8 + lane / 4, (tile / down * 4 + lane % 4) * together + number % together};
  }
};

// Of mma and wmma: `use` says which of the four. b has n rows and k columns.
FragmentLayout fragment_layout(const ptx::Instruction& instruction, ptx::Fragment use, ptx::Type element);

// How many loads or stores wmma.load or wmma.store is, each of all threads of the warp.
int fragment_accesses(const ptx::Instruction& instruction);

}  // namespace roofwalk::vgpu
