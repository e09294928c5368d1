// A random kernel as a tree of statements: what the generator makes, the reference executes, the text is printed from,
// and the minimizer cuts down. Nothing of the machine's own front end is used.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/random/forms.h"
#include "tests/random/matrices.h"

namespace roofwalk::random {

struct Register {
  Kind kind = Kind::b32;
  int index = 0;
  auto operator<=>(const Register&) const = default;
};

struct Operand {
  enum class What : std::uint8_t { none, reg, number };  // none: `_`
  What what = What::none;
  Register reg = {};
  std::uint64_t bits = 0;  // of a number, zero-extended
  std::string type = {};   // of a number
  bool negated = false;    // of a predicate
};
inline Operand of(Register reg) { return {.what = Operand::What::reg, .reg = reg}; }
inline Operand number(std::uint64_t bits, std::string type) {
  return {.what = Operand::What::number, .reg = {}, .bits = bits, .type = std::move(type)};
}

enum class Space : std::uint8_t { global, shared, local, constant, generic_global, generic_shared };

enum class Do : std::uint8_t {
  form,
  special,      // mov from a special register, named in `name`
  parameter,    // ld.param of the parameter `name`
  address,      // mov of the address of the variable `name`
  generic,      // cvta of a shared offset to a generic address
  space_query,  // isspacep of the space `name`
  load,
  store,
  atomic,  // atom and red
  shuffle,
  vote,
  reduce,  // redux.sync
  match,
  active_mask,
  barrier,         // of all threads of the block
  barrier_reduce,  // bar.red, of `name`
  meet,            // bar.warp.sync
  nothing,         // fences, prefetches and the like
  copy,            // cp.async: at once, for nobody looks before it is waited for
  branch,
  carry,            // add.cc, addc and the like; `name` is what is done: add, sub, mad.lo, mad.hi
  branch_by_index,  // brx.idx, to one of `labels`
  leave,
  open_call,    // not in the text as an instruction: the scope of a call, with the .param variables that it hands over
  argument,     // st.param before a call
  call,         // of function `function`
  take_result,  // ld.param behind a call
  close_call,   // not in the text as an instruction
  take_parameter,     // ld.param in a function
  give_result,        // st.param in a function
  load_matrices,      // ldmatrix
  multiply_matrices,  // mma
  gate_init,          // mbarrier objects are gates here, for the barriers of warps and blocks have that name
  gate_arrive,
  gate_wait,       // once through is right; how often a warp asks is open
  gate_test,       // of a phase that is over
  enter_loop,      // not in the text: the loop's iterations are counted from here
  next_iteration,  // not in the text
  label            // not in the text but as a label
};

struct Instruction {
  Do what = Do::nothing;
  std::string text = {};  // the opcode with all modifiers
  const Form* form = nullptr;
  int guard = -1;  // a predicate
  bool guard_negated = false;
  std::vector<Operand> results = {}, sources = {};
  std::string name = {};  // of a special register, parameter or variable; of an atomic, its operation and type
  // Memory.
  Space space = Space::global;
  Register base = {};
  bool has_base = false;  // else the variable `name`
  std::int64_t offset = 0;
  Register second_base = {};  // of cp.async: its source in global memory
  int element_bytes = 0;      // of memory
  bool is_signed = false;
  int label = -1;                // of branches and labels
  std::vector<int> labels = {};  // of branch_by_index
  bool carry_in = false, carry_out = false;
  int loop = -1;  // of loop markers
  // Of calls and what they hand over: the function, the parameter (of results 0), its field.
  int function = -1, parameter = -1, field = -1;
  const MatrixShape* shape = nullptr;
  bool transposed = false;
  bool repeats = false;  // as often as the machine likes
};

struct Statement {
  enum class What : std::uint8_t {
    code,
    choice,       // @p body else otherwise
    loop_bottom,  // do body while (++counter < limit)
    loop_top,     // while (counter < limit) { body; ++counter }
    scope,        // body, which its `leave_scope` statements leave
    leave_scope,  // @p bra to the end of the scope around it
    table,        // `code` branches by index: to arms of its body or to its end; who does not branch runs the first
    arm,          // of a table: its body
    poll,         // repeats `code`, which sets @p predicate, until that holds
    group         // body, which is kept or removed as a whole
  };
  What what = What::code;
  int id = -1;
  Instruction code;
  Register predicate{Kind::pred, 0}, counter, limit;
  bool negated = false;
  bool uniform = false;  // bra.uni
  std::vector<Statement> body, otherwise;
  std::vector<int> ways;  // of a table, by index: which arm; -1 its end
};

// A parameter or result of a function: one value, or an array of bytes that holds each field at a multiple of 8.
struct Parameter {
  std::vector<Kind> fields;
  bool is_bytes = false;
};
inline constexpr int kFieldBytes = 8;

struct Function {
  std::vector<Parameter> parameters, results;  // of results one at most
  std::vector<Statement> statements;
  int registers[4] = {};
  bool has_local = false;
};

struct Dimensions {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint32_t count() const { return x * y * z; }
};

// Buffers are parameters of the kernel in this order.
enum Buffer { kInput, kBlocked, kSpread, kSums, kApproximations, kBufferCount };
inline constexpr const char* kBufferNames[kBufferCount] = {"input", "blocked", "spread", "sums", "approximations"};

struct Program {
  std::uint64_t seed = 0;
  Dimensions grid, block;
  std::uint32_t shared_bytes = 0, local_bytes = 0;
  std::vector<std::uint8_t> constants;              // the .const variable "table"
  std::vector<std::uint8_t> buffers[kBufferCount];  // what they hold at first
  std::vector<Statement> statements;
  std::vector<Function> functions;
  std::uint32_t gates = 0;   // mbarrier objects: the .shared variable "gates"
  int registers[4] = {};     // declared, by Kind
  bool counts_warps = true;  // false: threads leave in the middle of divergent code, so that who runs with whom is open
  std::vector<const Form*> approximations;  // by slot
  int threads() const { return static_cast<int>(grid.count() * block.count()); }
};

// Where things lie. Both sides must hold to it.
inline constexpr std::uint32_t kBlockedBytes = 64;  // of `blocked`, of one thread
inline constexpr std::uint32_t kSpreadBytes = 16;   // of `spread`, of one thread in one slot
inline constexpr std::uint32_t kSumBytes = 64;      // of `sums`, of one operation

// One line of the flat program; `loops` encloses it, outermost first.
struct Line {
  Instruction code;
  std::vector<int> loops;
  bool in_text() const {
    return code.what != Do::enter_loop && code.what != Do::next_iteration && code.what != Do::label &&
           code.what != Do::open_call && code.what != Do::close_call;
  }
};
struct Code {
  std::vector<Line> lines;
  std::vector<int> labels;             // by label: the line it stands before
  std::vector<std::size_t> functions;  // by function: its first line; the kernel's come first
};
Code flatten(const Program& program);

// The module's text; the instruction of line i has the source line i + 1 of "random.cu".
std::string text_of(const Program& program, const Code& code);

// Without the statements of these ids.
Program without(const Program& program, const std::set<int>& ids);
// With the bodies of these choices and loops in their place.
Program unwrapped(const Program& program, const std::set<int>& ids);
// With the number 1 in place of a register that a computing instruction reads; nothing where there is none such.
std::optional<Program> with_number(const Program& program, int id, std::size_t source);
// Ids of all statements, outer ones before inner ones.
std::vector<int> ids_of(const Program& program, bool within_groups);
std::size_t instruction_count(const Program& program);

}  // namespace roofwalk::random
