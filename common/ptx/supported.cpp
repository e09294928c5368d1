#include "common/ptx/supported.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
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

// Instructions with special syntax: the syntax after the mnemonic. `{a,b}`: one of them; `[c]`: optional.
struct Shape {
  Form form;
  std::string_view written_as;
};
constexpr Shape kShapes[] = {
    {Form::convert,
     "`[.rn .rz .rm .rp .rna .rni .rzi .rmi .rpi][.ftz][.sat][.relu][.satfinite].to.from`; to `.f16x2` and "
     "`.bf16x2` from two `.f32`"},
    {Form::cvta, "`[.to].{global,shared,local,const,param}.u64`"},
    {Form::move, "`.type`; vectors of two or four pack and unpack; reads special registers"},
    {Form::select, "`.type`"},
    {Form::compare,
     "`.comparison[.{and,or,xor}][.ftz].type`; of pairs two predicates, of others the second is the opposite"},
    {Form::set, "`.comparison.to.from` of floats"},
    {Form::number_test, "`.{finite,infinite,number,notanumber,normal,subnormal}.type`; zeros are normal"},
    {Form::carry,
     "a sum or difference that reads the carry flag; `.cc` sets it, which `add`, `sub` and `mad` can as well; "
     "`madc` with `.lo .hi`"},
    {Form::load, "`[.weak .volatile .relaxed.scope .acquire.scope][.space][.cache hints][.v2 .v4].type`"},
    {Form::store, "`[.weak .volatile .relaxed.scope .release.scope][.space][.cache hints][.v2 .v4].type`"},
    {Form::matrix_load, "`.sync.aligned.m8n8.{x1,x2,x4}[.trans].shared.b16`"},
    {Form::matrix_multiply,
     "`.f16` sums in `.f16` and `.f32`; `.bf16` and `.tf32` in `.f32`; `.s8` and `.u8` in `.s32` "
     "`[.satfinite]`; `.f64`"},
    {Form::fragment_load, "`.{a,b,c}.sync.aligned.{row,col}.shape[.space].type`, with a distance or without"},
    {Form::fragment_store, "`.d.sync.aligned.{row,col}.shape[.space].type`, with a distance or without"},
    {Form::async_copy,
     "`.async.{ca,cg}.shared.global` of 4, 8 or 16 bytes, the rest zeros, or with a predicate all of them; "
     "`.commit_group`, `.wait_group`, `.wait_all`"},
    {Form::atomic, "`[.order][.scope][.space].operation[.noftz].type`"},
    {Form::reduction, "`[.order][.scope][.space].operation[.noftz].type`"},
    {Form::branch, "`[.uni]` to a label"},
    {Form::indexed_branch, "`[.uni]` by a register, to a label of a table of `.branchtargets`"},
    {Form::barrier,
     "`.sync`, `.arrive`, `.red.popc.u32`, `.red.{and,or}.pred`, numbers 0 to 15, with a count of threads or "
     "without; `bar.warp.sync`"},
    {Form::call,
     "`[.uni]` of a named function, itself included, or through a register, with a `.callprototype` or "
     "`.calltargets`; `vprintf`, `__assertfail`"},
    {Form::fence, "every scope"},
    {Form::prefetch, "`[.space].{L1,L2}`: changes nothing, costs an instruction"},
    {Form::cache_policy, "`.fractional.L2::...b64`: makes a policy that changes nothing"},
    {Form::shuffle, "`.sync.{up,down,bfly,idx}.b32`"},
    {Form::vote, "`.sync.{all,any,uni}.pred`, `.sync.ballot.b32`"},
    {Form::active_mask, "`.b32`"},
    {Form::warp_reduce, "`.sync.{add,min,max}` of numbers, `.sync.{and,or,xor}` of bits"},
    {Form::warp_match, "`.{any,all}.sync`"},
    {Form::space_query, "`.space`"},
    {Form::sleep, "`.u32`"},
    {Form::mbarrier,
     "`.init`, `.inval`, `.arrive[.noComplete]`, `.arrive_drop[.noComplete]`, "
     "`.{test_wait,try_wait}[.parity]`, "
     "`.pending_count`, in shared memory"},
};

std::string_view written_as(Form form) {
  const auto* const found =
      std::find_if(std::begin(kShapes), std::end(kShapes), [&](const Shape& shape) { return shape.form == form; });
  return found == std::end(kShapes) ? "" : found->written_as;
}

template <class Value>
std::string words_of(std::span<const Name<Value>> names, std::uint32_t set) {
  std::vector<std::string_view> words;
  for (const Name<Value>& name : names) {
    if ((set & bit(name.value)) != 0) words.push_back(name.word);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

// ".rn .rz .rm .rp, .ftz, .sat for .f32"
std::string form_text(const ArithmeticForm& form) {
  std::vector<std::string> words;
  for (const std::string& each : {words_of(kMulModeNames, form.modes), words_of(kRoundingNames, form.roundings)}) {
    if (!each.empty()) words.push_back(each);
  }
  if (form.has(kFtz)) words.emplace_back(".ftz");
  if (form.has(kSat)) words.emplace_back(form.modes == kNoMode ? ".sat" : ".hi.sat");
  if (form.has(kRelu)) words.emplace_back(".relu");
  if (form.has(kNan)) words.emplace_back(".NaN");
  return fmt::format("`{}` for {}", fmt::join(words, ", "), types_text(form.types));
}

std::string modifiers_text(Modifiers modifiers) {
  switch (modifiers) {
    case Modifiers::funnel_shift:
      return "`{.l,.r}{.wrap,.clamp}`";
    case Modifiers::clamp_or_wrap:
      return "`.clamp .wrap`";
    case Modifiers::permute:
      return "`.f4e .b4e .rc8 .ecl .ecr .rc16`, behind the type";
    case Modifiers::find:
      return "`.shiftamt`";
    case Modifiers::dot:
      return "the types of both factors";
    case Modifiers::dot_of_halves:
      return "`.lo .hi`, the types of both factors";
    case Modifiers::distances:
      return "the types of result and sources, `.add`";
    default:
      break;
  }
  std::vector<std::string> parts;
  for (const ArithmeticForm& form : kArithmeticForms) {
    if (form.modifiers == modifiers) parts.push_back(form_text(form));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

std::string supported_page() {
  std::string page = R"(# The PTX that the virtual GPU runs

This page is made of the tables that the machine itself reads (`common/ptx/table/opcodes.def`, `refused.def`); a test fails where
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
    page += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.mnemonic, types_text(row.types),
                        modifiers_text(row.modifiers), row.flops == 0 ? "" : std::to_string(row.flops),
                        info(row.units).words);
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
                        info(row.units).words);
  }
  page += R"(
## What PTX leaves open, and what happens here

- Matrix products of floats are rounded to `.f32` and added to `c` one after the other, in the order of k, each sum to
  nearest; sums in `.f16` are rounded once more at the end; doubles are fused. Chips add several at once and differ in the
  last bits.
- Fragments of `wmma` have the layout of `mma.sync`. Their loads and stores count as those that ptxas makes for `sm_80`.
- Every arithmetic result that is not a number is the same one: `0x7fffffff` in `.f32`, `0x7fff` in 16 bits,
  `0x7ff8000000000000` in `.f64`. `abs`, `neg` and `copysign` change the sign and nothing else.
- Approximate functions are correctly rounded but for rare ties: nearer than the ISA asks, and the same on every machine.
- An integer divided by 0 gives all ones, its remainder is the number itself.
- Lanes of one `cp.async` that copy the same bytes to the same place make one copy.
- Modifiers may stand in any order, as ptxas takes them: `ld.global.acquire.gpu.b32` is `ld.acquire.gpu.global.b32`,
  and `vote.ballot.sync.b32` is `vote.sync.ballot.b32`. The types of one instruction keep their order.
- A kernel's parameters that are read at an address in a register (`ld.param [%rd1]`, of a struct that is indexed at run
  time) count as constant memory, where ptxas puts them.
- The system's 1 KiB of shared memory lies behind the block's own, as on `sm_80`, and begins as zeros; cooperative
  groups have 288 bytes of it, from `%reserved_smem_offset_1` on.
- A `%warpid` is unique in its block, but not the thread's number divided by 32. The `%smid`s have a gap.
- An instruction that is refused refuses its function, and the kernels that may call it. Other kernels of the file run.
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
