// Generates a program by random choices. Each part has its own file: generate_numbers.cpp (shapes, values, initial
// memory), generate_computations.cpp (computing instructions), generate_prologue.cpp (beginning and end of every
// program), generate_control.cpp, generate_addresses.cpp, generate_memory.cpp, generate_calls.cpp,
// generate_meetings.cpp and generate_matrices.cpp (instructions that the threads of a warp or block execute together);
// generate.cpp combines them.
#pragma once

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/rng.h"
#include "tests/random/generate.h"

namespace roofwalk::random {

using What = Statement::What;

inline constexpr int kPool[4] = {6, 6, 14, 10};  // registers that any statement may write, by Kind
inline constexpr int kPoolOfFunction[4] = {3, 4, 5, 4};
inline constexpr std::uint32_t kInputBytes = 4096;
inline constexpr std::uint32_t kConstantBytes = 256;
inline constexpr std::uint32_t kLocalBytes = 64;
inline constexpr int kSpreadSlots = 40;
inline constexpr std::uint32_t kApproximateBytes = 8;
inline constexpr int kMostApproximations = 6;

struct Element {  // an element in memory
  const char* type;
  int bytes;
  bool is_signed;
};
inline constexpr Element kElements[] = {{"b8", 1, false},  {"u8", 1, false},  {"s8", 1, true},   {"b16", 2, false},
                                        {"u16", 2, false}, {"s16", 2, true},  {"b32", 4, false}, {"u32", 4, false},
                                        {"s32", 4, true},  {"f32", 4, false}, {"b64", 8, false}, {"u64", 8, false},
                                        {"s64", 8, true},  {"f64", 8, false}};

// Atomics whose final value does not depend on the order of threads; their old values are not used.
inline constexpr const char* kCommutative[] = {"add.u32", "add.s32", "add.u64", "min.u32", "min.s32", "min.u64",
                                               "min.s64", "max.u32", "max.s32", "max.u64", "max.s64", "and.b32",
                                               "and.b64", "or.b32",  "or.b64",  "xor.b32", "xor.b64"};
inline constexpr const char* kOthers[] = {"exch.b32", "exch.b64", "cas.b32", "cas.b64",
                                          "inc.u32",  "dec.u32",  "add.f32", "add.f64"};

inline int bytes_of_atomic(const std::string& what) { return what.ends_with("64") ? 8 : 4; }

class Generator {
 public:
  Generator(std::uint64_t seed, const FormChoice& forms) : rng_(seed, "program"), forms_(forms) { out_.seed = seed; }
  Program run();

 private:
  // --- Random choices.

  Bits below(Bits limit) { return rng_.next() % limit; }
  bool chance(unsigned percent) { return below(100) < percent; }
  int between(int least, int most) { return least + static_cast<int>(below(static_cast<Bits>(most - least + 1))); }
  template <class List>
  const auto& one_of(const List& list) {
    return *(std::begin(list) + static_cast<std::ptrdiff_t>(below(static_cast<Bits>(std::size(list)))));
  }

  // --- Shape and numbers.

  void choose_shape();
  Bits single_number();
  Bits double_number();
  Bits integer_number(int bits);
  Bits half_numbers();
  void fill_memory();

  // --- Statements.

  Statement& put(Statement statement);
  void put(Instruction code);
  // Returns a body: the statements that `fill` puts.
  template <class Fill>
  std::vector<Statement> body(Fill fill) {
    std::vector<Statement> out;
    std::vector<Statement>* const before = target_;
    target_ = &out;
    fill();
    target_ = before;
    return out;
  }
  template <class Fill>
  void group(Fill fill) {
    Statement out;
    out.what = What::group;
    out.body = body(fill);
    put(std::move(out));
  }
  Register fresh(Kind kind) { return {kind, next_[static_cast<int>(kind)]++}; }
  Register pool(Kind kind);
  Register target(Kind kind);
  Operand random_number(const std::string& type);
  Instruction form(const Form& form, std::vector<Operand> results, std::vector<Operand> sources);
  Instruction form(const char* text, Register result, std::vector<Operand> sources);
  void guard(Instruction& in);
  Instruction compute(const Form& chosen);
  void computation();
  void carries();

  // --- Beginning and end of every program.

  Register parameter(Buffer buffer);
  Register special(const std::string& name);
  void put_special(Register to, const std::string& name);
  void prologue();
  void first_values();
  void first_value(Register reg);
  void first_word(Register reg);
  void fill_shared();
  void fill_local();
  void epilogue();
  void leave();

  // --- Control.

  void statements(int count, int depth, bool together);
  void statement(int depth, bool together);
  int body_size(int depth) { return between(1, depth == 0 ? 8 : 4); }
  Register uniform_condition();
  void choice(int depth, bool together);
  void table(int depth, bool together);
  void loop(int depth, bool together);
  void keep_from_first(Register iteration);
  void scope(int depth);
  void barriers_of_who_is_left();

  // --- Memory.

  Instruction memory(Do what, std::string text, Space space, Register base, std::int64_t offset, const Element& element,
                     std::vector<Operand> values);
  std::vector<Operand> parts(const Element& element, int count, bool results);
  int vector_of(const Element& element);
  static std::string vector_text(int count) { return count == 1 ? "" : fmt::format(".v{}", count); }
  Register index_below(int count);
  void affine_index(Register out, int count);
  Register element_address(Register buffer, Register index, int size_bytes);
  std::string global_load_text(const Element& element, int vector);
  static Space space_of(const std::string& text);
  void load_input(const Element& element, const std::vector<Register>& to);
  void input_load();
  Register address_of(const char* name);
  void constant_load();

  // --- A thread's own global memory.

  Register blocked_address() { return element_address(buffers_[kBlocked], all_, static_cast<int>(kBlockedBytes)); }
  void store_spread(const Element& element, std::vector<Operand> values, int slot);
  std::string store_text(const Element& element, int vector);
  void own_memory();
  Operand beside(const Instruction& atomic, Kind kind);
  Instruction own_atomic(Space space, Register base, std::int64_t first, int room);
  Instruction shared_sum(const std::string& what, Space space, Register base, std::int64_t offset);
  void sum();
  void local_memory();
  void pointer_loop();
  void approximate();
  Instruction harmless();

  // --- Calls.

  void choose_functions();
  void call(int callee, Operand depth);
  void call_from_kernel(int depth);
  void write_function(int index);
  Register take_parameters(int index);
  void call_again(int callee, Register levels);
  void return_early(int index);
  void give_results(int index);

  // --- Statements that need all threads of the block to be active.

  void barrier();
  void meet_in_block();
  void reduce_at_barrier();
  void combine_in_warp(const Operand& members);
  void meeting();
  void exchange_in_warp();
  void exchange_in_block();
  void own_shared(Register address, std::int64_t first, int room);
  void sums_in_block(std::int64_t first);
  void copies(Register address);
  void look_around();
  Instruction at_gate(Do what, std::string text, std::size_t gate);
  void open_gates();
  void pass_gate(bool apart);
  Register exact_factors(MatrixShape::Factor factor);
  std::vector<Operand> distinct_words(int count);
  void multiply_matrices();
  void load_matrices();

  Rng rng_;
  const FormChoice& forms_;
  Program out_;
  std::vector<Statement>* target_ = nullptr;
  int pool_[4] = {}, next_[4] = {};
  int next_id_ = 0;
  int threads_ = 0, all_threads_ = 0, slots_ = 0;
  bool full_warps_ = false, ragged_ = false;
  bool starts_ = true;  // some registers have no value yet
  bool talks_ = false;  // blocks may communicate (atomics, fences, volatile accesses): run on one host thread

  struct Coordinate {
    Register reg;
    int most;
  };
  Register buffers_[kBufferCount], thread_, all_, members_, near_;
  std::vector<Register> words_, doubles_;  // registers that are never written again
  std::vector<Coordinate> coordinates_, uniform_coordinates_;
  bool in_function_ = false, has_local_ = true;
  std::vector<Register> gate_parities_;  // parity of each gate's current phase
};

}  // namespace roofwalk::random
