#include "common/ptx/table/costs.h"

#include <algorithm>

namespace roofwalk::ptx {
namespace {

using K = CostRow::Kind;
using W = When;

constexpr CostRow kCostRows[] = {
#define PTX_COST_CLASS(...)
#define PTX_WORK(...)
#define PTX_COST(cost, types, when, kind, ...) {CostClass::cost, types, W::when, K::kind, {__VA_ARGS__}},
#include "common/ptx/table/costs.def"
#undef PTX_COST
#undef PTX_WORK
#undef PTX_COST_CLASS
};

constexpr TypeSet kKeptTypes[] = {
#define PTX_COST_CLASS(name, kept) kept,
#define PTX_WORK(...)
#define PTX_COST(...)
#include "common/ptx/table/costs.def"
#undef PTX_COST
#undef PTX_WORK
#undef PTX_COST_CLASS
};

// A cost class, or any.
enum class WorkClass : std::uint8_t {
#define PTX_COST_CLASS(name, kept) name,
#define PTX_WORK(...)
#define PTX_COST(...)
#include "common/ptx/table/costs.def"
#undef PTX_COST
#undef PTX_WORK
#undef PTX_COST_CLASS
  any
};
struct WorkRow {
  WorkClass cost;
  TypeSet types;
  When when;
  std::uint32_t weight;
};
constexpr WorkRow kWorkRows[] = {
#define PTX_COST_CLASS(...)
#define PTX_WORK(cost, types, when, weight) {WorkClass::cost, types, W::when, weight},
#define PTX_COST(...)
#include "common/ptx/table/costs.def"
#undef PTX_COST
#undef PTX_WORK
#undef PTX_COST_CLASS
};

bool counts_by_numbers(const Instruction& in) {
  const Operands& operands = info(in.opcode).operands;
  for (std::size_t i = 0; i < std::size(operands.sources) && i + 1 < in.operands.size(); ++i) {
    if (operands.sources[i] == OperandType::count && in.operands[i + 1].kind != Operand::Kind::immediate) return false;
  }
  return true;
}

}  // namespace

bool holds(When when, const Instruction& in) {
  switch (when) {
    case When::always:
      return true;
    case When::saturated:
      return in.sat;
    case When::high:
      return in.mul == MulMode::hi;
    case When::flushes:
      return in.ftz;
    case When::keeps:
      return !in.ftz;
    case When::one_way:
      return in.rounding == Rounding::rz || in.rounding == Rounding::rp || in.rounding == Rounding::rm;
    case When::exact:
      return in.rounding != Rounding::approx && in.rounding != Rounding::full;
    case When::approximate:
      return in.rounding == Rounding::approx;
    case When::nan_wins:
      return in.nan;
    case When::modified:
      return in.ftz || in.relu || in.nan;
    case When::of_distance:
      return in.shift_amount;
    case When::by_registers:
      return !counts_by_numbers(in);
  }
  return false;
}

const CostRow* find_cost(const Instruction& in) {
  const CostClass cost = info(in.opcode).cost;
  const auto* const found = std::find_if(std::begin(kCostRows), std::end(kCostRows), [&](const CostRow& row) {
    return row.cost == cost && (row.types & bit(in.type)) != 0 && holds(row.when, in);
  });
  return found == std::end(kCostRows) ? nullptr : found;
}

TypeSet kept_types(CostClass cost) { return kKeptTypes[static_cast<std::size_t>(cost)]; }

std::uint32_t work_of_arithmetic(const Instruction& in) {
  const auto cost = static_cast<WorkClass>(info(in.opcode).cost);
  for (const WorkRow& row : kWorkRows) {
    const bool fits = row.cost == cost || row.cost == WorkClass::any;
    if (fits && (row.types & bit(in.type)) != 0 && holds(row.when, in)) return row.weight * (is_pair(in.type) ? 2 : 1);
  }
  return unit_of(info(in.opcode).units, in.type) == Unit::special ? 6 : 1;
}

}  // namespace roofwalk::ptx
