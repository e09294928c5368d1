// Computing instructions: name, operands and result for one thread, written from the definitions of the PTX ISA and
// sharing no code with the virtual GPU. Where the ISA leaves a value undefined, the virtual GPU's rule applies:
// arithmetic on NaNs gives one NaN of each type (0x7fffffff, 0x7fff, 0x7ff80...0), x / 0 is all ones, x % 0 is x.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace roofwalk::random {

using Bits = std::uint64_t;

enum class Kind : std::uint8_t { pred, b16, b32, b64 };  // class of a register; all registers are declared untyped
int bits_of(Kind kind);

enum class Flops : std::uint8_t { none, f16, f32, f64 };

struct Form {
  std::string mnemonic, text;  // "add", "add.rn.f32"
  std::vector<Kind> results, sources;
  std::vector<std::string> numbers;  // by source: the type of immediate allowed there; "" if none is allowed
  std::function<void(const std::uint64_t* sources, std::uint64_t* results)> apply;  // values zero-extended
  enum class Look : std::uint8_t { plain, two_predicates, pack, unpack } look = Look::plain;
  bool negatable_predicate = false;  // the last source, a predicate, may be negated
  int only_number = -1;              // the source that must be an immediate
  Flops flops_of = Flops::none;
  int flops = 0;
  bool special_function = false;
  bool makes_addresses = false;  // integer arithmetic of 32 and 64 bits that may compute an index
  // Set only for approximations, which cannot be compared bit for bit and have no `apply`: whether the result is within
  // the error that the ISA allows.
  std::function<bool(const std::uint64_t* sources, std::uint64_t result)> accepts;
};

// Returns all forms. The virtual GPU may refuse some, so callers check that first.
std::vector<Form> all_forms();

// Append subsets of the forms; each is in a file of its own.
void add_integer_forms(std::vector<Form>& out);
void add_float_forms(std::vector<Form>& out);
void add_convert_forms(std::vector<Form>& out);
void add_compare_forms(std::vector<Form>& out);

}  // namespace roofwalk::random
