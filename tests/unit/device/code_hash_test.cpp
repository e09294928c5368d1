#include "common/device/virtual/code_hash.h"

#include <gtest/gtest.h>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// Returns a kernel with static symbols: nvcc puts a hash of the source into their names, in the code and in debug
// sections.
std::string scaling_kernel(const std::string& comment, const std::string& factor) {
  return "#include <roofwalk.cuh>\n" + comment +
         "\nstatic __device__ float offset;\n"
         "static __global__ void scale(const float* x, float* y, int n) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i < n) y[i] = " +
         factor +
         " * x[i] + offset;\n}\n"
         "SOLVE(const float* x, float* y, int n) { scale<<<ceil_div(n, 256), 256>>>(x, y, n); }\n";
}

TEST(CodeHashTest, IsOfTheInstructionsAlone) {
  const auto plain = compile(scaling_kernel("", "2"));
  const auto commented = compile(scaling_kernel("// a comment\n\n/* two */", "2"));
  const auto changed = compile(scaling_kernel("", "3"));
  ASSERT_TRUE(plain.ok() && commented.ok() && changed.ok());
  ASSERT_NE(plain->ptx, commented->ptx);
  EXPECT_EQ(hash_of_code(plain->ptx), hash_of_code(commented->ptx));
  EXPECT_NE(hash_of_code(plain->ptx), hash_of_code(changed->ptx));
}

TEST(CodeHashTest, LeavesOutSectionsButNotWhatStandsBehindThem) {
  const std::string code = "add.s32 %r1, %r2, %r3;\n";
  EXPECT_EQ(hash_of_code("\t.section\t.debug_str\n\t{\n.b8 95,90\n\t}\n" + code), hash_of_code(code));
  EXPECT_NE(hash_of_code("\t.section\t.debug_str\n\t{\n.b8 95,90\n\t}\n" + code), hash_of_code(""));
}

TEST(CodeHashTest, TakesHexDigitsOfANameForWhatTheyAre) {
  EXPECT_EQ(hash_of_code("mov.u64 %rd5, __nv_static_27__98e06600_9_kernel_cu_f;"),
            hash_of_code("mov.u64 %rd5, __nv_static_27__01020001_9_kernel_cu_f;"));
  EXPECT_NE(hash_of_code("mov.u64 %rd5, table_1;"), hash_of_code("mov.u64 %rd5, table_2;"));
}

}  // namespace
}  // namespace roofwalk::test
