// Fat binaries: what nvcc puts into a program for its device code. They hold an entry of PTX or machine code for each
// architecture that the program was built for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace roofwalk::cudart {

struct FatBinary {
  struct Ptx {
    int capability = 0;  // 80: for compute capability 8.0 and later
    std::string text;
  };
  std::vector<Ptx> ptx;           // in the order of the file
  std::vector<int> machine_code;  // the capabilities for which there is machine code
};

// The bytes of a fat binary, by its own header, which takes kFatHeaderBytes; 0 if that is no header of a fat binary.
inline constexpr std::size_t kFatHeaderBytes = 16;
std::size_t fat_binary_bytes(std::string_view header);

// Reads all entries, and decompresses those of PTX. Errors: the bytes are no fat binary, are cut off, or are compressed
// in a way that is not known.
Result<FatBinary> read_fat_binary(std::string_view bytes);

// The PTX that a GPU of this capability runs: the latest that is not too new. nullptr: there is none.
const FatBinary::Ptx* ptx_for(const FatBinary& binary, int capability);

}  // namespace roofwalk::cudart
