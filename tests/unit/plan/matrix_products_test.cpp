#include "common/plan/matrix_products.h"
#include "common/record/run_record.h"

#include <gtest/gtest.h>

namespace roofwalk {
namespace {

Result<bool> multiply(const std::vector<std::string>& launched) {
  Artifact artifact;
  artifact.source_path = artifact.source_name = "kernel.cu";
  artifact.ptx = R"(.version 9.0
.target sm_80
.address_size 64
.func product()
{
.reg .b32 %r<20>;
mma.aligned .sync.m16n8k32.row.col.s32.s8.s8.s32 {%r1,%r2,%r3,%r4}, {%r5,%r6,%r7,%r8}, {%r9,%r10}, {%r1,%r2,%r3,%r4};
ret;
}
.visible .entry _Z3addPfi() { ret; }
.visible .entry _Z4callPfi() { call product; ret; }
)";
  std::vector<KernelRecord> kernels;
  for (const std::string& name : launched) kernels.emplace_back().name = name;
  return multiply_matrices(artifact, kernels);
}

TEST(MatrixProducts, CountOnlyInLaunchedKernelsAndWhatTheyCall) {
  EXPECT_FALSE(*multiply({"add", "memset"}));
  EXPECT_TRUE(*multiply({"add", "call"}));
}

}  // namespace
}  // namespace roofwalk
