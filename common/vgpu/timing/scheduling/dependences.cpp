// Finds which values each instruction reads, and which instruction made them, along all paths through a basic block;
// and finds the "stops", where warps wait for everything in flight.
#include <algorithm>
#include <utility>

#include "common/vgpu/timing/scheduling/static_scheduler.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;

// Limit on the number of values that all stops together wait for: kLeastWaits, or kWaitsOfAnInstruction for each
// instruction if that is more.
constexpr std::uint64_t kLeastWaits = 2'000'000, kWaitsOfAnInstruction = 32;

}  // namespace

// Executes the basic blocks symbolically, on value numbers, in PTX order.
void StaticScheduler::find_sources(std::uint32_t copies) {
  sources_.assign(static_cast<std::size_t>(copies) * block_->count, {});
  waits_for_all_.assign(sources_.size(), false);
  now_.clear();
  since_stop_.clear();
  last_stop_ = kNoValue;
  const auto ways = ways_within(program_, merged_);
  std::vector<State> left(merged_.members);  // register values at the end of each member
  std::vector<std::size_t> ways_on;          // by member: number of its successor edges that are not followed yet
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    ways_on.assign(merged_.members, 0);
    for (const auto& froms : ways) {
      for (const std::uint32_t from : froms) ++ways_on[from];
    }
    for (std::uint32_t member = 0; member < merged_.members; ++member) {
      const BasicBlock& block = program_.blocks[merged_.first + member];
      const std::uint32_t first_node = copy * block_->count + block.first - block_->first;
      if (member > 0 && ways[member].empty()) now_ = left[member - 1];  // unreachable
      Value choice = kNoValue;  // the branch whose predicate guards the member's accesses
      for (std::size_t i = 0; i < ways[member].size(); ++i) {
        const std::uint32_t from = ways[member][i];
        const bool is_last = --ways_on[from] == 0;
        i != 0 ? join(left[from], now_) : void(now_ = is_last ? std::move(left[from]) : left[from]);
        const BasicBlock& before = program_.blocks[merged_.first + from];
        if (ways[member].size() == 1 && before.successors.size() > 1)
          choice = static_cast<Value>(copy * block_->count + before.first + before.count - 1 - block_->first);
      }
      for (const Handed& each : held_by(handed_.before(block.first))) {
        now_[each.first] = each.second;
        since_stop_.push_back(each.first);
      }
      for (std::uint32_t node = first_node; node < first_node + block.count; ++node) {
        if (choice != kNoValue && memory_of(block_->first + node % block_->count) != kNowhere)
          sources_[node].push_back(choice);
        run_node(node);
      }
      if (member + 1 < merged_.members) left[member] = std::move(now_);
    }
  }
}

void StaticScheduler::run_node(std::uint32_t node) {
  const Instruction& in = instruction(node % block_->count);
  const auto read = [&](int reg) {
    const auto found = now_.find(reg);
    if (found == now_.end()) return sources_[node].push_back(~reg);
    sources_[node].insert(sources_[node].end(), found->second.begin(), found->second.end());
  };
  for_each_source(in, read);
  if (in.guard >= 0) for_each_result(in, read);  // lanes that skip it keep the old value
  const bool is_stop = stops_[block_->first + node % block_->count];
  if (is_stop) read_what_flies(node);
  // Calls and returns pass values on unchanged; a load or store of a .param variable makes a new value, as other
  // instructions do.
  std::vector<Handed> handed = held_by(handed_.at(block_->first + node % block_->count));
  const bool makes_value = form_of(in) == Form::load || form_of(in) == Form::store;
  for_each_result(in, [&](int reg) {
    now_[reg].assign(1, static_cast<Value>(node));
    since_stop_.push_back(reg);
  });
  for (auto& [to, values] : handed) {
    if (makes_value) {
      sources_[node].insert(sources_[node].end(), values.begin(), values.end());
      values.assign(1, static_cast<Value>(node));
    }
    now_[to] = std::move(values);
    since_stop_.push_back(to);
  }
  // Puts the values made in this basic block first among those that a stop waits for, because hoist_loads() looks only
  // at these.
  if (is_stop)
    std::stable_partition(sources_[node].begin(), sources_[node].end(), [](Value value) { return value >= 0; });
}

// Finds the stops. At calls (also those of subroutines that ptxas adds) and fences, before releases and after acquires,
// the code that ptxas generates waits for everything in flight, which frees all scoreboards.
void StaticScheduler::find_stops() {
  stops_.assign(code().size(), false);
  std::vector<bool> flies(slot_of_.size());
  std::uint64_t stopping = 0;  // number of basic blocks with a stop; the first stop of each waits for values from
                               // before the block
  for (const BasicBlock& block : program_.blocks) {
    bool acquired = false;  // whether an acquire was seen and no instruction that surely issues came after it
    bool stops = false;
    for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
      const Instruction& in = code()[pc];
      const bool issues = kind_of(in) != TimedKind::compute || form_of(in) == Form::call;
      stops_[pc] = form_of(in) == Form::call || form_of(in) == Form::fence || is_subroutine(in) || in.releases ||
                   (acquired && issues);
      stops = stops || stops_[pc];
      acquired = (acquired && !issues) || in.acquires;
      // The result of an instruction that issues nothing is its source, which may still be in flight.
      if (!is_memory(in) && cost_of(in).issues != 0) continue;
      for_each_result(in, [&](int reg) { flies[static_cast<std::size_t>(reg)] = true; });
    }
    stopping += stops;
  }
  for (std::size_t reg = 0; reg < flies.size(); ++reg) {
    if (flies[reg] && slot_of_[reg] != kReadySlot) flying_.push_back(static_cast<int>(reg));
  }
  // Lists of thousands of registers for thousands of basic blocks would exhaust memory.
  too_many_fly_ = flying_.size() * stopping > most_waits();
  merged_waits_left_ = most_waits();
}

std::uint64_t StaticScheduler::most_waits() const {
  return std::max(kLeastWaits, kWaitsOfAnInstruction * (code().size() + machine_code_.size()));
}

// Makes a stop read everything that may be in flight, from this basic block and from before it, except values that an
// earlier stop has waited for.
void StaticScheduler::read_what_flies(std::uint32_t node) {
  if (merged_.members > 1 && merged_waits_left_ == 0) return;
  std::vector<Value>& sources = sources_[node];
  const bool first = last_stop_ < 0;
  const auto read = [&](const std::vector<Value>& values) {
    for (const Value value : values) {
      if (value > last_stop_ || (value < 0 && first)) sources.push_back(value);
    }
  };
  if (first) {
    for (const auto& [reg, values] : now_) read(values);
    waits_for_all_[node] = too_many_fly_;
    for (const int reg : too_many_fly_ ? std::span<const int>() : flying_) {
      if (!now_.contains(reg)) sources.push_back(~reg);
    }
  } else {
    std::sort(since_stop_.begin(), since_stop_.end());
    since_stop_.erase(std::unique(since_stop_.begin(), since_stop_.end()), since_stop_.end());
    for (const int reg : since_stop_) read(now_.at(reg));
  }
  since_stop_.clear();
  if (merged_.members == 1) {
    last_stop_ = static_cast<Value>(node);
  } else {
    merged_waits_left_ -= std::min<std::uint64_t>(merged_waits_left_, sources.size());
  }
}

std::vector<StaticScheduler::Handed> StaticScheduler::held_by(std::span<const HandedWords::Move> moves) const {
  std::vector<Handed> out;
  for (const HandedWords::Move& move : moves) {
    std::vector<Value>& values = out.emplace_back(move.to, std::vector<Value>()).second;
    const auto add = [&](int reg) {
      const auto found = now_.find(reg);
      if (found == now_.end()) return values.push_back(~reg);
      values.insert(values.end(), found->second.begin(), found->second.end());
    };
    for (int i = 0; i < move.count; ++i) add(move.from + i);
    if (move.keeps) add(move.to);
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  return out;
}

// Adds the register values of another path to `state`.
void StaticScheduler::join(const State& other, State& state) {
  const auto add = [](Value value, std::vector<Value>& values) {
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  };
  auto own = state.begin();
  for (const auto& [reg, values] : other) {
    for (; own != state.end() && own->first < reg; ++own) add(~own->first, own->second);
    if (own == state.end() || own->first != reg) own = state.emplace_hint(own, reg, std::vector<Value>{~reg});
    for (const Value value : values) add(value, own->second);
    ++own;
  }
  for (; own != state.end(); ++own) add(~own->first, own->second);
}

}  // namespace roofwalk::vgpu
