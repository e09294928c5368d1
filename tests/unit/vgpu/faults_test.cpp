// A learner's mistakes are found, named and located. Correct kernels run without a fault.
#include <gmock/gmock.h>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// Returns a kernel's file: line 1 is the include, and `body` starts on line 3.
std::string kernel(const std::string& body, const std::string& launch = "k<<<2, 64>>>(a, c, n);") {
  return "#include <roofwalk.cuh>\n__global__ void k(const float* a, float* c, int n) {\n" + body +
         "\n}\nSOLVE(const float* a, float* c, int n) {\n  " + launch + "\n}\n";
}

// Keeps an element of a in `old`, then does the rest.
std::string restoring(const std::string& rest) {
  return kernel("  const int i = blockIdx.x * 64 + threadIdx.x;\n  float* p = (float*)a;\n  const float old = p[i];\n" +
                rest);
}

RunRecord run(const std::string& text, const RunOptions& options = {}, int n = 128) {
  Buffer a{"a", numbers(static_cast<std::size_t>(n))}, c{"c", std::vector<float>(static_cast<std::size_t>(n))};
  auto record = Runner().run(text, {&a, &c, n}, options);
  EXPECT_TRUE(record.ok()) << record.error().text();
  return record ? *record : RunRecord{};
}

Fault fault_of(const std::string& text, const RunOptions& options = {}) {
  const RunRecord record = run(text, options);
  EXPECT_TRUE(record.fault.has_value());
  return record.fault.value_or(Fault{});
}

TEST(Faults, OutOfBoundsNamesBufferIndexThreadAndLine) {
  const Fault fault = fault_of(JOINT(kernel("  int i = blockIdx.x * 64 + threadIdx.x;\n  c[i + 1] = a[i];")));
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  EXPECT_EQ(fault.kernel, "k");
  EXPECT_EQ(fault.line, 4);
  EXPECT_EQ(fault.buffer, "c");
  EXPECT_EQ(fault.index, 128);
  EXPECT_EQ(fault.extent, 128u);
  EXPECT_EQ(fault.block, (Dim3{1, 0, 0}));
  EXPECT_EQ(fault.thread, (Dim3{63, 0, 0}));
  EXPECT_EQ(fault.message, "out of bounds: writes c[128], but c holds 128 elements");
}

// A kernel beside an array at module scope, which nvcc declares as bytes.
std::string in_array(const std::string& array, const std::string& body) {
  std::string text = kernel("  const int i = blockIdx.x * 64 + threadIdx.x;\n" + body);
  return text.insert(text.find('\n') + 1, "struct Point { float x, y, z; };\n__device__ " + array + ";\n");
}

TEST(Faults, IndicesOfArraysAtModuleScopeAreThoseOfTheSource) {
  const Fault floats = fault_of(JOINT(in_array("float sums[65]", "  sums[i] = a[i];")));
  EXPECT_EQ(floats.message, "out of bounds: writes sums[65], but sums holds 65 elements");
  EXPECT_EQ(floats.extent, 65u);
  const Fault structs = fault_of(JOINT(in_array("Point points[64]", "  points[i].y = a[i];")));
  EXPECT_EQ(structs.message, "out of bounds: writes byte 772 of points (4 bytes at once), which holds 768 bytes");
  EXPECT_FALSE(run(JOINT(in_array("float all_sums[128]", "  all_sums[i] = a[i];"))).fault.has_value());
}

// Writing to an input is a fault, even if the old value is restored.
TEST(Faults, InputsAreReadOnly) {
  struct Write {
    const char* what;
    std::string text, message;
    int line;
  };
  const std::string ending = ", but a is an input: results belong into outputs and scratch memory";
  const std::vector<Write> writes = {
      {"restored", JOINT(restoring("  p[i] = 1;\n  c[i] = p[i] + old;\n  p[i] = old;")), "writes a[0]", 8},
      {"what is there", JOINT(restoring("  *(volatile float*)&p[i] = old;")), "writes a[0]", 6},
      {"one lane", JOINT(restoring("  if (i == 70) p[i] = 1;")), "writes a[70]", 6},
      {"sixteen bytes", JOINT(restoring("  if (i < 32) ((float4*)p)[i] = make_float4(1, 2, 3, 4);")), "writes a[0]", 6},
      {"some lanes", JOINT(restoring("  float* q = i % 2 ? p : c;\n  q[i] = old;")), "writes a[1]", 7},
      {"after an output",
       JOINT(restoring("  for (int j = 0; j < 2; ++j) {\n    float* q = j ? p : c;\n    q[i] = 1;\n  }")),
       "writes a[0]", 8},
      {"atomic", JOINT(restoring("  atomicAdd(&p[i], 0.0f);")), "updates a[0]", 6},
      {"memset", JOINT(kernel("", "cudaMemsetAsync((void*)a, 0, 4);")), "this memset writes a[0]", 6},
      {"memcpy", JOINT(kernel("", "cudaMemcpyAsync((void*)(a + 3), c, 4, cudaMemcpyDeviceToDevice);")),
       "this memcpy writes a[3]", 6},
  };
  for (const Write& write : writes) {
    SCOPED_TRACE(write.what);
    for (const bool sanitize : {false, true}) {
      Runner runner;
      const auto a = runner.device().allocate("a", 128 * 4, 4);
      ASSERT_TRUE(a.ok());
      runner.device().protect(*a);
      Buffer c{"c", std::vector<float>(128)};
      const auto record = runner.run(write.text, {*a, &c, 128}, {.sanitize = sanitize});
      ASSERT_TRUE(record.ok()) << record.error().text();
      ASSERT_TRUE(record->fault);
      EXPECT_EQ(record->fault->kind, FaultKind::read_only);
      EXPECT_EQ(record->fault->message, "read only: " + write.message + ending);
      EXPECT_EQ(record->fault->line, write.line);
      EXPECT_EQ(record->fault->buffer, "a");
    }
  }
  Runner runner;
  const auto a = runner.device().allocate("a", 128 * 4, 4);
  runner.device().protect(*a);
  runner.device().write(*a, 0, std::vector<std::uint8_t>(512));
  Buffer c{"c", std::vector<float>(128)};
  const auto reads =
      runner.run(JOINT(kernel("  c[threadIdx.x] = a[threadIdx.x];",
                              "k<<<1, 128>>>(a, c, n); cudaMemcpyAsync(c, a, 8, cudaMemcpyDeviceToDevice);")),
                 {*a, &c, 128});
  ASSERT_TRUE(reads.ok());
  EXPECT_FALSE(reads->fault) << reads->fault->message;
}

// What runs too long is the loop of thread 40, and not the barrier at which the others wait for it.
TEST(Faults, ALoopWithoutEndIsNamedAndNotWhoWaitsForIt) {
  const std::string& text =
      JOINT(kernel("  if (threadIdx.x == 40) {\n    while (((volatile float*)c)[n - 1] != 7) {\n    }\n  }\n"
                   "  __syncthreads();\n  c[threadIdx.x] = 1;"));
  RunOptions options[] = {{.max_work = 200'000}, {.max_work = 200'000}};
  options[1].sanitize = true;
  options[1].figures = RunOptions::Figures::none;
  for (const RunOptions& each : options) {
    const Fault fault = fault_of(text, each);
    EXPECT_EQ(fault.kind, FaultKind::runaway);
    EXPECT_EQ(fault.line, 4);
    EXPECT_EQ(fault.thread.x, 40u);
  }
}

TEST(Faults, NegativeIndex) {
  const Fault fault = fault_of(JOINT(kernel("  c[threadIdx.x] = a[(int)threadIdx.x - 3];")));
  EXPECT_EQ(fault.message, "out of bounds: reads a[-3], but a holds 128 elements");
}

TEST(Faults, NullPointer) {
  const Fault fault =
      fault_of(JOINT(kernel("  float* p = (float*)(unsigned long long)(n - 128);\n  p[threadIdx.x] = 1;")));
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  EXPECT_NE(fault.message.find("null pointer"), std::string::npos) << fault.message;
}

TEST(Faults, Misaligned) {
  const Fault fault =
      fault_of(JOINT(kernel("  float4 v = *(const float4*)(a + 1);\n  c[threadIdx.x] = v.x + v.y * v.z - v.w;")));
  EXPECT_EQ(fault.kind, FaultKind::misaligned);
  EXPECT_EQ(fault.line, 3);
  EXPECT_EQ(fault.message, "misaligned: reads 16 bytes at byte 4 of a, which is not a multiple of 16");
}

TEST(Faults, MisalignedTile) {
  const Fault fault = fault_of(
      "#include <roofwalk.cuh>\n#include <mma.h>\n__global__ void k(float* c) {\n"
      "  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sum;\n"
      "  nvcuda::wmma::fill_fragment(sum, 1.0f);\n"
      "  nvcuda::wmma::store_matrix_sync(c + 1, sum, 16, nvcuda::wmma::mem_row_major);\n}\n"
      "SOLVE(const float* a, float* c, int n) { k<<<1, 32>>>(c); }\n");
  EXPECT_EQ(fault.kind, FaultKind::misaligned);
  EXPECT_EQ(fault.message, "misaligned: writes 8 bytes at byte 4 of c, which is not a multiple of 8");
}

TEST(Faults, SharedMemoryOutOfBounds) {
  const Fault fault = fault_of(
      JOINT(kernel("  __shared__ float s[64];\n  s[threadIdx.x + n] = 1;\n  __syncthreads();\n  c[threadIdx.x] = "
                   "s[63 - threadIdx.x];")));
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  EXPECT_EQ(fault.line, 4);
  EXPECT_EQ(fault.buffer, "shared memory");
  EXPECT_EQ(fault.message,
            "out of bounds: writes element 128 of s, which is outside: the block has 256 bytes of shared memory");
}

TEST(Faults, SharedMemoryBeforeItsStart) {
  const Fault fault =
      fault_of(JOINT(kernel("  __shared__ float s[64];\n  s[(int)threadIdx.x - n] = 1;\n  __syncthreads();\n"
                            "  c[threadIdx.x] = s[threadIdx.x];")));
  EXPECT_THAT(fault.message, testing::StartsWith("out of bounds: writes element -"));
}

TEST(Faults, EndlessLoopEndsByItsBudget) {
  const Fault fault =
      fault_of(JOINT(kernel("  volatile float* p = c;\n  while (n > 0) p[0] = 1;")), {.max_work = 1'000'000});
  EXPECT_EQ(fault.kind, FaultKind::runaway);
  EXPECT_EQ(fault.line, 4);
}

TEST(Faults, BarrierThatSomeThreadsNeverReach) {
  const Fault partial = fault_of(JOINT(
      kernel("  if (threadIdx.x < 16) __syncthreads();\n  c[threadIdx.x] = 1;\n  __syncthreads();\n  c[0] = 2;")));
  EXPECT_EQ(partial.kind, FaultKind::barrier_deadlock);
  EXPECT_EQ(partial.line, 3);
}

TEST(Faults, InlinedFunctionIsNamedByItsOwnLine) {
  const std::string text =
      "#include <roofwalk.cuh>\ntemplate <int N> __device__ __forceinline__ float get(const float* p, int i) {\n"
      "  return p[i + N];\n}\n__global__ void k(const float* a, float* c, int n) { c[threadIdx.x] = get<1000>(a, n); "
      "}\n"
      "SOLVE(const float* a, float* c, int n) { k<<<1, 1>>>(a, c, n); }\n";
  const Fault fault = fault_of(text);
  EXPECT_EQ(fault.line, 3);
  EXPECT_EQ(fault.index, 1128);
}

TEST(Faults, TooManyResources) {
  const Fault fault = fault_of(JOINT(
      kernel("  extern __shared__ float s[];\n  s[threadIdx.x] = 1;\n  __syncthreads();\n  c[threadIdx.x] = s[0];",
             "k<<<1, 64, 200000>>>(a, c, n);")));
  EXPECT_EQ(fault.kind, FaultKind::resource);
  EXPECT_EQ(fault.line, 9);
  EXPECT_NE(fault.message.find("bytes of shared memory"), std::string::npos) << fault.message;
}

TEST(Faults, SharedMemoryThatWouldWrapAround) {
  const Fault fault = fault_of(JOINT(kernel(
      "  __shared__ float t[8];\n  extern __shared__ float s[];\n  s[threadIdx.x] = 1;\n  t[threadIdx.x % 8] = 2;\n"
      "  __syncthreads();\n  c[threadIdx.x] = s[0] + t[0];",
      "k<<<1, 64, 0xfffffff0u>>>(a, c, n);")));
  EXPECT_EQ(fault.kind, FaultKind::resource);
}

TEST(Faults, LocalMemoryBeyondTheDevice) {
  const Fault fault = fault_of(
      JOINT(kernel("  float big[50000];\n  for (int i = 0; i < 50000; ++i) big[i] = a[i % n];\n  c[threadIdx.x] = "
                   "big[(int)a[0] + 3];")));
  EXPECT_EQ(fault.kind, FaultKind::resource);
  EXPECT_NE(fault.message.find("bytes of local memory a thread"), std::string::npos) << fault.message;
}

TEST(Faults, HugeGlobalIsRefusedAtLoad) {
  const auto artifact = compile(
      "#include <roofwalk.cuh>\n__device__ char big[1ull << 40];\n__global__ void k(float* c) { c[0] = big[5]; }\n"
      "SOLVE(float* c) { k<<<1, 1>>>(c); }\n");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  const Status status = Runner().device().load(*artifact);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("`big` needs 1099511627776 bytes"), std::string::npos)
      << status.error().message;
}

TEST(Faults, AddressesAtTheVeryEndDoNotWrapAround) {
  // Stores 4 bytes at the 64-bit shared address -4. Their end wraps around to 0, which is a valid address in every
  // block.
  const Fault fault =
      fault_of(JOINT(kernel("  __shared__ float s[64];\n  s[threadIdx.x] = 1;\n  __syncthreads();\n"
                            "  asm volatile(\"st.shared.f32 [%0], %1;\" ::\"l\"((long long)n - 132), \"f\"(1.0f));\n"
                            "  c[threadIdx.x] = s[threadIdx.x];")));
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  EXPECT_EQ(fault.line, 6);
}

TEST(Faults, TheDeviceIsUsableAfterwards) {
  Runner runner;
  Buffer a{"a", numbers(64)}, c{"c", std::vector<float>(64)};
  const auto bad = runner.run(JOINT(kernel("  c[n] = 1;", "k<<<1, 1>>>(a, c, n);")), {&a, &c, 64});
  ASSERT_TRUE(bad.ok() && bad->fault);
  const auto good =
      runner.run(JOINT(kernel("  c[threadIdx.x] = a[threadIdx.x];", "k<<<1, 64>>>(a, c, n);")), {&a, &c, 64});
  ASSERT_TRUE(good.ok() && !good->fault);
  EXPECT_EQ(c.values, a.values);
}

}  // namespace
}  // namespace roofwalk::test
