#include "common/vgpu/lowering/analysis/guesses.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "common/vgpu/lowering/analysis/flag_values.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;

// Each load takes a few walks through the whole code, and so may each use of its value. A function with more loads has
// no guesses, and a load with more uses is none.
constexpr std::size_t kMostLoads = 64, kMostSwaps = 8, kMostUses = 256;
constexpr int kMostRounds = 8;

bool is_swap(const Instruction& in) {
  return ptx::info(in.opcode).form == Form::atomic && in.atomic == ptx::AtomicOp::cas && in.space != ptx::Space::global;
}

bool is_plain_load(const Instruction& in) {
  return ptx::info(in.opcode).form == Form::load && !in.is_volatile && in.vector == 1 &&
         (in.space == ptx::Space::shared || in.space == ptx::Space::generic);
}

bool is_load(const Instruction& in) { return ptx::info(in.opcode).form == Form::load; }

class Guesses {
 public:
  Guesses(const ptx::Function& function, const std::vector<BasicBlock>& blocks, const BlockUses& uses,
          const std::vector<LinkedPart>& parts)
      : code_(function.instructions),
        blocks_(blocks),
        uses_(uses),
        parts_(parts),
        values_(function),
        readers_(function.registers.size()) {
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc) {
      for_each_source(code_[pc], [&](int reg) { readers_[static_cast<std::size_t>(reg)].push_back(pc); });
    }
    number_words();
    blocks_before_.resize(blocks.size());
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      for (const std::uint32_t to : blocks[b].successors) {
        if (to != kExitBlock) blocks_before_[to].push_back(b);
      }
    }
  }

  std::vector<bool> find() {
    std::vector<bool> out;
    std::size_t loads = 0;
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc) {
      if (!is_plain_load(code_[pc]) || words_[pc] == 0) continue;
      if (++loads > kMostLoads) return {};
      if (!guesses(pc)) continue;
      out.resize(code_.size());
      out[pc] = true;
    }
    return out;
  }

 private:
  // A word of memory: a variable or a register, which one instruction sets, plus an offset.
  using Place = std::tuple<std::string, int, std::int64_t, int>;
  std::optional<Place> place_of(const Operand& address, const Instruction& in) const {
    const int bytes = ptx::size_bytes(in.type);
    if (address.index < 0) return Place{address.symbol, -1, address.offset, bytes};
    int reg = address.index;
    std::int64_t offset = address.offset;
    for (int step = 0; step < kMostRounds; ++step) {
      const auto& makers = values_.makers_of(reg);
      if (makers.size() != 1) return std::nullopt;
      const Instruction& maker = code_[makers[0]];
      if (maker.guard < 0 && ptx::info(maker.opcode).form == Form::move && maker.operands.size() == 2 &&
          maker.operands[1].kind == Operand::Kind::variable)
        return Place{maker.operands[1].symbol, -1, maker.operands[1].offset + offset, bytes};
      if (!makes_address(maker)) return Place{"", reg, offset, bytes};
      reg = maker.operands[1].index;
      if (maker.operands.size() == 3) offset += static_cast<std::int64_t>(maker.operands[2].bits);
    }
    return std::nullopt;
  }

  // Whether an instruction makes an address of another, maybe in another window or a wider register, or adds a number.
  static bool makes_address(const Instruction& in) {
    if (in.guard >= 0 || in.operands.size() < 2 || in.operands[1].kind != Operand::Kind::reg) return false;
    const Form form = ptx::info(in.opcode).form;
    const bool converts = form == Form::convert && !ptx::is_float(in.type) && !ptx::is_float(in.source_type) &&
                          ptx::size_bytes(in.type) >= 4 && ptx::size_bytes(in.source_type) >= 4;
    if (form == Form::move || form == Form::cvta || converts) return in.operands.size() == 2;
    return in.opcode == ptx::Opcode::Add && !ptx::is_float(in.type) && in.operands.size() == 3 &&
           in.operands[2].kind == Operand::Kind::immediate;
  }

  // Fills in `words_`: code may have thousands of swaps and of loads.
  void number_words() {
    words_.resize(code_.size());
    std::map<Place, std::uint32_t> numbers;
    const auto each_place = [&](auto&& is_wanted, auto&& visit) {
      for (std::uint32_t pc = 0; pc < code_.size(); ++pc) {
        if (!is_wanted(code_[pc])) continue;
        if (const auto place = place_of(code_[pc].operands[1], code_[pc])) visit(pc, *place);
      }
    };
    each_place(is_swap, [&](std::uint32_t pc, const Place& place) {
      words_[pc] = numbers.try_emplace(place, static_cast<std::uint32_t>(numbers.size() + 1)).first->second;
    });
    each_place(is_plain_load, [&](std::uint32_t pc, const Place& place) {
      if (const auto at = numbers.find(place); at != numbers.end()) words_[pc] = at->second;
    });
  }

  bool is_of_same_word(std::uint32_t load, std::uint32_t swap) const { return words_[load] == words_[swap]; }

  // If a call reads the register only as a result of its callee, returns the register that gets this result in the
  // caller; else -1.
  int returned_to(std::uint32_t pc, int reg) const {
    const Instruction& in = code_[pc];
    if (ptx::info(in.opcode).form != Form::call || calls_through_pointer(in)) return -1;
    const auto part = std::ranges::find(parts_, static_cast<std::uint32_t>(in.operands[0].index), &LinkedPart::first);
    if (part == parts_.end() || in.guard == reg) return -1;
    const std::size_t own = in.call_arguments.size() - part->results.size();  // behind them, the callee's results
    int out = -1;
    for (std::size_t i = 0; i < in.call_arguments.size(); ++i) {
      const Operand& argument = in.call_arguments[i];
      if (argument.kind != Operand::Kind::reg || argument.index != reg) continue;
      if (i < own || in.call_results[i - own].kind != Operand::Kind::reg) return -1;
      out = in.call_results[i - own].index;
    }
    return out;
  }

  std::uint32_t block_of(std::uint32_t pc) const {
    const auto behind = std::ranges::upper_bound(blocks_, pc, {}, &BasicBlock::first);
    return static_cast<std::uint32_t>(behind - blocks_.begin()) - 1;
  }

  // Returns, by block, where control can get from `ahead`, which count, too, without running through the walls.
  std::vector<bool> reach(std::vector<std::uint32_t> ahead, std::uint32_t wall, bool backwards = false,
                          std::uint32_t other_wall = kExitBlock) const {
    std::vector<bool> out(blocks_.size());
    while (!ahead.empty()) {
      const std::uint32_t block = ahead.back();
      ahead.pop_back();
      if (block == kExitBlock || block == wall || block == other_wall || out[block]) continue;
      out[block] = true;
      const auto& next = backwards ? blocks_before_[block] : blocks_[block].successors;
      ahead.insert(ahead.end(), next.begin(), next.end());
    }
    return out;
  }

  // A load and a compare-and-swap of the same word.
  struct Pair {
    std::uint32_t swap = 0, load_block = 0, swap_block = 0;
    std::vector<bool> unswapped;  // by block: control gets there from the load or a failed swap with no swap between
    std::vector<bool> to_swap;    // by block: control gets from there to the swap without loading again
    std::vector<bool> past_swap;  // by block: control gets from there to the load or the end without a swap
    int success = -1;             // the predicate of the branch that tells a swap that succeeded from one that failed
    bool retries = false;     // that branch leads from a swap that failed to the start of its block, and nowhere else
    std::vector<bool> found;  // by register: behind a swap that succeeded, it has what the swap has found
  };

  Pair pair_of(std::uint32_t load, std::uint32_t swap) const {
    Pair out;
    out.swap = swap, out.load_block = block_of(load), out.swap_block = block_of(swap);
    const bool in_one_block = out.load_block == out.swap_block;
    std::vector<std::uint32_t> starts;
    if (!in_one_block || load > swap) starts = blocks_[out.load_block].successors;
    const BasicBlock& last = blocks_[out.swap_block];
    const Instruction& branch = code_[last.first + last.count - 1];
    const int failed = branch_on_failure(branch, swap);
    if (failed >= 0 && last.successors.size() == 2) {
      out.success = branch.guard;
      out.retries = last.successors[static_cast<std::size_t>(failed)] == out.swap_block;
      starts.push_back(last.successors[static_cast<std::size_t>(failed)]);
    } else {
      starts.insert(starts.end(), last.successors.begin(), last.successors.end());
    }
    out.unswapped = reach(starts, out.swap_block);
    std::vector<std::uint32_t> before = blocks_before_[out.swap_block], ends = blocks_before_[out.load_block];
    if (in_one_block) before.clear();
    out.to_swap = reach(before, out.load_block, true);
    out.to_swap[out.swap_block] = !in_one_block;
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      if (std::ranges::count(blocks_[b].successors, kExitBlock) != 0) ends.push_back(b);
    }
    out.past_swap = reach(ends, out.swap_block, true);
    return out;
  }

  // If the branch tells by a swap's result whether the swap has failed, returns which of its successors (0 or 1) is for
  // a failure; else -1.
  int branch_on_failure(const Instruction& branch, std::uint32_t swap) const {
    if (ptx::info(branch.opcode).form != Form::branch || branch.guard < 0) return -1;
    const auto& makers = values_.makers_of(branch.guard);
    if (makers.size() != 1 || makers[0] < swap || block_of(makers[0]) != block_of(swap)) return -1;
    const Instruction& test = code_[makers[0]];
    const bool equal = test.compare == ptx::Compare::eq;
    if (ptx::info(test.opcode).form != Form::compare || (!equal && test.compare != ptx::Compare::ne) ||
        test.bool_op != ptx::BoolOp::none || ptx::is_float(test.type) || test.operands[0].index != branch.guard)
      return -1;
    const int found = code_[swap].operands[0].index, expected = code_[swap].operands[2].index;
    int a = test.operands[result_count(test)].index, b = test.operands[result_count(test) + 1].index;
    if (a != found) std::swap(a, b);
    if (found < 0 || a != found || b != expected) return -1;
    return equal == branch.guard_negated ? 0 : 1;
  }

  bool may_decide(std::uint32_t pc, const Pair& pair, const std::vector<bool>& tainted) const {
    if (code_[pc].guard == pair.success && block_of(pc) == pair.swap_block) return true;
    const auto& ways = blocks_[block_of(pc)].successors;
    const auto leads = [&](const std::vector<bool>& to) {
      return std::ranges::any_of(ways, [&](std::uint32_t way) { return way != kExitBlock && to[way]; });
    };
    const bool leaves = std::ranges::count(ways, kExitBlock) != 0 || std::ranges::count(ways, pair.load_block) != 0;
    return leads(pair.to_swap) && (leaves || leads(pair.past_swap)) && !decides_more(pc, tainted);
  }

  // Whether it shows behind a branch which way it went, other than by the swap and by values that are followed anyway:
  // one of the ways changes something else before the two meet again.
  bool decides_more(std::uint32_t pc, const std::vector<bool>& tainted) const {
    const std::uint32_t here = block_of(pc), meet = blocks_[here].reconvergence;
    const auto& ways = blocks_[here].successors;
    if (ways.size() != 2) return true;
    const std::vector<bool> one = reach({ways[0]}, here, false, meet), other = reach({ways[1]}, here, false, meet);
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      if (one[b] == other[b]) continue;
      const auto first = code_.begin() + blocks_[b].first;
      const auto shows = [&](const Instruction& in) { return changes_more(in, meet, tainted); };
      if (std::any_of(first, first + blocks_[b].count, shows)) return true;
    }
    return false;
  }

  bool changes_more(const Instruction& in, std::uint32_t meet, const std::vector<bool>& tainted) const {
    const Form form = ptx::info(in.opcode).form;
    const bool is_other_atomic = form == Form::atomic && !is_swap(in);
    if (form == Form::store || form == Form::reduction || form == Form::call || is_other_atomic) return true;
    bool out = false;
    for_each_result(in, [&](int reg) {
      const auto r = static_cast<std::size_t>(reg);
      const bool is_wanted = meet != kExitBlock && uses_.is_wanted_in(r, meet);
      const bool is_result = std::ranges::any_of(parts_, [&](const LinkedPart& part) {
        return std::ranges::any_of(part.results,
                                   [&](const Operand& of) { return of.kind == Operand::Kind::reg && of.index == reg; });
      });
      out = out || (!tainted[r] && (is_wanted || is_result));
    });
    return out;
  }

  bool is_behind_swap(std::uint32_t pc, const Pair& pair) const {
    const std::uint32_t block = block_of(pc);
    return pair.success >= 0 && block != pair.load_block && block != pair.swap_block && !pair.unswapped[block];
  }

  bool reads_only_found(std::uint32_t pc, const std::vector<bool>& tainted, const std::vector<bool>& found) const {
    bool out = true;
    for_each_source(code_[pc], [&](int reg) {
      const auto r = static_cast<std::size_t>(reg);
      out = out && (!tainted[r] || found[r]);
    });
    return out;
  }

  // Fills in `found`: what the swap compares with, and what is made of it in each round of the loop or behind that. A
  // copy of the first guess may differ.
  void find_found(const std::vector<bool>& tainted, Pair& pair) const {
    pair.found.resize(tainted.size());
    pair.found[static_cast<std::size_t>(code_[pair.swap].operands[2].index)] = true;
    const auto makes_found = [&](std::uint32_t pc) {
      const bool in_place = block_of(pc) == pair.swap_block || is_behind_swap(pc, pair);
      const bool computes = only_computes(code_[pc]) || ptx::info(code_[pc].opcode).form == Form::call;
      const bool is_made = computes || reads_where_compared_leads(pc, pair, tainted);
      return in_place && is_made && reads_only_found(pc, tainted, pair.found);
    };
    bool grows = true;
    for (int round = 0; grows && round < kMostRounds; ++round) {
      grows = false;
      for (std::size_t reg = 0; reg < tainted.size(); ++reg) {
        if (!tainted[reg] || pair.found[reg]) continue;
        pair.found[reg] = std::ranges::all_of(values_.makers_of(static_cast<int>(reg)), makes_found);
        grows = grows || pair.found[reg];
      }
    }
  }

  // Whether a store leaves what the swap then compares with, or what is made of that, in each round of a loop that only
  // ends when the swap has found it. Each round stores to the same place, and none reads: so linked lists are pushed
  // to.
  bool is_stored_anew(std::uint32_t store, std::uint32_t load, const Pair& pair,
                      const std::vector<bool>& tainted) const {
    const Instruction& in = code_[store];
    const BasicBlock& block = blocks_[pair.swap_block];
    if (ptx::info(in.opcode).form != Form::store || in.guard >= 0 || !pair.retries || store >= pair.swap ||
        store < block.first)
      return false;
    for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
      const Form form = ptx::info(code_[pc].opcode).form;
      const bool goes_on = form == Form::store || form == Form::fence || form == Form::branch || form == Form::sleep ||
                           form == Form::cvta || only_computes(code_[pc]);
      if (!goes_on && pc != pair.swap && pc != load) return false;
    }
    bool stays = true;
    for_each_register(in.operands[0], [&](int reg) {
      const auto is_made_here = [&](std::uint32_t pc) { return block_of(pc) == pair.swap_block; };
      stays = stays && !tainted[static_cast<std::size_t>(reg)] &&
              std::ranges::none_of(values_.makers_of(reg), is_made_here);
    });
    return stays && has_compared(store, pair, tainted);
  }

  // Whether a load reads, in each round, from where that leads which the swap behind it compares with: so linked lists
  // are popped from.
  bool reads_where_compared_leads(std::uint32_t load, const Pair& pair, const std::vector<bool>& tainted) const {
    return is_load(code_[load]) && code_[load].guard < 0 && load < pair.swap &&
           load >= blocks_[pair.swap_block].first && has_compared(load, pair, tainted);
  }

  // Whether the registers that an access in the swap's block reads come, of those that are tainted, from what the swap
  // compares with at its end.
  bool has_compared(std::uint32_t access, const Pair& pair, const std::vector<bool>& tainted) const {
    // A value is named by the register that has it at the start of the block, or by the instruction that makes it.
    const std::uint32_t first = blocks_[pair.swap_block].first;
    std::map<int, std::size_t> values;
    const auto value_of = [&](int reg) {
      const auto at = values.find(reg);
      return at != values.end() ? at->second : static_cast<std::size_t>(reg);
    };
    const auto run = [&](std::uint32_t end, auto&& note) {
      values.clear();
      for (std::uint32_t pc = first; pc < end; ++pc) {
        const Instruction& in = code_[pc];
        const bool copies = ptx::info(in.opcode).form == Form::move && in.guard < 0 && in.operands.size() == 2 &&
                            in.operands[0].kind == Operand::Kind::reg && in.operands[1].kind == Operand::Kind::reg;
        const std::size_t made = copies ? value_of(in.operands[1].index) : readers_.size() + pc;
        note(pc, made);
        for_each_result(in, [&](int reg) { values[reg] = made; });
      }
    };
    run(pair.swap, [](std::uint32_t, std::size_t) {});
    std::vector<std::size_t> compared{value_of(code_[pair.swap].operands[2].index)};
    const auto comes_from_it = [&](const Instruction& in) {
      bool out = true;
      for_each_source(in, [&](int reg) {
        out = out && (!tainted[static_cast<std::size_t>(reg)] || std::ranges::count(compared, value_of(reg)) != 0);
      });
      return out;
    };
    run(access, [&](std::uint32_t pc, std::size_t made) {
      bool makes = only_computes(code_[pc]);
      if (is_load(code_[pc]))
        for_each_source(code_[pc], [&](int reg) { makes = makes || tainted[static_cast<std::size_t>(reg)]; });
      if (code_[pc].guard < 0 && makes && comes_from_it(code_[pc])) compared.push_back(made);
    });
    return comes_from_it(code_[access]);
  }

  bool is_harmless(std::uint32_t pc, std::uint32_t load, const std::vector<bool>& tainted,
                   const std::vector<Pair>& pairs) const {
    const Instruction& in = code_[pc];
    if (is_swap(in) && is_of_same_word(load, pc)) return true;
    const bool branches =
        ptx::info(in.opcode).form == Form::branch && in.guard >= 0 && tainted[static_cast<std::size_t>(in.guard)];
    const auto allows = [&](const Pair& pair) {
      const bool is_found = is_behind_swap(pc, pair) && reads_only_found(pc, tainted, pair.found);
      return is_found || (branches && may_decide(pc, pair, tainted)) || is_stored_anew(pc, load, pair, tainted);
    };
    return std::ranges::any_of(pairs, allows);
  }

  // Whether all that becomes of a load's value is harmless. What a load finds where that value leads is followed, too,
  // if it is harmless by no other reason.
  bool guesses(std::uint32_t load) const {
    std::vector<std::uint32_t> through;  // such loads
    for (int round = 0; round < kMostRounds; ++round) {
      std::vector<bool> tainted(readers_.size());
      const std::vector<std::uint32_t> uses = find_uses(load, through, tainted);
      if (uses.size() > kMostUses) return false;
      const std::vector<Pair> pairs = find_pairs(load, uses, tainted);
      if (pairs.empty()) return false;
      const auto leads = [&](std::uint32_t pc) {
        return std::ranges::any_of(pairs,
                                   [&](const Pair& pair) { return reads_where_compared_leads(pc, pair, tainted); });
      };
      // A swap must not store what was loaded for one that has failed.
      const auto is_anew = [&](std::uint32_t pc) {
        return !is_swap(code_[pc]) || std::ranges::any_of(pairs, [&](const Pair& pair) {
          return pair.swap == pc && has_compared(pc, pair, tainted);
        });
      };
      if (!through.empty() && !(std::ranges::all_of(through, leads) && std::ranges::all_of(uses, is_anew)))
        return false;
      const std::size_t before = through.size();
      for (const std::uint32_t pc : uses) {
        if (is_harmless(pc, load, tainted, pairs) || std::ranges::count(through, pc) != 0) continue;
        if (!leads(pc)) return false;
        through.push_back(pc);
      }
      if (through.size() == before) return true;
    }
    return false;
  }

  // Returns the instructions that use a load's value, other than to compute, and sets the registers that hold it or
  // what is made of it. Follows what these loads find `through` it.
  std::vector<std::uint32_t> find_uses(std::uint32_t load, const std::vector<std::uint32_t>& through,
                                       std::vector<bool>& tainted) const {
    std::vector<int> ahead;
    const auto taint = [&](int reg) {
      if (tainted[static_cast<std::size_t>(reg)]) return;
      tainted[static_cast<std::size_t>(reg)] = true;
      ahead.push_back(reg);
    };
    for_each_result(code_[load], taint);
    std::vector<std::uint32_t> uses;
    while (!ahead.empty()) {
      const auto reg = static_cast<std::size_t>(ahead.back());
      ahead.pop_back();
      for (const std::uint32_t pc : readers_[reg]) {
        if (only_computes(code_[pc]) || std::ranges::count(through, pc) != 0) {
          for_each_result(code_[pc], taint);
        } else if (const int to = returned_to(pc, static_cast<int>(reg)); to >= 0) {
          taint(to);
        } else {
          uses.push_back(pc);
        }
      }
    }
    return uses;
  }

  // Returns the compare-and-swaps of the same word that compare with the load's value.
  std::vector<Pair> find_pairs(std::uint32_t load, const std::vector<std::uint32_t>& uses,
                               const std::vector<bool>& tainted) const {
    std::vector<Pair> pairs;
    for (const std::uint32_t pc : uses) {
      if (!is_swap(code_[pc]) || !is_of_same_word(load, pc)) continue;
      const int compared = code_[pc].operands[2].index;
      if (compared < 0 || !tainted[static_cast<std::size_t>(compared)]) continue;
      const bool is_new = std::ranges::none_of(pairs, [&](const Pair& pair) { return pair.swap == pc; });
      if (is_new && pairs.size() < kMostSwaps) pairs.push_back(pair_of(load, pc));
    }
    for (Pair& pair : pairs) find_found(tainted, pair);
    return pairs;
  }

  const std::vector<Instruction>& code_;
  const std::vector<BasicBlock>& blocks_;
  const BlockUses& uses_;
  const std::vector<LinkedPart>& parts_;
  FlagValues values_;
  std::vector<std::vector<std::uint32_t>> readers_, blocks_before_;  // by register; by block
  // By instruction, of swaps and of plain loads: which word, from 1 on; 0: of loads, a word that no swap changes.
  std::vector<std::uint32_t> words_;
};

}  // namespace

std::vector<bool> find_guesses(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                               const BlockUses& uses, const std::vector<LinkedPart>& parts) {
  if (!uses.is_known() || std::ranges::none_of(function.instructions, is_swap)) return {};
  return Guesses(function, blocks, uses, parts).find();
}

}  // namespace roofwalk::vgpu
