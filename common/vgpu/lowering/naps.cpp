#include "common/vgpu/lowering/naps.h"

#include <algorithm>
#include <set>

#include "common/vgpu/lowering/flag_values.h"
#include "common/vgpu/program/instructions.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;

Nap longer_of(const Nap& a, const Nap& b) {
  return {std::max(a.least_ns, b.least_ns), a.length != kNoSlot ? a.length : b.length};
}
bool is_none(const Nap& nap) { return nap.least_ns == 0 && nap.length == kNoSlot; }

class NapFinder {
 public:
  NapFinder(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
            const std::function<Slot(int)>& slot_of)
      : code_(function.instructions), blocks_(blocks), slot_of_(slot_of), values_(function) {}

  std::map<std::uint32_t, Nap> find() {
    if (!find_sleeps()) return {};
    for (std::uint32_t b = 0; b < blocks_.size() && work_left_ != 0; ++b) drop_timed_sleeps(b);
    std::map<std::uint32_t, Nap> out;
    for (std::uint32_t b = 0; b < blocks_.size() && work_left_ != 0; ++b) {
      const Nap nap = longest_in(region_of(b));
      if (is_none(nap)) continue;
      for (const std::uint32_t pc : deciders_of(b)) {
        if (is_memory(code_[pc])) out[pc] = longer_of(out[pc], nap);
      }
    }
    return work_left_ != 0 ? out : the_longest_everywhere();
  }

 private:
  bool find_sleeps() {
    naps_.resize(blocks_.size());
    seen_.resize(blocks_.size());
    bool any = false;
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      for (std::uint32_t pc = blocks_[b].first; pc < blocks_[b].first + blocks_[b].count; ++pc) {
        if (!sleeps(code_[pc])) continue;
        any = true;
        naps_[b] = longer_of(naps_[b], nap_of(pc, b));
      }
    }
    return any;
  }

  // A length that grows from try to try is that of the first: what is computed after the sleep does not count.
  Nap nap_of(std::uint32_t sleep, std::uint32_t block) {
    const Operand& length = code_[sleep].operands[0];
    if (length.kind == Operand::Kind::immediate)
      return {std::min(static_cast<std::uint32_t>(length.bits), kMostSleepNs), kNoSlot};
    if (length.kind != Operand::Kind::reg) return {kMostSleepNs, kNoSlot};
    Nap out;
    const auto read_it_then = [&] {
      out.length = slot_of_(length.index);
      if (out.length == kNoSlot) out.least_ns = kMostSleepNs;
    };
    std::set<int> seen{length.index};
    std::vector<int> ahead{length.index};
    while (!ahead.empty()) {
      const int reg = ahead.back();
      ahead.pop_back();
      for (const std::uint32_t pc : values_.makers_of(reg)) {
        const Instruction& in = code_[pc];
        spend(1);
        const Form form = ptx::info(in.opcode).form;
        if (form == Form::move || form == Form::select || form == Form::convert) {
          for (std::size_t i = 1; i < in.operands.size(); ++i) {
            if (in.operands[i].kind == Operand::Kind::immediate)
              out.least_ns = std::max(out.least_ns, static_cast<std::uint32_t>(in.operands[i].bits));
            else if (in.operands[i].kind != Operand::Kind::reg)
              read_it_then();
          }
          for_each_source(in, [&](int from) {
            if (seen.insert(from).second) ahead.push_back(from);
          });
        } else if (!is_in_a_loop_with(block, block_of(pc))) {
          read_it_then();
        } else if (pc < sleep) {
          out.least_ns = kMostSleepNs;  // known only after the poll
        }
      }
    }
    out.least_ns = std::min(out.least_ns, kMostSleepNs);
    return out;
  }

  std::uint32_t block_of(std::uint32_t pc) const {
    const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), pc,
                                        [](std::uint32_t at, const BasicBlock& b) { return at < b.first; });
    return static_cast<std::uint32_t>(after - blocks_.begin()) - 1;
  }

  bool is_in_a_loop_with(std::uint32_t block, std::uint32_t other) {
    return block == other ? reaches(block, block) : reaches(block, other) && reaches(other, block);
  }

  bool reaches(std::uint32_t from, std::uint32_t to) {
    std::vector<bool> seen(blocks_.size());
    std::vector<std::uint32_t> ahead{from};
    spend(blocks_.size());
    while (!ahead.empty() && work_left_ != 0) {
      const std::uint32_t block = ahead.back();
      ahead.pop_back();
      for (const std::uint32_t next : blocks_[block].successors) {
        if (next == to) return true;
        if (next == kExitBlock || seen[next]) continue;
        seen[next] = true;
        ahead.push_back(next);
      }
    }
    return false;
  }

  // The blocks between a block's branch and where its ways meet again. Empty if there is no branch.
  const std::vector<std::uint32_t>& region_of(std::uint32_t block) {
    for (const std::uint32_t each : region_) seen_[each] = false;
    region_.clear();
    const BasicBlock& from = blocks_[block];
    if (from.successors.size() < 2) return region_;
    const auto enter = [&](std::uint32_t to) {
      if (to == kExitBlock || to == from.reconvergence || seen_[to]) return;
      seen_[to] = true;
      region_.push_back(to);
    };
    for (const std::uint32_t to : from.successors) enter(to);
    for (std::size_t i = 0; i < region_.size(); ++i) {
      for (const std::uint32_t to : blocks_[region_[i]].successors) enter(to);
    }
    spend(region_.size());
    return region_;
  }

  Nap longest_in(const std::vector<std::uint32_t>& region) const {
    Nap out;
    for (const std::uint32_t each : region) out = longer_of(out, naps_[each]);
    return out;
  }

  // The instructions whose values decide a block's branch.
  const std::vector<std::uint32_t>& deciders_of(std::uint32_t block) {
    values_.forget();
    values_.follow_sources(code_[blocks_[block].first + blocks_[block].count - 1]);
    spend(values_.makers().size());
    return values_.makers();
  }

  void drop_timed_sleeps(std::uint32_t block) {
    if (is_none(longest_in(region_of(block)))) return;
    const auto& deciders = deciders_of(block);
    if (std::none_of(deciders.begin(), deciders.end(), [&](std::uint32_t pc) { return reads_clock(code_[pc]); }))
      return;
    for (const std::uint32_t each : region_) naps_[each] = {};
  }

  // For code that is too large to search.
  std::map<std::uint32_t, Nap> the_longest_everywhere() const {
    std::map<std::uint32_t, Nap> out;
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc) {
      if (is_memory(code_[pc])) out[pc] = {kMostSleepNs, kNoSlot};
    }
    return out;
  }

  void spend(std::uint64_t work) { work_left_ -= std::min(work_left_, work); }

  const std::vector<Instruction>& code_;
  const std::vector<BasicBlock>& blocks_;
  const std::function<Slot(int)>& slot_of_;
  FlagValues values_;
  std::vector<Nap> naps_;  // by block: its longest sleep
  std::vector<std::uint32_t> region_;
  std::vector<bool> seen_;                // by block: whether it is in region_
  std::uint64_t work_left_ = 50'000'000;  // blocks and instructions that may still be visited
};

}  // namespace

std::map<std::uint32_t, Nap> find_naps(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                                       const std::function<Slot(int)>& slot_of) {
  return NapFinder(function, blocks, slot_of).find();
}

}  // namespace roofwalk::vgpu
