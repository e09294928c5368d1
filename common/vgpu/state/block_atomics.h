// Words of global memory that atomics have updated in a launch with atomics of block scope (.cta). Such an atomic is
// atomic only with those of its own block (PTX ISA, scope and morally strong operations).
#pragma once

#include <cstdint>
#include <unordered_map>

namespace roofwalk::vgpu {

class BlockAtomics {
 public:
  // Notes that a block updates the word at this address. Returns whether that is not atomic with what another block did
  // to the word. Of very many words, the first are watched.
  bool update(std::uint64_t address, std::uint64_t block, bool of_block) {
    constexpr std::size_t kMostWords = std::size_t{1} << 18;
    const std::uint64_t word = address / 4;
    const auto found = words_.find(word);
    if (found == words_.end()) {
      if (words_.size() < kMostWords) words_.emplace(word, Word{block, of_block, false});
      return false;
    }
    Word& seen = found->second;
    seen.several = seen.several || seen.block != block;
    seen.of_block = seen.of_block || of_block;
    return seen.several && seen.of_block;
  }

 private:
  struct Word {
    std::uint64_t block = 0;  // the first
    bool of_block = false;    // whether any update had the scope of a block
    bool several = false;     // whether several blocks updated it
  };
  std::unordered_map<std::uint64_t, Word> words_;
};

}  // namespace roofwalk::vgpu
