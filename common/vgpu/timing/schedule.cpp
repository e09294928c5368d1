#include "common/vgpu/timing/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/vgpu/program/operands.h"
#include "common/vgpu/timing/handed.h"
#include "common/vgpu/timing/instruction_cost.h"
#include "common/vgpu/timing/machine_code.h"
#include "common/vgpu/timing/merge.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;

constexpr std::uint16_t kReady = 0;          // the slot of what is there from the start: constants, parameters
constexpr std::uint32_t kMaxSlots = 60'000;  // behind them, one for all values that are left
static_assert(kMaxSlots > 1 + kMaxRegistersAcrossBlocks + kMostHandedWords);

std::uint16_t cycles(double of_machine) { return static_cast<std::uint16_t>(std::lround(of_machine)); }

// Values are numbers. The result of the PTX instruction i of copy c in a basic block of n is c * n + i; further numbers
// are what operations of one PTX instruction hand to each other; what registers hold at the start is ~register.
using Value = std::int32_t;
constexpr std::int32_t kNowhere = -1;

struct Item {
  TimedOp op;
  std::int32_t node = kNowhere;  // result of which PTX instruction it works on; kNowhere: it only issues
  bool constant = false;         // makes something of nothing, for the operations of its instruction behind it
};

class Scheduler {
 public:
  Scheduler(const Machine& machine, const Program& program, std::span<const MachineOp> machine_code,
            int registers_per_thread)
      : machine_(machine), program_(program), machine_code_(machine_code), handed_(program) {
    constexpr int kKept = 8;  // registers for addresses and whatever else lives meanwhile
    if (registers_per_thread > 0)
      most_hoisted_ = static_cast<std::uint32_t>(std::max(registers_per_thread - kKept, kKept));
  }

  ProgramSchedule run() {
    find_slots();
    find_stops();
    find_folded();
    ProgramSchedule out;
    out.blocks.resize(program_.blocks.size());
    if (machine_code_.empty()) {
      for (std::uint32_t b = 0; b < out.blocks.size(); ++b) {
        hold({b, 1, program_.blocks[b]});
        find_sources(1);
        out.blocks[b].push_back(emit(items_by_rules()));
      }
    } else {
      const FoundCode code = find_block_code(*program_.function, program_.blocks, machine_code_);
      add_merged(code, out);
      for (std::uint32_t b = 0; b < out.blocks.size(); ++b) {
        hold({b, 1, program_.blocks[b]});
        add_forms(code.forms[b], out);
      }
    }
    out.slots = slots_;
    return out;
  }

 private:
  struct Lack {
    std::vector<bool> accesses;  // by instruction of the basic block: copies of it are missing
    std::uint64_t issues = 0;    // of arithmetic, until it is as much as by the rules; where accesses are missing
    bool most = false;           // it is not the code of this basic block
    bool none() const { return !most && std::find(accesses.begin(), accesses.end(), true) == accesses.end(); }
  };

  // A value for each register that has been written; more than one where it depends on the way which it is.
  using State = std::map<int, std::vector<Value>>;

  const std::vector<Instruction>& code() const { return program_.function->instructions; }

  void hold(MergedBlock merged) {
    merged_ = std::move(merged);
    block_ = &merged_.block;
  }

  // Machine code that is not all that the PTX asks for is filled up, or gives way to the rules where most is missing:
  // ptxas keeps one of two arms that are alike, and its lines tell only one.
  void add_forms(const std::vector<BlockCode>& forms, ProgramSchedule& out) {
    for (const BlockCode& form : forms) {
      if (const Lack lack = lack_of(form); !lack.most) add(form, lack, out);
    }
    std::vector<Schedule>& schedules = out.blocks[merged_.first];
    if (!schedules.empty() && schedules.back().copies == 1 && schedules.back().members == 1) return;
    find_sources(1);
    std::vector<Item> items = items_by_rules();
    fill_up(forms, items);
    schedules.push_back(emit(std::move(items)));
  }

  void add(const BlockCode& form, const Lack& lack, ProgramSchedule& out) {
    find_sources(form.copies);
    Schedule schedule = emit(items_of(form, lack));
    schedule.copies = form.copies;
    schedule.members = merged_.members;
    out.parts = std::max(out.parts, form.copies * merged_.members);
    out.blocks[merged_.first].push_back(std::move(schedule));
  }

  // Basic blocks that run as one. `alone`: the code of each by itself.
  void add_merged(const FoundCode& alone, ProgramSchedule& out) {
    const std::vector<MergedBlock> merged = merge_blocks(program_, alone.branches);
    if (merged.size() == program_.blocks.size()) return;
    std::vector<BasicBlock> blocks;
    for (const MergedBlock& each : merged) blocks.push_back(each.block);
    const FoundCode code = find_block_code(*program_.function, blocks, machine_code_);
    for (std::size_t i = 0; i < merged.size(); ++i) {
      if (merged[i].members == 1) continue;
      std::set<std::uint32_t> wanted;
      for (std::uint32_t b = merged[i].first; b < merged[i].first + merged[i].members; ++b) {
        for (const BlockCode& form : alone.forms[b]) wanted.merge(accesses_of(form));
      }
      hold(merged[i]);
      if (waits_too_often()) continue;
      for (const BlockCode& form : code.forms[i]) {
        if (accesses_of(form) != wanted || !is_straight(form)) continue;
        if (const Lack lack = lack_of(form); !lack.most) add(form, lack, out);
      }
    }
  }

  // Within a merged block each stop waits for all that came before it.
  bool waits_too_often() const {
    const auto begin = stops_.begin() + block_->first;
    const auto stops = static_cast<std::uint64_t>(std::count(begin, begin + block_->count, true));
    return stops * (block_->count + flying_.size()) > kMostWaits;
  }

  // What a form lacks: an access in every copy for each of its PTX (ptxas makes neighbours in 16 bytes of shared memory
  // one, and drops loads that nobody reads), and other instructions within reason: it folds some into others, and never
  // most of many.
  Lack lack_of(const BlockCode& form) const {
    constexpr std::uint32_t kNeighbours = 4;           // words
    constexpr std::uint32_t kShrinks = 3, kFewer = 4;  // times, beside so many for each copy
    std::vector<std::uint32_t> mains(block_->count);
    std::uint64_t issues = 0, by_rules = 0, shared = 0, shared_mains = 0;
    using Neighbours = std::tuple<Form, int, std::string_view, std::int64_t>;
    std::map<Neighbours, std::uint32_t> neighbours;  // their accesses
    std::vector<const Neighbours*> group(block_->count);
    Lack lack;
    lack.accesses.resize(block_->count);
    lack.most = true;
    for (const BlockOp& op : form.ops) {
      if (op.extra) continue;
      lack.most = false;
      mains[op.pc - block_->first] += is_main(op);
      const Operation info = operation_info(op.operation);
      issues += is_arithmetic(info.unit);
      if (info.kind == Operation::Class::call) issues += arithmetic_of(expansion_of(code()[op.pc]));
    }
    for (std::uint32_t i = 0; i < block_->count; ++i) {
      const Instruction& in = instruction(i);
      by_rules += arithmetic_of(costs_by_rules(block_->first + i));
      if (!is_memory(in) || kind_of(in) == TimedKind::compute) continue;
      if (in.space == ptx::Space::shared) {
        shared += form.copies;
        shared_mains += std::min(mains[i], form.copies);
        const auto address = std::find_if(in.operands.begin(), in.operands.end(),
                                          [](const Operand& o) { return o.kind == Operand::Kind::address; });
        if (address == in.operands.end()) continue;
        const auto found =
            neighbours.try_emplace({form_of(in), address->index, address->symbol, address->offset >> 4}).first;
        found->second += mains[i];
        group[i] = &found->first;
      } else {
        lack.accesses[i] = mains[i] < form.copies;
      }
    }
    const bool too_few = shared_mains * kNeighbours < shared;
    for (std::uint32_t i = 0; i < block_->count; ++i) {
      if (!is_memory(instruction(i)) || instruction(i).space != ptx::Space::shared) continue;
      if (kind_of(instruction(i)) == TimedKind::compute) continue;
      lack.accesses[i] = too_few || (group[i] != nullptr && neighbours.at(*group[i]) < form.copies);
    }
    lack.most = lack.most || issues * kShrinks + kFewer * form.copies < by_rules * form.copies;
    if (!lack.none() && issues < by_rules * form.copies) lack.issues = by_rules * form.copies - issues;
    return lack;
  }
  static bool is_arithmetic(Unit unit) { return unit != Unit::memory && unit != Unit::control; }
  static std::uint64_t arithmetic_of(std::span<const Cost> costs) {
    std::uint64_t issues = 0;
    for (const Cost& cost : costs) issues += is_arithmetic(cost.unit) ? static_cast<std::uint64_t>(cost.issues) : 0;
    return issues;
  }

  // Whether no branch in it leads past a part of it.
  bool is_straight(const BlockCode& form) const {
    const std::uint32_t end = block_->first + block_->count - 1;
    return std::none_of(form.ops.begin(), form.ops.end(), [&](const BlockOp& op) {
      return !op.extra && op.pc != end && is_main(op) && is_branch(op.pc);
    });
  }
  bool is_branch(std::uint32_t pc) const { return kind_of(code()[pc]) == TimedKind::branch; }

  std::set<std::uint32_t> accesses_of(const BlockCode& form) const {
    std::set<std::uint32_t> out;
    for (const BlockOp& op : form.ops) {
      if (!op.extra && is_memory(code()[op.pc]) && is_main(op)) out.insert(op.pc);
    }
    return out;
  }

  // Registers that carry a value from one block to another have a slot of their own.
  void find_slots() {
    std::vector<bool> crosses = registers_across_blocks(*program_.function, program_.blocks);
    crosses.insert(crosses.end(), handed_.across_blocks().begin(), handed_.across_blocks().end());
    const std::size_t count = crosses.size();
    slot_of_.assign(count, kReady);
    slots_ = 1;
    for (std::size_t reg = 0; reg < count; ++reg) {
      if (crosses[reg]) slot_of_[reg] = static_cast<std::uint16_t>(slots_++);
    }
    shared_slots_ = slots_;
  }

  // Which of the members an instruction stands in.
  std::uint32_t member_of(std::uint32_t pc) const {
    const auto begin = program_.blocks.begin() + merged_.first;
    const auto behind = std::upper_bound(begin, begin + merged_.members, pc,
                                         [](std::uint32_t at, const BasicBlock& block) { return at < block.first; });
    return static_cast<std::uint32_t>(behind - begin) - 1;
  }

  int memory_of(std::uint32_t pc) const {
    const auto& memory = program_.blocks[merged_.first + member_of(pc)].memory;
    const auto found = std::lower_bound(memory.begin(), memory.end(), pc);
    return found != memory.end() && *found == pc ? static_cast<int>(found - memory.begin()) : kNowhere;
  }

  // The operation that a PTX instruction stands for itself: memory, barriers, branches.
  TimedOp main_op(std::uint32_t pc, std::uint32_t copy) const {
    TimedOp op;
    op.kind = kind_of(code()[pc]);
    op.unit = cost_of(code()[pc]).unit;
    op.part = static_cast<std::uint16_t>(copy * merged_.members + member_of(pc));
    op.pc = pc;
    if (op.kind != TimedKind::compute) op.memory = memory_of(pc);
    if (op.kind == TimedKind::barrier) op.groups = barrier_of(code()[pc]);
    if (op.kind == TimedKind::async_wait) op.groups = groups_of(code()[pc]);
    if (op.kind == TimedKind::branch || op.kind == TimedKind::leave)
      op.latency_cycles = cycles(machine_.alu_latency_cycles);
    return op;
  }

  // ---- From ptxas' code -----------------------------------------------------------------------------------------

  std::vector<Item> items_of(const BlockCode& form, const Lack& lack) const {
    std::vector<std::uint32_t> total(block_->count), done(block_->count), products(block_->count), mains(block_->count),
        singles(block_->count);
    std::vector<std::size_t> first_own(block_->count, kNever);  // place of the first operation that is the instruction
    for (std::size_t place = form.ops.size(); place-- > 0;) {
      const BlockOp& op = form.ops[place];
      if (op.extra) continue;
      const auto single = single_operation(code()[op.pc]);
      if (single && operation_info(op.operation).unit == single->unit) first_own[op.pc - block_->first] = place;
      singles[op.pc - block_->first] += single && stands_for(operation_info(op.operation), *single);
      ++total[op.pc - block_->first];
      mains[op.pc - block_->first] += is_main(op);
      products[op.pc - block_->first] += operation_info(op.operation).unit == Unit::tensor;
    }
    std::vector<bool> has_main(static_cast<std::size_t>(block_->count) * form.copies);
    std::vector<Item> items;
    for (std::size_t place = 0; place < form.ops.size(); ++place) {
      const BlockOp& op = form.ops[place];
      const Operation info = operation_info(op.operation);
      Item item;
      item.op.pc = op.pc;
      item.op.unit = info.unit;
      item.op.latency_cycles = latency_of(info);
      if (!op.extra) {
        const std::uint32_t i = op.pc - block_->first;
        const Instruction& in = code()[op.pc];
        const bool main = is_main(op);
        // Where one operation is the instruction, it tells the copies apart: what else was made for it stands before.
        const std::uint32_t copy = mains[i] == 0
                                       ? copy_of(op.pc, done[i]++, total[i], form.copies)
                                       : copy_of(op.pc, std::min(done[i], mains[i] - 1), mains[i], form.copies);
        if (main) ++done[i];
        // Around a matrix product or a shuffle stand operands and padding; before other arithmetic, constants; and what
        // prepares for warps to come apart reads nothing, wherever it stands. A sleep reads how long it is.
        const bool early = ptx::info(in.opcode).form == Form::alu && first_own[i] != kNever && place < first_own[i];
        const bool beside =
            (form_of(in) == Form::matrix_multiply && info.unit != Unit::tensor) ||
            (form_of(in) == Form::shuffle && info.kind != Operation::Class::shuffle) || early ||
            (info.unit == Unit::control && info.kind == Operation::Class::other && form_of(in) != Form::sleep);
        if (!beside) item.node = static_cast<std::int32_t>(copy * block_->count + i);
        item.constant = info.kind == Operation::Class::constant || info.kind == Operation::Class::load_constant;
        if (main && !has_main[static_cast<std::size_t>(item.node)]) {
          has_main[static_cast<std::size_t>(item.node)] = true;
          item.op = main_op(op.pc, copy);
          item.constant = false;
        }
        if (info.unit == Unit::tensor)
          item.op.tensor_fmas = static_cast<std::uint32_t>(tensor_fmas(in) * form.copies / products[i]);
      }
      items.push_back(item);
      if (info.kind == Operation::Class::call) add_steps(expansion_of(code()[op.pc]), item, items);
    }
    add_missing(form.copies, has_main, std::move(singles), lack.accesses, items);
    add_issues(Unit::integer, lack.issues, items);
    return items;
  }

  // The instructions of a subroutine, one after the other, as parts of what `of` is a part of.
  void add_steps(std::span<const Cost> steps, const Item& of, std::vector<Item>& items) const {
    for (const Cost& step : steps) {
      Item item = of;
      item.constant = false;
      item.op.unit = step.unit;
      item.op.latency_cycles = latency_of(Operation{step.unit, Operation::Class::other});
      items.insert(items.end(), static_cast<std::size_t>(step.issues), item);
    }
  }

  // Instructions that only issue.
  void add_issues(Unit unit, std::uint64_t count, std::vector<Item>& items) const {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint16_t>::max();  // of an operation
    for (; count != 0; count -= std::min(count, kMost)) {
      Item item;
      item.op.pc = block_->first;
      item.op.unit = unit;
      item.op.issues = static_cast<std::uint16_t>(std::min(count, kMost));
      item.op.latency_cycles = latency_of(Operation{unit, Operation::Class::other});
      items.push_back(item);
    }
  }

  // What a basic block issues by the rules is no less, unit by unit, than in the code that was found for it: that has
  // spills, and more that PTX does not tell. (Integer work is one: multipliers do some of it for others.)
  void fill_up(std::span<const BlockCode> forms, std::vector<Item>& items) const {
    const auto place = [](Unit unit) {
      const bool integer = unit == Unit::multiply || unit == Unit::half;
      return static_cast<std::size_t>(integer ? Unit::integer : unit);
    };
    std::array<std::uint64_t, kUnitCount> wanted{}, issued{};
    for (const BlockCode& form : forms) {
      std::array<std::uint64_t, kUnitCount> count{};
      for (const BlockOp& op : form.ops) ++count[place(operation_info(op.operation).unit)];
      for (std::size_t unit = 0; unit < kUnitCount; ++unit)
        wanted[unit] = std::max(wanted[unit], count[unit] / form.copies);
    }
    for (const Item& item : items) issued[place(item.op.unit)] += item.op.issues;
    for (std::size_t unit = 0; unit < kUnitCount; ++unit) {
      if (wanted[unit] > issued[unit]) add_issues(static_cast<Unit>(unit), wanted[unit] - issued[unit], items);
    }
  }

  // As find_versions() counts copies: the kinds of one unit become each other, but for memory's.
  static bool stands_for(const Operation& found, const Operation& single) {
    return found.unit == single.unit && (single.unit != Unit::memory || found.kind == single.kind);
  }

  bool is_main(const BlockOp& op) const {
    const TimedKind kind = kind_of(code()[op.pc]);
    return kind != TimedKind::compute && operation_info(op.operation).kind == class_of(kind);
  }

  // The machine instruction that stands for an operation of this kind; others that were made with it only issue.
  static Operation::Class class_of(TimedKind kind) {
    switch (kind) {
      case TimedKind::branch:
      case TimedKind::leave:
        return Operation::Class::branch;
      case TimedKind::barrier:
        return Operation::Class::barrier;
      case TimedKind::async_commit:
        return Operation::Class::async_commit;
      case TimedKind::async_wait:
        return Operation::Class::async_wait;
      case TimedKind::load_constant:
        return Operation::Class::load_constant;
      default:
        return Operation::Class::memory;
    }
  }

  // Which copy the k-th of `total` operations of a PTX instruction belongs to. Where there are fewer than copies, those
  // that carry a value around the loop do it for all, at the end, and others at the start.
  std::uint32_t copy_of(std::uint32_t pc, std::uint32_t k, std::uint32_t total, std::uint32_t copies) const {
    if (total >= copies) return static_cast<std::uint32_t>(std::uint64_t{k} * copies / total);
    bool around = kind_of(code()[pc]) == TimedKind::branch || ptx::info(code()[pc].opcode).form == Form::compare;
    for_each_result(code()[pc], [&](int reg) { around = around || slot_of_[reg] != kReady; });
    return around ? copies - total + k : k;
  }

  // Every warp must meet every barrier and wait for every copy, and arithmetic that is one machine instruction in every
  // copy is done, however ptxas' code was taken apart. `singles`: by instruction, how many machine instructions are it.
  // So are accesses that counters count, `lacks` says which: ptxas drops a load that nobody reads.
  void add_missing(std::uint32_t copies, const std::vector<bool>& has_main, std::vector<std::uint32_t> singles,
                   const std::vector<bool>& lacks, std::vector<Item>& items) const {
    std::vector<Item> missing;
    for (std::uint32_t node = 0; node < copies * block_->count; ++node) {
      const std::uint32_t pc = block_->first + node % block_->count;
      const TimedKind kind = kind_of(code()[pc]);
      const bool waits = kind == TimedKind::barrier || kind == TimedKind::async_commit || kind == TimedKind::async_wait;
      const auto single = single_operation(code()[pc]);
      const bool computes = single && kind == TimedKind::compute;
      if (computes && ++singles[node % block_->count] > copies) continue;
      if (waits || lacks[node % block_->count] ? has_main[node] : !computes) continue;
      Item item;
      item.op = main_op(pc, node / block_->count);
      item.node = static_cast<std::int32_t>(node);
      if (computes) {
        item.op.unit = single->unit;
        item.op.latency_cycles = latency_of(*single);
        if (single->unit == Unit::tensor) item.op.tensor_fmas = static_cast<std::uint32_t>(tensor_fmas(code()[pc]));
      }
      missing.push_back(item);
    }
    insert_in_ptx_order(missing, items);
  }

  // Each goes before the first item of a later node. `more` is in the order of nodes.
  static void insert_in_ptx_order(const std::vector<Item>& more, std::vector<Item>& items) {
    if (more.empty()) return;
    std::vector<Item> all;
    all.reserve(items.size() + more.size());
    auto next = more.begin();
    for (const Item& item : items) {
      for (; next != more.end() && next->node < item.node; ++next) all.push_back(*next);
      all.push_back(item);
    }
    all.insert(all.end(), next, more.end());
    items = std::move(all);
  }

  std::uint16_t latency_of(const Operation& info) const {
    if (info.kind == Operation::Class::shuffle) return cycles(machine_.shuffle_latency_cycles);
    switch (info.unit) {
      case Unit::memory:  // constants, and what serves another instruction: spills, retries
        return cycles(machine_.shared_latency_cycles);
      case Unit::fp64:
        return cycles(machine_.fp64_latency_cycles);
      case Unit::special:
        return cycles(machine_.special_latency_cycles);
      case Unit::tensor:
        return cycles(machine_.tensor_latency_cycles);
      default:
        return cycles(machine_.alu_latency_cycles);
    }
  }

  // ---- By rules -------------------------------------------------------------------------------------------------

  // PTX order, without what vanishes, with loads moved ahead as far as nothing forbids.
  std::vector<Item> items_by_rules() const {
    std::vector<Item> items;
    for (const std::uint32_t i : hoist_loads()) {
      const std::uint32_t pc = block_->first + i;
      const Instruction& in = code()[pc];
      const Cost cost = cost_by_rules(pc);
      if (cost.issues == 0 && in.guard < 0) continue;
      Item item;
      item.op = main_op(pc, 0);
      item.op.unit = cost.unit;
      item.op.issues = static_cast<std::uint16_t>(std::max(cost.issues, 1));
      if (item.op.kind == TimedKind::compute) item.op.latency_cycles = latency_of(in, cost.unit);
      if (cost.unit == Unit::tensor) item.op.tensor_fmas = static_cast<std::uint32_t>(tensor_fmas(in));
      item.node = static_cast<std::int32_t>(i);
      const std::vector<Cost> steps = expansion_of(in);
      if (steps.empty()) {
        items.push_back(item);
      } else {
        item.op.issues = 1;
        add_steps(steps, item, items);
      }
    }
    return items;
  }

  Cost cost_by_rules(std::uint32_t pc) const {
    return folded_[pc] ? Cost{Unit::integer, 0} : scaled_[pc] ? Cost{Unit::multiply, 1} : cost_of(code()[pc]);
  }

  std::vector<Cost> costs_by_rules(std::uint32_t pc) const {
    std::vector<Cost> steps = expansion_of(code()[pc]);
    if (steps.empty()) steps.push_back(cost_by_rules(pc));
    return steps;
  }

  // Address arithmetic that ptxas puts elsewhere: a constant that is added to an address goes into the access, a
  // widening product into the addition behind it.
  void find_folded() {
    folded_.assign(code().size(), false);
    scaled_.assign(code().size(), false);
    enum : std::uint8_t { address = 1, addition = 2, other = 4 };
    std::vector<std::uint8_t> uses(program_.function->registers.size());
    const auto is_addition = [](const Instruction& in) {
      return ptx::computes(in, ptx::kAdds) && ptx::size_bytes(in.type) == 8;
    };
    const auto has_constant = [](const Instruction& in) {
      return in.operands.size() == 3 && in.operands[2].kind == Operand::Kind::immediate;
    };
    const auto one_result = [&](const Instruction& in) {
      return in.guard < 0 && !in.operands.empty() && in.operands[0].kind == Operand::Kind::reg &&
             slot_of_[result_of(in)] == kReady;
    };
    for (auto pc = static_cast<std::uint32_t>(code().size()); pc-- > 0;) {
      const Instruction& in = code()[pc];
      if (is_addition(in) && has_constant(in) && one_result(in)) folded_[pc] = uses[result_of(in)] == address;
      if (in.mul == ptx::MulMode::wide && ptx::computes(in, ptx::kMultiplies) && one_result(in))
        folded_[pc] = uses[result_of(in)] == addition;
      for (std::size_t i = result_count(in); i < in.operands.size(); ++i) {
        const bool is_address = in.operands[i].kind == Operand::Kind::address || folded_[pc];
        const std::uint8_t use = is_address ? address : is_addition(in) && !has_constant(in) ? addition : other;
        for_each_register(in.operands[i], [&](int reg) { uses[static_cast<std::size_t>(reg)] |= use; });
      }
    }
    std::vector<bool> product(uses.size());
    for (std::uint32_t pc = 0; pc < code().size(); ++pc) {
      const Instruction& in = code()[pc];
      if (folded_[pc] && ptx::computes(in, ptx::kMultiplies)) product[result_of(in)] = true;
      if (!is_addition(in) || folded_[pc]) continue;
      for_each_source(in, [&](int reg) { scaled_[pc] = scaled_[pc] || product[static_cast<std::size_t>(reg)]; });
    }
  }
  static std::size_t result_of(const Instruction& in) { return static_cast<std::size_t>(in.operands[0].index); }

  // Where a run of loads begins, every later load joins it that needs none of them, that no store, atomic or barrier
  // holds back, and whose result has a register; what its address needs goes ahead of it.
  std::vector<std::uint32_t> hoist_loads() const {
    constexpr std::uint32_t kReach = 1000;  // instructions that a load may move
    std::vector<std::uint32_t> order;
    std::vector<bool> done(block_->count);
    for (std::uint32_t from = 0; from < block_->count; ++from) {
      if (done[from]) continue;
      if (!is_free_load(instruction(from))) {
        done[from] = true;
        order.push_back(from);
        continue;
      }
      const std::uint32_t end = std::min(block_->count, from + kReach);
      std::vector<bool> waits(end - from);  // for a load of this run, or for what stays behind
      bool stored = false;
      std::uint32_t words = 0;  // that the run loads
      for (std::uint32_t i = from; i < end && !stops_loads(instruction(i)); ++i) {
        if (done[i]) continue;
        const Instruction& in = instruction(i);
        const bool load = is_free_load(in);
        const std::uint32_t own_words = load ? words_of(in) : 0;
        bool late = false;
        for (const Value source : sources_[i]) {
          late = late || (source >= static_cast<Value>(from) && waits[static_cast<std::uint32_t>(source) - from]);
        }
        if (load && !late && (!stored || in.non_coherent) && (i == from || words + own_words <= most_hoisted_)) {
          take(i, done, order);
          words += own_words;
        }
        waits[i - from] = load || late;
        stored = stored || form_of(in) == Form::store || form_of(in) == Form::fragment_store ||
                 in.async == ptx::AsyncMode::copy;
      }
    }
    return order;
  }

  // With everything that it needs and that has not gone ahead.
  void take(std::uint32_t i, std::vector<bool>& done, std::vector<std::uint32_t>& order) const {
    std::vector<std::uint32_t> chain{i};
    done[i] = true;
    for (std::size_t at = 0; at < chain.size(); ++at) {
      for (const Value source : sources_[chain[at]]) {
        if (source < 0 || done[static_cast<std::size_t>(source)]) continue;
        done[static_cast<std::size_t>(source)] = true;
        chain.push_back(static_cast<std::uint32_t>(source));
      }
    }
    std::sort(chain.begin(), chain.end());
    order.insert(order.end(), chain.begin(), chain.end());
  }

  const Instruction& instruction(std::uint32_t i) const { return code()[block_->first + i]; }
  static Form form_of(const Instruction& in) { return ptx::info(in.opcode).form; }
  static std::uint32_t words_of(const Instruction& load) {
    return static_cast<std::uint32_t>(std::max(ptx::size_bytes(load.type), 4)) / 4 * load.vector;
  }
  static bool is_free_load(const Instruction& in) {
    return form_of(in) == Form::load && is_memory(in) && !in.is_volatile;
  }
  static bool stops_loads(const Instruction& in) {
    switch (form_of(in)) {
      case Form::atomic:
      case Form::reduction:
      case Form::barrier:
      case Form::fence:
      case Form::call:
        return true;
      case Form::async_copy:
        return in.async != ptx::AsyncMode::copy;
      default:
        return in.is_volatile;
    }
  }

  std::uint16_t latency_of(const Instruction& in, Unit unit) const {
    const bool shuffle = form_of(in) == Form::shuffle;
    return latency_of(Operation{unit, shuffle ? Operation::Class::shuffle : Operation::Class::other});
  }

  // ---- Dependencies and slots -----------------------------------------------------------------------------------

  // Runs the basic blocks on the numbers of values, in PTX order.
  void find_sources(std::uint32_t copies) {
    sources_.assign(static_cast<std::size_t>(copies) * block_->count, {});
    now_.clear();
    since_stop_.clear();
    last_stop_ = kNoValue;
    const auto ways = ways_within(program_, merged_);
    std::vector<State> left(merged_.members);  // what registers hold where each member ends
    for (std::uint32_t copy = 0; copy < copies; ++copy) {
      for (std::uint32_t member = 0; member < merged_.members; ++member) {
        const BasicBlock& block = program_.blocks[merged_.first + member];
        const std::uint32_t first_node = copy * block_->count + block.first - block_->first;
        Value choice = kNoValue;  // the branch whose predicate its accesses have
        for (std::size_t i = 0; i < ways[member].size(); ++i) {
          const std::uint32_t from = ways[member][i];
          i == 0 ? void(now_ = left[from]) : join(left[from], now_);
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
        if (merged_.members > 1) left[member] = now_;
      }
    }
  }

  void run_node(std::uint32_t node) {
    const Instruction& in = instruction(node % block_->count);
    const auto read = [&](int reg) {
      const auto found = now_.find(reg);
      if (found == now_.end()) return sources_[node].push_back(~reg);
      sources_[node].insert(sources_[node].end(), found->second.begin(), found->second.end());
    };
    for_each_source(in, read);
    if (in.guard >= 0) for_each_result(in, read);  // what lanes keep that it skips
    if (stops_[block_->first + node % block_->count]) read_what_flies(node);
    // Calls and returns hand values on as they are; a load or store of a .param variable makes one, as any other does.
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
  }

  // ptxas waits for everything that is in flight where code is called, at fences, before what releases and behind what
  // acquires: there its scoreboards are free again.
  void find_stops() {
    stops_.assign(code().size(), false);
    std::vector<bool> flies(slot_of_.size());
    for (const BasicBlock& block : program_.blocks) {
      bool acquired = false;  // and nothing that is sure to issue has come since
      for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
        const Instruction& in = code()[pc];
        const bool issues = kind_of(in) != TimedKind::compute || form_of(in) == Form::call;
        stops_[pc] = form_of(in) == Form::call || form_of(in) == Form::fence || is_subroutine(in) || in.releases ||
                     (acquired && issues);
        acquired = (acquired && !issues) || in.acquires;
        // What vanishes hands on what is in flight.
        if (!is_memory(in) && cost_of(in).issues != 0) continue;
        for_each_result(in, [&](int reg) { flies[static_cast<std::size_t>(reg)] = true; });
      }
    }
    for (std::size_t reg = 0; reg < flies.size(); ++reg) {
      if (flies[reg] && slot_of_[reg] != kReady) flying_.push_back(static_cast<int>(reg));
    }
    // Thousands of registers in as many basic blocks would fill the memory: such code waits for its own blocks' loads.
    if (flying_.size() * program_.blocks.size() > kMostFlying) flying_.clear();
  }

  // All that may be in flight: what the basic block has made so far, and what came before it; of what an earlier stop
  // has waited for, nothing is.
  void read_what_flies(std::uint32_t node) {
    std::vector<Value>& sources = sources_[node];
    const bool first = last_stop_ < 0;
    const auto read = [&](const std::vector<Value>& values) {
      for (const Value value : values) {
        if (value > last_stop_ || (value < 0 && first)) sources.push_back(value);
      }
    };
    if (first) {
      for (const auto& [reg, values] : now_) read(values);
      for (const int reg : flying_) {
        if (!now_.contains(reg)) sources.push_back(~reg);
      }
    } else {
      std::sort(since_stop_.begin(), since_stop_.end());
      since_stop_.erase(std::unique(since_stop_.begin(), since_stop_.end()), since_stop_.end());
      for (const int reg : since_stop_) read(now_.at(reg));
    }
    since_stop_.clear();
    if (merged_.members == 1) last_stop_ = static_cast<Value>(node);
  }

  // By register that is handed something: its values.
  using Handed = std::pair<int, std::vector<Value>>;
  std::vector<Handed> held_by(std::span<const HandedWords::Move> moves) const {
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

  // Adds what registers hold that come another way.
  static void join(const State& other, State& state) {
    for (const auto& [reg, values] : other) state.try_emplace(reg, 1, ~reg);
    for (auto& [reg, values] : state) {
      const auto found = other.find(reg);
      const std::vector<Value> more = found == other.end() ? std::vector<Value>{~reg} : found->second;
      for (const Value value : more) {
        if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
      }
    }
  }

  // The values that can be read at a place of the order instead of `values`: each itself once it is made, else what it
  // is made of, for what vanished.
  void resolve(std::span<const Value> values, std::size_t place, std::vector<Value>& out) {
    constexpr std::size_t kMost = 4096;  // of what comes too late, one after the other
    const std::size_t start = out.size();
    // A call may read thousands of values that are made of the same: each is looked at once.
    ++search_;
    open_.assign(values.begin(), values.end());
    std::size_t late = 0;
    for (std::size_t at = 0; at < open_.size(); ++at) {
      const Value v = open_[at];
      std::uint32_t& seen = v < 0 ? register_seen_[static_cast<std::size_t>(~v)] : seen_[static_cast<std::size_t>(v)];
      if (std::exchange(seen, search_) == search_) continue;
      if (v < 0) {
        if (slot_of_[static_cast<std::size_t>(~v)] != kReady) out.push_back(v);
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
  }

  // What each value that no operation makes is made of: values that some operation makes, or that registers hold at the
  // start. What is made of many gets an operation after all, so that no list grows long.
  void find_what_vanished(std::vector<Item>& items) {
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

  // Which operation makes each value: the memory access, or the last one of its PTX instruction before anything reads
  // it.
  void find_makers(const std::vector<Item>& items) {
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

  struct Links {
    std::vector<Value> sources;
    Value result = kNoValue;
  };

  // What each operation reads and makes.
  std::vector<Links> link(const std::vector<Item>& items) {
    find_makers(items);
    search_ = 0;
    seen_.assign(sources_.size(), 0);
    register_seen_.assign(slot_of_.size(), 0);
    std::vector<Links> links(items.size());
    std::vector<Value> handed(sources_.size(), kNoValue);  // by node: what its last operation so far made
    std::vector<bool> has_read(sources_.size());
    Value next = static_cast<Value>(sources_.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].node == kNowhere) continue;
      const auto node = static_cast<std::size_t>(items[i].node);
      const bool maker = made_at_[node] == i;
      if (made_at_[node] < i) continue;  // comes too late to matter
      if (handed[node] != kNoValue) links[i].sources.push_back(handed[node]);
      if (!has_read[node] && (!items[i].constant || maker)) {
        has_read[node] = true;
        resolve(sources_[node], i, links[i].sources);
      }
      handed[node] = links[i].result = maker ? static_cast<Value>(node) : next++;
    }
    values_ = static_cast<std::size_t>(next);
    return links;
  }

  // Gives every value a slot and writes the operations down.
  Schedule emit(std::vector<Item> items) {
    find_what_vanished(items);
    const std::vector<Links> links = link(items);
    std::vector<std::size_t> last_read(values_, kNever);
    std::map<int, std::size_t> needed_until;  // by register: the last read of what it holds at the start
    const auto read = [&](Value value, std::size_t place) {
      if (value < 0) {
        needed_until[~value] = place;
      } else {
        last_read[static_cast<std::size_t>(value)] = place;
      }
    };
    for (std::size_t i = 0; i < items.size(); ++i) {
      for (const Value value : links[i].sources) read(value, i);
    }
    // What each register holds at the end: one value, or the latest to come of several.
    std::map<int, std::vector<Value>> ends;
    std::map<Value, std::vector<int>> ends_of;
    for (const auto& [reg, values] : now_) {
      if (slot_of_[static_cast<std::size_t>(reg)] == kReady) continue;
      std::vector<Value> made;
      resolve(values, kNever, made);
      if (made.size() == 1 && made[0] == ~reg) continue;
      for (const Value value : made) {
        if (made.size() == 1 && value >= 0) {
          ends_of[value].push_back(reg);
        } else {
          read(value, items.size());
        }
      }
      ends[reg] = std::move(made);
    }

    Schedule out;
    std::vector<std::uint16_t> slots(values_, kReady), unused;
    const auto slot_now = [&](Value value) {
      return value < 0 ? slot_of_[static_cast<std::size_t>(~value)] : slots[static_cast<std::size_t>(value)];
    };
    std::uint32_t next = shared_slots_;
    std::vector<std::vector<std::uint16_t>> freed(items.size() + 2);
    std::map<int, bool> in_place;  // registers whose last value was written straight to their slot
    for (std::size_t i = 0; i < items.size(); ++i) {
      TimedOp op = items[i].op;
      unused.insert(unused.end(), freed[i].begin(), freed[i].end());
      op.first_operand = static_cast<std::uint32_t>(out.operands.size());
      if (const Value value = links[i].result; value != kNoValue) {
        const auto number = static_cast<std::size_t>(value);
        const auto wanted = ends_of.find(value);
        if (wanted != ends_of.end()) {
          for (const int reg : wanted->second) {
            const auto until = needed_until.find(reg);
            if (until != needed_until.end() && until->second > i) continue;
            in_place[reg] = true;
            out.operands.push_back(slot_of_[static_cast<std::size_t>(reg)]);
            ++op.result_count;
            if (slots[number] == kReady) slots[number] = out.operands.back();
          }
        }
        const bool kept = wanted != ends_of.end() || last_read[number] != kNever;
        if (slots[number] == kReady && kept) {
          if (!unused.empty()) {
            slots[number] = unused.back();
            unused.pop_back();
          } else {
            slots[number] = static_cast<std::uint16_t>(std::min(next, kMaxSlots));
            next = std::min(next, kMaxSlots) + 1;
          }
          if (wanted == ends_of.end() && slots[number] != kReady) freed[last_read[number] + 1].push_back(slots[number]);
          out.operands.push_back(slots[number]);
          ++op.result_count;
        }
      }
      for (const Value value : links[i].sources) {
        if (slot_now(value) == kReady) continue;
        out.operands.push_back(slot_now(value));
        ++op.source_count;
      }
      out.ops.push_back(op);
    }
    std::vector<Rename> moves;
    for (const auto& [reg, values] : ends) {
      std::uint16_t from = values.empty() ? kReady : slot_now(values[0]);
      if (values.size() > 1) {
        const auto all = static_cast<std::uint16_t>(std::min(next, kMaxSlots));
        next = std::min(next, kMaxSlots) + 1;
        for (const Value value : values) out.renames.push_back({all, slot_now(value), value != values[0]});
        from = all;
      }
      if (!in_place.contains(reg)) moves.push_back({slot_of_[static_cast<std::size_t>(reg)], from});
    }
    append_in_sequence(moves, next, out.renames);
    slots_ = std::max(slots_, next);
    return out;
  }

  // Moves that happen at once, as moves one after the other; a circle goes through a further slot.
  static void append_in_sequence(std::span<const Rename> moves, std::uint32_t& next, std::vector<Rename>& out) {
    std::map<std::uint16_t, std::uint16_t> from_of;  // by slot that is written
    std::map<std::uint16_t, std::size_t> readers;    // moves that are left, by slot that they read
    for (const auto& move : moves) {
      if (move.to == move.from || !from_of.emplace(move.to, move.from).second) continue;
      ++readers[move.from];
    }
    std::vector<std::uint16_t> free;  // nobody reads them any more
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
    std::map<std::uint16_t, std::uint16_t> reader_of;  // only circles are left: each slot is read by one move
    for (const auto& [to, from] : from_of) reader_of[from] = to;
    while (!from_of.empty()) {
      const std::uint16_t saved = from_of.begin()->first;
      const auto spare = static_cast<std::uint16_t>(std::min(next, kMaxSlots));
      next = std::min(next, kMaxSlots) + 1;
      out.push_back({spare, saved});
      from_of[reader_of[saved]] = spare;
      readers[spare] = 1;
      free.push_back(saved);
      drain();
    }
  }

  static constexpr std::uint64_t kMostWaits = 2'000'000;
  static constexpr std::size_t kMostFlying = 50'000'000;  // in all basic blocks together
  static constexpr std::size_t kNever = ~std::size_t{0};
  static constexpr Value kNoValue = std::numeric_limits<Value>::min();

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

}  // namespace

ProgramSchedule schedule(const Machine& machine, const Program& program, std::span<const MachineOp> code,
                         int registers_per_thread) {
  return Scheduler(machine, program, code, registers_per_thread).run();
}

}  // namespace roofwalk::vgpu
