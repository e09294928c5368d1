#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/vgpu/program/machine_code.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;

constexpr std::uint32_t kNoInstruction = ~0u;

bool is_shared_access(const Instruction& in) {
  const Form form = ptx::info(in.opcode).form;
  return in.space == ptx::Space::shared && (form == Form::load || form == Form::store);
}

bool is_shared_atomic(const Instruction& in) {
  const Form form = ptx::info(in.opcode).form;
  return in.space == ptx::Space::shared && (form == Form::atomic || form == Form::reduction);
}

std::uint32_t bytes_of(const Instruction& in) {
  return static_cast<std::uint32_t>(ptx::size_bytes(in.type)) * static_cast<std::uint32_t>(in.vector);
}

// Shared addresses have 32 bits.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

// Where a register got its value: at a single instruction, or at several.
struct Definition {
  std::uint32_t pc = kNoInstruction;
  bool several = false;
};

class Matcher {
 public:
  Matcher(const ptx::Function& function, std::span<const BasicBlock> blocks, std::span<const MachineOp> code)
      : ptx_(function.instructions), blocks_(blocks) {
    out_.of.resize(ptx_.size());
    for (std::uint32_t pc = 0; pc < ptx_.size(); ++pc) {
      on_line_.emplace(static_cast<std::uint32_t>(ptx_[pc].ptx_line), pc);
      for_each_result(ptx_[pc], [&](int reg) {
        Definition& definition = definitions_[reg];
        definition.several = definition.pc != kNoInstruction || ptx_[pc].guard >= 0;
        definition.pc = pc;
      });
    }
    widths_.resize(ptx_.size());
    for (const MachineOp& op : code) {
      if (op.shared_bytes == 0) continue;
      const auto [first, last] = on_line_.equal_range(op.ptx_line);
      for (auto at = first; at != last; ++at) {
        Widths& widths = widths_[at->second];
        widths.differ = widths.differ || (widths.bytes != 0 && widths.bytes != op.shared_bytes);
        widths.bytes = std::max(widths.bytes, op.shared_bytes);
        widths.wide += op.shared_bytes > bytes_of(ptx_[at->second]);
        ++widths.all;
      }
    }
    find_atomics(code);
  }

  SharedAccesses run() {
    out_.found_all = true;
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      const auto& next = blocks_[b].successors;
      const bool is_loop = std::find(next.begin(), next.end(), b) != next.end();
      enter(is_loop ? &blocks_[b] : nullptr);
      match(blocks_[b]);
    }
    return std::move(out_);
  }

 private:
  // The machine accesses on the line of a PTX instruction.
  struct Widths {
    std::uint8_t bytes = 0;  // of the widest, per lane; 0: there is none
    bool differ = false;
    std::uint32_t all = 0, wide = 0;  // wide: wider than the PTX instruction
  };
  // An address is a constant offset from a place: a register as some instruction left it, or a variable.
  struct Place {
    int reg = -1;
    std::uint32_t written_at = kNoInstruction;  // for a register that several instructions write: the last one before
    std::string symbol;
    bool store = false;
    int guard = -1;
    bool negated = false;
    auto operator<=>(const Place&) const = default;
  };
  using Members = std::map<std::int64_t, std::uint32_t>;  // instruction by offset
  using Found = std::vector<std::pair<std::uint32_t, SharedAccess>>;

  // Finds the atomics that count lanes. ptxas decides for each copy of the code, so all copies must.
  void find_atomics(std::span<const MachineOp> code) {
    constexpr std::uint16_t kAtomic = 0x18c;  // ATOMS; compare-and-swap is another operation
    for (const bool counts_lanes : {true, false}) {
      for (const MachineOp& op : code) {
        if (op.operation != kAtomic || op.counts_lanes != counts_lanes) continue;
        const auto [first, last] = on_line_.equal_range(op.ptx_line);
        for (auto at = first; at != last; ++at) {
          if (is_shared_atomic(ptx_[at->second])) out_.of[at->second].counts_lanes = counts_lanes;
        }
      }
    }
  }

  // Moves a place from a register that is a constant more than another one to that other register.
  void follow(Place& place, std::int64_t& offset) const {
    constexpr int kMostSteps = 64;
    for (int step = 0; step < kMostSteps && place.reg >= 0; ++step) {
      const auto found = definitions_.find(place.reg);
      if (found == definitions_.end() || found->second.several) return;
      const Instruction& in = ptx_[found->second.pc];
      const ptx::OpcodeInfo& row = ptx::info(in.opcode);
      const bool is_add = row.traits == ptx::kAdds && !ptx::is_float(in.type) && in.operands.size() == 3;
      const bool is_move = row.form == Form::move && in.operands.size() == 2;
      const auto is_register = [](const Operand& o) { return o.kind == Operand::Kind::reg && o.elements.empty(); };
      if (is_add && is_register(in.operands[1]) && in.operands[2].kind == Operand::Kind::immediate &&
          is_written_once(in.operands[1].index)) {
        offset = sum(offset, static_cast<std::int64_t>(in.operands[2].bits));
        place.reg = in.operands[1].index;
      } else if (is_move && in.operands[1].kind == Operand::Kind::variable) {
        offset = sum(offset, in.operands[1].offset);
        place.reg = -1;
        place.symbol = in.operands[1].symbol;
      } else {
        return;
      }
    }
  }

  // `loop`: the basic block that is matched now, if it is a loop by itself; else null.
  void enter(const BasicBlock* loop) {
    loop_ = loop;
    made_in_loop_.clear();
    steps_.clear();
    for (std::uint32_t i = 0; loop != nullptr && i < loop->count; ++i) {
      const std::uint32_t pc = loop->first + i;
      for_each_result(ptx_[pc], [&](int reg) {
        Definition& made = made_in_loop_[reg];
        made.several = made.pc != kNoInstruction || ptx_[pc].guard >= 0;
        made.pc = pc;
      });
    }
  }

  bool is_written_once(int reg) const {
    const auto found = definitions_.find(reg);
    return found != definitions_.end() && !found->second.several;
  }

  void match(const BasicBlock& block) {
    std::map<int, std::uint32_t> written_at;
    std::map<Place, Members> groups;
    const auto match_all = [&] {
      for (const auto& [place, members] : groups) match(place, members);
      groups.clear();
    };
    for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
      const Instruction& in = ptx_[pc];
      if (is_shared_access(in)) {
        const auto address = std::find_if(in.operands.begin(), in.operands.end(),
                                          [](const Operand& o) { return o.kind == Operand::Kind::address; });
        Place place{.reg = address->index,
                    .symbol = std::string(address->symbol),
                    .store = ptx::info(in.opcode).form == Form::store,
                    .guard = in.guard,
                    .negated = in.guard_negated};
        std::int64_t offset = sum(0, address->offset);
        follow(place, offset);
        if (const auto last = written_at.find(place.reg); last != written_at.end()) place.written_at = last->second;
        Members& members = groups[place];
        if (members.contains(offset)) {  // a second access of these bytes belongs to other code that nvcc unrolled
          match(place, members);
          members.clear();
        }
        members.emplace(offset, pc);
      } else if (ptx::info(in.opcode).form == Form::barrier || ptx::info(in.opcode).form == Form::fence) {
        match_all();
      }
      for_each_result(in, [&](int reg) { written_at[reg] = pc; });
    }
    match_all();
  }

  // Whether a machine access of four words may also cover one that no instruction asks for, before the first or behind
  // the last.
  enum class Unused { none, one_at_the_ends };

  // Finds the alignment for which all wide machine accesses of these instructions are complete, and applies it. If
  // there is none, they may be complete after several iterations, or, outside loops, ptxas may have loaded a word too
  // many.
  void match(const Place& place, const Members& members) {
    bool wide = false;
    for (const auto& [offset, pc] : members) wide = wide || widths_[pc].wide != 0;
    std::optional<Found> found;
    if (wide) found = in_some_phase(members, Unused::none);
    if (wide && !found && place.guard < 0) found = across_iterations(members, step_of(place.reg).value_or(0));
    if (wide && !found && !place.store && loop_ == nullptr) found = in_some_phase(members, Unused::one_at_the_ends);
    if (found) {
      for (const auto& [pc, access] : *found) out_.of[pc] = access;
    }
    for (const auto& [offset, pc] : members) {
      const Widths& widths = widths_[pc];
      const bool alone = widths.bytes == bytes_of(ptx_[pc]) && !widths.differ;
      out_.found_all = out_.found_all && (alone || out_.of[pc].bytes != 0);
    }
  }

  std::optional<Found> in_some_phase(const Members& members, Unused unused) const {
    constexpr std::int64_t kWidest = 16;
    std::optional<Found> found;
    for (std::int64_t phase = 0; !found && phase < kWidest; ++phase) found = windows(members, phase, unused);
    return found;
  }

  // Returns the accesses of the instructions that wide machine accesses cover if these begin at `phase` modulo their
  // size; nullopt if one of them is not covered exactly, or if one has the code of two.
  std::optional<Found> windows(const Members& members, std::int64_t phase, Unused unused) const {
    Found out;
    for (auto at = members.begin(); at != members.end();) {
      const std::int64_t first = at->first;
      const bool is_first = at == members.begin();
      // The widest machine access on the lines of the instructions that a window over this one would cover.
      std::uint32_t width = 0, leader = kNoInstruction;
      std::int64_t start = at->first;
      for (auto in = at; in != members.end() && in->first < at->first + 16; ++in) {
        const Widths& widths = widths_[in->second];
        if (widths.bytes <= bytes_of(ptx_[in->second])) continue;
        const std::int64_t behind = ((at->first - phase) % widths.bytes + widths.bytes) % widths.bytes;
        const bool begins_here = behind == 0 || (is_first && unused == Unused::one_at_the_ends);
        if (!begins_here || in->first >= at->first - behind + widths.bytes) continue;
        if (widths.differ) return std::nullopt;
        if (leader == kNoInstruction) width = widths.bytes, leader = in->second, start = at->first - behind;
      }
      if (leader == kNoInstruction) {
        if (widths_[at->second].bytes > bytes_of(ptx_[at->second])) return std::nullopt;
        ++at;
        continue;
      }
      std::int64_t covered = at->first;
      for (; at != members.end() && at->first < start + width; ++at) {
        const std::uint32_t bytes = bytes_of(ptx_[at->second]);
        const Widths& widths = widths_[at->second];
        if (at->first != covered || widths.differ) return std::nullopt;
        if (widths.bytes != 0 && (widths.bytes != width || at->second != leader)) return std::nullopt;
        covered += bytes;
        SharedAccess access{.bytes = static_cast<std::uint8_t>(width),
                            .before = static_cast<std::uint8_t>(at->first - start)};
        if (at->second != leader) access.merged_into = leader;
        out.emplace_back(at->second, access);
      }
      const std::int64_t unused_bytes = width - (covered - first);
      if (unused_bytes > (unused == Unused::none ? 0 : width / 4)) return std::nullopt;
      if (covered != start + width && at != members.end()) return std::nullopt;
    }
    return out;
  }

  // Returns the accesses of instructions that a wide machine access covers in several iterations of the loop, whose
  // addresses grow by `step` from one to the next: each run of neighbours must be as long as the step, and have machine
  // accesses on one of its lines only. ptxas may load the first words once more, before the wide load that has them, so
  // that the loop's arithmetic can begin. nullopt if some wide one is left.
  std::optional<Found> across_iterations(const Members& members, std::int64_t step) const {
    if (step <= 0) return std::nullopt;
    Found out;
    for (auto at = members.begin(); at != members.end();) {
      const auto begin = at;
      std::int64_t end = at->first;
      std::uint32_t leader = kNoInstruction, with_code = 0;
      for (; at != members.end() && at->first == end; ++at) {
        const Widths& widths = widths_[at->second];
        end += bytes_of(ptx_[at->second]);
        if (widths.bytes == 0) continue;
        leader = at->second;
        ++with_code;
      }
      const Widths code = leader == kNoInstruction ? Widths{} : widths_[leader];
      const std::uint32_t width = code.bytes;
      if (code.wide == 0 && with_code == std::distance(begin, at)) continue;
      if (with_code != 1 || end - begin->first != step || width <= step || width % step != 0) return std::nullopt;
      if (code.differ &&
          (code.all != code.wide + 1 || !has_copies(code.wide * width / static_cast<std::uint32_t>(step))))
        return std::nullopt;
      for (auto in = begin; in != at; ++in) {
        SharedAccess access{.bytes = static_cast<std::uint8_t>(width),
                            .before = static_cast<std::uint8_t>(in->first - begin->first),
                            .iterations = static_cast<std::uint8_t>(width / step)};
        if (in->second != leader) {
          access.merged_into = leader;
        } else if (code.differ) {
          access.repeated_every = static_cast<std::uint8_t>(code.wide);
        }
        out.emplace_back(in->second, access);
      }
    }
    return out;
  }

  // Whether ptxas made so many copies of the loop's body and no other code of it, such as a loop for remaining
  // iterations: some access has as many machine accesses of one width.
  bool has_copies(std::uint32_t copies) const {
    for (std::uint32_t pc = loop_->first; pc < loop_->first + loop_->count; ++pc) {
      if (widths_[pc].all == copies && !widths_[pc].differ) return true;
    }
    return false;
  }

  // Returns by how much a register grows from one iteration of the loop to the next; nullopt if that is not known.
  std::optional<std::int64_t> step_of(int reg, int depth = 0) {
    constexpr int kDeepest = 64;
    if (loop_ == nullptr || reg < 0 || depth > kDeepest) return std::nullopt;
    const auto made = made_in_loop_.find(reg);
    if (made == made_in_loop_.end()) return 0;
    if (made->second.several || ptx::is_float(ptx_[made->second.pc].type)) return std::nullopt;
    // Each register is asked once: code may add up registers so that there are very many ways to each of them. While it
    // is being found out, the step counts as unknown.
    const auto [known, is_new] = steps_.try_emplace(reg, std::nullopt);
    if (!is_new) return known->second;
    const auto step = step_of_result(ptx_[made->second.pc], reg, depth);
    return steps_[reg] = step;
  }

  std::optional<std::int64_t> step_of_result(const Instruction& in, int reg, int depth) {
    const auto constant = [&](std::size_t i) -> std::optional<std::int64_t> {
      if (in.operands[i].kind != Operand::Kind::immediate) return std::nullopt;
      return static_cast<std::int64_t>(in.operands[i].bits);
    };
    const auto step = [&](std::size_t i) -> std::optional<std::int64_t> {
      const Operand& o = in.operands[i];
      if (o.kind == Operand::Kind::immediate || o.kind == Operand::Kind::variable) return 0;
      if (o.kind != Operand::Kind::reg || !o.elements.empty()) return std::nullopt;
      return o.index == reg ? std::nullopt : step_of(o.index, depth + 1);
    };
    const auto times = [](std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
      return a && b ? std::optional(sum(0, *a * *b)) : std::nullopt;
    };
    const auto plus = [](std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
      return a && b ? std::optional(sum(*a, *b)) : std::nullopt;
    };
    const std::size_t count = in.operands.size();
    if (ptx::info(in.opcode).form == Form::move && count == 2) return step(1);
    if (count < 3) return std::nullopt;
    const bool counts_itself = in.operands[1].kind == Operand::Kind::reg && in.operands[1].index == reg;
    if (ptx::computes(in, ptx::kAdds)) return counts_itself ? constant(2) : plus(step(1), step(2));
    if (ptx::computes(in, ptx::kMultiplies)) return times(step(1), constant(2));
    if (ptx::computes(in, ptx::kMultiplies | ptx::kAdds)) return plus(times(step(1), constant(2)), step(3));
    const auto bits = constant(2);
    if (ptx::computes(in, ptx::kShiftsLeft) && bits && *bits >= 0 && *bits <= 31)
      return times(step(1), std::int64_t{1} << *bits);
    bool is_fixed = ptx::info(in.opcode).form == Form::alu;
    for (std::size_t i = 1; i < count; ++i) is_fixed = is_fixed && step(i) == 0;
    return is_fixed ? std::optional<std::int64_t>(0) : std::nullopt;
  }

  const std::vector<Instruction>& ptx_;
  std::span<const BasicBlock> blocks_;
  // By PTX line: build() puts each instruction on a line of its own, but a function may have been linked in several
  // times.
  std::multimap<std::uint32_t, std::uint32_t> on_line_;
  const BasicBlock* loop_ = nullptr;                  // the present basic block, if it is a loop by itself
  std::map<int, Definition> made_in_loop_;            // by register
  std::map<int, std::optional<std::int64_t>> steps_;  // by register: step_of()
  std::map<int, Definition> definitions_;             // by register
  std::vector<Widths> widths_;                        // by PTX instruction
  SharedAccesses out_;
};

}  // namespace

SharedAccesses find_shared_accesses(const ptx::Function& function, std::span<const BasicBlock> blocks,
                                    std::span<const MachineOp> code) {
  if (code.empty()) return {};
  return Matcher(function, blocks, code).run();
}

}  // namespace roofwalk::vgpu
