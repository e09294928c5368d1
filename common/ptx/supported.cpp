#include "common/ptx/supported.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/ptx/modifiers.h"
#include "common/ptx/module.h"
#include "common/ptx/names.h"

namespace roofwalk::ptx {
namespace {

std::string types_text(TypeSet types) {
  std::vector<std::string_view> names;
  for (auto type = static_cast<int>(Type::pred); type <= static_cast<int>(Type::f64); ++type) {
    if ((types & bit(static_cast<Type>(type))) != 0) names.push_back(type_name(static_cast<Type>(type)));
  }
  return names.empty() ? "" : fmt::format("`{}`", fmt::join(names, " "));
}

// Where types or operands decide, all of its units. common/vgpu/timing/instruction_cost.cpp decides; a test compares
// the two.
std::string_view issued_by(const OpcodeInfo& row) {
  if (row.form == Form::convert) {
    return "special function lanes between floats and integers; FP64 lanes for `.f64`; else integer lanes or FP16 "
           "lanes";
  }
  if (row.form == Form::compare) return "integer lanes; FP64 lanes for `.f64`";
  if (row.form == Form::move) return "integer lanes; special function lanes for special registers";
  if (row.form == Form::load) return "loads and stores; indexed constants for `.const` with a register";
  if (row.form == Form::async_copy) return "loads and stores; control for groups";
  if ((row.form == Form::alu || row.form == Form::set) && row.pipe == Pipe::alu && (row.types & kHalf) != 0) {
    return "integer lanes; FP16 lanes for 16-bit floats";
  }
  switch (row.pipe) {
    case Pipe::fma:
      return "FP32, FP16 or FP64 lanes; integer lanes";
    case Pipe::half:
      return "FP16 lanes";
    case Pipe::alu:
      return "integer lanes";
    case Pipe::imad:
      return "FP32, FP16 or FP64 lanes; integer multipliers";
    case Pipe::fp64:
      return "FP64 lanes";
    case Pipe::special:
      return "special function lanes";
    case Pipe::tensor:
      return "tensor cores";
    case Pipe::lsu:
      return "loads and stores";
    case Pipe::control:
      return "control";
  }
  return "";
}

// Instructions with a shape of their own: what may stand behind the mnemonic. `{a,b}`: one of them; `[c]`: or nothing.
std::string_view written_as(Form form) {
  switch (form) {
    case Form::alu:
      return "";
    case Form::convert:
      return "`[.rn .rz .rm .rp .rna .rni .rzi .rmi .rpi][.ftz][.sat][.relu][.satfinite].to.from`; to `.f16x2` and "
             "`.bf16x2` from two `.f32`";
    case Form::cvta:
      return "`[.to].{global,shared,local,const,param}.u64`";
    case Form::move:
      return "`.type`; vectors of two or four pack and unpack; reads special registers";
    case Form::select:
      return "`.type`";
    case Form::compare:
      return "`.comparison[.{and,or,xor}][.ftz].type`; of pairs two predicates, of others the second is the opposite";
    case Form::set:
      return "`.comparison.to.from` of floats";
    case Form::carry:
      return "a sum or difference that reads the carry flag; `.cc` sets it, which `add`, `sub` and `mad` can as well; "
             "`madc` with `.lo .hi`";
    case Form::load:
      return "`[.weak .volatile .relaxed.scope .acquire.scope][.space][.cache hints][.v2 .v4].type`";
    case Form::store:
      return "`[.weak .volatile .relaxed.scope .release.scope][.space][.cache hints][.v2 .v4].type`";
    case Form::matrix_load:
      return "`.sync.aligned.m8n8.{x1,x2,x4}[.trans].shared.b16`";
    case Form::matrix_multiply:
      return "`.f16` sums in `.f16` and `.f32`; `.bf16` and `.tf32` in `.f32`; `.s8` and `.u8` in `.s32` "
             "`[.satfinite]`; `.f64`";
    case Form::fragment_load:
      return "`.{a,b,c}.sync.aligned.{row,col}.shape[.space].type`, with a distance or without";
    case Form::fragment_store:
      return "`.d.sync.aligned.{row,col}.shape[.space].type`, with a distance or without";
    case Form::async_copy:
      return "`.async.{ca,cg}.shared.global` of 4, 8 or 16 bytes, the rest zeros; `.commit_group`, `.wait_group`, "
             "`.wait_all`";
    case Form::atomic:
    case Form::reduction:
      return "`[.order][.scope][.space].operation[.noftz].type`";
    case Form::branch:
      return "`[.uni]` to a label";
    case Form::indexed_branch:
      return "`[.uni]` by a register, to a label of a table of `.branchtargets`";
    case Form::barrier:
      return "`.sync`, `.arrive`, `.red.popc.u32`, `.red.{and,or}.pred`, numbers 0 to 15, with a count of threads or "
             "without; `bar.warp.sync`";
    case Form::call:
      return "`[.uni]` of a named function, itself included, or through a register, with a `.callprototype` or "
             "`.calltargets`; `vprintf`, `__assertfail`";
    case Form::leave:
    case Form::trap:
      return "";
    case Form::fence:
      return "every scope";
    case Form::prefetch:
      return "`[.space].{L1,L2}`: changes nothing, costs an instruction";
    case Form::cache_policy:
      return "`.fractional.L2::...b64`: makes a policy that changes nothing";
    case Form::shuffle:
      return "`.sync.{up,down,bfly,idx}.b32`";
    case Form::vote:
      return "`.sync.{all,any,uni}.pred`, `.sync.ballot.b32`";
    case Form::active_mask:
      return "`.b32`";
    case Form::warp_reduce:
      return "`.sync.{add,min,max}` of numbers, `.sync.{and,or,xor}` of bits";
    case Form::warp_match:
      return "`.{any,all}.sync`";
    case Form::space_query:
      return "`.space`";
    case Form::sleep:
      return "`.u32`";
    case Form::mbarrier:
      return "`.init`, `.inval`, `.arrive[.noComplete]`, `.arrive_drop[.noComplete]`, "
             "`.{test_wait,try_wait}[.parity]`, "
             "`.pending_count`, in shared memory";
  }
  return "";
}

// ".rn .rz .rm .rp, .ftz, .sat for .f32"
std::string modifiers_text(Opcode opcode) {
  std::vector<std::string> parts;
  for (const AluForm& form : kArithmeticForms) {
    if (form.opcode != opcode) continue;
    std::vector<std::string> words;
    std::string roundings, modes;
    for (const Name<Rounding>& rounding : kRoundingNames) {
      if ((form.roundings & rounding_bit(rounding.value)) != 0)
        roundings += (roundings.empty() ? "" : " ") + std::string(rounding.word);
    }
    for (const Name<MulMode>& mode : kMulModeNames) {
      if ((form.modes & mode_bit(mode.value)) != 0) modes += (modes.empty() ? "" : " ") + std::string(mode.word);
    }
    if (!modes.empty()) words.push_back(modes);
    if (!roundings.empty()) words.push_back(roundings);
    if (form.ftz) words.emplace_back(".ftz");
    if (form.sat) words.emplace_back(form.modes == mode_bit(MulMode::none) ? ".sat" : ".hi.sat");
    if (form.relu) words.emplace_back(".relu");
    if (form.nan) words.emplace_back(".NaN");
    parts.push_back(fmt::format("`{}` for {}", fmt::join(words, ", "), types_text(form.types)));
  }
  switch (opcode) {
    case Opcode::Shf:
      return "`{.l,.r}{.wrap,.clamp}`";
    case Opcode::Bmsk:
      return "`.clamp .wrap`";
    case Opcode::Prmt:
      return "`.f4e .b4e .rc8 .ecl .ecr .rc16`, behind the type";
    case Opcode::Bfind:
      return "`.shiftamt`";
    case Opcode::Dp4a:
      return "the types of both factors";
    case Opcode::Dp2a:
      return "`.lo .hi`, the types of both factors";
    default:
      return fmt::format("{}", fmt::join(parts, "; "));
  }
}

}  // namespace

std::string supported_page() {
  std::string page = R"(# The PTX that the virtual GPU runs

This page is made of the tables that the machine itself reads (`common/ptx/opcodes.def`, `refused.def`); a test fails where
it is not up to date, and `ROOFWALK_REWRITE=1` rewrites it then. The measure is PTX ISA 9.0 for `sm_80`. Every row is
executed by a test of its own in `tests/isa`, against references written from the ISA; every accepted form stands in
`tests/ptx/parse/forms-*.ptx`, which ptxas accepts too.

Anything else is refused when a kernel is loaded, with its line, never skipped.

## Arithmetic and logic

Every instruction may stand behind a predicate. FLOPs are counted for floats only: a lane and element.

| instruction | types | modifiers | FLOPs | issued by |
|---|---|---|---|---|
)";
  for (const Opcode opcode : all_opcodes()) {
    const OpcodeInfo& row = info(opcode);
    if (row.form != Form::alu) continue;
    page += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.mnemonic, types_text(row.types), modifiers_text(opcode),
                        row.flops == 0 ? "" : std::to_string(row.flops), issued_by(row));
  }
  page += R"(
## Memory, matrices, control

| instruction | types | as | issued by |
|---|---|---|---|
)";
  for (const Opcode opcode : all_opcodes()) {
    const OpcodeInfo& row = info(opcode);
    if (row.form == Form::alu) continue;
    page += fmt::format("| `{}` | {} | {} | {} |\n", row.mnemonic, types_text(row.types), written_as(row.form),
                        issued_by(row));
  }
  page += R"(
## What PTX leaves open, and what happens here

- Matrix products of floats are rounded to `.f32` and added to `c` one after the other, in the order of k, each sum to
  nearest; sums in `.f16` are rounded once more at the end; doubles are fused. Chips add several at once and differ in the
  last bits.
- Fragments of `wmma` have the layout of `mma.sync`. A load or store of them counts as the loads and stores that ptxas
  makes of it for `sm_80`.
- Every arithmetic result that is not a number is the same one: `0x7fffffff` in `.f32`, `0x7fff` in 16 bits,
  `0x7ff8000000000000` in `.f64`. `abs`, `neg` and `copysign` change the sign and nothing else.
- Approximate functions are correctly rounded but for rare ties: nearer than the ISA asks, and the same on every machine.
- An integer divided by 0 gives all ones, its remainder is the number itself.
- Cache policies, prefetches and eviction hints change nothing: caches here replace what was used least recently. Loads
  with `.cg`, `.cv` or `.L1::no_allocate` go to L2, as do volatile, relaxed and acquire ones of a scope beyond the block.

## Refused by name

| instruction | with | why |
|---|---|---|
)";
  for (const RefusedInstruction& refused : kRefusedInstructions) {
    page += fmt::format("| `{}` | {} | {} |\n", refused.begin,
                        refused.modifier.empty() ? "" : fmt::format("`{}`", refused.modifier), refused.why);
  }
  return page;
}

}  // namespace roofwalk::ptx
