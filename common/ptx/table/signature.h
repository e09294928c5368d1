// The operands that an instruction wants. Private to this layer.
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
  bool wider = false;            // a wider register will do
  int elements = 0;              // in braces; 0: none
  bool sink = false;             // `_` will do
  Space space = Space::generic;  // of an address
  bool number = false;           // nothing but a number will do
  bool truth_table = false;      // one of 0 to 255
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

// Of all forms but branches and calls, which have none here.
Signature signature_of(const Instruction& instruction);

}  // namespace roofwalk::ptx
