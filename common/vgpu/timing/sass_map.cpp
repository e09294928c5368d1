#include "common/vgpu/timing/sass_map.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "common/ptx/table/costs.h"
#include "common/vgpu/timing/instruction_cost.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Type;

constexpr std::uint32_t kNone = ~0u;
constexpr std::uint32_t kMaxCopies = 64;  // ptxas unrolls less than this

using Class = Operation::Class;

bool is_countable(const Instruction& in) { return single_operation(in).has_value(); }

// Returns how many machine instructions, not counting constants, each copy of the code has for an integer instruction
// or a barrier. 0 if this number varies, as it does for a guarded instruction: ptxas may compute both outcomes and
// select one.
std::uint32_t plain_issues(const Instruction& in) {
  const int bytes = ptx::size_bytes(in.type);
  if (ptx::info(in.opcode).form == Form::barrier) return 1;
  if (in.guard >= 0) return 0;
  if (in.sat || ptx::is_float(in.type) || (bytes != 4 && bytes != 8)) return 0;
  if (ptx::info(in.opcode).form == Form::compare) return bytes == 4 ? 1 : 0;
  if (!is_kept(in) || (in.mul != ptx::MulMode::none && in.mul != ptx::MulMode::lo)) return 0;
  return bytes == 8 ? 2 : 1;
}

// Whether ptxas emits instructions of this form twice, from compute capability 7.0 on: once for a converged warp and
// once for a diverged one.
bool asks_other_lanes(Form form) {
  return form == Form::shuffle || form == Form::vote || form == Form::warp_match || form == Form::warp_reduce;
}

// Returns the number of machine instructions for a matrix product: each covers at most m16n8 on compute capability 8.0
// to 9.0.
std::uint32_t products_of(const Instruction& in) {
  constexpr int kValues = 16 * 8;
  return static_cast<std::uint32_t>(std::max(in.shape.m * in.shape.n / kValues, 1));
}

class CodeMap {
 public:
  CodeMap(const ptx::Function& function, std::span<const BasicBlock> blocks, std::span<const MachineOp> code)
      : ptx_(function.instructions), blocks_(blocks), code_(code) {}

  FoundCode run() {
    find_instructions();
    cut();
    assign();
    find_loops();
    find_ptx_loops();
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) find_versions(b);
    place_extras();
    find_ptx_branches();
    FoundCode out;
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      out.forms.push_back(forms_of(b));
      out.lost.push_back(lost_of(b));
    }
    out.branches = find_branches();
    return out;
  }

 private:
  // Machine code of a PTX basic block: consecutive pieces (see cut()) that form one copy of the block, or several.
  struct Version {
    std::vector<std::uint32_t> ops;  // indices in the code
    std::uint32_t copies = 1;
    std::size_t countable = 0;
    std::size_t covered = 0;  // number of PTX instructions with a machine instruction for which counts() holds
    int depth = 0;            // number of loops around it
  };

  Class class_at(std::size_t i) const { return operation_info(code_[i].operation).kind; }

  // Maps each machine instruction to its PTX instruction.
  void find_instructions() {
    std::map<std::uint32_t, std::uint32_t> on_line;  // build() puts each instruction on a line of its own
    for (std::uint32_t pc = 0; pc < ptx_.size(); ++pc)
      on_line.emplace(static_cast<std::uint32_t>(ptx_[pc].ptx_line), pc);
    pc_.assign(code_.size(), kNone);
    for (std::size_t i = 0; i < code_.size(); ++i) {
      if (const auto found = on_line.find(code_[i].ptx_line); found != on_line.end()) pc_[i] = found->second;
    }
  }

  // Whether a machine instruction calls a subroutine that every warp executes.
  bool calls_always(std::size_t i) const {
    return class_at(i) == Class::call && pc_[i] != kNone && is_subroutine(ptx_[pc_[i]]);
  }

  // Cuts the machine code into pieces, i.e. its basic blocks. Calls that every warp makes do not end a piece.
  void cut() {
    std::vector<bool> starts(code_.size() + 1);
    for (std::size_t i = 0; i < code_.size(); ++i) {
      const Class kind = class_at(i);
      if (kind == Class::branch || (kind == Class::call && !calls_always(i))) starts[i + 1] = true;
      if (has_target(i)) starts[static_cast<std::size_t>(code_[i].target)] = true;
    }
    piece_.resize(code_.size());
    std::uint32_t piece = 0;
    for (std::size_t i = 0; i < code_.size(); ++i) {
      if (starts[i] && i > 0) ++piece;
      piece_[i] = piece;
    }
    pieces_ = piece + 1;
  }

  bool has_target(std::size_t i) const {
    return code_[i].target >= 0 && static_cast<std::size_t>(code_[i].target) < code_.size();
  }

  // Backward branches, by target: the last place that branches back to it.
  using LastLatches = std::map<std::size_t, std::size_t>;

  // Returns the loop depth of `count` places. Backward branches to one target are one loop, however many they are.
  static std::vector<int> depths(const LastLatches& loops, std::size_t count) {
    std::vector<int> change(count + 1);
    for (const auto& [header, latch] : loops) ++change[header], --change[latch + 1];
    std::partial_sum(change.begin(), change.end(), change.begin());
    change.pop_back();
    return change;
  }

  // Finds the loop depth of each machine instruction. Backward branches from rare code do not make a loop.
  void find_loops() {
    LastLatches loops;
    for (std::size_t i = 0; i < code_.size(); ++i) {
      if (!has_target(i) || rare_[i]) continue;
      const auto target = static_cast<std::size_t>(code_[i].target);
      if (target <= i) loops[target] = i;
    }
    depth_ = depths(loops, code_.size());
  }

  // Finds the loop depth of each PTX basic block.
  void find_ptx_loops() {
    LastLatches loops;
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      for (const std::uint32_t to : blocks_[b].successors) {
        if (to <= b) loops[to] = b;
      }
    }
    ptx_depth_ = depths(loops, blocks_.size());
  }

  // Finds the PTX basic block of each machine instruction, and which machine instructions are rarely executed.
  void assign() {
    block_of_.assign(ptx_.size(), kNone);
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      const BasicBlock& block = blocks_[b];
      std::fill_n(block_of_.begin() + block.first, block.count, b);
    }
    by_block_.resize(blocks_.size());
    std::vector<bool> apart(pieces_);  // by piece: whether it is rare code, e.g. for a diverged warp
    // By piece that calls a subroutine for unusual operands: the PTX instruction that has these operands. kNone: no
    // such call.
    std::vector<std::uint32_t> calls(pieces_, kNone);
    for (std::size_t i = 0; i < code_.size(); ++i) {
      if (ends_collective(code_[i].operation)) apart[piece_[i]] = true;
      // A call for arithmetic or for an exchange between lanes leads to rare code, unless every warp makes it: for
      // unusual operands (of a float division, say) or for a diverged warp. Other calls do not: ptxas also turns some
      // branches into calls, for example loop exits.
      if (class_at(i) == Class::call && pc_[i] != kNone && !calls_always(i)) {
        const Form form = ptx::info(ptx_[pc_[i]].opcode).form;
        if (form == Form::alu) calls[piece_[i]] = pc_[i];
        if (asks_other_lanes(form)) apart[piece_[i]] = true;
      }
    }
    // The piece after such a call is rare, too, if all its code belongs to the same PTX instruction and it ends with a
    // branch (which leads back).
    for (std::size_t i = 0; i < code_.size();) {
      std::size_t end = i;
      while (end < code_.size() && piece_[end] == piece_[i]) ++end;
      const bool rare = i > 0 && (apart[piece_[i - 1]] || calls[piece_[i - 1]] != kNone);
      bool same = rare && class_at(end - 1) == Class::branch;
      for (std::size_t j = i; j < end && same; ++j) same = pc_[j] == pc_[i - 1];
      if (same) apart[piece_[i]] = true;
      i = end;
    }
    // In a piece that calls a subroutine for unusual operands, code of other PTX instructions is not rare.
    rare_.resize(code_.size());
    for (std::size_t i = 0; i < code_.size(); ++i) {
      const std::uint32_t call = calls[piece_[i]];
      rare_[i] = apart[piece_[i]] || (call != kNone && (pc_[i] == call || pc_[i] == kNone));
      if (pc_[i] != kNone && !rare_[i]) by_block_[block_of_[pc_[i]]].push_back(static_cast<std::uint32_t>(i));
    }
  }

  // Whether the number of copies can be counted by this machine instruction, because every copy has exactly one of its
  // kind, or a fixed number, for its PTX instruction. `plain`: count by integer instructions and barriers, because the
  // basic block has no better ones.
  bool counts(std::size_t i, bool plain) const {
    if (plain && ptx::info(ptx_[pc_[i]].opcode).form == Form::barrier) return class_at(i) == Class::barrier;
    if (plain) return plain_issues(ptx_[pc_[i]]) != 0 && class_at(i) != Class::constant;
    const auto single = single_operation(ptx_[pc_[i]]);
    if (!single) return false;
    const Operation found = operation_info(code_[i].operation);
    return found.unit == single->unit && (single->unit != Unit::memory || found.kind == single->kind);
  }

  // Returns the number of machine instructions per copy of this PTX instruction, of those for which counts() is true.
  std::uint32_t of_a_copy(std::uint32_t pc, bool plain) const {
    if (plain) return plain_issues(ptx_[pc]);
    return ptx::info(ptx_[pc].opcode).form == Form::matrix_multiply ? products_of(ptx_[pc]) : 1;
  }

  // Whether machine branches of this PTX instruction may lead around rare code of its own, for example around the call
  // for unusual operands of a division.
  static bool has_rare_code(const Instruction& in) {
    const Form form = ptx::info(in.opcode).form;
    return asks_other_lanes(form) || (form == Form::alu && ptx::find_cost(in) != nullptr);
  }

  // Finds, for each basic block, the PTX branches that branch_at() chooses from.
  void find_ptx_branches() {
    ends_in_.assign(blocks_.size(), kNone);
    reached_by_.assign(blocks_.size(), kNone);
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      const BasicBlock& block = blocks_[b];
      if (block.successors.size() < 2 || block.count == 0) continue;
      ends_in_[b] = block.first + block.count - 1;
      for (const std::uint32_t to : block.successors) {
        if (to > b && to != kExitBlock) reached_by_[to] = ends_in_[b];
      }
    }
  }

  // Returns the PTX branch for a machine branch on the line of arithmetic; kNone if none is found. ptxas gives a branch
  // the line of the instruction before it, which may come from one of its arms: ptxas computes cheap values of an arm
  // before it is known which one is taken. So the code behind the machine branch tells which PTX branch it is.
  std::uint32_t branch_at(std::size_t i) const {
    std::size_t next = i + 1;
    while (next < code_.size() && (pc_[next] == kNone || rare_[next])) ++next;
    if (next < code_.size()) {
      if (const std::uint32_t found = reached_by_[block_of_[pc_[next]]]; found != kNone) return found;
    }
    const std::uint32_t own = block_of_[pc_[i]];
    return ends_in_[own] != kNone ? ends_in_[own] : reached_by_[own];
  }

  std::vector<bool> find_branches() const {
    std::vector<std::uint32_t> branches(ptx_.size()), accesses(ptx_.size());
    for (std::size_t i = 0; i < code_.size(); ++i) {
      if (rare_[i] || pc_[i] == kNone) continue;
      const Instruction& in = ptx_[pc_[i]];
      accesses[pc_[i]] += class_at(i) == Class::memory;
      if (class_at(i) != Class::branch || has_rare_code(in)) continue;
      const std::uint32_t branch = ptx::info(in.opcode).form == Form::alu ? branch_at(i) : pc_[i];
      if (branch != kNone) ++branches[branch];
    }
    std::vector<bool> out(ptx_.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      // The accesses in the branch's basic block and in the next one tell how often this code was copied.
      std::uint32_t copies = 0;
      for (std::size_t near = b; near < std::min(b + 2, blocks_.size()); ++near) {
        for (const std::uint32_t pc : blocks_[near].memory) copies = std::max(copies, accesses[pc]);
      }
      for (std::uint32_t pc = blocks_[b].first; pc < blocks_[b].first + blocks_[b].count; ++pc)
        out[pc] = branches[pc] != 0 && 2 * branches[pc] >= copies;
    }
    return out;
  }

  // Splits a basic block's machine code into versions. A new version begins with each piece that repeats an instruction
  // for which counts() holds.
  void find_versions(std::uint32_t b) {
    const BasicBlock& block = blocks_[b];
    const auto begin = ptx_.begin() + block.first;
    const bool plain = std::none_of(begin, begin + block.count, is_countable);
    std::uint32_t by_rules = 0;
    for (auto in = begin; plain && in != begin + block.count; ++in) by_rules += arithmetic_by_rules(*in);
    std::vector<Version> versions;
    std::map<std::uint32_t, std::size_t> seen;  // by PTX instruction: number of versions at its last occurrence
    std::vector<std::uint32_t>& ops = by_block_[b];
    // Drops machine code that lies inside a loop although its PTX instruction does not: the code layout put it there by
    // chance. (Retries of atomics are kept: they are such loops.) If most of the code would be dropped, the layout does
    // not follow the control flow, so all of it is dropped and rules give the operations.
    std::vector<std::uint32_t> dropped, kept;
    for (const std::uint32_t i : ops) {
      const Form form = ptx::info(ptx_[pc_[i]].opcode).form;
      const bool by_chance = depth_[i] > ptx_depth_[b] && form != Form::atomic && form != Form::reduction;
      (by_chance ? dropped : kept).push_back(i);
    }
    if (dropped.size() > kept.size()) {
      dropped = std::exchange(ops, {});
    } else {
      ops = std::move(kept);
    }
    dropped_.push_back(std::move(dropped));
    for (std::size_t from = 0, to = 0; from < ops.size(); from = to) {
      while (to < ops.size() && piece_[ops[to]] == piece_[ops[from]]) ++to;
      bool again = versions.empty();
      for (std::size_t i = from; i < to; ++i) {
        const auto found = counts(ops[i], plain) ? seen.find(pc_[ops[i]]) : seen.end();
        again = again || (found != seen.end() && found->second == versions.size());
      }
      if (again) versions.emplace_back();
      for (std::size_t i = from; i < to; ++i) {
        if (counts(ops[i], plain)) seen[pc_[ops[i]]] = versions.size();
        versions.back().ops.push_back(ops[i]);
      }
    }
    for (Version& version : versions) measure(version, plain, by_rules);
    versions_.push_back(std::move(versions));
  }

  // Keeps only the code at the most frequent loop depth, and counts the copies in it. `by_rules`: number of arithmetic
  // instructions that the rules give for one copy.
  void measure(Version& version, bool plain, std::uint32_t by_rules) {
    std::map<int, std::size_t> depths;
    for (const std::uint32_t i : version.ops) depths[depth_[i]] += counts(i, plain) ? 1000 : 1;
    version.depth = std::max_element(depths.begin(), depths.end(), [](const auto& a, const auto& b) {
                      return a.second < b.second;
                    })->first;
    std::erase_if(version.ops, [&](std::uint32_t i) { return depth_[i] != version.depth; });
    std::map<std::uint32_t, std::uint32_t> times;  // by PTX instruction
    for (const std::uint32_t i : version.ops) {
      if (counts(i, plain)) ++times[pc_[i]], ++version.countable;
    }
    version.covered = times.size();
    std::map<std::uint32_t, std::size_t> votes;
    for (const auto& [pc, count] : times) ++votes[std::max(count / of_a_copy(pc, plain), 1u)];
    std::size_t most = 0;
    // ptxas may duplicate an integer instruction at each use of its result, so if `plain`, several PTX instructions
    // must agree on the number of copies, and on a tie the smaller number wins.
    for (const auto& [count, pcs] : votes) {
      const bool more = plain ? pcs > std::max<std::size_t>(most, 1) : pcs >= most;
      if (more) most = pcs, version.copies = count;
    }
    if (plain) version.copies = std::min(version.copies, most_copies(version, by_rules));
  }

  // Returns an upper limit for the number of copies. It is needed because integer code may be duplicated within a copy,
  // or attributed to the wrong line. The limit assumes that a copy has at least kLeastShare of the arithmetic that the
  // rules give: ptxas folds and hoists little in code that does not load, store or compute with floats.
  std::uint32_t most_copies(const Version& version, std::uint32_t by_rules) const {
    constexpr double kLeastShare = 0.6;
    const auto issues = std::count_if(version.ops.begin(), version.ops.end(), [&](std::uint32_t i) {
      const Operation info = operation_info(code_[i].operation);
      return info.kind != Class::constant && info.unit != Unit::memory && info.unit != Unit::control;
    });
    const double copies = static_cast<double>(issues) / (kLeastShare * std::max(by_rules, 1u));
    return static_cast<std::uint32_t>(std::clamp(copies, 1.0, 1.0 * kMaxCopies));
  }

  static std::uint32_t arithmetic_by_rules(const Instruction& in) {
    std::vector<Cost> costs = expansion_of(in);
    if (costs.empty()) costs.push_back(cost_of(in));
    std::uint32_t issues = 0;
    for (const Cost& cost : costs) {
      const bool arithmetic = cost.unit != Unit::memory && cost.unit != Unit::control;
      issues += arithmetic ? static_cast<std::uint32_t>(cost.issues) : 0;
    }
    return issues;
  }

  // Some machine instructions are in no version, because they have no PTX line or were dropped for their loop depth.
  // Adds each of them to the version that owns most of its piece; there it only takes issue slots.
  void place_extras() {
    std::vector<bool> placed(code_.size());
    std::map<std::uint32_t, std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>> owners;
    for (std::uint32_t b = 0; b < versions_.size(); ++b) {
      for (std::uint32_t v = 0; v < versions_[b].size(); ++v) {
        for (const std::uint32_t i : versions_[b][v].ops) {
          placed[i] = true;
          ++owners[piece_[i]][{b, v}];
        }
      }
    }
    extra_.assign(code_.size(), false);
    std::vector<Version*> grown;
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      const auto found = owners.find(piece_[i]);
      if (placed[i] || rare_[i] || found == owners.end()) continue;
      const auto owner = std::max_element(found->second.begin(), found->second.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
      Version& version = versions_[owner->first.first][owner->first.second];
      extra_[i] = true;
      version.ops.push_back(i);
      grown.push_back(&version);
    }
    for (Version* version : grown) std::sort(version->ops.begin(), version->ops.end());
  }

  // Counts the dropped code of a basic block, per copy, that is no extra of another one.
  IssuesOfUnits lost_of(std::uint32_t b) const {
    const BasicBlock& block = blocks_[b];
    const auto begin = ptx_.begin() + block.first;
    const bool plain = std::none_of(begin, begin + block.count, is_countable);
    IssuesOfUnits lost{};
    std::map<std::uint32_t, std::uint32_t> times;  // by PTX instruction
    std::uint32_t copies = 1;
    for (const std::uint32_t i : dropped_[b]) {
      if (counts(i, plain)) copies = std::max(copies, ++times[pc_[i]] / of_a_copy(pc_[i], plain));
      if (!extra_[i]) ++lost[place_of(operation_info(code_[i].operation).unit)];
    }
    for (std::uint64_t& issues : lost) issues /= copies;
    return lost;
  }

  std::vector<BlockCode> forms_of(std::uint32_t b) const {
    const BasicBlock& block = blocks_[b];
    const bool loop = std::find(block.successors.begin(), block.successors.end(), b) != block.successors.end();
    std::map<std::uint32_t, const Version*, std::greater<>> best;  // by copies
    std::size_t most = 0;
    for (const Version& version : versions_[b]) most = std::max(most, version.covered);
    for (const Version& version : versions_[b]) {
      if (2 * version.covered < most) continue;  // this version has less than half of a copy
      const std::uint32_t copies = loop && version.copies <= kMaxCopies ? version.copies : 1;
      const Version*& chosen = best[copies];
      const auto rank = [](const Version& v) { return std::tuple(v.countable, v.depth, v.ops.size()); };
      if (chosen == nullptr || rank(version) > rank(*chosen)) chosen = &version;
    }
    std::vector<BlockCode> out;
    for (const auto& [copies, version] : best) out.push_back(form(*version, copies));
    if (best.empty()) {
      out.push_back({});
    } else if (!best.contains(1)) {
      out.push_back(form(*best.rbegin()->second, 1));
    }
    return out;
  }

  // Returns a version's code. If the version has more than `copies` copies, keeps only the corresponding share of its
  // code: the first occurrences of each instruction.
  BlockCode form(const Version& version, std::uint32_t copies) const {
    BlockCode out;
    out.copies = copies;
    const std::uint32_t parts = std::max(version.copies / copies, 1u);
    std::map<std::pair<std::uint32_t, bool>, std::uint32_t> left;
    for (const std::uint32_t i : version.ops) ++left[{extra_[i] ? kNone : pc_[i], extra_[i]}];
    for (auto& [key, count] : left) count = (count + parts / 2) / parts;
    for (const std::uint32_t i : version.ops) {
      std::uint32_t& more = left[{extra_[i] ? kNone : pc_[i], extra_[i]}];
      if (more == 0) continue;
      --more;
      out.ops.push_back({pc_[i], code_[i].operation, static_cast<bool>(extra_[i]), code_[i].register_reads});
    }
    // Code without a PTX instruction is charged to the PTX instruction before it.
    std::uint32_t last = kNone;
    for (const BlockOp& op : out.ops) {
      if (last == kNone && op.pc != kNone) last = op.pc;
    }
    for (BlockOp& op : out.ops) {
      if (op.pc == kNone) op.pc = last;
      last = op.pc;
    }
    return out;
  }

  const std::vector<Instruction>& ptx_;
  std::span<const BasicBlock> blocks_;
  std::span<const MachineOp> code_;
  std::vector<std::uint32_t> piece_, pc_;  // by machine instruction
  std::vector<std::uint32_t> block_of_;    // by PTX instruction: its basic block
  // By basic block: the branch with several ways in which it ends, and the nearest such branch before it that leads to
  // it; kNone if there is none.
  std::vector<std::uint32_t> ends_in_, reached_by_;
  std::vector<int> depth_;          // by machine instruction: number of loops around it
  std::vector<int> ptx_depth_;      // by basic block
  std::vector<bool> extra_, rare_;  // by machine instruction
  std::uint32_t pieces_ = 0;
  std::vector<std::vector<std::uint32_t>> by_block_, dropped_;  // machine instructions of each basic block
  std::vector<std::vector<Version>> versions_;
};

}  // namespace

FoundCode find_block_code(const ptx::Function& function, std::span<const BasicBlock> blocks,
                          std::span<const MachineOp> code) {
  return CodeMap(function, blocks, code).run();
}

}  // namespace roofwalk::vgpu
