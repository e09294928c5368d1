// Malicious PTX takes bounded time and memory and gives one clear message.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/ptx/module.h"
#include "tests/unit/ptx/support.h"

namespace roofwalk::ptx {
namespace {

using ::testing::HasSubstr;
using testing::kernel;
using testing::kHeader;

std::string outcome(std::string_view text) {
  const Result<Module> module = testing::parse_whole(text, "kernel.cu");
  return module.ok() ? "accepted" : module.error().message;
}

std::string repeated(std::string_view piece, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += piece;
  return text;
}

TEST(Hostile, ATerabyteIsANumber) {
  const Result<Module> module =
      parse(std::string(kHeader) + ".visible .global .align 1 .b8 big[1099511627776];\n", "kernel.cu");
  ASSERT_TRUE(module.ok()) << module.error().text();
  EXPECT_EQ(module->variables[0].size_bytes, std::uint64_t{1} << 40);
  EXPECT_TRUE(module->variables[0].initial.empty());
  EXPECT_THAT(outcome(std::string(kHeader) + ".global .b8 big[1099511627777];\n"), HasSubstr("is too large"));
  EXPECT_THAT(outcome(std::string(kHeader) + ".global .b64 big[2199023255552][4294967296];\n"), HasSubstr("too large"));
}

TEST(Hostile, RegistersAreCountedBeforeTheyAreMade) {
  EXPECT_THAT(outcome(kernel(".reg .b32 r<999999999>;")),
              HasSubstr("a number of registers of `999999999` is too large"));
  EXPECT_THAT(outcome(kernel(".reg .b32 a<60000>; .reg .b32 b<60000>;")), HasSubstr("more than 100000 registers"));
  std::string functions(kHeader);
  for (int f = 0; f < 20; ++f) functions += fmt::format(".func f{}()\n{{\n.reg .b32 r<999>;\nret;\n}}\n", f);
  Limits limits;
  limits.registers = 10'000;
  const Result<Module> module = parse(functions, "kernel.cu", limits);
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.error().message, HasSubstr("more than 10000 registers"));
}

TEST(Hostile, BracesDoNotRecurse) {
  EXPECT_THAT(outcome(kernel(repeated("{", 100'000))), HasSubstr("more than 64 braces inside each other"));
  EXPECT_THAT(outcome(std::string(kHeader) + ".global .u32 g[1] = " + repeated("{", 100'000)),
              HasSubstr("more braces than dimensions"));
  EXPECT_THAT(outcome(kernel(fmt::format("mov.b64 %rd1, {};", repeated("{", 100'000)))), HasSubstr("is expected"));
  EXPECT_THAT(outcome(kernel(repeated("@%p1 ", 100'000))), HasSubstr("is expected"));
}

TEST(Hostile, NamesAreCounted) {
  std::string labels;
  for (int l = 0; l < 60'000; ++l) labels += fmt::format("L{}:", l);
  EXPECT_THAT(outcome(kernel(labels)), HasSubstr("more than 50000 names"));
}

TEST(Hostile, TextTokensAndInstructionsAreCounted) {
  EXPECT_THAT(outcome(std::string((4u << 20) + 1, ' ')), HasSubstr("bytes, more than"));
  EXPECT_THAT(outcome(kernel(repeated("ret;", 400'001))), HasSubstr("more than 400000 instructions"));
  Limits limits;
  limits.tokens = 20;
  const Result<Module> module = parse(kernel(""), "kernel.cu", limits);
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.error().message, HasSubstr("the text is too long"));
}

// Whoever reads a whole program's PTX raises the limit: public modules have up to 43 MB.
TEST(Hostile, TextMayBeLongerWhereTheLimitIsRaised) {
  std::string text{kHeader};
  for (int k = 0; k < 2000; ++k)
    text += fmt::format(".visible .entry k{}()\n{{\nret;\n}}\n//{}\n", k, std::string(4096, '-'));
  EXPECT_THAT(outcome(text), HasSubstr("bytes, more than"));
  Limits limits;
  limits.text_bytes = 64u << 20;
  const Result<Module> module = parse(text, "kernel.cu", limits);
  ASSERT_TRUE(module.ok()) << module.error().message;
  EXPECT_EQ(module->functions.size(), 2000u);
}

TEST(Hostile, AValueCannotGrowPastItsLimit) {
  std::string text = std::string(kHeader) + ".global .b8 g[20000000][2] = {";
  text += repeated("{},", 1000) + "{1}};\n";
  EXPECT_EQ(outcome(text), "accepted");
  Limits limits;
  limits.initializer_bytes = 1000;
  const Result<Module> module = parse(text, "kernel.cu", limits);
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.error().message, HasSubstr("initial values of more than 1000 bytes"));
}

TEST(Hostile, AKernelOpenedFromInsideIsOneMoreKernel) {
  const Result<Module> module = parse(kernel("ret; } .visible .entry evil()\n{"), "kernel.cu");
  ASSERT_TRUE(module.ok()) << module.error().text();
  EXPECT_NE(module->find_function("evil"), nullptr);
  EXPECT_EQ(module->find_function("k")->instructions.size(), 1u);
}

TEST(Hostile, TheMachinesNamesCannotBeDefined) {
  for (const std::string name :
       {"__cudaCDP2LaunchDeviceV2", "__cudaCDP2Anything", "roofwalk_scratch", "vprintf", "__assertfail"}) {
    EXPECT_THAT(outcome(fmt::format("{}.visible .func {}()\n{{\nret;\n}}\n", kHeader, name)),
                HasSubstr("belongs to the machine"));
    EXPECT_THAT(outcome(fmt::format("{}.func {}();\n", kHeader, name)), HasSubstr("belongs to the machine"));
    EXPECT_THAT(outcome(fmt::format("{}.global .u32 {};\n", kHeader, name)), HasSubstr("belongs to the machine"));
  }
}

TEST(Hostile, BinariesAreNamedAsSuch) {
  EXPECT_EQ(outcome("\x7f"
                    "ELF\x02\x01"),
            "this is compiled machine code, not PTX");
  EXPECT_EQ(outcome("\x50\xed\x55\xba\x01"), "this is compiled machine code, not PTX");
}

TEST(Hostile, ALongNameIsCutInTheMessage) {
  EXPECT_LT(outcome(kernel(fmt::format("mov.b32 %r1, {};", repeated("a", 100'000)))).size(), 200u);
  EXPECT_LT(outcome(kernel(fmt::format("a{};", repeated(".b", 50'000)))).size(), 200u);
}

TEST(Hostile, ATextCutAnywhereIsRefused) {
  const std::string text = testing::read_file(std::filesystem::path(ROOFWALK_PTX_GOLDEN) / "parse/nvcc-globals.ptx");
  const std::size_t last_brace = text.rfind('}', text.find("\t.file"));
  ASSERT_NE(last_brace, std::string::npos);
  const std::size_t body = text.find('{', text.find(".entry"));
  for (std::size_t cut = 0; cut <= last_brace; ++cut) {
    const std::string result = outcome(std::string_view(text).substr(0, cut));
    if (cut > body) {
      EXPECT_NE(result, "accepted") << cut;
    }
  }
}

}  // namespace
}  // namespace roofwalk::ptx
