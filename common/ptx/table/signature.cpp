#include "common/ptx/table/signature.h"

#include <iterator>

namespace roofwalk::ptx {
namespace {

void add_arithmetic(Signature& s, const Instruction& i) {
  const Operands& operands = info(i.opcode).operands;
  s.destination(type_of_result(i));
  for (std::size_t source = 0; source < std::size(operands.sources); ++source) {
    if (operands.sources[source] == OperandType::none) break;
    s.add({.type = type_of_source(i, source), .truth_table = operands.sources[source] == OperandType::truth_table});
  }
}

void add_barrier(Signature& s, const Instruction& i) {
  switch (i.barrier) {
    case BarrierMode::red_popc:
    case BarrierMode::red_and:
    case BarrierMode::red_or:
      s.destination(i.type);
      s.source(Type::u32);
      if (i.operands.size() > 3) s.source(Type::u32);
      s.predicate();
      return;
    case BarrierMode::arrive:
      s.source(Type::u32);
      s.source(Type::u32);
      return;
    default:
      s.source(Type::u32);
      if (i.barrier == BarrierMode::sync && i.operands.size() > 1) s.source(Type::u32);
  }
}

constexpr int kWarpLanes = 32;
constexpr int kWmmaHalves = 16 * kWarpLanes;

int braced(int elements) { return elements > 1 ? elements : 0; }

// Returns the register type that holds matrix elements of this type.
Type held_in(Type element) {
  switch (element) {
    case Type::f16:
      return Type::f16x2;
    case Type::bf16:
      return Type::bf16x2;
    case Type::s8:
    case Type::u8:
      return Type::b32;
    default:
      return element;
  }
}
int registers_of(int elements, Type element) {
  return elements / kWarpLanes / (size_bytes(held_in(element)) / size_bytes(element));
}

// Adds d, a, b and c: each lane holds its share of the matrices, several narrow elements per register. For an f16
// factor of wmma, each lane holds 16 elements whatever the shape is, so several lanes may hold the same element.
void add_matrices(Signature& s, const Instruction& i) {
  const MatrixShape shape = i.shape;
  const auto add = [&](Slot::Role role, int elements, Type type) {
    s.add({role, held_in(type), false, registers_of(elements, type), role == Slot::Role::destination});
  };
  const auto add_factor = [&](int elements, Type type) {
    const bool twice = has_trait(i, kOfFragments) && type == Type::f16;
    add(Slot::Role::source, twice ? kWmmaHalves : elements, type);
  };
  add(Slot::Role::destination, shape.m * shape.n, i.type);
  add_factor(shape.m * shape.k, i.source_type);
  add_factor(shape.k * shape.n, i.second_type);
  add(Slot::Role::source, shape.m * shape.n, i.sum_type);
}

// Adds a fragment in braces, the address of its matrix and, optionally, the stride of its rows or columns.
void add_fragment(Signature& s, const Instruction& i) {
  const bool is_factor = i.fragment == Fragment::a || i.fragment == Fragment::b;
  const int rows = i.fragment == Fragment::b ? i.shape.k : i.shape.m;
  const int columns = i.fragment == Fragment::a ? i.shape.k : i.shape.n;
  const bool twice = is_factor && i.type == Type::f16;
  const int registers = registers_of(twice ? kWmmaHalves : rows * columns, i.type);
  const bool is_store = info(i.opcode).form == Form::fragment_store;
  if (is_store) s.address(i.space);
  s.add({is_store ? Slot::Role::source : Slot::Role::destination, held_in(i.type), false, registers, !is_store});
  if (!is_store) s.address(i.space);
  if (i.operands.size() > 2) s.source(Type::u32);
}

void add_async_copy(Signature& s, const Instruction& i) {
  if (i.async == AsyncMode::wait_group) s.number();
  if (i.async == AsyncMode::mbarrier_arrive) s.address(i.space);
  if (i.async != AsyncMode::copy) return;
  s.address(Space::shared);
  s.address(Space::global);
  s.number();
  if (i.may_ignore)
    s.predicate();
  else if (i.operands.size() > (i.has_policy ? 4u : 3u))
    s.source(Type::u32);
}

void add_mbarrier(Signature& s, const Instruction& i) {
  switch (i.mbarrier) {
    case MbarrierMode::init:
      s.address(i.space);
      s.source(Type::u32);
      break;
    case MbarrierMode::inval:
      s.address(i.space);
      break;
    case MbarrierMode::arrive:
    case MbarrierMode::arrive_drop:
      s.add({Slot::Role::destination, Type::b64, false, 0, true});
      s.address(i.space);
      if (i.needs_count || i.operands.size() > 2) s.source(Type::u32);
      break;
    case MbarrierMode::test_wait:
    case MbarrierMode::try_wait:
      s.destination(Type::pred);
      s.address(i.space);
      s.source(i.parity ? Type::u32 : Type::b64);
      if (i.mbarrier == MbarrierMode::try_wait && i.operands.size() > 3) s.source(Type::u32);
      break;
    case MbarrierMode::pending_count:
      s.destination(Type::u32);
      s.source(Type::b64);
      break;
    case MbarrierMode::none:
      break;
  }
}

// Adds the operands if the instruction works on registers only.
void add_values(Signature& s, const Instruction& i) {
  using Role = Slot::Role;
  switch (info(i.opcode).form) {
    case Form::alu:
      add_arithmetic(s, i);
      break;
    case Form::carry:
      s.destination(i.type);
      for (int source = 0; source < (has_trait(i, kMultiplies) ? 3 : 2); ++source) s.source(i.type);
      break;
    case Form::convert:
      s.add({Role::destination, i.type, !is_pair(i.type) && i.type != Type::bf16});
      s.add({Role::source, i.source_type, i.source_type != Type::bf16});
      if (is_pair(i.type)) s.add({Role::source, i.source_type, true});
      break;
    case Form::cvta:
    case Form::move:
      s.destination(i.type);
      s.source(i.type);
      break;
    case Form::select:
      s.destination(i.type);
      s.source(i.type);
      s.source(i.type);
      s.source(Type::pred);
      break;
    case Form::compare:
      s.add({Role::destination, Type::pred, false, 0, true});
      s.add({Role::destination, Type::pred, false, 0, true});
      s.source(i.type);
      s.source(i.type);
      if (i.bool_op != BoolOp::none) s.predicate();
      break;
    case Form::set:
      s.destination(i.type);
      s.source(i.source_type);
      s.source(i.source_type);
      break;
    case Form::number_test:
      s.destination(Type::pred);
      s.source(i.type);
      break;
    default:
      break;
  }
}

// Adds the operands if the instruction accesses memory or multiplies matrices.
void add_memory(Signature& s, const Instruction& i) {
  using Role = Slot::Role;
  switch (info(i.opcode).form) {
    case Form::load:
      s.add({Role::destination, i.type, true, braced(i.vector), i.vector > 1});
      s.address(i.space);
      break;
    case Form::store:
      s.address(i.space);
      s.add({Role::source, i.type, true, braced(i.vector)});
      break;
    case Form::matrix_load:
      s.add({Role::destination, Type::b32, false, i.vector});
      s.address(i.space);
      break;
    case Form::matrix_multiply:
      add_matrices(s, i);
      break;
    case Form::fragment_load:
    case Form::fragment_store:
      add_fragment(s, i);
      break;
    case Form::cache_policy:
      s.destination(i.type);
      if (i.operands.size() > 1) s.source(Type::f32);
      break;
    case Form::async_copy:
      add_async_copy(s, i);
      break;
    case Form::atomic:
      s.add({Role::destination, i.type, false, 0, true});
      s.address(i.space);
      s.source(i.type);
      if (i.atomic == AtomicOp::cas) s.source(i.type);
      break;
    case Form::reduction:
      s.address(i.space);
      s.source(i.type);
      break;
    case Form::prefetch:
      s.address(i.space);
      break;
    case Form::mbarrier:
      add_mbarrier(s, i);
      break;
    default:
      break;
  }
}

// Adds the operands if the instruction communicates between threads or with the machine.
void add_exchange(Signature& s, const Instruction& i) {
  using Role = Slot::Role;
  switch (info(i.opcode).form) {
    case Form::barrier:
      add_barrier(s, i);
      break;
    case Form::shuffle:
      s.destination(i.type);
      s.add({Role::destination, Type::pred, false, 0, true});
      s.source(i.type);
      for (int operand = 0; operand < 3; ++operand) s.source(Type::u32);
      break;
    case Form::vote:
      s.destination(i.type);
      s.predicate();
      s.source(Type::u32);
      break;
    case Form::active_mask:
      s.destination(i.type);
      break;
    case Form::warp_reduce:
      s.destination(i.type);
      s.source(i.type);
      s.source(Type::u32);
      break;
    case Form::warp_match:
      s.destination(Type::b32);
      s.add({Role::destination, Type::pred, false, 0, true});
      s.source(i.type);
      s.source(Type::u32);
      break;
    case Form::space_query:
      s.destination(Type::pred);
      s.source(Type::u64);
      break;
    case Form::sleep:
      s.source(i.type);
      break;
    default:
      break;
  }
}

}  // namespace

Signature signature_of(const Instruction& i) {
  Signature s;
  add_values(s, i);
  add_memory(s, i);
  add_exchange(s, i);
  if (i.has_policy) s.source(Type::b64);
  return s;
}

}  // namespace roofwalk::ptx
