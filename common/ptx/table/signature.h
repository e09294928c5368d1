// The operands that an instruction requires. Private to this layer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/ptx/module.h"

namespace roofwalk::ptx {

struct Slot {
  enum class Role : std::uint8_t { destination, source, predicate, address };
  Role role = Role::source;
  Type type = Type::none;
  bool wider = false;            // a wider register is allowed
  int elements = 0;              // number of elements in braces; 0: no braces
  bool sink = false;             // `_` is allowed
  Space space = Space::generic;  // of an address
  bool number = false;           // must be an immediate number
  bool truth_table = false;      // a number from 0 to 255
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

// Returns the operands that an instruction requires. Branches and calls have no signature.
Signature signature_of(const Instruction& instruction);

}  // namespace roofwalk::ptx
