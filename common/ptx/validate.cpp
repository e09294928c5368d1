#include "common/ptx/validate.h"

#include <fmt/format.h>

#include "common/ptx/table/refusal.h"
#include "common/ptx/table/signature.h"

namespace roofwalk::ptx {
namespace {

constexpr TypeSet kUntyped = kB8 | kBits | bit(Type::b128);

bool same_kind(Type declared, Type wanted) {
  if (((bit(declared) | bit(wanted)) & kUntyped) != 0) return true;
  if (is_float(declared) || is_float(wanted)) return declared == wanted;
  return true;
}

// Like register_fits(), for ld, st and cvt, which allow a register wider than the type that they move.
bool register_holds(Type declared, Type wanted) {
  if (declared == Type::pred || wanted == Type::pred) return false;
  if (is_float(wanted) && size_bytes(declared) != size_bytes(wanted) && is_float(declared)) return false;
  return size_bytes(declared) >= size_bytes(wanted) && same_kind(declared, wanted);
}

class Checker {
 public:
  Checker(Instruction& instruction, const std::vector<Register>& registers, std::string_view text)
      : instruction_(instruction), registers_(registers), text_(text) {}

  void run() {
    instruction_.may_ignore = has_ignore_predicate();
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
    for (std::size_t o = 0; o < operands.size(); ++o) {
      if (signature.slots[o].truth_table) check_truth_table(operands[o]);
    }
  }

 private:
  Form form() const { return info(instruction_.opcode).form; }
  static bool is_vector(const Operand& operand) { return operand.kind == Operand::Kind::vector; }

  // cp.async takes the number of bytes to read, or a predicate that tells whether to read none.
  bool has_ignore_predicate() const {
    const auto& o = instruction_.operands;
    return instruction_.async == AsyncMode::copy && o.size() > 3 && o[3].kind == Operand::Kind::reg &&
           declared(o[3]) == Type::pred;
  }

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
        if (is_destination) refuse("writes to a name that is not a register");
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

  // Checks an address that is given by name: that of a variable is allowed in mov and cvta, that of a kernel or
  // function in mov, selp and st.
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
        refuse("has an address that is not a 32-bit or 64-bit integer register");
      }
      if ((space == Space::generic || space == Space::global) && size_bytes(type) != 8) {
        // CUDA 13.0's cuda::ptx::cp_async_mbarrier_arrive_noinc() forgets .shared. ptxas takes the address for a
        // generic one then, which names no shared memory.
        const bool forgets_shared = instruction_.async == AsyncMode::mbarrier_arrive;
        refuse(forgets_shared ? "has an address of shared memory, but no .shared: write it in inline PTX, with .shared"
                              : "needs a 64-bit address");
      }
    } else if (operand.symbol.empty()) {
      if (space != Space::local) refuse("has a number for its address, which only .local may");
    } else {
      const bool is_generic = operand.space != Space::param && operand.space != Space::constant;
      if (space == Space::generic ? !is_generic : space != operand.space) {
        refuse(fmt::format("names {}, which is in another state space", in_quotes(operand.symbol)));
      }
    }
  }

  // Requires at least one register, and that all registers have the same type; .b matches any type of its width.
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

  // Checks mov.b64 %rd, {%r1, %r2} and the reverse: the elements must have equal size and fill the whole register.
  void check_packing() {
    const bool packs = is_vector(instruction_.operands[1]);
    Operand& whole = instruction_.operands[packs ? 0 : 1];
    Operand& parts = instruction_.operands[packs ? 1 : 0];
    const Type type = instruction_.type;
    if ((bit(type) & kBits) == 0 || is_vector(whole)) refuse("cannot pack or unpack; use mov.b32 or mov.b64");
    if (packs && whole.kind != Operand::Kind::reg) refuse("packs into something that is not a register");
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
      refuse("waits for a number of threads that is not a multiple of 32");
    }
  }

  void check_truth_table(const Operand& table) const {
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
