// book/ptx.md agrees with the tables.
#include "common/ptx/module.h"
#include "common/ptx/supported.h"
#include "tests/support/golden.h"
#include "tests/unit/ptx/support.h"

namespace roofwalk::ptx {
namespace {

TEST(SupportedPage, IsUpToDate) {
  roofwalk::testing::expect_golden(std::filesystem::path(ROOFWALK_TEST_SOURCE_DIR) / "book/ptx.md", supported_page());
}

TEST(SupportedPage, HasARowForEachOpcode) {
  const std::string page = supported_page();
  for (const Opcode opcode : all_opcodes()) {
    EXPECT_NE(page.find("\n| `" + std::string(info(opcode).mnemonic) + "` |"), std::string::npos)
        << info(opcode).mnemonic;
  }
}

TEST(Refusals, SayWhy) {
  const std::pair<const char*, const char*> cases[] = {
      {"wgmma.fence.sync.aligned;", "warpgroup products are of sm_90; use mma.sync or wmma"},
      {"cp.async.bulk.commit_group;", "bulk copies (TMA) are of sm_90; use cp.async"},
      {"barrier.cluster.arrive;", "clusters are of sm_90; a grid is ordered by its launches"},
      {"cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;", "8-bit floats are of sm_89; use f16 or bf16"}};
  for (const auto& [line, why] : cases) {
    const auto module =
        testing::parse_whole(std::string(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n") +
                                 ".reg .b16 %h<4>; .reg .f32 %f<4>;\n" + line + "\nret;\n}\n",
                             "kernel.cu");
    ASSERT_FALSE(module.ok()) << line;
    EXPECT_TRUE(module.error().message.ends_with(std::string("is not supported by the virtual GPU: ") + why))
        << module.error().message;
  }
}

}  // namespace
}  // namespace roofwalk::ptx
