#include "common/ptx/validate.h"

#include <array>

#include <fmt/format.h>

#include "common/ptx/refusal.h"

namespace roofwalk::ptx {
namespace {

constexpr TypeSet kUntyped = kB8 | kBits | bit(Type::b128);

bool same_kind(Type declared, Type wanted) {
  if (((bit(declared) | bit(wanted)) & kUntyped) != 0) return true;
  if (is_float(declared) || is_float(wanted)) return declared == wanted;
  return true;
}

// ld, st and cvt may use a wider register than the type that they move.
bool register_holds(Type declared, Type wanted) {
  if (declared == Type::pred || wanted == Type::pred) return false;
  if (is_float(wanted) && size_bytes(declared) != size_bytes(wanted) && is_float(declared)) return false;
  return size_bytes(declared) >= size_bytes(wanted) && same_kind(declared, wanted);
}

struct Slot {
  enum class Role : std::uint8_t { destination, source, predicate, address };
  Role role = Role::source;
  Type type = Type::none;
  bool wider = false;            // a wider register will do
  int elements = 0;              // in braces; 0: none
  bool sink = false;             // `_` will do
  Space space = Space::generic;  // of an address
  bool number = false;           // nothing but a number will do
};

struct Signature {
  std::array<Slot, 7> slots{};
  std::size_t count = 0;

  void add(Slot slot) { slots[count++] = slot; }
  void destination(Type type) { add({Slot::Role::destination, type}); }
  void source(Type type) { add({Slot::Role::source, type}); }
  void predicate() { add({Slot::Role::predicate, Type::pred}); }
  void number() { add({.type = Type::u32, .number = true}); }
  void address(Space space) { add({.role = Slot::Role::address, .space = space}); }
};

Type widened(Type type) {
  switch (type) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    default:
      return Type::s64;
  }
}

// The type of source number `index`, from 0: the instruction's, but for shift amounts, bit positions and wide sums.
Type alu_source_type(const Instruction& i, int index) {
  switch (i.opcode) {
    case Opcode::Shl:
    case Opcode::Shr:
      return index == 1 ? Type::u32 : i.type;
    case Opcode::Shf:
      return index == 2 ? Type::u32 : i.type;
    case Opcode::Dp2a:
    case Opcode::Dp4a:
      return index == 0 ? i.source_type : index == 1 ? i.second_type : i.type;
    case Opcode::Bfe:
      return index >= 1 ? Type::u32 : i.type;
    case Opcode::Bfi:
      return index >= 2 ? Type::u32 : i.type;
    case Opcode::Mad:
      return index == 2 && i.mul == MulMode::wide ? widened(i.type) : i.type;
    default:
      return i.type;
  }
}

Type alu_result_type(const Instruction& i) {
  if (i.opcode == Opcode::Clz || i.opcode == Opcode::Popc || i.opcode == Opcode::Bfind) return Type::u32;
  return i.mul == MulMode::wide ? widened(i.type) : i.type;
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

// The register that holds a factor or sum, and how many of a matrix's elements.
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

// d, a, b, c: each lane holds its share of the matrices, narrow elements several to a register. Of wmma's f16 factors
// it holds 16, whatever the shape: some of them twice.
void add_matrices(Signature& s, const Instruction& i) {
  const MatrixShape shape = i.shape;
  const auto add = [&](Slot::Role role, int elements, Type type) {
    s.add({role, held_in(type), false, registers_of(elements, type), role == Slot::Role::destination});
  };
  const auto add_factor = [&](int elements, Type type) {
    const bool twice = i.opcode == Opcode::WmmaMma && type == Type::f16;
    add(Slot::Role::source, twice ? kWmmaHalves : elements, type);
  };
  add(Slot::Role::destination, shape.m * shape.n, i.type);
  add_factor(shape.m * shape.k, i.source_type);
  add_factor(shape.k * shape.n, i.second_type);
  add(Slot::Role::source, shape.m * shape.n, i.sum_type);
}

// A fragment in braces and where its matrix lies, with how far its rows or columns are apart where that is said.
void add_fragment(Signature& s, const Instruction& i) {
  const bool is_factor = i.fragment == Fragment::a || i.fragment == Fragment::b;
  const int rows = i.fragment == Fragment::b ? i.shape.k : i.shape.m;
  const int columns = i.fragment == Fragment::a ? i.shape.k : i.shape.n;
  const bool twice = is_factor && i.type == Type::f16;
  const int registers = registers_of(twice ? kWmmaHalves : rows * columns, i.type);
  const bool is_store = i.opcode == Opcode::WmmaStore;
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
  if (i.operands.size() > (i.has_policy ? 4u : 3u)) s.source(Type::u32);
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

Signature signature_of(const Instruction& i) {
  using Role = Slot::Role;
  Signature s;
  const OpcodeInfo& row = info(i.opcode);
  switch (row.form) {
    case Form::alu:
      s.destination(alu_result_type(i));
      for (int source = 0; source < row.sources; ++source) s.source(alu_source_type(i, source));
      break;
    case Form::carry:
      s.destination(i.type);
      for (int source = 0; source < (i.opcode == Opcode::Madc ? 3 : 2); ++source) s.source(i.type);
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
    case Form::barrier:
      add_barrier(s, i);
      break;
    case Form::prefetch:
      s.address(i.space);
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
    case Form::mbarrier:
      add_mbarrier(s, i);
      break;
    case Form::branch:
    case Form::indexed_branch:
    case Form::call:
    case Form::leave:
    case Form::trap:
    case Form::fence:
      break;
  }
  if (i.has_policy) s.source(Type::b64);
  return s;
}

class Checker {
 public:
  Checker(Instruction& instruction, const std::vector<Register>& registers, std::string_view text)
      : instruction_(instruction), registers_(registers), text_(text) {}

  void run() {
    const Signature signature = signature_of(instruction_);
    std::vector<Operand>& operands = instruction_.operands;
    if (operands.size() != signature.count) {
      refuse(fmt::format("has {} operands, not {}", written_count(operands), wanted_count(signature)));
    }
    if (form() == Form::move && (is_vector(operands[0]) || is_vector(operands[1]))) {
      return check_packing();
    }
    for (std::size_t o = 0; o < operands.size(); ++o) check(operands[o], signature.slots[o]);
    if (has_second_result() && operands[0].kind == Operand::Kind::none && operands[1].kind == Operand::Kind::none) {
      refuse("has no result");
    }
    if (form() == Form::barrier) check_barrier();
    if (instruction_.vote == VoteMode::any && operands[1].kind != Operand::Kind::none && form() == Form::warp_match) {
      refuse("has two results, which only match.all has");
    }
    if (instruction_.async == AsyncMode::copy) check_copied_sizes();
    if (instruction_.opcode == Opcode::Lop3) check_truth_table();
  }

 private:
  Form form() const { return info(instruction_.opcode).form; }
  static bool is_vector(const Operand& operand) { return operand.kind == Operand::Kind::vector; }

  bool has_second_result() const { return ptx::has_second_result(instruction_); }
  std::size_t written_count(const std::vector<Operand>& operands) const {
    return operands.size() - (has_second_result() && operands.size() > 1);
  }
  std::size_t wanted_count(const Signature& signature) const { return signature.count - has_second_result(); }

  [[noreturn]] void refuse(std::string_view why) const {
    throw Refusal{fmt::format("{} {}", in_quotes(text_), why), instruction_.ptx_line};
  }

  Type declared(const Operand& operand) const { return registers_[static_cast<std::size_t>(operand.index)].type; }

  void check(Operand& operand, const Slot& slot) {
    if (slot.role == Slot::Role::address) return check_address(operand, slot.space);
    if (slot.number && operand.kind != Operand::Kind::immediate) refuse("wants a number where something else stands");
    if (slot.elements != 0) {
      if (!is_vector(operand) || operand.elements.size() != static_cast<std::size_t>(slot.elements)) {
        refuse(fmt::format("needs {} register{} in braces", slot.elements, slot.elements == 1 ? "" : "s"));
      }
      for (Operand& element : operand.elements) check_value(element, slot);
      return check_elements(operand);
    }
    if (is_vector(operand)) refuse("takes no vector");
    check_value(operand, slot);
  }

  void check_value(Operand& operand, const Slot& slot) {
    const bool is_destination = slot.role == Slot::Role::destination;
    switch (operand.kind) {
      case Operand::Kind::reg:
        if (operand.negated && slot.role != Slot::Role::predicate)
          refuse("with a `!` there is not supported by the virtual GPU");
        return check_register(operand, slot);
      case Operand::Kind::none:
        if (!is_destination || !slot.sink) refuse("needs a register where `_` stands");
        return;
      case Operand::Kind::immediate:
        if (is_destination) refuse("writes to a number");
        return make_bits(operand, slot.type);
      case Operand::Kind::special:
        if (is_destination) refuse("writes to a special register");
        return check_special(operand, slot);
      case Operand::Kind::variable:
      case Operand::Kind::function:
        if (is_destination) refuse("writes to a name that is no register");
        return check_named_address(operand, slot);
      default:
        refuse("has an operand of the wrong kind");
    }
  }

  void check_register(const Operand& operand, const Slot& slot) const {
    const Type type = declared(operand);
    const bool fits = slot.wider ? register_holds(type, slot.type) : register_fits(type, slot.type);
    if (!fits) {
      refuse(fmt::format("wants {} where {} is declared {}", type_name(slot.type),
                         in_quotes(registers_[static_cast<std::size_t>(operand.index)].name), type_name(type)));
    }
  }

  void check_special(const Operand& operand, const Slot& slot) const {
    const bool is_wide = operand.special == SpecialRegister::clock64 ||
                         operand.special == SpecialRegister::globaltimer || operand.special == SpecialRegister::gridid;
    if (form() != Form::move) refuse("reads a special register, which only mov can do on the virtual GPU");
    if (is_float(slot.type) || size_bytes(slot.type) != (is_wide ? 8 : 4)) {
      refuse("reads a special register of another width");
    }
  }

  // Variables may stand in mov and cvta, kernels and functions also where one is chosen or stored.
  void check_named_address(const Operand& operand, const Slot& slot) const {
    const bool is_function = operand.kind == Operand::Kind::function;
    const bool may_stand = form() == Form::move || (is_function ? form() == Form::select || form() == Form::store
                                                                : form() == Form::cvta && !instruction_.to);
    if (!may_stand || slot.elements != 0)
      refuse(fmt::format("cannot take the address of {}", in_quotes(operand.symbol)));
    if (is_float(slot.type) || slot.type == Type::pred) refuse("makes a float of an address");
    const bool is_short = operand.space == Space::shared || operand.space == Space::local;
    const int size = size_bytes(slot.type);
    if (size != 8 && !(is_short && size == 4)) refuse("cuts an address short");
    if (form() == Form::cvta && operand.space != instruction_.space) refuse("names a variable of another state space");
  }

  void check_address(const Operand& operand, Space space) const {
    if (operand.kind != Operand::Kind::address) refuse("needs an address in brackets");
    if (operand.index >= 0) {
      const Type type = declared(operand);
      if (type == Type::pred || is_float(type) || size_bytes(type) < 4 || size_bytes(type) > 8) {
        refuse("has an address that is no 32 or 64-bit integer register");
      }
      if ((space == Space::generic || space == Space::global) && size_bytes(type) != 8)
        refuse("needs a 64-bit address");
    } else if (operand.symbol.empty()) {
      if (space != Space::local) refuse("has a number for its address, which only .local may");
    } else {
      const bool is_generic = operand.space != Space::param && operand.space != Space::constant;
      if (space == Space::generic ? !is_generic : space != operand.space) {
        refuse(fmt::format("names {}, which lies in another state space", in_quotes(operand.symbol)));
      }
    }
  }

  // At least one register, and all of one type, to which .b counts where the width is the same.
  void check_elements(const Operand& vector) const {
    Type common = Type::none;
    bool any = false;
    for (const Operand& element : vector.elements) {
      any = any || element.kind != Operand::Kind::none;
      if (element.kind != Operand::Kind::reg) continue;
      const Type own = declared(element);
      if (common != Type::none && !register_fits(own, common)) refuse("has a vector of registers of different types");
      if (common == Type::none || (bit(common) & kUntyped) != 0) common = own;
    }
    if (!any) refuse("has a vector without a register");
  }

  // mov.b64 %rd, {%r1, %r2} and the reverse: elements of equal size that fill the whole.
  void check_packing() {
    const bool packs = is_vector(instruction_.operands[1]);
    Operand& whole = instruction_.operands[packs ? 0 : 1];
    Operand& parts = instruction_.operands[packs ? 1 : 0];
    const Type type = instruction_.type;
    if ((bit(type) & kBits) == 0 || is_vector(whole)) refuse("cannot pack or unpack; use mov.b32 or mov.b64");
    if (packs && whole.kind != Operand::Kind::reg) refuse("packs into something that is no register");
    check_value(whole, {packs ? Slot::Role::destination : Slot::Role::source, type});
    const std::size_t count = parts.elements.size();
    if (count != 2 && count != 4) refuse("packs neither 2 nor 4 elements");
    const int part_size = size_bytes(type) / static_cast<int>(count);
    const Type part = part_size == 4 ? Type::b32 : part_size == 2 ? Type::b16 : Type::b8;
    if (part == Type::b8) refuse("packs bytes, for which there are no registers");
    for (Operand& element : parts.elements) {
      check_value(element, {packs ? Slot::Role::source : Slot::Role::destination, part, false, 0, true});
    }
    check_elements(parts);
  }

  void check_barrier() const {
    const bool reduces = instruction_.barrier >= BarrierMode::red_popc;
    if (instruction_.barrier == BarrierMode::warp_sync) return;
    const std::size_t first = reduces ? 1 : 0;
    const Operand& number = instruction_.operands[first];
    if (number.kind == Operand::Kind::immediate && number.bits > 15) refuse("uses a barrier that is not 0 to 15");
    const std::size_t count_at = first + 1;
    if (instruction_.operands.size() <= count_at + (reduces ? 1 : 0)) return;
    const Operand& count = instruction_.operands[count_at];
    if (count.kind == Operand::Kind::immediate && (count.bits % 32 != 0 || count.bits == 0)) {
      refuse("waits for a number of threads that is no multiple of 32");
    }
  }

  void check_truth_table() const {
    const Operand& table = instruction_.operands[4];
    if (table.kind != Operand::Kind::immediate || table.bits > 255) refuse("needs a number from 0 to 255 at its end");
  }

  void check_copied_sizes() const {
    const std::uint64_t bytes = instruction_.operands[2].bits;
    const bool through_l1 = instruction_.cache == CacheHint::ca;
    if (bytes != 16 && !(through_l1 && (bytes == 4 || bytes == 8))) {
      refuse(through_l1 ? "copies 4, 8 or 16 bytes" : "copies 16 bytes, no more and no less");
    }
    if (instruction_.operands.size() < (instruction_.has_policy ? 5u : 4u)) return;
    const Operand& source = instruction_.operands[3];
    if (source.kind == Operand::Kind::immediate && source.bits > bytes) refuse("reads more bytes than it copies");
  }

  void make_bits(Operand& operand, Type type) const {
    operand.bits = immediate_bits(operand, type, text_, instruction_.ptx_line);
    operand.negated = false;
    operand.component = 0;
  }

  Instruction& instruction_;
  const std::vector<Register>& registers_;
  std::string_view text_;
};

}  // namespace

bool register_fits(Type declared, Type wanted) {
  if (declared == Type::pred || wanted == Type::pred) return declared == wanted;
  return size_bytes(declared) == size_bytes(wanted) && same_kind(declared, wanted);
}

bool has_second_result(const Instruction& instruction) {
  const Form form = info(instruction.opcode).form;
  return form == Form::compare || form == Form::shuffle || form == Form::warp_match;
}

void check_operands(Instruction& instruction, const std::vector<Register>& registers, std::string_view text) {
  Checker(instruction, registers, text).run();
}

}  // namespace roofwalk::ptx
