// PTX as a value: what the parser makes of a module's text and the machine lowers. Registers are numbered within their
// function (nested scopes resolved), labels are instruction indices, every instruction knows its line in the PTX and in
// the learner's source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/ptx/table/opcodes.h"

namespace roofwalk::ptx {

enum class Space : std::uint8_t { generic, param, global, shared, local, constant };
enum class Rounding : std::uint8_t { none, rn, rz, rm, rp, rna, rni, rzi, rmi, rpi, approx, full };
enum class MulMode : std::uint8_t { none, lo, hi, wide };
enum class Compare : std::uint8_t {
  none,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  lo,
  ls,
  hi,
  hs,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan
};
enum class BoolOp : std::uint8_t { none, and_, or_, xor_ };
enum class AtomicOp : std::uint8_t { none, add, min, max, and_, or_, xor_, exch, cas, inc, dec };
enum class ShuffleMode : std::uint8_t { none, up, down, bfly, idx };
enum class VoteMode : std::uint8_t { none, all, any, uni, ballot };
enum class ShiftMode : std::uint8_t { none, left_wrap, left_clamp, right_wrap, right_clamp };  // shf.{l,r}.{wrap,clamp}
enum class PermuteMode : std::uint8_t { none, f4e, b4e, rc8, ecl, ecr, rc16 };  // prmt: none is by selectors
enum class Fragment : std::uint8_t { none, a, b, c, d };                        // wmma.load, wmma.store
enum class BarrierMode : std::uint8_t { none, sync, arrive, warp_sync, red_popc, red_and, red_or };
enum class AsyncMode : std::uint8_t { none, copy, commit_group, wait_group, wait_all, mbarrier_arrive };  // cp.async
enum class MbarrierMode : std::uint8_t { none, init, inval, arrive, arrive_drop, test_wait, try_wait, pending_count };
enum class CacheHint : std::uint8_t { none, ca, cg, cs, lu, cv, wb, wt };  // ld and st, as written

enum class SpecialRegister : std::uint8_t {
  tid,
  ntid,
  ctaid,
  nctaid,  // with `component`
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  dynamic_smem_size,
  total_smem_size
};

struct Operand {
  enum class Kind : std::uint8_t {
    none,       // `_`: a result that nobody wants
    reg,        // index: into Function::registers; negated: !%p
    immediate,  // bits: already of the operand's type (signed: sign-extended to 64 bits; unsigned and .b:
                // zero-extended; a float: its bit pattern)
    special,    // special, component
    variable,   // a variable's address as a value: symbol, offset
    function,   // a kernel's or function's address as a value, or what a call calls: symbol
    address,    // [base + offset]: reg in index (>= 0), or symbol, or neither (absolute)
    vector,     // {a, b, c, d}: elements; of brx.idx, the labels of its table
    label       // index: of the instruction that it stands before (may be instructions.size())
  };
  Kind kind = Kind::none;
  bool negated = false;
  SpecialRegister special = SpecialRegister::tid;
  std::uint8_t component = 0;  // 0 x, 1 y, 2 z
  int index = -1;
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  Space space = Space::generic;  // of the variable that `symbol` names
  std::string symbol;
  std::vector<Operand> elements;
};

// A matrix product: (m x k) times (k x n).
struct MatrixShape {
  std::uint8_t m = 0, n = 0, k = 0;
};

// One frame of `.loc`: file is an index into Module::files, -1 unknown.
struct SourceFrame {
  int file = -1;
  int line = 0;
};

struct Instruction {
  Opcode opcode{};
  Type type = Type::none;         // of the operation; for cvt of the result
  Type source_type = Type::none;  // cvt, set, mma: of the (factor) sources; setp: the compared type stands in `type`
  Type second_type = Type::none;  // mma, dp4a, dp2a: of the second factor, the first one's is source_type
  Type sum_type = Type::none;     // mma: of c; `type` is that of d
  Rounding rounding = Rounding::none;
  MulMode mul = MulMode::none;
  Compare compare = Compare::none;
  BoolOp bool_op = BoolOp::none;     // setp with a third source
  AtomicOp atomic = AtomicOp::none;  // redux too
  ShuffleMode shuffle = ShuffleMode::none;
  VoteMode vote = VoteMode::none;  // match too
  ShiftMode shift = ShiftMode::none;
  BarrierMode barrier = BarrierMode::none;
  AsyncMode async = AsyncMode::none;
  MbarrierMode mbarrier = MbarrierMode::none;
  PermuteMode permute = PermuteMode::none;
  MatrixShape shape = {};              // mma, wmma
  Fragment fragment = Fragment::none;  // wmma.load, wmma.store
  bool by_columns = false;             // wmma.load, wmma.store: a column's elements lie together
  Space space = Space::generic;        // cp.async: of the source; it writes shared memory
  CacheHint cache = CacheHint::none;
  std::uint8_t vector = 1;  // ld, st: 1, 2 or 4 elements; ldmatrix: 1, 2 or 4 matrices
  bool ftz = false;
  bool sat = false;
  bool satfinite = false;     // cvt, mma: beyond the largest number, the largest number
  bool relu = false;          // negative results become 0
  bool nan = false;           // min, max: NaN wins
  bool shift_amount = false;  // bfind.shiftamt
  bool has_policy = false;    // .L2::cache_hint: its last operand, which changes nothing here
  bool uni = false;           // bra.uni, call.uni
  bool carry_in = false;      // addc and the like: the carry flag is their last source
  bool carry_out = false;     // .cc: it is their second result
  bool wrap = false;          // bmsk.wrap
  bool non_coherent = false;  // ld.global.nc
  bool is_volatile = false;   // also .relaxed, .acquire, .release: not to be moved
  bool acquires = false;      // .acquire, .acq_rel: nothing behind it comes before it
  bool releases = false;      // .release, .acq_rel: nothing before it comes behind it
  bool of_block = false;      // .cta: it orders what the threads of a block see
  bool no_allocate = false;   // .L1::no_allocate
  bool to = false;            // cvta.to
  bool transposed = false;    // ldmatrix.trans
  bool needs_count = false;   // mbarrier.arrive.noComplete
  bool parity = false;        // mbarrier waits: for a parity, not a state
  bool no_increment = false;  // cp.async.mbarrier.arrive.noinc
  int guard = -1;             // register of @p, -1 none
  int prototype = -1;         // call through a pointer: of what, in Function::prototypes
  bool guard_negated = false;
  // Results first, as in the text. setp p|q, shfl d|p: two results, the second Kind::none where absent.
  // call: operands[0] the function, or the register that points to it; then results and arguments as below.
  std::vector<Operand> operands;
  std::vector<Operand> call_results, call_arguments;  // Kind::variable naming .param locals, or registers/immediates
  int ptx_line = 0;
  int location = -1;  // into Module::locations, -1 unknown
};

bool has_trait(const Instruction& instruction, TraitSet trait);
// Whether it is arithmetic that is just this of its sources: `computes(in, kMultiplies | kAdds)`.
bool computes(const Instruction& instruction, TraitSet what);
// Of arithmetic: the types that its row gives its result and its sources, which are numbered from 0.
Type type_of_result(const Instruction& instruction);
Type type_of_source(const Instruction& instruction, std::size_t index);

struct Register {
  std::string name;  // "%rd4"; inner scopes may repeat a name
  Type type = Type::none;
};

// A named piece of memory: .param of a function, .local, .shared, .const, .global.
struct Variable {
  std::string name;
  Space space = Space::global;
  Type type = Type::none;        // of an element
  std::uint64_t size_bytes = 0;  // 0: `extern .shared .b8 name[]`
  int align_bytes = 1;
  bool is_extern = false;
  std::vector<std::uint8_t> initial;  // empty: zeros. .global and .const only
  // Addresses inside `initial` (8 bytes each): symbol to put at a byte offset.
  struct Fixup {
    std::uint64_t offset_bytes;
    std::string symbol;
    std::int64_t addend;
  };
  std::vector<Fixup> fixups;
  int ptx_line = 0;
};

// What a call through a pointer says of the functions that it may call.
struct Prototype {
  std::vector<Variable> results, parameters;  // their names mean nothing
  std::vector<std::string> targets;           // .calltargets: one of these; empty: any that has this shape
};
// Whether a call that hands over the ones fits a function that takes the others.
bool same_parameters(const std::vector<Variable>& a, const std::vector<Variable>& b);

struct Function {
  std::string name;
  bool is_entry = false;
  bool is_extern = false;  // declared, defined nowhere in the module
  std::vector<Variable> results, parameters;
  std::vector<Register> registers;
  std::vector<Variable> variables;  // .local, .shared (demoted) and .param of inner scopes; unique by "name" or, where
                                    // scopes repeat a name, by "name#k": operands already use the unique one
  std::vector<Prototype> prototypes;  // of its calls through pointers
  std::vector<Instruction> instructions;
  int max_threads[3] = {0, 0, 0};       // .maxntid, 0 not given
  int required_threads[3] = {0, 0, 0};  // .reqntid
  int ptx_line = 0;
};

struct Module {
  int version_major = 0, version_minor = 0;
  std::string target;                               // "sm_80"
  std::vector<std::string> files;                   // as `.file` names them, by index; unused indices empty
  std::vector<std::vector<SourceFrame>> locations;  // innermost frame first, then the frames it is inlined at
  std::vector<Variable> variables;                  // module scope
  std::vector<Function> functions;                  // definitions, and externs without one

  const Function* find_function(std::string_view name) const;
  const Variable* find_variable(std::string_view name) const;

  // The line of an instruction in the file whose name ends in `source_name` ("kernel.cu"): the innermost frame there.
  // 0 where no frame lies in it.
  int line_in(const Instruction& instruction, std::string_view source_name) const;
  // Where that line's function was inlined in the same source: the line of the call, 0 where it was not.
  int caller_in(const Instruction& instruction, std::string_view source_name) const;
};

// What a hostile file may not exceed. Checked before anything is allocated.
struct Limits {
  std::size_t text_bytes = 4u << 20;
  std::size_t tokens = 2'000'000;
  std::size_t registers_per_function = 100'000;
  std::size_t registers = 1'000'000;  // of all functions together
  std::size_t symbols = 50'000;
  std::size_t instructions = 400'000;
  std::size_t nesting = 64;
  std::uint64_t variable_bytes = 1ull << 40;  // parsed as a number; the device checks against its memory
  std::size_t initializer_bytes = 16u << 20;
};

// Parses and validates. The error names the PTX line and, where `.loc` tells, the source line:
//   file "kernel.cu", line 12, message "PTX line 340: `wgmma.fence` is not supported by the virtual GPU yet".
// `source_name` says which `.file` is the learner's. Opens no file, follows no include.
// Never crashes, whatever the text.
Result<Module> parse(std::string_view text, std::string_view source_name, const Limits& limits = {});

}  // namespace roofwalk::ptx
