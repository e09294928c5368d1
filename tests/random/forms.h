// The instructions that compute: what each is called, what it takes, and what it gives for one thread, written from the
// definitions of the PTX ISA and sharing nothing with the machine. Where the ISA leaves a value open the machine's own
// rule stands here, named as such: arithmetic on NaNs gives one NaN of each type (0x7fffffff, 0x7fff, 0x7ff80...0),
// x / 0 is all ones, x % 0 is x.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace roofwalk::random {

using Bits = std::uint64_t;

enum class Kind : std::uint8_t { pred, b16, b32, b64 };  // of a register; all are declared untyped
int bits_of(Kind kind);

enum class Flops : std::uint8_t { none, f16, f32, f64 };

struct Form {
  std::string mnemonic, text;  // "add", "add.rn.f32"
  std::vector<Kind> results, sources;
  std::vector<std::string> numbers;  // by source: the type of a number that may stand there; "" where none may
  std::function<void(const std::uint64_t* sources, std::uint64_t* results)> apply;  // values zero-extended
  enum class Look : std::uint8_t { plain, two_predicates, pack, unpack } look = Look::plain;
  bool negatable_predicate = false;  // the last source
  int only_number = -1;              // the source that must be a number
  Flops flops_of = Flops::none;
  int flops = 0;
  bool special_function = false;
  bool makes_addresses = false;  // integer arithmetic of 32 and 64 bits, of which indices are made
  // Of approximations, which cannot be compared bit for bit: whether a result is within what the ISA grants. These have
  // no `apply`.
  std::function<bool(const std::uint64_t* sources, std::uint64_t result)> accepts;
};

// All of them. Some the machine may refuse; whoever uses them asks it first.
std::vector<Form> all_forms();

// Parts of it, a file each.
void add_integer_forms(std::vector<Form>& out);
void add_float_forms(std::vector<Form>& out);
void add_convert_forms(std::vector<Form>& out);
void add_compare_forms(std::vector<Form>& out);

}  // namespace roofwalk::random
