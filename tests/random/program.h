// A random kernel as a tree of statements: made by the generator, executed by the reference, printed as text, and
// reduced by the minimizer. It shares no code with the virtual GPU's own front end.
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
  std::uint64_t bits = 0;  // a number's bits, zero-extended
  std::string type = {};   // a number's type
  bool negated = false;    // negates a predicate
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
  barrier,         // by all threads of the block
  barrier_reduce,  // bar.red, of `name`
  meet,            // bar.warp.sync
  nothing,         // fences, prefetches and the like
  copy,            // cp.async; the reference copies at once, since no thread reads data before it has waited for it
  branch,
  carry,            // add.cc, addc and the like; `name` is the operation: add, sub, mad.lo, mad.hi
  branch_by_index,  // brx.idx, to one of `labels`
  leave,
  open_call,          // scope of a call and its .param variables; not printed as an instruction
  argument,           // st.param before a call
  call,               // calls function `function`
  take_result,        // ld.param after a call
  close_call,         // not printed as an instruction
  take_parameter,     // ld.param in a function
  give_result,        // st.param in a function
  load_matrices,      // ldmatrix
  multiply_matrices,  // mma
  gate_init,          // gate_* are for mbarriers, unlike barrier, barrier_reduce and meet
  gate_arrive,
  gate_wait,       // one successful wait suffices; how often a warp polls is unspecified
  gate_test,       // tests whether a phase has completed
  enter_loop,      // starts counting the loop's iterations; not printed
  next_iteration,  // not printed
  label            // printed only as a label
};

struct Instruction {
  Do what = Do::nothing;
  std::string text = {};  // the opcode with all modifiers
  const Form* form = nullptr;
  int guard = -1;  // a predicate register
  bool guard_negated = false;
  std::vector<Operand> results = {}, sources = {};
  std::string name = {};  // a special register, parameter or variable; for an atomic, its operation and type
  // Memory.
  Space space = Space::global;
  Register base = {};
  bool has_base = false;  // false: the address is the variable `name`
  std::int64_t offset = 0;
  Register second_base = {};  // cp.async's source in global memory
  int element_bytes = 0;      // bytes of one element in memory
  bool is_signed = false;
  int label = -1;                // target of a branch; number of a label
  std::vector<int> labels = {};  // targets of branch_by_index
  bool carry_in = false, carry_out = false;
  int loop = -1;  // the loop that a loop marker belongs to
  // For calls and parameters: the function, the parameter (0 for results), its field.
  int function = -1, parameter = -1, field = -1;
  const MatrixShape* shape = nullptr;
  bool transposed = false;
  bool repeats = false;  // executed an unspecified number of times
};

struct Statement {
  enum class What : std::uint8_t {
    code,
    choice,       // @p body else otherwise
    loop_bottom,  // do body while (++counter < limit)
    loop_top,     // while (counter < limit) { body; ++counter }
    scope,        // runs the body; a `leave_scope` statement exits it
    leave_scope,  // @p bra to the end of the enclosing scope
    table,        // `code` branches by index to an arm in the body or to its end; without a branch, the first arm runs
    arm,          // body of a table's case
    poll,         // repeats `code`, which sets `predicate`, until `predicate` is true
    group         // body, kept or removed as a whole
  };
  What what = What::code;
  int id = -1;
  Instruction code;
  Register predicate{Kind::pred, 0}, counter, limit;
  bool negated = false;
  bool uniform = false;  // bra.uni
  std::vector<Statement> body, otherwise;
  std::vector<int> ways;  // for a table, by index: the number of the arm, or -1 for the table's end
};

// A parameter or result of a function: a single value, or a byte array whose fields are at multiples of 8.
struct Parameter {
  std::vector<Kind> fields;
  bool is_bytes = false;
};
inline constexpr int kFieldBytes = 8;

struct Function {
  std::vector<Parameter> parameters, results;  // at most one result
  std::vector<Statement> statements;
  int registers[4] = {};
  bool has_local = false;
};

struct Dimensions {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint32_t count() const { return x * y * z; }
};

// Buffers are the kernel's parameters in this order.
enum Buffer { kInput, kBlocked, kSpread, kSums, kApproximations, kBufferCount };
inline constexpr const char* kBufferNames[kBufferCount] = {"input", "blocked", "spread", "sums", "approximations"};

struct Program {
  std::uint64_t seed = 0;
  Dimensions grid, block;
  std::uint32_t shared_bytes = 0, local_bytes = 0;
  std::vector<std::uint8_t> constants;              // the .const variable "table"
  std::vector<std::uint8_t> buffers[kBufferCount];  // initial contents
  std::vector<Statement> statements;
  std::vector<Function> functions;
  std::uint32_t gates = 0;   // mbarrier objects: the .shared variable "gates"
  int registers[4] = {};     // declared, by Kind
  bool counts_warps = true;  // false: threads exit within divergent code, so how lanes regroup is unspecified
  std::vector<const Form*> approximations;  // by slot
  int threads() const { return static_cast<int>(grid.count() * block.count()); }
};

// Memory layout. Generator and reference must agree on it.
inline constexpr std::uint32_t kBlockedBytes = 64;  // per thread in `blocked`
inline constexpr std::uint32_t kSpreadBytes = 16;   // per thread and slot in `spread`
inline constexpr std::uint32_t kSumBytes = 64;      // per operation in `sums`

// One line of the flattened program; `loops` are the enclosing loops, outermost first.
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
  std::vector<int> labels;             // the line after each label
  std::vector<std::size_t> functions;  // each function's first line; the kernel's lines come first
};
Code flatten(const Program& program);

// Returns the module's text. The instruction in line i is attributed to source line i + 1 of "random.cu".
std::string text_of(const Program& program, const Code& code);

// Removes the statements with these ids.
Program without(const Program& program, const std::set<int>& ids);
// Replaces these choices and loops by their bodies.
Program unwrapped(const Program& program, const std::set<int>& ids);
// Replaces one source register of a computing instruction by the number 1; nullopt if it is no register.
std::optional<Program> with_number(const Program& program, int id, std::size_t source);
// Returns the ids of the statements, outer before inner; of those within groups only if `within_groups`.
std::vector<int> ids_of(const Program& program, bool within_groups);
std::size_t instruction_count(const Program& program);

}  // namespace roofwalk::random
