// What calls hand over in .param variables that fill no register: structs, vectors. ptxas has them in registers as
// well, so a clock that follows values takes each word of such a variable for one more register, numbered behind PTX's,
// and what stores, loads and hands it over for moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// Words of all variables together; each variable has one at least, while they last.
inline constexpr std::uint32_t kMostHandedWords = 20'000;

class HandedWords {
 public:
  // Register `to` holds what `count` of them held from `from` on; or where it keeps, what it held before as well.
  struct Move {
    int to = 0, from = 0, count = 0;
    bool keeps = false;
  };

  explicit HandedWords(const Program& program);

  // By register behind PTX's: whether it carries a value from one basic block to another.
  const std::vector<bool>& across_blocks() const { return across_blocks_; }
  // The moves that an instruction is, all at once.
  std::span<const Move> at(std::uint32_t pc) const { return moves_of(at_, pc); }
  // Those of the call before it, once that has returned.
  std::span<const Move> before(std::uint32_t pc) const { return moves_of(before_, pc); }

 private:
  struct Place {  // registers in a row; none: a number
    int first = 0, count = 0;
    std::uint32_t word_bytes = 0;  // of each; 0: a register of PTX's
  };
  using Moves = std::map<std::uint32_t, std::vector<Move>>;

  static std::span<const Move> moves_of(const Moves& moves, std::uint32_t pc) {
    const auto found = moves.find(pc);
    return found == moves.end() ? std::span<const Move>() : found->second;
  }
  Place new_words(std::uint32_t bytes);
  Place place(const ptx::Operand& operand) const;
  void move(const Place& from, const Place& to, bool keeps, std::vector<Move>& out) const;
  Place found_for(const Place& result, std::size_t i) const;
  void find_access(std::uint32_t pc);
  void find_call(std::uint32_t pc, const CallSite& site);
  void find_returns();
  void find_across_blocks();

  const Program& program_;
  int registers_ = 0, next_ = 0;                         // of PTX; with words
  int last_ = -1;                                        // the word of all variables for which none was left
  std::map<std::string, Place> words_;                   // by variable
  std::map<std::uint32_t, std::vector<Place>> results_;  // by a function's first instruction: where it leaves them
  std::set<std::uint32_t> behind_pointers_;              // the first instructions of what pointers lead to
  std::vector<Place> found_;                             // where calls through pointers find their results
  Moves at_, before_;
  std::vector<bool> across_blocks_;
};

}  // namespace roofwalk::vgpu
