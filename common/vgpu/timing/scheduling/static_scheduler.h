// Puts the operations of basic blocks in the order in which hardware runs them, and gives their values slots of the
// scoreboard. Only the files behind schedule.h include this.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "common/vgpu/program/operands.h"
#include "common/vgpu/timing/handed.h"
#include "common/vgpu/timing/instruction_cost.h"
#include "common/vgpu/timing/machine_code.h"
#include "common/vgpu/timing/merge.h"
#include "common/vgpu/timing/schedule.h"

namespace roofwalk::vgpu {

class StaticScheduler {
 public:
  StaticScheduler(const Machine& machine, const Program& program, std::span<const MachineOp> machine_code,
                  int registers_per_thread)
      : machine_(machine), program_(program), machine_code_(machine_code), handed_(program) {
    constexpr int kKept = 8;  // registers for addresses and whatever else lives meanwhile
    if (registers_per_thread > 0)
      most_hoisted_ = static_cast<std::uint32_t>(std::max(registers_per_thread - kKept, kKept));
  }

  ProgramSchedule run();

 private:
  // Values are numbers. The result of the PTX instruction i of copy c in a basic block of n is c * n + i; further
  // numbers are what operations of one PTX instruction hand to each other; what registers hold at the start is
  // ~register.
  using Value = std::int32_t;
  // A value for each register that has been written; more than one where it depends on the way which it is.
  using State = std::map<int, std::vector<Value>>;
  // By register that is handed something: its values.
  using Handed = std::pair<int, std::vector<Value>>;

  static constexpr Value kNoValue = std::numeric_limits<Value>::min();
  static constexpr std::int32_t kNowhere = -1;
  static constexpr std::size_t kNever = ~std::size_t{0};
  static constexpr std::uint16_t kReady = 0;          // the slot of what is there from the start: constants, parameters
  static constexpr std::uint32_t kMaxSlots = 60'000;  // behind them, one for all values that are left
  static_assert(kMaxSlots > 1 + kMaxRegistersAcrossBlocks + kMostHandedWords);

  struct Item {
    TimedOp op;
    std::int32_t node = kNowhere;  // result of which PTX instruction it works on; kNowhere: it only issues
    bool constant = false;         // makes something of nothing, for the operations of its instruction behind it
  };
  struct Lack {
    std::vector<bool> accesses;  // by instruction of the basic block: copies of it are missing
    std::uint64_t issues = 0;    // of arithmetic, until it is as much as by the rules; where accesses are missing
    bool most = false;           // it is not the code of this basic block
    bool none() const { return !most && std::find(accesses.begin(), accesses.end(), true) == accesses.end(); }
  };
  struct Links {
    std::vector<Value> sources;
    Value result = kNoValue;
  };
  struct Lifetimes {
    std::vector<std::size_t> last_read;         // by value: the place of the operation; kNever: nobody reads it
    std::map<int, std::size_t> needed_until;    // by register: the last read of what it holds at the start
    std::map<int, std::vector<Value>> ends;     // by register: what it holds at the end
    std::map<Value, std::vector<int>> ends_of;  // by value: the registers that hold it alone at the end
  };
  struct Slots {
    std::vector<std::uint16_t> of_value, unused;
    std::vector<std::vector<std::uint16_t>> freed;  // by place of an operation: what nobody reads any more there
    std::set<int> in_place;                         // registers whose last value was written straight to their slot
    std::uint32_t next = 0;
  };

  static std::uint16_t cycles(double of_machine) { return static_cast<std::uint16_t>(std::lround(of_machine)); }
  static ptx::Form form_of(const ptx::Instruction& in) { return ptx::info(in.opcode).form; }
  const std::vector<ptx::Instruction>& code() const { return program_.function->instructions; }
  const ptx::Instruction& instruction(std::uint32_t i) const { return code()[block_->first + i]; }
  bool is_branch(std::uint32_t pc) const { return kind_of(code()[pc]) == TimedKind::branch; }

  // schedule.cpp: a basic block, or several that run as one, in each form that it takes.
  void hold(MergedBlock merged);
  void add_forms(const std::vector<BlockCode>& forms, ProgramSchedule& out);
  void add(const BlockCode& form, const Lack& lack, ProgramSchedule& out);
  void add_merged(const FoundCode& alone, ProgramSchedule& out);
  bool waits_too_often() const;
  Lack lack_of(const BlockCode& form) const;
  bool is_straight(const BlockCode& form) const;
  std::set<std::uint32_t> accesses_of(const BlockCode& form) const;
  std::uint32_t member_of(std::uint32_t pc) const;
  int memory_of(std::uint32_t pc) const;
  TimedOp main_op(std::uint32_t pc, std::uint32_t copy) const;

  // sass_order.cpp
  std::vector<Item> items_of(const BlockCode& form, const Lack& lack) const;
  void add_steps(std::span<const Cost> steps, const Item& of, std::vector<Item>& items) const;
  void add_issues(Unit unit, std::uint64_t count, std::vector<Item>& items) const;
  void fill_up(std::span<const BlockCode> forms, std::vector<Item>& items) const;
  bool is_main(const BlockOp& op) const;
  std::uint32_t copy_of(std::uint32_t pc, std::uint32_t k, std::uint32_t total, std::uint32_t copies) const;
  void add_missing(std::uint32_t copies, const std::vector<bool>& has_main, std::vector<std::uint32_t> singles,
                   const std::vector<bool>& lacks, std::vector<Item>& items) const;
  static void insert_in_ptx_order(const std::vector<Item>& more, std::vector<Item>& items);
  std::uint16_t latency_of(const Operation& info) const;
  std::uint16_t latency_of(const ptx::Instruction& in, Unit unit) const;

  // ptxas_rules.cpp
  std::vector<Item> items_by_rules() const;
  Cost cost_by_rules(std::uint32_t pc) const;
  std::vector<Cost> costs_by_rules(std::uint32_t pc) const;
  void find_folded();
  std::vector<std::uint32_t> hoist_loads() const;
  void take(std::uint32_t i, std::vector<bool>& done, std::vector<std::uint32_t>& order) const;

  // dependences.cpp
  void find_sources(std::uint32_t copies);
  void run_node(std::uint32_t node);
  void find_stops();
  void read_what_flies(std::uint32_t node);
  std::vector<Handed> held_by(std::span<const HandedWords::Move> moves) const;
  static void join(const State& other, State& state);

  // scoreboard_slots.cpp
  void find_slots();
  void resolve(std::span<const Value> values, std::size_t place, std::vector<Value>& out);
  void find_what_vanished(std::vector<Item>& items);
  void find_makers(const std::vector<Item>& items);
  std::vector<Links> link(const std::vector<Item>& items);
  Lifetimes lifetimes_of(const std::vector<Links>& links);
  static std::uint16_t new_slot(std::uint32_t& next);
  std::uint16_t slot_now(Value value, const Slots& slots) const;
  void give_slots(Value value, std::size_t place, const Lifetimes& lives, Slots& slots, TimedOp& op,
                  std::vector<std::uint16_t>& operands) const;
  void rename_at_the_end(const Lifetimes& lives, Slots& slots, std::vector<Rename>& renames) const;
  Schedule emit(std::vector<Item> items);
  static void append_in_sequence(std::span<const Rename> moves, std::uint32_t& next, std::vector<Rename>& out);

  const Machine& machine_;
  const Program& program_;
  std::span<const MachineOp> machine_code_;
  std::uint32_t most_hoisted_ = std::numeric_limits<std::uint32_t>::max();  // words that loads ahead may bring
  std::vector<std::uint16_t> slot_of_;                                      // by register: where it lies between blocks
  std::uint32_t slots_ = 1, shared_slots_ = 1;

  const HandedWords handed_;
  std::vector<bool> stops_;      // by PTX instruction: it waits for everything that is in flight
  Value last_stop_ = 0;          // of the basic block so far, by node; kNoValue: none
  std::vector<int> since_stop_;  // registers that were written since
  std::vector<int> flying_;      // registers across basic blocks that may be in flight

  MergedBlock merged_;                       // the one in hand
  const BasicBlock* block_ = nullptr;        // all of it
  std::vector<std::vector<Value>> sources_;  // by node
  State now_;                                // at the end
  std::vector<std::size_t> made_at_;         // by node: place of the operation that makes it
  std::vector<std::vector<Value>> made_of_;  // by node that no operation makes
  std::size_t values_ = 0;
  std::vector<Value> open_;                          // of a search of resolve(); kept for its memory
  std::vector<std::uint32_t> seen_, register_seen_;  // the last search that met a node, a register
  std::uint32_t search_ = 0;
  std::vector<bool> folded_, scaled_;  // by PTX instruction: vanishes into others; takes a product in
};

}  // namespace roofwalk::vgpu
