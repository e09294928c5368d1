// Tests the analysis that all launches of a kernel share, and the time that it takes.
#include "common/vgpu/program/kernel_code.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/growth.h"

namespace roofwalk::vgpu {
namespace {

ptx::Module parse(const std::string& functions, const std::string& body) {
  auto module = ptx::parse(".version 9.0\n.target sm_80\n.address_size 64\n" + functions +
                               ".visible .entry k()\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n" + body + "ret;\n}\n",
                           "kernel.cu");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  return module ? std::move(*module) : ptx::Module{};
}

std::string device_function(const std::string& name, const std::string& body) {
  return fmt::format(
      ".func (.param .b32 r) {}(.param .b32 a)\n{{\n.reg .b32 %r<4>;\nld.param.b32 %r1, [a];\n{}"
      "st.param.b32 [r], %r1;\nret;\n}}\n",
      name, body);
}

std::string call(const std::string& name) {
  return fmt::format(
      "{{\n.param .b32 p0;\nst.param.b32 [p0], %r1;\n.param .b32 q0;\ncall.uni (q0), {}, (p0);\n"
      "ld.param.b32 %r1, [q0];\n}}\n",
      name);
}

TEST(KernelCode, KernelsThatCallNothingKeepTheCodeOfTheirModule) {
  const ptx::Module module = parse("", "mov.u32 %r1, 0;\n");
  const auto code = code_of(module, module.functions.at(0));
  ASSERT_TRUE(code.ok()) << code.error().text();
  EXPECT_EQ(code->function, &module.functions.at(0));
  EXPECT_LT(code->host_bytes, 4096u);
}

// As in the cubin of a kernel with `__shared__ int` and `extern __shared__ __align__(128) float[]`: .nv.shared has 128
// bytes and this alignment.
TEST(KernelCode, DynamicSharedMemoryBeginsAtTheLargestAlignment) {
  const auto dynamic_at = [](const std::string& one, const std::string& dynamic) {
    const ptx::Module module =
        parse(".shared .align " + one + " .b8 one[4];\n.extern .shared .align " + dynamic + " .b8 tile[];\n",
              "mov.u32 %r1, one;\nmov.u32 %r2, tile;\n");
    const SharedLayout layout = shared_layout(module, module.functions.at(0));
    EXPECT_EQ(layout.offsets.at("one"), 0u);
    EXPECT_EQ(layout.offsets.at("tile"), layout.dynamic_at);
    EXPECT_EQ(layout.static_bytes, 4u);
    return layout.dynamic_at;
  };
  EXPECT_EQ(dynamic_at("4", "4"), 16u);
  EXPECT_EQ(dynamic_at("4", "128"), 128u);
  EXPECT_EQ(dynamic_at("1024", "16"), 1024u);
}

TEST(KernelCode, LinkedCodeIsCounted) {
  std::string body;
  for (int i = 0; i < 1000; ++i) body += "add.u32 %r1, %r1, %r1;\n";
  const ptx::Module module = parse(device_function("f", body), call("f"));
  const auto code = code_of(module, module.functions.at(1));
  ASSERT_TRUE(code.ok()) << code.error().text();
  EXPECT_EQ(code->function, code->linked.function.get());
  EXPECT_GT(code->host_bytes, 1000 * (sizeof(ptx::Instruction) + 3 * sizeof(ptx::Operand)));
}

TEST(KernelCode, OnlyFunctionsThatComeBackToThemselvesAreRecursive) {
  const std::string declared = ".func (.param .b32 r) g(.param .b32 a);\n.func (.param .b32 r) h(.param .b32 a);\n";
  const ptx::Module module = parse(declared + device_function("leaf", "") + device_function("own", call("own")) +
                                       device_function("g", call("h")) + device_function("h", call("leaf") + call("g")),
                                   call("own") + call("g"));
  const ptx::Function* kernel = module.find_function("k");
  ASSERT_NE(kernel, nullptr);
  const auto code = code_of(module, *kernel);
  ASSERT_TRUE(code.ok()) << code.error().text();
  std::map<std::string, bool> recursive;
  for (const LinkedPart& part : code->linked.parts) recursive[part.function->name] = part.recursive;
  const std::map<std::string, bool> expected{{"k", false}, {"leaf", false}, {"own", true}, {"g", true}, {"h", true}};
  EXPECT_EQ(recursive, expected);
}

TEST(KernelCode, TakesTimeByTheCodeNotByItsCalls) {
  const auto calls = [](std::size_t n) {
    std::string body;
    for (std::size_t i = 0; i < n; ++i) body += call("f");
    return [module = parse(device_function("f", ""), body)] {
      EXPECT_TRUE(code_of(module, *module.find_function("k")).ok());
    };
  };
  EXPECT_LT(roofwalk::test::growth(1500, calls), roofwalk::test::kNearlyLinear);
}

// The arguments of a call through a pointer are passed to every function that it may call, so they count once per
// function and exceed the limit.
TEST(KernelCode, TooManyHandedOverValuesAreRefused) {
  constexpr int kFunctions = 200, kParameters = 100, kCalls = 60;
  const auto list = [](const std::string& one) {
    std::string out;
    for (int p = 0; p < kParameters; ++p) out += (p == 0 ? "" : ", ") + fmt::format(fmt::runtime(one), p);
    return out;
  };
  std::string functions, table;
  for (int f = 0; f < kFunctions; ++f) {
    functions += fmt::format(".func f{}({})\n{{\nret;\n}}\n", f, list(".param .b32 a{}"));
    table += (f == 0 ? "" : ", ") + fmt::format("f{}", f);
  }
  functions += fmt::format(".global .align 8 .u64 table[{}] = {{{}}};\n", kFunctions, table);
  std::string body = "P: .callprototype _ (" + list(".param .b32 a{}") + ");\n";
  for (int p = 0; p < kParameters; ++p) body += fmt::format(".param .b32 p{};\n", p);
  for (int c = 0; c < kCalls; ++c) body += "call %rd1, (" + list("p{}") + "), P;\n";
  const ptx::Module module = parse(functions, body);
  const auto code = code_of(module, *module.find_function("k"));
  ASSERT_FALSE(code.ok());
  EXPECT_NE(code.error().message.find("pass too many values"), std::string::npos) << code.error().text();
}

}  // namespace
}  // namespace roofwalk::vgpu
