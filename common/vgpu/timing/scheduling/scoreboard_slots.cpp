// Assigns scoreboard slots to values. At the start and the end of a basic block, a value is in the slot of its
// register; in between, it may be in any free slot.
#include <algorithm>
#include <map>
#include <utility>

#include "common/vgpu/timing/scheduling/static_scheduler.h"

namespace roofwalk::vgpu {

// Gives each register that carries a value from one basic block to another a slot of its own.
void StaticScheduler::find_slots() {
  std::vector<bool> crosses = registers_across_blocks(*program_.function, program_.blocks);
  crosses.insert(crosses.end(), handed_.across_blocks().begin(), handed_.across_blocks().end());
  const std::size_t count = crosses.size();
  slot_of_.assign(count, kReadySlot);
  slots_ = kFirstFreeSlot;
  for (std::size_t reg = 0; reg < count; ++reg) {
    if (crosses[reg]) slot_of_[reg] = static_cast<std::uint16_t>(slots_++);
  }
  shared_slots_ = slots_;
  register_seen_.assign(count, 0);
  needed_until_.assign(count, 0);
}

// Finds the values that an operation at `place` waits for if it reads `values`: each of them that is made before
// `place`; for every other one, the values that it is made of. Returns false if these are too many to find.
bool StaticScheduler::resolve(std::span<const Value> values, std::size_t place, std::vector<Value>& out) {
  constexpr std::size_t kMost = 4096;  // limit on values that are made only after `place`
  const std::size_t start = out.size();
  // A call may read thousands of values that are all made of the same few, so each value is visited only once.
  ++search_;
  open_.assign(values.begin(), values.end());
  std::size_t late = 0;
  for (std::size_t at = 0; at < open_.size(); ++at) {
    const Value v = open_[at];
    std::uint32_t& seen = v < 0 ? register_seen_[static_cast<std::size_t>(~v)] : seen_[static_cast<std::size_t>(v)];
    if (std::exchange(seen, search_) == search_) continue;
    if (v < 0) {
      if (slot_of_[static_cast<std::size_t>(~v)] != kReadySlot) out.push_back(v);
      continue;
    }
    const std::size_t made_at = made_at_[static_cast<std::size_t>(v)];
    if (made_at < place) {
      out.push_back(v);
    } else if (made_at == kNever || ++late <= kMost) {
      const auto& from =
          made_at == kNever ? made_of_[static_cast<std::size_t>(v)] : sources_[static_cast<std::size_t>(v)];
      open_.insert(open_.end(), from.begin(), from.end());
    }
  }
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(start), out.end());
  return late <= kMost;
}

// Returns the node whose machine instruction performs this node's access to shared memory; kNowhere if that is its own.
std::int32_t StaticScheduler::node_merged_into(std::uint32_t node) const {
  const std::uint32_t copy = node / block_->count, pc = block_->first + node % block_->count;
  const SharedAccess access = program_.shared_access(pc);
  const std::uint32_t performed_in = copy - copy % access.iterations;
  if (!access.is_merged() && performed_in == copy) return kNowhere;
  const std::uint32_t performed_by = access.is_merged() ? access.merged_into : pc;
  return static_cast<std::int32_t>(performed_in * block_->count + performed_by - block_->first);
}

// For each value that no operation makes, finds the values that it is made of: values that an operation makes, or
// initial values of registers. If these are too many, the value gets an operation after all, so that the lists stay
// short.
void StaticScheduler::find_what_vanished(std::vector<Item>& items) {
  constexpr std::size_t kMost = 64;
  std::vector<bool> has_item(sources_.size());
  for (const Item& item : items) {
    if (item.node != kNowhere) has_item[static_cast<std::size_t>(item.node)] = true;
  }
  made_of_.assign(sources_.size(), {});
  std::vector<Item> more;
  for (std::size_t node = 0; node < sources_.size(); ++node) {
    if (has_item[node]) continue;
    std::vector<Value>& made_of = made_of_[node];
    if (const std::int32_t other = node_merged_into(static_cast<std::uint32_t>(node)); other != kNowhere) {
      if (has_item[static_cast<std::size_t>(other)]) {
        made_of.push_back(other);
        continue;
      }
    }
    for (const Value source : sources_[node]) {
      if (source < 0 || has_item[static_cast<std::size_t>(source)]) {
        made_of.push_back(source);
      } else {
        const auto& further = made_of_[static_cast<std::size_t>(source)];
        made_of.insert(made_of.end(), further.begin(), further.end());
      }
    }
    std::sort(made_of.begin(), made_of.end());
    made_of.erase(std::unique(made_of.begin(), made_of.end()), made_of.end());
    if (made_of.size() <= kMost) continue;
    made_of.clear();
    has_item[node] = true;
    Item item;
    item.op.pc = block_->first + static_cast<std::uint32_t>(node) % block_->count;
    item.op.latency_cycles = cycles(machine_.alu_latency_cycles);
    item.node = static_cast<std::int32_t>(node);
    more.push_back(item);
  }
  insert_in_ptx_order(more, items);
}

// Finds the operation that makes each value. It is one of the operations of the PTX instruction whose result the value
// is: the memory access or, if there is none, the last one before the value is first read.
void StaticScheduler::find_makers(const std::vector<Item>& items) {
  std::vector<std::vector<std::size_t>> places(sources_.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].node != kNowhere) places[static_cast<std::size_t>(items[i].node)].push_back(i);
  }
  made_at_.assign(sources_.size(), kNever);
  std::vector<std::size_t> first_read(sources_.size(), kNever);
  for (std::size_t node = sources_.size(); node-- > 0;) {
    for (const std::size_t place : places[node]) {
      if (made_at_[node] == kNever || place < first_read[node]) made_at_[node] = place;
      if (items[place].op.memory >= 0) {
        made_at_[node] = place;
        break;
      }
    }
    const std::size_t reads = places[node].empty() ? first_read[node] : places[node].front();
    for (const Value source : sources_[node]) {
      if (source >= 0)
        first_read[static_cast<std::size_t>(source)] = std::min(first_read[static_cast<std::size_t>(source)], reads);
    }
  }
}

// Finds the values that each operation reads and makes.
std::vector<StaticScheduler::Links> StaticScheduler::link(const std::vector<Item>& items) {
  find_makers(items);
  seen_.assign(sources_.size(), 0);
  std::vector<Links> links(items.size());
  std::vector<Value> handed(sources_.size(), kNoValue);  // by node: the result of its latest operation
  std::vector<bool> has_read(sources_.size());
  Value next = static_cast<Value>(sources_.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].node == kNowhere) continue;
    const auto node = static_cast<std::size_t>(items[i].node);
    const bool maker = made_at_[node] == i;
    // Nothing depends on operations after the one that makes the node's value.
    if (made_at_[node] < i) continue;
    if (handed[node] != kNoValue) links[i].sources.push_back(handed[node]);
    if (!has_read[node] && (!items[i].constant || maker)) {
      has_read[node] = true;
      links[i].everything = !resolve(sources_[node], i, links[i].sources) || waits_for_all_[node];
    }
    handed[node] = links[i].result = maker ? static_cast<Value>(node) : next++;
  }
  values_ = static_cast<std::size_t>(next);
  return links;
}

// Finds the last read of each value, and the registers that hold it at the end.
StaticScheduler::Lifetimes StaticScheduler::lifetimes_of(const std::vector<Links>& links) {
  Lifetimes out;
  out.last_read.assign(values_, kNever);
  for (const int reg : needed_) needed_until_[static_cast<std::size_t>(reg)] = 0;
  needed_.clear();
  const auto read = [&](Value value, std::size_t place) {
    if (value < 0) {
      std::size_t& until = needed_until_[static_cast<std::size_t>(~value)];
      if (until == 0) needed_.push_back(~value);
      until = place + 1;
    } else {
      out.last_read[static_cast<std::size_t>(value)] = place;
    }
  };
  for (std::size_t i = 0; i < links.size(); ++i) {
    for (const Value value : links[i].sources) read(value, i);
  }
  for (const auto& [reg, values] : now_) {
    if (slot_of_[static_cast<std::size_t>(reg)] == kReadySlot) continue;
    std::vector<Value> made;
    resolve(values, kNever, made);
    if (made.size() == 1 && made[0] == ~reg) continue;
    for (const Value value : made) {
      if (made.size() == 1 && value >= 0) {
        out.ends_of[value].push_back(reg);
      } else {
        read(value, links.size());
      }
    }
    out.ends[reg] = std::move(made);
  }
  return out;
}

std::uint16_t StaticScheduler::new_slot(std::uint32_t& next) {
  return next < kMaxSlots ? static_cast<std::uint16_t>(next++) : kOverflowSlot;
}

std::uint16_t StaticScheduler::slot_now(Value value, const Slots& slots) const {
  return value < 0 ? slot_of_[static_cast<std::size_t>(~value)] : slots.of_value[static_cast<std::size_t>(value)];
}

// Assigns the slots that the operation at `place` writes. If its result is the final value of registers, and their
// initial values are no longer needed, these are the slots of these registers. Otherwise it is a free slot, which is
// free again after the last read.
void StaticScheduler::give_slots(Value value, std::size_t place, const Lifetimes& lives, Slots& slots, TimedOp& op,
                                 std::vector<std::uint16_t>& operands) const {
  const auto number = static_cast<std::size_t>(value);
  const auto wanted = lives.ends_of.find(value);
  if (wanted != lives.ends_of.end()) {
    for (const int reg : wanted->second) {
      if (needed_until_[static_cast<std::size_t>(reg)] > place + 1) continue;
      slots.in_place.insert(reg);
      operands.push_back(slot_of_[static_cast<std::size_t>(reg)]);
      ++op.result_count;
      if (slots.of_value[number] == kReadySlot) slots.of_value[number] = operands.back();
    }
  }
  const bool kept = wanted != lives.ends_of.end() || lives.last_read[number] != kNever;
  if (slots.of_value[number] != kReadySlot || !kept) return;
  if (!slots.unused.empty()) {
    slots.of_value[number] = slots.unused.back();
    slots.unused.pop_back();
  } else {
    slots.of_value[number] = new_slot(slots.next);
  }
  if (wanted == lives.ends_of.end() && slots.of_value[number] >= kFirstFreeSlot)
    slots.freed[lives.last_read[number] + 1].push_back(slots.of_value[number]);
  operands.push_back(slots.of_value[number]);
  ++op.result_count;
}

// Moves the final values of registers to their slots. If a register has several possible values, its slot becomes ready
// when the latest of them does.
void StaticScheduler::rename_at_the_end(const Lifetimes& lives, Slots& slots, std::vector<Rename>& renames) const {
  std::vector<Rename> moves;
  for (const auto& [reg, values] : lives.ends) {
    std::uint16_t from = values.empty() ? kReadySlot : slot_now(values[0], slots);
    if (values.size() > 1) {
      const std::uint16_t all = new_slot(slots.next);
      for (const Value value : values) {
        const bool joins = value != values[0] || all == kOverflowSlot;
        renames.push_back({all, slot_now(value, slots), joins});
      }
      from = all;
    }
    if (!slots.in_place.contains(reg)) moves.push_back({slot_of_[static_cast<std::size_t>(reg)], from});
  }
  append_in_sequence(moves, slots.next, renames);
}

// Assigns a slot to every value and emits the operations.
Schedule StaticScheduler::emit(std::vector<Item> items) {
  find_what_vanished(items);
  const std::vector<Links> links = link(items);
  const Lifetimes lives = lifetimes_of(links);
  Schedule out;
  Slots slots{.of_value = std::vector<std::uint16_t>(values_, kReadySlot),
              .unused = {},
              .freed = std::vector<std::vector<std::uint16_t>>(items.size() + 2),
              .in_place = {},
              .next = shared_slots_};
  for (std::size_t i = 0; i < items.size(); ++i) {
    TimedOp op = items[i].op;
    slots.unused.insert(slots.unused.end(), slots.freed[i].begin(), slots.freed[i].end());
    op.first_operand = static_cast<std::uint32_t>(out.operands.size());
    if (links[i].result != kNoValue) give_slots(links[i].result, i, lives, slots, op, out.operands);
    for (const Value value : links[i].sources) {
      if (slot_now(value, slots) == kReadySlot) continue;
      out.operands.push_back(slot_now(value, slots));
      ++op.source_count;
    }
    op.waits_for_all = links[i].everything;
    const bool last = op.pc == block_->first + block_->count - 1;
    out.ends_in_branch = out.ends_in_branch || (op.kind == TimedKind::branch && last);
    out.ops.push_back(op);
  }
  rename_at_the_end(lives, slots, out.renames);
  out.slots = slots.next;
  slots_ = std::max(slots_, slots.next);
  return out;
}

// Puts simultaneous moves into a sequence. Moves that form a cycle need an extra slot.
void StaticScheduler::append_in_sequence(std::span<const Rename> moves, std::uint32_t& next, std::vector<Rename>& out) {
  std::map<std::uint16_t, std::uint16_t> from_of;  // by written slot: the slot to read
  std::map<std::uint16_t, std::size_t> readers;    // by slot: how many remaining moves read it
  for (const auto& move : moves) {
    if (move.to == move.from || !from_of.emplace(move.to, move.from).second) continue;
    ++readers[move.from];
  }
  std::vector<std::uint16_t> free;  // written slots that no remaining move reads
  for (const auto& [to, from] : from_of) {
    if (!readers.contains(to)) free.push_back(to);
  }
  const auto drain = [&] {
    while (!free.empty()) {
      const auto move = from_of.find(free.back());
      free.pop_back();
      const std::uint16_t from = move->second;
      out.push_back({move->first, from});
      from_of.erase(move);
      if (--readers[from] == 0 && from_of.contains(from)) free.push_back(from);
    }
  };
  drain();
  std::map<std::uint16_t, std::uint16_t> reader_of;  // only cycles are left, so each slot is read by one move
  for (const auto& [to, from] : from_of) reader_of[from] = to;
  while (!from_of.empty()) {
    const std::uint16_t saved = from_of.begin()->first;
    const std::uint16_t spare = new_slot(next);
    out.push_back({spare, saved, spare == kOverflowSlot});
    from_of[reader_of[saved]] = spare;
    readers[spare] = 1;
    free.push_back(saved);
    drain();
  }
}

}  // namespace roofwalk::vgpu
