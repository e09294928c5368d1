#include "common/vgpu/schedule.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/check.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

constexpr std::uint16_t kReady = 0;  // the slot of what is there from the start: constants, parameters
constexpr std::size_t kMaxSlots = 60'000;

template <class Visit>
void for_each_register(const Operand& operand, Visit&& visit) {
  if (operand.index >= 0 && (operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::address))
    visit(operand.index);
  for (const Operand& element : operand.elements) for_each_register(element, visit);
}

// How many of the operands are results; an address is always read.
std::size_t result_count(const Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::compare:
    case Form::shuffle:
      return 2;
    case Form::barrier:
      return in.barrier == ptx::BarrierMode::red_popc || in.barrier == ptx::BarrierMode::red_and ||
                     in.barrier == ptx::BarrierMode::red_or
                 ? 1
                 : 0;
    case Form::store:
    case Form::reduction:
    case Form::branch:
    case Form::leave:
    case Form::trap:
    case Form::fence:
    case Form::prefetch:
    case Form::call:
      return 0;
    default:
      return 1;
  }
}

template <class Visit>
void for_each_result(const Instruction& in, Visit&& visit) {
  for (std::size_t i = 0; i < std::min(result_count(in), in.operands.size()); ++i)
    for_each_register(in.operands[i], visit);
  for (const Operand& operand : in.call_results) for_each_register(operand, visit);
}

template <class Visit>
void for_each_source(const Instruction& in, Visit&& visit) {
  for (std::size_t i = result_count(in); i < in.operands.size(); ++i) for_each_register(in.operands[i], visit);
  for (const Operand& operand : in.call_arguments) for_each_register(operand, visit);
  if (in.guard >= 0) visit(in.guard);
}

bool is_wide(Type type) { return ptx::size_bytes(type) == 8; }

// What an operation costs on hardware, as ptxas 13 expands it for sm_80 and sm_90.
struct Cost {
  Unit unit = Unit::integer;
  int issues = 1;  // 0: it vanishes, its result is its source
};

Cost cost_of(const Instruction& in) {
  const auto& info = ptx::info(in.opcode);
  const bool f32 = in.type == Type::f32, f64 = in.type == Type::f64;
  const int words = is_wide(in.type) ? 2 : 1;
  switch (info.form) {
    case Form::move:
    case Form::cvta: {
      const Operand& from = in.operands.back();
      if (from.kind != Operand::Kind::special) return {Unit::integer, 0};
      const bool in_constant_bank =
          from.special == ptx::SpecialRegister::ntid || from.special == ptx::SpecialRegister::nctaid;
      return in_constant_bank ? Cost{Unit::integer, 0} : Cost{Unit::special, 1};
    }
    case Form::convert: {
      const bool to_float = ptx::is_float(in.type), from_float = ptx::is_float(in.source_type);
      if (f64 || in.source_type == Type::f64) return {Unit::fp64, 1};
      if (to_float != from_float) return {Unit::special, 1};
      if (to_float) return {f32 && in.source_type == Type::f16 ? Unit::half : Unit::integer, 1};
      const int to = ptx::size_bytes(in.type), from = ptx::size_bytes(in.source_type);
      const bool sign = in.source_type == Type::s32 || in.source_type == Type::s16 || in.source_type == Type::s8;
      return {Unit::integer, to > from ? (sign ? 1 : 0) : to >= 4 ? 0 : 1};
    }
    case Form::load:
    case Form::store:
    case Form::atomic:
    case Form::reduction:
    case Form::prefetch:
    case Form::shuffle:
      return {Unit::memory, in.space == Space::param ? 0 : 1};
    case Form::branch:
    case Form::leave:
    case Form::trap:
    case Form::fence:
    case Form::barrier:
    case Form::call:
      return {Unit::control, 1};
    case Form::compare:
      return f64 ? Cost{Unit::fp64, 1} : Cost{Unit::integer, words};
    default:
      break;
  }
  switch (in.opcode) {
    case Opcode::Add:
    case Opcode::Sub:
      return {f32 ? Unit::fp32 : f64 ? Unit::fp64 : Unit::integer, f64 ? 1 : words};
    case Opcode::Fma:
      return {f32 ? Unit::fp32 : Unit::fp64, 1};
    case Opcode::Mul:
    case Opcode::Mad:
      if (f32) return {Unit::fp32, 1};
      if (f64) return {Unit::fp64, 1};
      return {Unit::multiply, words == 2 ? 4 : 1};
    case Opcode::Abs:
    case Opcode::Neg:
      if (ptx::is_float(in.type)) return {Unit::fp32, 0};  // a modifier of what reads it
      return {Unit::integer, words};
    case Opcode::Div:
    case Opcode::Rem:
    case Opcode::Sqrt:
    case Opcode::Rcp:
      return {Unit::special, 1};
    default:
      if (info.pipe == ptx::Pipe::special) return {Unit::special, 1};
      return {Unit::integer, f64 ? 2 : words};
  }
}

TimedKind kind_of(const Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::load:
      return in.space == Space::constant ? TimedKind::compute : TimedKind::load;
    case Form::store:
      return in.space == Space::param ? TimedKind::compute : TimedKind::store;
    case Form::atomic:
    case Form::reduction:
      return TimedKind::atomic;
    case Form::barrier:
      return in.barrier == ptx::BarrierMode::warp_sync ? TimedKind::compute : TimedKind::barrier;
    case Form::branch:
      return TimedKind::branch;
    case Form::leave:
    case Form::trap:
      return TimedKind::leave;
    default:
      return TimedKind::compute;
  }
}

int latency_cycles(const Machine& machine, const Instruction& in, Unit unit) {
  const Form form = ptx::info(in.opcode).form;
  const double cycles = form == Form::shuffle   ? machine.shuffle_latency_cycles
                        : form == Form::load    ? machine.shared_latency_cycles  // the constant cache
                        : unit == Unit::fp64    ? machine.fp64_latency_cycles
                        : unit == Unit::special ? machine.special_latency_cycles
                        : unit == Unit::tensor  ? machine.tensor_latency_cycles
                                                : machine.alu_latency_cycles;
  return static_cast<int>(std::lround(cycles));
}

// Values: what a register holds between two writes. Value 0 is what is always ready.
using Value = std::uint32_t;

struct Node {
  TimedOp op;
  std::vector<Value> results, sources;
};

class Scheduler {
 public:
  Scheduler(const Machine& machine, const Program& program) : machine_(machine), program_(program) {}

  ProgramSchedule run() {
    find_slots();
    ProgramSchedule out;
    for (const BasicBlock& block : program_.blocks) out.blocks.push_back({schedule_block(block)});
    out.slots = slots_;
    return out;
  }

 private:
  const std::vector<Instruction>& code() const { return program_.function->instructions; }

  // Registers that carry a value from one block to another have a slot of their own.
  void find_slots() {
    const std::size_t count = program_.function->registers.size();
    std::vector<std::uint32_t> home(count, kExitBlock);  // the only block that touches it, so far
    std::vector<bool> crosses(count);
    for (std::uint32_t b = 0; b < program_.blocks.size(); ++b) {
      const BasicBlock& block = program_.blocks[b];
      for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
        const auto read = [&](int reg) {
          if (home[reg] != b) crosses[reg] = true;
        };
        for_each_source(code()[pc], read);
        if (code()[pc].guard >= 0) for_each_result(code()[pc], read);  // what lanes keep that it skips
        for_each_result(code()[pc], [&](int reg) {
          if (home[reg] != kExitBlock && home[reg] != b) crosses[reg] = true;
          home[reg] = b;
        });
      }
    }
    slot_of_.assign(count, kReady);
    slots_ = 1;
    for (std::size_t reg = 0; reg < count; ++reg) {
      if (crosses[reg] && slots_ < kMaxSlots) slot_of_[reg] = static_cast<std::uint16_t>(slots_++);
    }
    shared_slots_ = slots_;
  }

  Value value_of(int reg) {
    const auto found = now_.find(reg);
    if (found != now_.end()) return found->second;
    values_.push_back({slot_of_[reg]});
    return now_[reg] = static_cast<Value>(values_.size() - 1);
  }

  Value define(int reg) {
    values_.push_back({});
    written_.push_back(reg);
    return now_[reg] = static_cast<Value>(values_.size() - 1);
  }

  void add(std::uint32_t pc, int memory, std::vector<Node>& nodes) {
    const Instruction& in = code()[pc];
    const Cost cost = cost_of(in);
    if (cost.issues == 0 && in.guard < 0) {
      Value value = 0;
      for_each_source(in, [&](int reg) { value = std::max(value, value_of(reg)); });  // of two halves, the later
      for_each_result(in, [&](int reg) {
        written_.push_back(reg);
        now_[reg] = value;
      });
      return;
    }
    Node node;
    node.op.kind = kind_of(in);
    node.op.unit = cost.unit;
    node.op.issues = static_cast<std::uint16_t>(std::max(cost.issues, 1));
    node.op.pc = pc;
    node.op.memory = static_cast<std::int16_t>(memory);
    if (node.op.kind == TimedKind::compute)
      node.op.latency_cycles = static_cast<std::uint16_t>(latency_cycles(machine_, in, cost.unit));
    for_each_source(in, [&](int reg) { node.sources.push_back(value_of(reg)); });
    if (in.guard >= 0) for_each_result(in, [&](int reg) { node.sources.push_back(value_of(reg)); });
    for_each_result(in, [&](int reg) { node.results.push_back(define(reg)); });
    std::erase(node.sources, Value{0});
    nodes.push_back(std::move(node));
  }

  Schedule schedule_block(const BasicBlock& block) {
    values_.assign(1, {kReady});
    now_.clear();
    written_.clear();
    std::vector<Node> nodes;
    int memory = 0;
    for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
      add(pc, has_outcome(code()[pc]) ? memory++ : -1, nodes);
    }
    return emit(nodes);
  }

  // Gives every value a slot and writes the operations down.
  Schedule emit(std::vector<Node>& nodes) {
    constexpr std::size_t kNever = ~std::size_t{0};
    std::vector<std::size_t> last_read(values_.size(), kNever);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const Value value : nodes[i].sources) last_read[value] = i;
    }
    // At the end, the slot of a register must hold its last value.
    std::map<Value, std::uint16_t> wanted;  // one of the slots that a value ends in
    std::vector<std::pair<std::uint16_t, Value>> ends;
    std::sort(written_.begin(), written_.end());
    written_.erase(std::unique(written_.begin(), written_.end()), written_.end());
    std::map<std::uint16_t, std::size_t> free_after;  // slot of a live-in value: its last read
    for (Value value = 1; value < values_.size(); ++value) {
      if (values_[value].slot != kReady && last_read[value] != kNever)
        free_after[values_[value].slot] = last_read[value];
    }
    for (const int reg : written_) {
      if (slot_of_[reg] == kReady) continue;
      ends.emplace_back(slot_of_[reg], now_[reg]);
      wanted.emplace(now_[reg], slot_of_[reg]);
    }
    for (const auto& [slot, value] : ends) {
      if (values_[value].slot != kReady) free_after[values_[value].slot] = nodes.size();  // moved at the end
    }

    Schedule out;
    std::vector<std::uint16_t> unused;
    std::uint32_t next = shared_slots_;
    std::vector<std::vector<std::uint16_t>> freed(nodes.size() + 1);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      Node& node = nodes[i];
      unused.insert(unused.end(), freed[i].begin(), freed[i].end());
      node.op.first_operand = static_cast<std::uint32_t>(out.operands.size());
      for (const Value value : node.results) {
        const auto want = wanted.find(value);
        if (want == wanted.end() && last_read[value] == kNever) continue;
        std::uint16_t slot = kReady;
        if (want != wanted.end()) {
          const auto busy = free_after.find(want->second);
          if (busy == free_after.end() || busy->second <= i) slot = want->second;
        }
        if (slot == kReady) {
          if (!unused.empty()) {
            slot = unused.back();
            unused.pop_back();
          } else if (next < kMaxSlots) {
            slot = static_cast<std::uint16_t>(next++);
          }
          if (want == wanted.end() && slot != kReady) freed[last_read[value] + 1].push_back(slot);
        }
        values_[value].slot = slot;
        out.operands.push_back(slot);
        ++node.op.result_count;
      }
      for (const Value value : node.sources) {
        if (values_[value].slot == kReady) continue;
        out.operands.push_back(values_[value].slot);
        ++node.op.source_count;
      }
      out.ops.push_back(node.op);
    }
    std::vector<std::pair<std::uint16_t, std::uint16_t>> moves;
    for (const auto& [slot, value] : ends) {
      if (values_[value].slot != slot) moves.emplace_back(slot, values_[value].slot);
    }
    out.renames = in_sequence(std::move(moves), next);
    slots_ = std::max(slots_, next);
    return out;
  }

  // Moves that happen at once, as moves one after the other; a circle goes through a further slot.
  static std::vector<std::pair<std::uint16_t, std::uint16_t>> in_sequence(
      std::vector<std::pair<std::uint16_t, std::uint16_t>> moves, std::uint32_t& next) {
    std::vector<std::pair<std::uint16_t, std::uint16_t>> out;
    while (!moves.empty()) {
      const auto free = std::find_if(moves.begin(), moves.end(), [&](const auto& move) {
        return std::none_of(moves.begin(), moves.end(),
                            [&](const auto& other) { return other.second == move.first && &other != &move; });
      });
      if (free != moves.end()) {
        out.push_back(*free);
        moves.erase(free);
        continue;
      }
      const std::uint16_t saved = moves.front().first;
      const auto spare = static_cast<std::uint16_t>(std::min<std::uint32_t>(next++, kMaxSlots));
      out.emplace_back(spare, saved);
      for (auto& move : moves) {
        if (move.second == saved) move.second = spare;
      }
    }
    return out;
  }

  struct Held {
    std::uint16_t slot = kReady;
  };

  const Machine& machine_;
  const Program& program_;
  std::vector<std::uint16_t> slot_of_;  // by register: where it lies between blocks
  std::uint32_t slots_ = 1, shared_slots_ = 1;
  std::vector<Held> values_;
  std::map<int, Value> now_;
  std::vector<int> written_;
};

}  // namespace

bool has_outcome(const Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::load:
    case Form::store:
    case Form::atomic:
    case Form::reduction:
      return in.space != Space::param && in.space != Space::constant;
    default:
      return false;
  }
}

ProgramSchedule schedule(const Machine& machine, const Program& program, int, std::span<const std::uint32_t>) {
  return Scheduler(machine, program).run();
}

}  // namespace roofwalk::vgpu
