// Finds operations of lockstep code that one handler can execute at once.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "common/vgpu/exec/lockstep/fused_ops.h"
#include "common/vgpu/exec/lockstep/lockstep.h"
#include "common/vgpu/exec/ops/handlers.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::size_t kLongestRun = 64;

bool is_fma(const Op& op) {
  if (op.instruction == nullptr || op.guarded != nullptr) return false;
  const ptx::Instruction& in = *op.instruction;
  // The plain form: round to nearest, no .ftz, no .sat.
  return ptx::computes(in, ptx::kMultiplies | ptx::kAdds) && in.type == ptx::Type::f32 &&
         in.rounding == ptx::Rounding::rn && !in.ftz && !in.sat &&
         op.run == alu_handler(in);  // not the check or the lane fill of the same instruction
}

// Whether an operation is a lockstep load of one word per lane that fills in all lanes.
bool loads_words(const Op& op, ptx::Space space, const std::vector<LaneOffsets>& offsets) {
  if (op.instruction == nullptr || op.guarded != nullptr || op.lane_offsets >= offsets.size()) return false;
  const ptx::Instruction& in = *op.instruction;
  return ptx::info(in.opcode).form == ptx::Form::load && in.space == space && in.vector == 1 && !in.is_volatile &&
         !op.past_l1 && !op.speculative && !op.guesses && ptx::size_bytes(in.type) == kWordBytes &&
         op.s[0] != kNoSlot && op.run == lockstep_load_handler(op, kWordBytes, offsets[op.lane_offsets], true);
}

bool loads_shared_words(const Op& op, const std::vector<LaneOffsets>& offsets) {
  if (!loads_words(op, ptx::Space::shared, offsets)) return false;
  const LaneOffsets& own = offsets[op.lane_offsets];
  return own.even_eights && (own.stride_of_eights == 0 || own.stride_of_eights == kWordBytes);
}

std::optional<Words> global_words(const Op& op, const std::vector<LaneOffsets>& offsets) {
  if (!loads_words(op, ptx::Space::global, offsets) || !offsets[op.lane_offsets].even) return std::nullopt;
  const auto stride = static_cast<std::int64_t>(offsets[op.lane_offsets].stride);
  if (stride == 0) return Words::same;
  if (stride == kWordBytes) return Words::row;
  if (stride > 0 && stride % kLineBytes == 0) return Words::rows;
  return std::nullopt;
}

// Whether the third operation multiplies the words that the first two load, without other dependencies among the three.
bool is_product(const Op& left, const Op& right, const Op& fma) {
  const Slot a = left.s[0], b = right.s[0];
  const bool multiplies = (fma.s[1] == a && fma.s[2] == b) || (fma.s[1] == b && fma.s[2] == a);
  return multiplies && a != b && fma.s[3] != a && fma.s[3] != b && right.s[4] != a;
}

class Fusion {
 public:
  Fusion(std::span<Op> block, LockstepCode& code, const AnyLiveAfter& any_live_after)
      : block_(block), code_(code), any_live_after_(any_live_after) {}

  void run() {
    for (std::size_t i = 0; i < block_.size();) {
      if (const std::size_t products = products_at(i); products != 0) {
        for (std::size_t p = 0; p < products; ++p) fuse_product(i + 3 * p);
        fuse_products(i, products);
        i += 3 * products;
        continue;
      }
      if (const std::size_t operations = fuse_global_products(i); operations != 0) {
        i += operations;
        continue;
      }
      if (const std::size_t additions = fuse_additions(i); additions != 0) {
        i += additions;
        continue;
      }
      std::size_t run = 0;
      while (run < kLongestRun && i + run < block_.size() && is_fma(block_[i + run])) ++run;
      if (run > 1) {
        block_[i].guarded = block_[i].run;
        block_[i].run = fma_run_handler();
        block_[i].count = static_cast<std::uint32_t>(run);
      }
      i += std::max<std::size_t>(run, 1);
    }
  }

 private:
  bool is_product_at(std::size_t i) const {
    return i + 2 < block_.size() && is_fma(block_[i + 2]) && loads_shared_words(block_[i], code_.lane_offsets) &&
           loads_shared_words(block_[i + 1], code_.lane_offsets) && is_product(block_[i], block_[i + 1], block_[i + 2]);
  }

  // Fuses products of global memory. Returns the number of operations that one handler executes; 0: no product here.
  std::size_t fuse_global_products(std::size_t first) {
    const auto kinds = global_product_at(first);
    if (!kinds) return 0;
    std::vector<std::size_t> products{first};
    for (std::size_t next = first + 3; products.size() < kMostProducts; ++next) {
      if (global_product_at(next) == kinds && block_[next + 2].s[3] == block_[products.back() + 2].s[0]) {
        products.push_back(next);
        next += 2;
      } else if (next >= block_.size() || !is_of_lane_0(block_[next])) {
        break;
      }
    }
    if (!are_by_themselves(products)) products.resize(1);
    if (!are_by_themselves(products)) return 0;
    const std::size_t end = products.back() + 3;
    for (const std::size_t i : products) {
      block_[i].guarded = block_[i].run;
      block_[i].run = global_product_handler(kinds->first, kinds->second);
      block_[i].target = static_cast<std::uint32_t>(end - i);
    }
    return end - first;
  }

  // Fuses additions on lane 0. Returns the number of operations that one handler executes; 0: fewer than two additions.
  std::size_t fuse_additions(std::size_t first) {
    std::size_t end = first;
    while (end < block_.size() && is_addition_of_lane_0(block_[end])) ++end;
    if (end - first < 2) return 0;
    for (std::size_t i = first; i < end; ++i)
      block_[i].count = static_cast<std::uint32_t>(ptx::size_bytes(block_[i].instruction->type));
    block_[first].guarded = block_[first].run;
    block_[first].run = addition_run_handler();
    block_[first].target = static_cast<std::uint32_t>(end - first);
    return end - first;
  }

  std::optional<std::pair<Words, Words>> global_product_at(std::size_t i) const {
    if (i + 2 >= block_.size() || !is_fma(block_[i + 2])) return std::nullopt;
    const auto left = global_words(block_[i], code_.lane_offsets),
               right = global_words(block_[i + 1], code_.lane_offsets);
    if (!left || !right || !is_product(block_[i], block_[i + 1], block_[i + 2])) return std::nullopt;
    return std::pair{*left, *right};
  }

  // Whether the operation is integer arithmetic on lane 0 only.
  static bool is_of_lane_0(const Op& op) {
    return op.instruction != nullptr && op.guard == kNoSlot && op.guarded == nullptr &&
           ptx::info(op.instruction->opcode).form == ptx::Form::alu && !ptx::is_float(op.instruction->type) &&
           op.run == alu_handler_of_lane_0(*op.instruction);
  }

  static bool is_addition_of_lane_0(const Op& op) {
    return is_of_lane_0(op) && ptx::computes(*op.instruction, ptx::kAdds) && ptx::size_bytes(op.instruction->type) >= 4;
  }

  // Whether nothing but these products uses the loaded words and the intermediate sums.
  bool are_by_themselves(const std::vector<std::size_t>& products) const {
    const std::size_t last = products.back() + 2;
    std::vector<int> unwanted;
    std::set<Slot> own;
    for (const std::size_t i : products) {
      for (std::size_t part = 0; part < 3; ++part) {
        own.insert(block_[i + part].s[0]);
        const bool is_sum = part == 2;
        if (!is_sum && result(i + part) == result(last)) return false;
        if (result(i + part) != result(last)) unwanted.push_back(result(i + part));
      }
    }
    own.insert(block_[products.front() + 2].s[3]);
    for (std::size_t i = products.front(); i < last; ++i) {
      if (std::find(products.begin(), products.end(), i) != products.end()) {
        i += 2;
        continue;
      }
      for (const Slot slot : block_[i].s) {
        if (own.contains(slot)) return false;
      }
    }
    for (const std::size_t i : products) {
      if (own.contains(block_[i].s[4]) || own.contains(block_[i + 1].s[4])) return false;
    }
    return !any_live_after_(block_[last].pc, unwanted);
  }

  int result(std::size_t i) const { return block_[i].instruction->operands[0].index; }

  // Returns the number of products, from `first` on, that can be one run.
  std::size_t products_at(std::size_t first) const {
    if (!is_product_at(first)) return 0;
    std::size_t products = 1;
    while (is_product_at(first + 3 * products) && goes_on(first, first + 3 * products)) ++products;
    return products;
  }

  // Whether the product at `next` adds to the previous sum, and its words' addresses differ from the first product's
  // by constant offsets only.
  bool goes_on(std::size_t first, std::size_t next) const {
    const Slot left_at = block_[first].s[4], right_at = block_[first + 1].s[4];
    for (std::size_t i = next - 3; i < next; ++i) {
      if (block_[i].s[0] == left_at || block_[i].s[0] == right_at) return false;
    }
    const auto alike = [&](std::size_t i) {
      const Op &a = block_[first + i], &b = block_[next + i];
      return a.s[4] == b.s[4] && a.count == b.count && a.lane_offsets == b.lane_offsets && is_small(b.offset);
    };
    return block_[next + 2].s[3] == block_[next - 1].s[0] && alike(0) && alike(1);
  }

  static bool is_small(std::int64_t offset) { return offset == static_cast<std::int32_t>(offset); }

  void fuse_product(std::size_t i) {
    block_[i].guarded = block_[i].run;
    block_[i].run = product_handler(code_.lane_offsets[block_[i].lane_offsets],
                                    code_.lane_offsets[block_[i + 1].lane_offsets], Products::one);
  }

  static void add(const Op& load, const LaneOffsets& offsets, ProductRun::Side& side) {
    if (side.loads.empty()) {
      side.low = side.high = load.offset;
      for (std::size_t e = 0; e < kEights; ++e)
        side.of_eights[e] = static_cast<std::int64_t>(offsets.of_lane[e * kEight]);
    }
    side.loads.push_back({static_cast<std::int32_t>(load.offset), load.pc});
    side.low = std::min(side.low, load.offset + offsets.low);
    side.high = std::max(side.high, load.offset + offsets.high);
    side.bits |= static_cast<std::uint64_t>(load.offset) | offsets.bits;
  }

  void fuse_products(std::size_t first, std::size_t products) {
    const std::size_t last = first + 3 * products - 1;
    std::vector<int> unwanted;
    for (std::size_t i = first; i < last; ++i) {
      if (result(i) != result(last)) unwanted.push_back(result(i));
    }
    if (products == 1 || !is_small(block_[first].offset) || !is_small(block_[first + 1].offset) ||
        any_live_after_(block_[last].pc, unwanted))
      return;
    ProductRun run;
    const LaneOffsets &left = code_.lane_offsets[block_[first].lane_offsets],
                      &right = code_.lane_offsets[block_[first + 1].lane_offsets];
    for (std::size_t i = first; i < last; i += 3) {
      add(block_[i], left, run.left);
      add(block_[i + 1], right, run.right);
      run.offsets.emplace_back(run.left.loads.back().offset, run.right.loads.back().offset);
    }
    const bool wide = are_even_wide(left) && are_even_wide(right);
    block_[first].run = product_handler(left, right, wide ? Products::wide : Products::by_eights);
    block_[first].target = static_cast<std::uint32_t>(code_.product_runs.size());
    code_.product_runs.push_back(std::move(run));
  }

  std::span<Op> block_;
  LockstepCode& code_;
  const AnyLiveAfter& any_live_after_;
};

}  // namespace

void fuse(std::span<Op> block, LockstepCode& code, const AnyLiveAfter& any_live_after) {
  Fusion(block, code, any_live_after).run();
}

}  // namespace roofwalk::vgpu
