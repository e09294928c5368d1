// A PTX module in memory, parsed from its text and lowered by the machine. Registers are numbered per function (nested
// scopes are resolved), labels are instruction indices, and every instruction knows its line in the PTX and in the
// learner's source.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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
enum class NumberTest : std::uint8_t { none, finite, infinite, number, notanumber, normal, subnormal };  // testp
enum class BoolOp : std::uint8_t { none, and_, or_, xor_ };
enum class AtomicOp : std::uint8_t { none, add, min, max, and_, or_, xor_, exch, cas, inc, dec };
enum class ShuffleMode : std::uint8_t { none, up, down, bfly, idx };
enum class VoteMode : std::uint8_t { none, all, any, uni, ballot };
enum class ShiftMode : std::uint8_t { none, left_wrap, left_clamp, right_wrap, right_clamp };  // shf.{l,r}.{wrap,clamp}
enum class PermuteMode : std::uint8_t { none, f4e, b4e, rc8, ecl, ecr, rc16 };  // prmt; none: bytes chosen by selectors
enum class Fragment : std::uint8_t { none, a, b, c, d };                        // wmma.load, wmma.store
enum class BarrierMode : std::uint8_t { none, sync, arrive, warp_sync, red_popc, red_and, red_or };
enum class AsyncMode : std::uint8_t { none, copy, commit_group, wait_group, wait_all, mbarrier_arrive };  // cp.async
enum class MbarrierMode : std::uint8_t { none, init, inval, arrive, arrive_drop, test_wait, try_wait, pending_count };
enum class CacheHint : std::uint8_t { none, ca, cg, cs, lu, cv, wb, wt };  // ld and st, as written

enum class SpecialRegister : std::uint8_t {
  tid,
  ntid,
  ctaid,
  nctaid,  // these four: with `component`
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
  total_smem_size,
  grid_workspace_hi,  // these two: %envreg1 and %envreg2, the halves of the address of what grid.sync() counts in
  grid_workspace_lo,
  reserved_smem_begin,  // these five: %reserved_smem_offset_...
  reserved_smem_end,
  reserved_smem_cap,
  reserved_smem_0,
  reserved_smem_1
};

struct Operand {
  enum class Kind : std::uint8_t {
    none,       // `_`: an unused result
    reg,        // index: into Function::registers; negated: !%p
    immediate,  // bits: extended to 64 bits by the operand's type (signed: sign-extended; unsigned and .b:
                // zero-extended; float: its bit pattern)
    special,    // special, component
    variable,   // a variable's address as a value: symbol, offset
    function,   // address of a kernel or function as a value, or target of a call: symbol
    address,    // [base + offset]: reg in index (>= 0), or symbol, or neither (absolute)
    vector,     // {a, b, c, d}: elements; for brx.idx, the labels of its table
    label       // index: of the instruction after the label (may be instructions.size())
  };
  Kind kind = Kind::none;
  bool negated = false;
  SpecialRegister special = SpecialRegister::tid;
  std::uint8_t component = 0;  // 0 x, 1 y, 2 z
  int index = -1;
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  Space space = Space::generic;  // of the variable `symbol`
  std::string symbol;
  std::vector<Operand> elements;
};

// A matrix product: (m x k) times (k x n).
struct MatrixShape {
  std::uint8_t m = 0, n = 0, k = 0;
};

// One frame of `.loc`: `file` is an index into Module::files; -1: unknown.
struct SourceFrame {
  int file = -1;
  int line = 0;
};

struct Instruction {
  Opcode opcode{};
  Type type = Type::none;         // of the operation; cvt, set: of the result; setp: of the compared values
  Type source_type = Type::none;  // cvt, set: of the source; mma, dp4a, dp2a: of the first factor
  Type second_type = Type::none;  // mma, dp4a, dp2a: of the second factor
  Type sum_type = Type::none;     // mma: of c; `type` is the type of d
  Rounding rounding = Rounding::none;
  MulMode mul = MulMode::none;
  Compare compare = Compare::none;
  NumberTest test = NumberTest::none;
  BoolOp bool_op = BoolOp::none;     // setp with a third source
  AtomicOp atomic = AtomicOp::none;  // also redux
  ShuffleMode shuffle = ShuffleMode::none;
  VoteMode vote = VoteMode::none;  // also match
  ShiftMode shift = ShiftMode::none;
  BarrierMode barrier = BarrierMode::none;
  AsyncMode async = AsyncMode::none;
  MbarrierMode mbarrier = MbarrierMode::none;
  PermuteMode permute = PermuteMode::none;
  MatrixShape shape = {};              // mma, wmma
  Fragment fragment = Fragment::none;  // wmma.load, wmma.store
  bool by_columns = false;             // wmma.load, wmma.store: column-major
  Space space = Space::generic;        // cp.async: of the source; the destination is shared memory
  CacheHint cache = CacheHint::none;
  std::uint8_t vector = 1;  // ld, st: 1, 2 or 4 elements; ldmatrix: 1, 2 or 4 matrices
  bool ftz = false;
  bool sat = false;
  bool satfinite = false;     // cvt, mma: clamp to the largest number
  bool relu = false;          // negative results become 0
  bool nan = false;           // min, max: NaN if either is NaN
  bool shift_amount = false;  // bfind.shiftamt
  bool has_policy = false;    // .L2::cache_hint: the last operand, which has no effect here
  bool uni = false;           // bra.uni, call.uni
  bool carry_in = false;      // addc, subc, madc: the carry flag is the last source
  bool carry_out = false;     // .cc: the carry flag is the second result
  bool wrap = false;          // bmsk.wrap, szext.wrap
  bool adds_up = false;       // vabsdiff2.add, vabsdiff4.add
  bool non_coherent = false;  // ld.global.nc
  bool is_volatile = false;   // also .relaxed, .acquire, .release: the instruction must not be moved
  bool is_relaxed = false;    // ld, st: .relaxed
  bool acquires = false;      // .acquire, .acq_rel: later accesses stay after it
  bool releases = false;      // .release, .acq_rel: earlier accesses stay before it
  bool of_block = false;      // .cta: orders accesses as seen within a block
  bool no_allocate = false;   // .L1::no_allocate
  bool unaligned = false;     // barrier without .aligned: threads of a warp may come from different places
  bool to = false;            // cvta.to
  bool transposed = false;    // ldmatrix.trans
  bool needs_count = false;   // mbarrier.arrive.noComplete
  bool parity = false;        // mbarrier waits: for a parity, not a state
  bool no_increment = false;  // cp.async.mbarrier.arrive.noinc
  bool may_ignore = false;    // cp.async: the fourth operand is a predicate; where it holds, nothing is read
  int guard = -1;             // register of @p; -1: none
  int prototype = -1;         // for a call through a pointer: index into Function::prototypes
  bool guard_negated = false;
  // Results first, as in the text. setp p|q, shfl d|p: two results, the second Kind::none if absent. call:
  // operands[0] is the function, or the register that points to it; results and arguments are in the next member.
  std::vector<Operand> operands;
  std::vector<Operand> call_results, call_arguments;  // Kind::variable for .param locals, or registers/immediates
  int ptx_line = 0;
  int location = -1;  // index into Module::locations; -1: unknown
};

bool has_trait(const Instruction& instruction, TraitSet trait);
// Whether the instruction is arithmetic that computes exactly `what`, for example kMultiplies | kAdds.
bool computes(const Instruction& instruction, TraitSet what);
// For arithmetic: return the type of the result, or of a source (numbered from 0), by the opcode's row in opcodes.def.
Type type_of_result(const Instruction& instruction);
Type type_of_source(const Instruction& instruction, std::size_t index);

struct Register {
  std::string name;  // "%rd4"; a name may repeat in inner scopes
  Type type = Type::none;
};

// A variable in memory: .param of a function, .local, .shared, .const, .global.
struct Variable {
  std::string name;
  Space space = Space::global;
  Type type = Type::none;        // of an element
  std::uint64_t size_bytes = 0;  // 0: `extern .shared .b8 name[]`
  int align_bytes = 1;
  bool is_extern = false;
  bool is_visible = false, is_weak = false;  // known to other modules; they may define it, too
  bool is_managed = false;                   // the host may touch it
  std::vector<std::uint8_t> initial;         // empty: zeros. .global and .const only
  // An address within `initial`: the 8 bytes at `offset_bytes` receive the address of `symbol` plus `addend`.
  struct Fixup {
    std::uint64_t offset_bytes;
    std::string symbol;
    std::int64_t addend;
  };
  std::vector<Fixup> fixups;
  int ptx_line = 0;
};

// The signature of functions that may be called through a pointer.
struct Prototype {
  std::vector<Variable> results, parameters;  // the names have no meaning
  // .calltargets: the callee is one of these; empty: any function with this signature.
  std::vector<std::string> targets;
};
// Whether a call with parameters `a` fits a function with parameters `b`.
bool same_parameters(const std::vector<Variable>& a, const std::vector<Variable>& b);

struct Function {
  std::string name;
  bool is_entry = false;
  bool is_extern = false;                    // declared but not defined in the module
  bool is_visible = false, is_weak = false;  // as of a Variable
  std::vector<Variable> results, parameters;
  std::vector<Register> registers;
  std::vector<Variable> variables;    // .local, .shared (demoted) and .param of inner scopes; with unique names: "name"
                                      // or, if scopes repeat it, "name#k", as in operands
  std::vector<Prototype> prototypes;  // for its calls through pointers
  std::vector<Instruction> instructions;
  int max_threads[3] = {0, 0, 0};       // .maxntid; 0: not given
  int required_threads[3] = {0, 0, 0};  // .reqntid
  int ptx_line = 0;
  std::optional<Error> unsupported;  // why the virtual GPU cannot run it, without a file; it then has no instructions
};

struct Module {
  int version_major = 0, version_minor = 0;
  std::string target;                               // "sm_80"
  std::vector<std::string> files;                   // by index in `.file`; unused indices are empty
  std::vector<std::vector<SourceFrame>> locations;  // innermost frame first, then the frames it is inlined in
  std::vector<Variable> variables;                  // module scope
  std::vector<Function> functions;                  // definitions, and externs without a definition

  const Function* find_function(std::string_view name) const;
  const Variable* find_variable(std::string_view name) const;

  // Returns the instruction's line in the file whose path ends in `source_name` ("kernel.cu"), from the innermost frame
  // in that file; 0 if there is none.
  int line_in(const Instruction& instruction, std::string_view source_name) const;
  // Returns the line in the same file of the call through which that line was inlined; 0 if it was not inlined.
  int caller_in(const Instruction& instruction, std::string_view source_name) const;
  // Whether the instruction is known to come from another file: a header.
  bool is_of_header(const Instruction& instruction, std::string_view source_name) const;
};

// Limits for untrusted files, each checked before the memory that it limits is allocated.
struct Limits {
  std::size_t text_bytes = 4u << 20;
  std::size_t tokens = 2'000'000;
  std::size_t registers_per_function = 100'000;
  std::size_t registers = 1'000'000;  // of all functions together
  std::size_t symbols = 50'000;
  std::size_t instructions = 400'000;
  std::size_t nesting = 64;
  std::uint64_t variable_bytes = 1ull << 40;  // limit for parsing; the device checks against its memory
  std::size_t initializer_bytes = 16u << 20;
  bool grid_sync = false;  // launches may be cooperative: %envreg1 and %envreg2 are known
};

// Returns the first function with the property among the kernel and the functions that it may call, by name or through
// a pointer. Null if there is none.
const Function* find_reachable(const Module& module, const Function& kernel,
                               const std::function<bool(const Function&)>& is_wanted);

// Whether the kernel may execute a matrix product on tensor cores (mma, wmma.mma), of floats or of integers.
bool multiplies_matrices(const Module& module, const Function& kernel);

// Returns why the virtual GPU cannot run a kernel: Function::unsupported of the kernel or of a function that it may
// call, by name or through a pointer. Null if it can.
const Error* why_unsupported(const Module& module, const Function& kernel);

// Parses and validates. A function with an instruction that the virtual GPU lacks is refused alone
// (Function::unsupported); anything else refuses the module. Errors name the PTX line and, if `.loc` gives it, the
// source line:
//   file "kernel.cu", line 12, message "PTX line 340: `wgmma.fence` is not supported by the virtual GPU yet".
// `source_name` tells which `.file` is the learner's. Opens no files. Never crashes, for any text.
Result<Module> parse(std::string_view text, std::string_view source_name, const Limits& limits = {});

}  // namespace roofwalk::ptx
