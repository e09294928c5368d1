// The meaning of a parsed module's fields.
#include "common/ptx/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/ptx/support.h"

namespace roofwalk::ptx {
namespace {

using ::testing::ElementsAre;
using testing::kernel;
using testing::kHeader;
using Kind = Operand::Kind;

Module must_parse(const std::string& text) {
  Result<Module> module = testing::parse_whole(text, "kernel.cu");
  if (!module) ADD_FAILURE() << module.error().text();
  return module ? std::move(*module) : Module{};
}

// Returns the first instruction of a kernel with this body.
Instruction first(std::string_view body) {
  const Module module = must_parse(kernel(body));
  const Function* function = module.find_function("k");
  if (function == nullptr || function->instructions.empty()) return {};
  return function->instructions[0];
}

std::string error_of(const std::string& text) {
  const Result<Module> module = testing::parse_whole(text, "kernel.cu");
  return module.ok() ? "accepted" : module.error().message;
}

TEST(Opcodes, HaveOneRowEach) {
  const std::vector<Opcode> all = all_opcodes();
  EXPECT_GT(all.size(), 50u);
  EXPECT_EQ(info(Opcode::Fma).mnemonic, "fma");
  EXPECT_EQ(info(Opcode::Fma).operands.source_count(), 3);
  EXPECT_EQ(info(Opcode::Fma).flops, 2);
  EXPECT_EQ(info(Opcode::Activemask).form, Form::active_mask);
  EXPECT_EQ(all.back(), Opcode::Activemask);
}

TEST(Types, KnowTheirSize) {
  EXPECT_EQ(size_bytes(Type::pred), 0);
  EXPECT_EQ(size_bytes(Type::f16), 2);
  EXPECT_EQ(size_bytes(Type::f64), 8);
  EXPECT_EQ(type_name(Type::s16), ".s16");
}

TEST(Module, KeepsItsHeader) {
  const Module module = must_parse(".version 8.7\n.target sm_90a\n.address_size 64\n");
  EXPECT_EQ(module.version_major, 8);
  EXPECT_EQ(module.version_minor, 7);
  EXPECT_EQ(module.target, "sm_90a");
}

TEST(Module, OpcodesAreWordsOnlyWhereAnOpcodeStands) {
  const Module module = must_parse(std::string(kHeader) +
                                   ".visible .entry add(.param .u64 ld)\n{\n.reg .b64 mov;\nret: ld.param.u64 mov, "
                                   "[ld];\nbra ret;\nret;\n}\n.visible .entry vadd()\n{\nret;\n}\n");
  ASSERT_NE(module.find_function("add"), nullptr);
  EXPECT_NE(module.find_function("vadd"), nullptr);
  EXPECT_EQ(module.find_function("add")->instructions[0].operands[1].symbol, "ld");
}

TEST(Instructions, MakeTheirNumbersOfTheirType) {
  EXPECT_EQ(first("add.s32 %r1, %r2, -1;").operands[2].bits, ~std::uint64_t{0});
  EXPECT_EQ(first("add.u32 %r1, %r2, -1;").operands[2].bits, 0xffffffffu);
  EXPECT_EQ(first("add.s32 %r1, %r2, 4294967295;").operands[2].bits, ~std::uint64_t{0});
  EXPECT_EQ(first("shl.b64 %rd1, %rd2, 3;").operands[2].bits, 3u);
  EXPECT_EQ(first("mov.f32 %f1, 1.5;").operands[1].bits, 0x3FC00000u);
  EXPECT_EQ(first("mov.f32 %f1, -1.5;").operands[1].bits, 0xBFC00000u);
  EXPECT_EQ(first("mov.f32 %f1, 0d3FF8000000000000;").operands[1].bits, 0x3FC00000u);
  EXPECT_EQ(first("mov.f64 %d1, 0f3FC00000;").operands[1].bits, 0x3FF8000000000000u);
  EXPECT_FALSE(first("add.s32 %r1, %r2, -1;").operands[2].negated);
}

TEST(Instructions, KeepTheirModifiers) {
  const Instruction fma = first("fma.rz.ftz.sat.f32 %f1, %f2, %f3, %f4;");
  EXPECT_EQ(fma.rounding, Rounding::rz);
  EXPECT_TRUE(fma.ftz);
  EXPECT_TRUE(fma.sat);
  EXPECT_EQ(first("mad.wide.s32 %rd1, %r1, %r2, 5;").mul, MulMode::wide);
  EXPECT_EQ(first("shf.r.clamp.b32 %r1, %r2, %r3, 5;").shift, ShiftMode::right_clamp);
  const Instruction cvt = first("cvt.rzi.s32.f64 %r1, %d1;");
  EXPECT_EQ(cvt.type, Type::s32);
  EXPECT_EQ(cvt.source_type, Type::f64);
  EXPECT_EQ(cvt.rounding, Rounding::rzi);
  EXPECT_TRUE(first("cvta.to.global.u64 %rd1, %rd2;").to);
  EXPECT_EQ(first("membar.gl;").operands.size(), 0u);
}

TEST(Instructions, OfMemory) {
  const Instruction load = first("ld.global.nc.v4.f32 {%f1, %f2, %f3, _}, [%rd1+-16];");
  EXPECT_EQ(load.space, Space::global);
  EXPECT_TRUE(load.non_coherent);
  EXPECT_EQ(load.vector, 4);
  ASSERT_EQ(load.operands[0].kind, Kind::vector);
  EXPECT_EQ(load.operands[0].elements[3].kind, Kind::none);
  EXPECT_EQ(load.operands[1].kind, Kind::address);
  EXPECT_EQ(load.operands[1].offset, -16);
  const Instruction store = first("st.volatile.shared.u32 [svar+8], 5;");
  EXPECT_TRUE(store.is_volatile);
  EXPECT_EQ(store.operands[0].symbol, "svar");
  EXPECT_EQ(store.operands[0].space, Space::shared);
  EXPECT_EQ(store.operands[0].index, -1);
  EXPECT_EQ(store.operands[0].offset, 8);
  EXPECT_EQ(first("ld.global.cs.u32 %r1, [gvar];").cache, CacheHint::cs);
  EXPECT_EQ(first("atom.global.cas.b32 %r1, [%rd1], 1, 2;").operands.size(), 4u);
  EXPECT_EQ(first("red.shared.add.u32 [%r1], 2;").atomic, AtomicOp::add);
}

TEST(Instructions, HaveTheSecondResultOfSetpAndShflAlways) {
  const Instruction one = first("setp.lt.s32 %p1, %r1, %r2;");
  ASSERT_EQ(one.operands.size(), 4u);
  EXPECT_EQ(one.operands[1].kind, Kind::none);
  const Instruction two = first("setp.ge.and.s32 %p1|%p2, %r1, %r2, !%p3;");
  ASSERT_EQ(two.operands.size(), 5u);
  EXPECT_EQ(two.operands[1].kind, Kind::reg);
  EXPECT_EQ(two.bool_op, BoolOp::and_);
  EXPECT_TRUE(two.operands[4].negated);
  EXPECT_EQ(first("shfl.sync.up.b32 %r1, %r2, 1, 0, -1;").operands.size(), 6u);
}

TEST(Instructions, KeepGuardsAndSpecialRegisters) {
  const Instruction guarded = first("@!%p3 mov.u32 %r1, %ctaid.y;");
  EXPECT_EQ(guarded.guard, 3);
  EXPECT_TRUE(guarded.guard_negated);
  EXPECT_EQ(guarded.operands[1].kind, Kind::special);
  EXPECT_EQ(guarded.operands[1].special, SpecialRegister::ctaid);
  EXPECT_EQ(guarded.operands[1].component, 1);
}

TEST(Scopes, RepeatRegistersLabelsAndVariables) {
  const Module module =
      must_parse(kernel("{ .param .b32 p; .reg .b32 t; AGAIN: mov.b32 t, 1; st.param.b32 [p], t; bra AGAIN; }\n"
                        "{ .param .b32 p; .reg .b32 t; AGAIN: mov.b32 t, 2; st.param.b32 [p], t; bra AGAIN; }\n"));
  const Function& k = *module.find_function("k");
  ASSERT_EQ(k.instructions.size(), 7u);
  EXPECT_NE(k.instructions[0].operands[0].index, k.instructions[3].operands[0].index);
  EXPECT_EQ(k.instructions[1].operands[0].symbol, "p");
  EXPECT_EQ(k.instructions[4].operands[0].symbol, "p#1");
  EXPECT_EQ(k.instructions[2].operands[0].index, 0);
  EXPECT_EQ(k.instructions[5].operands[0].index, 3);
  ASSERT_EQ(k.variables.size(), 2u);
  EXPECT_EQ(k.variables[1].name, "p#1");
}

TEST(Scopes, AnInnerVariableDoesNotTakeAnOuterOnesName) {
  const Module module = must_parse(kernel("{ .local .b32 gvar; st.local.b32 [gvar], 1; } st.global.b32 [gvar], 2;"));
  const Function& k = *module.find_function("k");
  EXPECT_EQ(k.instructions[0].operands[0].symbol, "gvar#1");
  EXPECT_EQ(k.instructions[1].operands[0].symbol, "gvar");
}

TEST(Scopes, BranchesFindTheNearestLabel) {
  const Module module = must_parse(kernel("OUT: { { bra IN; } bra OUT; IN: mov.b32 %r1, 1; } IN: bra IN; END:"));
  const Function& k = *module.find_function("k");
  EXPECT_EQ(k.instructions[0].operands[0].index, 2);
  EXPECT_EQ(k.instructions[1].operands[0].index, 0);
  EXPECT_EQ(k.instructions[3].operands[0].index, 3);
}

TEST(Functions, DeclaredFirstAndDefinedLaterAreOne) {
  const Module module =
      must_parse(std::string(kHeader) +
                 ".weak .entry late(.param .u32 a);\n.extern .func (.param .b32 r) out(.param .b32 a);\n"
                 ".weak .entry late(.param .u32 b) .maxntid 64, 2 { ret; }\n");
  ASSERT_EQ(module.functions.size(), 2u);
  EXPECT_FALSE(module.functions[0].is_extern);
  EXPECT_EQ(module.functions[0].parameters[0].name, "b");
  EXPECT_THAT(module.functions[0].max_threads, ElementsAre(64, 2, 1));
  EXPECT_TRUE(module.functions[1].is_extern);
  EXPECT_EQ(module.functions[1].results.size(), 1u);
}

TEST(Functions, AreCalledWithNamedOrPlainArguments) {
  const Module module = must_parse(
      std::string(kHeader) +
      ".extern .func (.param .b32 r) f(.param .b64 a, .param .align 4 .b8 b[12]);\n.visible .entry k()\n{\n"
      ".reg .b64 %rd<2>;\n{ .param .align 4 .b8 b[12]; .param .b32 r;\ncall.uni (r), f, (%rd1, b);\n}\nret;\n}\n");
  const Instruction& call = module.find_function("k")->instructions[0];
  EXPECT_TRUE(call.uni);
  EXPECT_EQ(call.operands[0].kind, Kind::function);
  EXPECT_EQ(call.operands[0].symbol, "f");
  EXPECT_EQ(call.call_results[0].symbol, "r");
  EXPECT_EQ(call.call_arguments[0].kind, Kind::reg);
  EXPECT_EQ(call.call_arguments[1].symbol, "b");
}

TEST(Variables, HaveTheirInitialBytesAndAddresses) {
  const Module module = must_parse(std::string(kHeader) +
                                   ".visible .global .u32 b;\n"
                                   ".visible .global .align 8 .u64 a[3] = {1, generic(b)+4, 258};\n"
                                   ".visible .const .align 4 .b8 c[8] = {1, 255, 3};\n"
                                   ".global .s16 d[2][2] = {{1}, {-2, 3}};\n.global .f32 e = 0f3F800000;\n"
                                   ".extern .shared .align 8 .b8 f[];\n");
  const Variable& a = *module.find_variable("a");
  EXPECT_EQ(a.size_bytes, 24u);
  ASSERT_EQ(a.fixups.size(), 1u);
  EXPECT_EQ(a.fixups[0].offset_bytes, 8u);
  EXPECT_EQ(a.fixups[0].symbol, "b");
  EXPECT_EQ(a.fixups[0].addend, 4);
  EXPECT_EQ(a.initial[16], 2);
  EXPECT_EQ(a.initial[17], 1);
  EXPECT_EQ(module.find_variable("c")->align_bytes, 4);
  EXPECT_THAT(module.find_variable("c")->initial, ElementsAre(1, 255, 3));
  EXPECT_THAT(module.find_variable("d")->initial, ElementsAre(1, 0, 0, 0, 0xfe, 0xff, 3, 0));
  EXPECT_THAT(module.find_variable("e")->initial, ElementsAre(0, 0, 0x80, 0x3f));
  EXPECT_EQ(module.find_variable("f")->size_bytes, 0u);
  EXPECT_TRUE(module.find_variable("f")->is_extern);
}

TEST(Messages, NameTheWholeInstruction) {
  EXPECT_EQ(error_of(kernel("nothing.of.the.kind;")),
            "PTX line 10: `nothing.of.the.kind` is not supported by the virtual GPU");
}

// The functions of the text that cannot run, and why.
std::string unsupported_in(const std::string& text) {
  const Result<Module> module = parse(text, "kernel.cu");
  if (!module) return "refused: " + module.error().message;
  std::string out;
  for (const Function& function : module->functions) {
    const Error* why = why_unsupported(*module, function);
    if (why != nullptr) out += function.name + ": " + why->text() + "\n";
  }
  return out;
}

TEST(Unsupported, InstructionRefusesItsFunctionAndItsCallers) {
  const std::string text = std::string(kHeader) + R"(
.func texture()
{
{ .reg .f32 %f<9>; .reg .b64 %rd<2>;
tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];
bra L; }
{ L: }
ret;
}
.func between() { call texture; ret; }
.func pointed_at() { ret; }
.global .align 8 .u64 table[2] = {between, pointed_at};
.visible .entry calls() { call between; ret; }
.visible .entry grid_sync() { .reg .b64 %rd<2>; mov.b64 %rd1, {%envreg2, %envreg1}; ret; }
.visible .entry through_pointer()
{
.reg .b64 %rd<2>;
shape: .callprototype _ ();
ld.global.u64 %rd1, [table];
call %rd1, shape;
ret;
}
.visible .entry alone() { call pointed_at; ret; }
)";
  const std::string texture =
      "PTX line 8: `tex.2d.v4.f32.f32` is not supported by the virtual GPU: textures are not modelled; read global "
      "memory\n";
  EXPECT_EQ(
      unsupported_in(text),
      "texture: " + texture + "between: " + texture + "calls: " + texture +
          "grid_sync: PTX line 17: `%envreg2` is what only the driver sets, for grid.sync(): a grid does not wait "
          "for itself here; end the kernel, and go on in the next\n"
          "through_pointer: " +
          texture);
}

TEST(Unsupported, OtherMistakesRefuseTheModule) {
  const std::string tex = std::string(kHeader) + ".visible .entry k() { tex.1d [%rd1]; ";
  EXPECT_EQ(unsupported_in(tex), "refused: PTX line 4: the end of the text where `}` is expected");
  EXPECT_EQ(unsupported_in(std::string(kHeader) + ".visible .entry k() { tex.1d"),
            "refused: PTX line 4: the end of the text where `;` is expected");
  EXPECT_EQ(unsupported_in(tex + "}\n.visible .entry j() { add.s32 %r1; }"),
            "refused: PTX line 5: `%r1` is not declared");
}

}  // namespace
}  // namespace roofwalk::ptx
