// How the registers of a warp's 32 threads hold a matrix, as for mma.sync in the PTX ISA ("Matrix Fragments for
// mma..."). The matrix is divided into tiles of 8 rows and 4 * `together` columns, numbered from top to bottom, then
// from left to right. In each tile, thread l holds `together` adjacent elements of row l / 4. Matrix b is held
// transposed. The ISA leaves the layout of wmma open; here it is the same as for mma.
#pragma once

#include <cstdint>

#include "common/ptx/module.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

struct FragmentLayout {
  int rows = 0, columns = 0;
  int together = 1;  // adjacent elements that a thread holds in a tile
  int held = 0;      // elements that a thread holds; if more than its share of the matrix, they repeat

  struct Place {
    int row, column;
  };
  Place place(int lane, int element) const {
    const int own = rows * columns / kWarpSize, number = element % own, tile = number / together;
    const int down = rows / 8;
    return {tile % down * 8 + lane / 4, (tile / down * 4 + lane % 4) * together + number % together};
  }
};

// The layout of one matrix of an mma or wmma instruction; `use` selects a, b, c or d. b has n rows and k columns.
FragmentLayout fragment_layout(const ptx::Instruction& instruction, ptx::Fragment use, ptx::Type element);

// Number of warp-wide loads or stores that a wmma.load or wmma.store performs.
int fragment_accesses(const ptx::Instruction& instruction);

}  // namespace roofwalk::vgpu
