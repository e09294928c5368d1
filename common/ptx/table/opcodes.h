// The table of opcodes: the rows of opcodes.def, and the types of its columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/ptx/table/types.h"

namespace roofwalk::ptx {

// The form of an instruction: its modifiers and operands.
enum class Form : std::uint8_t {
  alu,
  convert,
  cvta,
  move,
  select,
  compare,
  set,
  number_test,
  carry,
  load,
  store,
  matrix_load,
  matrix_multiply,
  fragment_load,
  fragment_store,
  async_copy,
  atomic,
  reduction,
  branch,
  indexed_branch,
  barrier,
  call,
  leave,
  trap,
  fence,
  prefetch,
  cache_policy,
  shuffle,
  vote,
  active_mask,
  warp_reduce,
  warp_match,
  space_query,
  sleep,
  mbarrier
};

// The unit that issues a machine instruction.
enum class Unit : std::uint8_t { fp32, half, integer, multiply, fp64, special, tensor, memory, constant, control };
inline constexpr std::size_t kUnitCount = 10;
using UnitSet = std::uint32_t;
constexpr UnitSet bit(Unit unit) { return UnitSet{1} << static_cast<unsigned>(unit); }

// The units that issue an opcode, by its type: a row of units.def.
enum class Units : std::uint8_t {
#define PTX_UNITS(name, ...) name,
#include "common/ptx/table/units.def"
#undef PTX_UNITS
};
struct UnitsInfo {
  Unit of_f32, of_half, of_f64, of_others;
  UnitSet besides;         // further units, depending on operands or modifiers: the timing model decides
                           // (instruction_cost.cpp)
  std::string_view words;  // the text in the book
};
const UnitsInfo& info(Units units);
Unit unit_of(Units units, Type type);

// The modifiers that arithmetic may have: rows of modifiers.def; the last ones have special syntax.
enum class Modifiers : std::uint8_t {
  none,
  sign,
  sum,
  extremum,
  product,
  product_sum,
  product24,
  product_sum24,
  fused,
  quotient,
  root,
  reciprocal,
  reciprocal_root,
  approximate,
  exponential,
  tangent,
  funnel_shift,   // .{l,r}.{wrap,clamp}
  clamp_or_wrap,  // .clamp or .wrap
  find,           // .shiftamt
  permute,        // a mode after the type
  dot,            // the types of both factors
  dot_of_halves,  // which half, and the types of both factors
  distances       // the types of result and both sources, .add
};

// Cost class of arithmetic, on chips and on the host: rows of costs.def.
enum class CostClass : std::uint8_t {
#define PTX_COST_CLASS(name, ...) name,
#define PTX_COST(...)
#define PTX_WORK(...)
#include "common/ptx/table/costs.def"
#undef PTX_COST_CLASS
#undef PTX_COST
#undef PTX_WORK
};

// Further properties of some opcodes.
using TraitSet = std::uint32_t;
// Traits that tell what an arithmetic instruction computes, in the width of its result. They are used by code that
// recognises address arithmetic, and by code that fuses sums and products. Instructions with carry also add or subtract
// the carry flag.
inline constexpr TraitSet kAdds = 1;  // adds the first two sources; with kMultiplies, the third source to their product
inline constexpr TraitSet kSubtracts = 2, kMultiplies = 4, kShiftsLeft = 8;
// Other traits.
inline constexpr TraitSet kMayBeUniform = 16;   // .uni
inline constexpr TraitSet kReturns = 32;        // returns from a function; in a kernel, ends the thread
inline constexpr TraitSet kMeetsInWarps = 64;   // .warp.sync
inline constexpr TraitSet kMayBeAligned = 128;  // .aligned
inline constexpr TraitSet kNamesLevels = 256;   // .cta, .gl, .sys instead of an order and a scope
inline constexpr TraitSet kOfFragments = 512;   // wmma: works on fragments, in which elements of f16 factors repeat

// The type of a source or result of arithmetic.
enum class OperandType : std::uint8_t {
  none,
  own,           // the instruction's type
  wide,          // the instruction's type; with .wide, twice as wide
  count,         // a bit count or position: .u32 for every type
  truth_table,   // a number from 0 to 255
  first_factor,  // by source_type and second_type
  second_factor,
};
struct Operands {
  OperandType result = OperandType::none;
  OperandType sources[4] = {};

  constexpr int source_count() const {
    int count = 0;
    for (const OperandType source : sources) count += source != OperandType::none;
    return count;
  }
};
inline constexpr OperandType kOwnType = OperandType::own, kWideType = OperandType::wide,
                             kCountType = OperandType::count;
inline constexpr Operands kUnary{kOwnType, {kOwnType}}, kBinary{kOwnType, {kOwnType, kOwnType}},
    kTernary{kOwnType, {kOwnType, kOwnType, kOwnType}};
inline constexpr Operands kProduct{kWideType, {kOwnType, kOwnType}},
    kProductSum{kWideType, {kOwnType, kOwnType, kWideType}};
inline constexpr Operands kDot{kOwnType, {OperandType::first_factor, OperandType::second_factor, kOwnType}};
inline constexpr Operands kBitCount{kCountType, {kOwnType}};
inline constexpr Operands kShift{kOwnType, {kOwnType, kCountType}},
    kFunnelShift{kOwnType, {kOwnType, kOwnType, kCountType}};
inline constexpr Operands kExtraction{kOwnType, {kOwnType, kCountType, kCountType}},
    kInsertion{kOwnType, {kOwnType, kOwnType, kCountType, kCountType}};
inline constexpr Operands kLogic3{kOwnType, {kOwnType, kOwnType, kOwnType, OperandType::truth_table}};

enum class Opcode : std::uint8_t {
#define PTX_ALU(Id, ...) Id,
#define PTX_OP(Id, ...) Id,
#include "common/ptx/table/opcodes.def"
#undef PTX_ALU
#undef PTX_OP
};

struct OpcodeInfo {
  std::string_view mnemonic;
  TypeSet types;
  Form form;
  Units units;
  TraitSet traits;
  // Form::alu only
  Operands operands;
  Modifiers modifiers;
  CostClass cost;
  int flops;  // per lane; on integers, operations
};
const OpcodeInfo& info(Opcode opcode);
std::vector<Opcode> all_opcodes();

}  // namespace roofwalk::ptx
