// Call arguments and results in .param variables that do not fit a register: structs and vectors. ptxas keeps these in
// registers, too. So the timing model treats each word of such a variable as an extra register, numbered after the PTX
// registers, and treats loads and stores of the variable, and calls that pass it, as moves.
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

// Limit on the words of all variables together. Until it is reached, each variable gets at least one word.
inline constexpr std::uint32_t kMostHandedWords = 20'000;

class HandedWords {
 public:
  // Register `to` takes the values of `count` registers, beginning with `from`. If `keeps`, `to` may also keep its old
  // value.
  struct Move {
    int to = 0, from = 0, count = 0;
    bool keeps = false;
  };

  explicit HandedWords(const Program& program);

  // By extra register: whether it carries a value from one basic block to another.
  const std::vector<bool>& across_blocks() const { return across_blocks_; }
  // The moves that an instruction makes, all at the same time.
  std::span<const Move> at(std::uint32_t pc) const { return moves_of(at_, pc); }
  // The moves that are made between the return from a call and the instruction at `pc`, which follows the call.
  std::span<const Move> before(std::uint32_t pc) const { return moves_of(before_, pc); }

 private:
  struct Place {  // consecutive registers; count 0: a constant
    int first = 0, count = 0;
    std::uint32_t word_bytes = 0;  // bytes per word; 0: a PTX register
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
  int registers_ = 0, next_ = 0;  // number of PTX registers; next free number
  // The word shared by all variables that got no word of their own.
  int last_ = -1;
  std::map<std::string, Place> words_;  // by variable name: its words
  // By a function's first instruction: the places of its results.
  std::map<std::uint32_t, std::vector<Place>> results_;
  std::set<std::uint32_t> behind_pointers_;  // first instructions of functions called through pointers
  std::vector<Place> found_;                 // the words where calls through pointers look for results
  Moves at_, before_;
  std::vector<bool> across_blocks_;
};

}  // namespace roofwalk::vgpu
