// Puts the operations of basic blocks into the order in which hardware executes them, and assigns their values to
// scoreboard slots. Only the source files of instruction_schedule.h include this.
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
#include "common/vgpu/timing/if_conversion.h"
#include "common/vgpu/timing/instruction_cost.h"
#include "common/vgpu/timing/instruction_schedule.h"
#include "common/vgpu/timing/live_values.h"
#include "common/vgpu/timing/sass_map.h"

namespace roofwalk::vgpu {

class StaticScheduler {
 public:
  StaticScheduler(const Machine& machine, const Program& program, std::span<const MachineOp> machine_code,
                  int registers_per_thread)
      : machine_(machine), program_(program), machine_code_(machine_code), handed_(program) {
    constexpr int kKept = 8;  // registers for addresses and other live values
    if (registers_per_thread > 0)
      most_hoisted_ = static_cast<std::uint32_t>(std::max(registers_per_thread - kKept, kKept));
  }

  ProgramSchedule run();

 private:
  // A value is identified by a number. The result of PTX instruction i in copy c of a basic block of n instructions is
  // c * n + i. Higher numbers are intermediate values, passed between the operations of one PTX instruction. ~register
  // is the initial value of a register.
  using Value = std::int32_t;
  // The value of each register written so far; several values if it depends on the path.
  using State = std::map<int, std::vector<Value>>;
  // A register that receives values through a call or return, and those values.
  using Handed = std::pair<int, std::vector<Value>>;

  static constexpr Value kNoValue = std::numeric_limits<Value>::min();
  static constexpr std::int32_t kNowhere = -1;
  static constexpr std::size_t kNever = ~std::size_t{0};
  static constexpr std::uint32_t kMaxSlots = 60'000;  // values beyond this limit share the overflow slot
  static_assert(kMaxSlots > kFirstFreeSlot + kMaxRegistersAcrossBlocks + kMostHandedWords);

  struct Item {
    TimedOp op;
    std::int32_t node = kNowhere;  // copy of the PTX instruction whose result it computes; kNowhere: it only takes
                                   // issue slots
    bool constant = false;         // reads nothing; makes a value for later operations of its instruction
  };
  struct Lack {
    std::vector<bool> accesses;  // by instruction of the basic block: whether copies of its access are missing
    std::uint64_t issues = 0;    // if accesses are missing: how much less arithmetic there is than the rules give
    bool most = false;           // most is missing, so this is not the code of this basic block
    bool none() const { return !most && std::find(accesses.begin(), accesses.end(), true) == accesses.end(); }
  };
  struct Links {
    std::vector<Value> sources;
    Value result = kNoValue;
    bool everything = false;  // whether it waits for everything in flight, beside its sources
  };
  struct Lifetimes {
    std::vector<std::size_t> last_read;         // by value: the operation that reads it last; kNever: none
    std::map<int, std::vector<Value>> ends;     // by register: its values at the end
    std::map<Value, std::vector<int>> ends_of;  // by value: the registers that hold it alone at the end
  };
  struct Slots {
    std::vector<std::uint16_t> of_value, unused;
    // By index of an operation: slots that are free from that operation on.
    std::vector<std::vector<std::uint16_t>> freed;
    std::set<int> in_place;  // registers whose last value is written directly to their slot
    std::uint32_t next = 0;
  };

  static std::uint16_t cycles(double of_machine) { return static_cast<std::uint16_t>(std::lround(of_machine)); }
  static ptx::Form form_of(const ptx::Instruction& in) { return ptx::info(in.opcode).form; }
  const std::vector<ptx::Instruction>& code() const { return program_.function->instructions; }
  const ptx::Instruction& instruction(std::uint32_t i) const { return code()[block_->first + i]; }
  bool is_branch(std::uint32_t pc) const { return kind_of(code()[pc]) == TimedKind::branch; }

  // instruction_schedule.cpp: schedules a basic block, or several that run as one, in each of its forms.
  void hold(MergedBlock merged);
  void add_forms(const std::vector<BlockCode>& forms, const IssuesOfUnits& lost, ProgramSchedule& out);
  void add(const BlockCode& form, const Lack& lack, const IssuesOfUnits& lost, ProgramSchedule& out);
  void add_merged(const FoundCode& alone, ProgramSchedule& out);
  Lack lack_of(const BlockCode& form) const;
  bool lacks_a_wait(const BlockCode& form) const;
  bool is_straight(const BlockCode& form) const;
  bool has_short_arms(const BlockCode& form) const;
  std::set<std::uint32_t> accesses_of(const BlockCode& form) const;
  std::uint32_t member_of(std::uint32_t pc) const;
  int memory_of(std::uint32_t pc) const;
  TimedOp main_op(std::uint32_t pc, std::uint32_t copy) const;

  // sass_order.cpp
  std::vector<Item> items_of(const BlockCode& form, const Lack& lack) const;
  void add_steps(std::span<const Cost> steps, const Item& of, std::vector<Item>& items) const;
  void add_issues(Unit unit, std::uint64_t count, std::vector<Item>& items) const;
  void fill_up(std::span<const BlockCode> forms, const IssuesOfUnits& lost, std::vector<Item>& items) const;
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
  void find_fused();
  std::vector<std::uint32_t> hoist_loads() const;
  void take(std::uint32_t i, std::vector<bool>& done, std::vector<std::uint32_t>& order) const;

  // dependences.cpp
  void find_sources(std::uint32_t copies);
  void run_node(std::uint32_t node);
  void find_stops();
  void read_what_flies(std::uint32_t node);
  std::uint64_t most_waits() const;
  std::vector<Handed> held_by(std::span<const HandedWords::Move> moves) const;
  static void join(const State& other, State& state);

  // scoreboard_slots.cpp
  void find_slots();
  bool resolve(std::span<const Value> values, std::size_t place, std::vector<Value>& out);
  std::int32_t node_merged_into(std::uint32_t node) const;
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
  std::uint32_t most_hoisted_ = std::numeric_limits<std::uint32_t>::max();  // words that hoisted loads may occupy
  std::vector<std::uint16_t> slot_of_;                                      // by register: its slot between blocks
  std::uint32_t slots_ = kFirstFreeSlot, shared_slots_ = kFirstFreeSlot;

  const HandedWords handed_;
  std::vector<bool> stops_;      // by PTX instruction: whether it waits for everything in flight (a "stop")
  Value last_stop_ = 0;          // node of the basic block's last stop so far; kNoValue: none
  std::vector<int> since_stop_;  // registers written since the last stop
  std::vector<int> flying_;      // registers live across basic blocks whose values may be in flight
  bool too_many_fly_ = false;    // the first stop of each block does not list them
  // The number of values that stops of merged blocks may still wait for. There is a limit because each stop in a merged
  // block waits for all values before it.
  std::uint64_t merged_waits_left_ = 0;

  MergedBlock merged_;                       // the block that is being scheduled
  const BasicBlock* block_ = nullptr;        // all members of merged_
  std::vector<std::vector<Value>> sources_;  // by node: the values that it reads
  std::vector<bool> waits_for_all_;          // by node: whether it waits for everything in flight, listed or not
  State now_;                                // register values reached so far
  std::vector<std::size_t> made_at_;         // by node: index of the operation that makes its value
  std::vector<std::vector<Value>> made_of_;  // by node without an operation: the values that it is made of
  std::size_t values_ = 0;
  std::vector<Value> open_;                          // work list of resolve(), kept to reuse its memory
  std::vector<std::uint32_t> seen_, register_seen_;  // by node, by register: the last search that visited it
  std::uint32_t search_ = 0;
  std::vector<std::size_t> needed_until_;  // by register: one past the operation that last reads its initial value;
                                           // 0: not read
  std::vector<int> needed_;                // registers whose initial value is read
  std::vector<bool> folded_, scaled_;      // by PTX instruction: whether it is folded into others; whether a product
                                           // is folded into it
  std::vector<bool> fused_;                // by PTX instruction: whether it is a product that sums become FMAs with
};

}  // namespace roofwalk::vgpu
