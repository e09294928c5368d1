// The parts that are removed from a learner's PTX for a real GPU. ptxas must accept the rest.
#include "common/build/ptx_cut.h"

#include <sstream>

#include "common/build/assemble.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Returns the starter and the last step of every chapter.
std::vector<std::string> first_and_last_kernels() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(source_root() / "chapters")) {
    if (!entry.is_directory()) continue;
    auto kernels = kernels_of(entry.path().filename());
    files.push_back(kernels.front());
    files.push_back(*std::max_element(kernels.begin() + 1, kernels.end()));
  }
  return files;
}

TEST(PtxCut, EveryChapterIsTakenByPtxas) {
  const auto toolkit = find_toolkit(source_root());
  ASSERT_TRUE(toolkit.ok());
  const auto files = first_and_last_kernels();
  ASSERT_GE(files.size(), 10u);
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const auto artifact = compile(text_of(file));
    ASSERT_TRUE(artifact.ok()) << artifact.error().text();
    const auto cut = cut_plan(*artifact);
    ASSERT_TRUE(cut.ok()) << cut.error().text();

    // Only SOLVE and its externs are removed; every other line keeps its place.
    const auto before = lines_of(artifact->ptx), after = lines_of(*cut);
    ASSERT_EQ(before.size(), after.size());
    std::string gone;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] == after[i]) continue;
      ASSERT_EQ(after[i], "") << "line " << i + 1 << " was: " << before[i];
      gone += before[i] + "\n";
    }
    EXPECT_NE(gone.find(".entry solve("), std::string::npos);
    EXPECT_EQ(gone.find(".entry"), gone.rfind(".entry")) << "another kernel is gone";
    EXPECT_EQ(cut->find("__cudaCDP2"), std::string::npos);
    for (const KernelResources& kernel : artifact->kernels) {
      EXPECT_NE(cut->find(".entry " + kernel.name + "("), std::string::npos) << kernel.name;
    }

    for (const char* chip : {"sm_80", "sm_90"}) {
      const auto code = assemble_for(*toolkit, *artifact, *cut, chip);
      ASSERT_TRUE(code.ok()) << code.error().text();
      EXPECT_TRUE(code->knows_the_chip);
      EXPECT_TRUE(
          code->cubin.starts_with("\x7f"
                                  "ELF"));
    }
  }
}

TEST(PtxCut, WithoutItPtxasRefuses) {
  const auto toolkit = find_toolkit(source_root());
  const auto artifact = compile(text_of("chapters/01-vector-add/kernel.cu"));
  ASSERT_TRUE(toolkit.ok() && artifact.ok());
  EXPECT_FALSE(assemble_for(*toolkit, *artifact, artifact->ptx, "sm_80").ok());
  const auto unknown = assemble_for(*toolkit, *artifact, *cut_plan(*artifact), "sm_999");
  ASSERT_TRUE(unknown.ok()) << unknown.error().text();
  EXPECT_FALSE(unknown->knows_the_chip);
}

TEST(PtxCut, FunctionsThatPlanGoWithIt) {
  const auto artifact = compile(R"(#include <roofwalk.cuh>
__device__ int counter;
static __device__ int table[3] = {1, 2, 3};
__device__ __noinline__ float twice(float x) { return 2 * x; }
__global__ void add(float* a) {
  __shared__ float s[32];
  s[threadIdx.x] = twice(a[threadIdx.x]);
  atomicAdd(&counter, table[threadIdx.x % 3]);
  printf("%f\n", s[0]);
  a[threadIdx.x] = s[31 - threadIdx.x];
}
__device__ __noinline__ void inner(float* a) { add<<<1, 32>>>(a); }
__device__ __noinline__ void outer(float* a) { inner(a); inner(scratch<float>(32)); }
SOLVE(float* a) { outer(a); cudaMemsetAsync(a, 0, 4, 0); }
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  const auto cut = cut_plan(*artifact);
  ASSERT_TRUE(cut.ok()) << cut.error().text();
  for (const char* gone : {"solve(", "outer", "inner", "roofwalk_scratch", "__cudaCDP2"}) {
    std::string text = *cut;
    for (std::size_t at = 0; (at = text.find("//", at)) != std::string::npos;) text.erase(at, text.find('\n', at) - at);
    EXPECT_EQ(text.find(gone), std::string::npos) << gone;
  }
  for (const char* kept : {".extern .func  (.param .b32 func_retval0) vprintf", "counter;", "table", "twice"}) {
    EXPECT_NE(cut->find(kept), std::string::npos) << kept;
  }
  const auto toolkit = find_toolkit(source_root());
  ASSERT_TRUE(toolkit.ok());
  const auto code = assemble_for(*toolkit, *artifact, *cut, "sm_80");
  EXPECT_TRUE(code.ok()) << code.error().text();
}

TEST(PtxCut, AKernelThatPlansIsRefusedWithItsLine) {
  const auto artifact = compile(R"(#include <roofwalk.cuh>
__global__ void add(float* a) {
  float* b = scratch<float>(10);
  b[0] = a[0];
}
SOLVE(float* a) { add<<<1, 32>>>(a); }
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  const auto cut = cut_plan(*artifact);
  ASSERT_FALSE(cut.ok());
  EXPECT_NE(cut.error().message.find("kernel add plans"), std::string::npos) << cut.error().text();
  EXPECT_EQ(cut.error().line, 2);
}

TEST(PtxCut, HostileTextIsAnError) {
  Artifact artifact;
  artifact.source_path = "my.cu";
  for (const char* text : {"", "}}}}", ".visible .entry", ".visible .func (", ".extern .func", ".global .b8 x = {{{"}) {
    artifact.ptx = text;
    const auto cut = cut_plan(artifact);
    EXPECT_TRUE(cut.ok() && *cut == text) << text;
  }
  artifact.ptx = ".visible .entry k() { mov \x01; }";
  EXPECT_FALSE(cut_plan(artifact).ok());
}

}  // namespace
}  // namespace roofwalk::test
