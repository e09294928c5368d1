// Tests that the interpreter of SOLVE records the right plan and rejects forbidden operations, naming their line.
#include <fmt/format.h>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

// Returns a file with the kernel on lines 2 to 4 and SOLVE's body from line 6 on. `head` stands on the kernel's first
// line.
std::string file(const std::string& body, const std::string& head = {}) {
  return "#include <roofwalk.cuh>\n" + head +
         "__global__ void k(const float* a, float* c, int n) {\n  c[threadIdx.x] = a[0] + n;\n}\n"
         "SOLVE(const float* a, float* c, int n) {\n" +
         body + "\n}\n";
}

struct Planned {
  Result<Plan> plan;
  std::uint64_t a = 0, c = 0;
};

Planned plan_of(const std::string& body, int n = 100, const PlanLimits& limits = {}, const std::string& head = {}) {
  const auto artifact = compile(file(body, head));
  if (!artifact) return {artifact.error()};
  Runner runner;
  Buffer a{"a", numbers(100)}, c{"c", std::vector<float>(100)};
  return {runner.plan(*artifact, {&a, &c, n}, limits)};
}

std::string refusal(const std::string& body, const PlanLimits& limits = {}, const std::string& head = {}) {
  const auto planned = plan_of(body, 100, limits, head);
  EXPECT_FALSE(planned.plan.ok());
  return planned.plan ? "" : std::to_string(planned.plan.error().line) + ": " + planned.plan.error().message;
}

TEST(Plan, LaunchesInOrderWithTheirArguments) {
  const auto planned = plan_of(
      "  k<<<dim3(2, 3), dim3(4, 5, 6), 128>>>(a, c + 1, n);\n  for (int i = 0; i < 9; ++i) k<<<i + 1, n > 3 ? 32 : "
      "64>>>(c, c, i);");
  ASSERT_TRUE(planned.plan.ok()) << planned.plan.error().text();
  ASSERT_EQ(planned.plan->steps.size(), 10u);
  const auto& first = std::get<KernelLaunch>(planned.plan->steps[0]);
  EXPECT_EQ(first.grid, (Dim3{2, 3, 1}));
  EXPECT_EQ(first.block, (Dim3{4, 5, 6}));
  EXPECT_EQ(first.dynamic_shared_bytes, 128u);
  EXPECT_EQ(first.line, 6);
  ASSERT_EQ(first.arguments.size(), 20u);
  std::uint64_t a = 0, c_plus_one = 0;
  std::memcpy(&a, first.arguments.data(), 8);
  std::memcpy(&c_plus_one, first.arguments.data() + 8, 8);
  EXPECT_NE(a, 0u);
  EXPECT_EQ(c_plus_one % 8, 4u);
  EXPECT_EQ(first.arguments[16], 100);
  for (std::uint32_t i = 0; i < 9; ++i) {
    const auto& launch = std::get<KernelLaunch>(planned.plan->steps[1 + i]);
    EXPECT_EQ(launch.grid.x, i + 1);
    EXPECT_EQ(launch.block.x, 32u);
    EXPECT_EQ(launch.line, 7);
    EXPECT_EQ(launch.arguments[16], i);
  }
}

// The compiler makes constants of the sizes, which SOLVE then reads.
TEST(Plan, InlinedFunctionsLaunchBlocksOfThreeDimensions) {
  const auto artifact = compile(R"(#include <roofwalk.cuh>
__global__ void k(float* c) { c[threadIdx.x] = 1; }
__device__ __forceinline__ void launch(float* c) { k<<<dim3(4, 16), dim3(32, 8, 2)>>>(c); }
SOLVE(float* c) { launch(c); }
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  Runner runner;
  Buffer c{"c", std::vector<float>(512)};
  const auto plan = runner.plan(*artifact, {&c});
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  const auto& launch = std::get<KernelLaunch>(plan->steps.at(0));
  EXPECT_EQ(launch.grid, (Dim3{4, 16, 1}));
  EXPECT_EQ(launch.block, (Dim3{32, 8, 2}));
}

// A string literal is data of SOLVE's own, too, and has no address on the device.
TEST(Plan, StringLiteralsAreNullPointersToKernels) {
  Buffer c{"c", std::vector<float>(32)};
  const auto record = Runner().run(R"(#include <roofwalk.cuh>
__global__ void k(float* c, const char* text) { c[threadIdx.x] = text[0]; }
SOLVE(float* c) { k<<<1, 32>>>(c, "text"); }
)",
                                   {&c});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_NE(record->fault->message.find("a null pointer?"), std::string::npos) << record->fault->message;
}

// Returns the threads a block with which SOLVE launches k for n = 100; 0 if the plan is refused.
std::uint32_t threads_of(const std::string& body, const std::string& head = {}) {
  const auto planned = plan_of(body, 100, {}, head);
  EXPECT_TRUE(planned.plan.ok()) << planned.plan.error().text();
  return planned.plan ? std::get<KernelLaunch>(planned.plan->steps.at(0)).block.x : 0;
}

TEST(Plan, ReadsTablesThatNoKernelWrites) {
  const std::string search = "  int i = 0;\n  while (i < 2 && n > kLimits[i]) ++i;\n  k<<<1, 32 << i>>>(a, c, n);";
  EXPECT_EQ(threads_of("  static constexpr int kLimits[] = {9, 99};\n" + search), 128u);
  EXPECT_EQ(threads_of(search, "__device__ const int kLimits[] = {9, 101}; "), 64u);
  // Kernels may read the table, too, by its name or through a pointer in a loop.
  EXPECT_EQ(
      threads_of(search,
                 "__device__ int kLimits[] = {101, 99}; __global__ void reads(int* out) { int sum = 0; for (const "
                 "int* at = kLimits; at < kLimits + out[1]; ++at) sum += *at; *out = sum; } "),
      32u);
  EXPECT_EQ(
      threads_of("  k<<<1, threads_for(n)>>>(a, c, n);",
                 "struct Row { int limit, threads; }; __device__ __noinline__ int find(const Row* row, int n) { "
                 "while (n > row->limit) ++row; return row->threads; } __device__ int threads_for(int n) { static "
                 "const Row kRows[] = {{9, 32}, {99, 64}, {1 << 30, 96}}; return find(kRows, n); } "),
      96u);
  // A table of addresses: of another table.
  EXPECT_EQ(threads_of("  k<<<1, kTables[n > 99][n % 2]>>>(a, c, n);",
                       "__device__ const int kFew[] = {32, 33}, kMany[] = {160, 161}; __device__ const int* const "
                       "kTables[] = {kFew, kMany}; "),
            160u);
}

TEST(Plan, OtherVariablesOfTheDeviceAreData) {
  const std::string reads = "  k<<<1, threads[n % 2]>>>(a, c, n);", threads = "__device__ int threads[] = {32, 64}; ";
  const std::string refused = "6: solve reads data";
  EXPECT_EQ(refusal(reads, {}, threads + "__global__ void w() { threads[threadIdx.x] = 96; } "), refused);
  EXPECT_EQ(refusal(reads, {}, threads + "__global__ void w() { atomicAdd(&threads[1], 1); } "), refused);
  EXPECT_EQ(
      refusal(reads, {},
              threads + "__device__ __noinline__ void set(int* at) { *at = 3; } __global__ void w() { set(threads "
                        "+ threadIdx.x); } "),
      refused);
  EXPECT_EQ(refusal(reads, {}, threads + "__global__ void w(int** out) { *out = threads; } "), refused);
  EXPECT_EQ(refusal(reads, {}, threads + "__device__ int* at = threads; __global__ void w() { *at = 3; } "), refused);
  EXPECT_EQ(refusal("  k<<<1, threads[n - 98]>>>(a, c, n);", {}, threads), refused);  // behind its end
  EXPECT_EQ(refusal("  static int calls = 31;\n  k<<<1, ++calls>>>(a, c, n);"), "7: solve writes data");
}

// On the device, a table has another address than in the plan.
TEST(Plan, TablesAreUsedByTheirNames) {
  const std::string table = "  static const float kTable[] = {1, 2, 3};\n  const int i = kTable[n % 3];\n";
  EXPECT_EQ(refusal(table + "  k<<<1, 32>>>(kTable + i, c, n);").substr(3),
            "solve passes the address of `solve::kTable` to a kernel");
  EXPECT_EQ(refusal(table + "  cudaMemcpyAsync(c, kTable + i, 4, cudaMemcpyDeviceToDevice);").substr(3),
            "solve copies from `solve::kTable`, a table that no kernel writes");
}

TEST(Plan, ScratchMemsetAndCopy) {
  const auto planned = plan_of(
      "  float* s = scratch<float>(n);\n  cudaMemsetAsync(s, 7, n);\n  cudaMemcpyAsync(c, s, 8, "
      "cudaMemcpyDeviceToDevice);\n  k<<<1, 1>>>(s, c, n);");
  ASSERT_TRUE(planned.plan.ok()) << planned.plan.error().text();
  ASSERT_EQ(planned.plan->steps.size(), 3u);
  const auto& set = std::get<MemsetStep>(planned.plan->steps[0]);
  const auto& copy = std::get<CopyStep>(planned.plan->steps[1]);
  EXPECT_EQ(set.value, 7);
  EXPECT_EQ(set.size_bytes, 100u);
  EXPECT_EQ(set.line, 7);
  EXPECT_EQ(copy.source, set.address);
  EXPECT_EQ(copy.size_bytes, 8u);
}

TEST(Plan, NothingToSetOrCopyIsNoStep) {
  const auto planned = plan_of(
      "  cudaMemsetAsync(c, 0, 0);\n  cudaMemcpyAsync(c, a, 0, cudaMemcpyDeviceToDevice);\n  k<<<1, 1>>>(a, c, n);");
  ASSERT_TRUE(planned.plan.ok()) << planned.plan.error().text();
  ASSERT_EQ(planned.plan->steps.size(), 1u);
  EXPECT_EQ(refusal("  cudaMemsetAsync(c, 0, 0);").substr(3), "solve launches nothing");
}

TEST(Plan, RefusalsNameTheLine) {
  EXPECT_EQ(refusal("  k<<<n / 256, 256>>>(a, c, n);"), "6: solve launches zero blocks of k (grid 0 x 1 x 1)");
  EXPECT_EQ(refusal("  int m = (int)a[0];\n  k<<<1, 32>>>(a, c, m);"), "6: solve reads data");
  EXPECT_EQ(refusal("  c[0] = 1;\n  k<<<1, 32>>>(a, c, n);"), "6: solve writes data");
  EXPECT_EQ(refusal("  k<<<1, 2048>>>(a, c, n);"), "6: k is launched with 2048 threads a block");
  EXPECT_EQ(refusal("  k<<<1, 32, 0, cudaStreamTailLaunch>>>(a, c, n);"), "6: solve launches into a stream of its own");
  EXPECT_EQ(refusal("  if (n < 0) k<<<1, 32>>>(a, c, n);").substr(3), "solve launches nothing");
  EXPECT_EQ(refusal("  scratch<float>(0);\n  k<<<1, 32>>>(a, c, n);"),
            "6: solve asks for zero bytes of scratch memory");
  EXPECT_EQ(refusal("  float* p;\n  cudaMalloc(&p, 100);\n  k<<<1, 32>>>(a, p, n);"),
            "7: solve cannot allocate with cudaMalloc or malloc");
}

TEST(Plan, LimitsEndWhatDoesNotEnd) {
  EXPECT_EQ(refusal("  for (int i = 0; i < 1000000; ++i) k<<<1, 32>>>(a, c, i);", {.max_steps = 100}),
            "6: solve launches more than 100 kernels, memsets and copies");
  EXPECT_NE(
      refusal("  volatile int i = 0;\n  while (i == 0) {}\n  k<<<1, 32>>>(a, c, n);", {.max_instructions = 10'000})
          .find("solve runs too long"),
      std::string::npos);
}

TEST(Plan, OtherParametersAreRefused) {
  const auto artifact = compile(
      "#include <roofwalk.cuh>\n__global__ void k(float* c) { c[0] = 1; }\nSOLVE(float* c) { k<<<1, 1>>>(c); }\n");
  ASSERT_TRUE(artifact.ok());
  Runner runner;
  Buffer a{"a", numbers(4)}, c{"c", numbers(4)};
  const auto plan = runner.plan(*artifact, {&a, &c, 4});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().message, "the parameters of SOLVE are not those of this chapter");
}

// Calls what CUB's device-wide algorithms call. The kernel takes 20 bytes of arguments.
constexpr const char* kLikeALibrary = R"(
  int device = -1, value = 0, blocks = 0;
  cudaGetDevice(&device);
  if (n == 1) cudaDeviceGetAttribute(reinterpret_cast<int*>(c), cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&value, n == 2 ? cudaDevAttrClockRate : cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 512, 0);
  char* arguments = static_cast<char*>(cudaGetParameterBuffer(64, n == 3 ? 16 : 20));
  memcpy(arguments, &a, 8);
  memcpy(arguments + 8, &c, 8);
  if (n != 3) memcpy(arguments + 16, &blocks, 4);
  cudaLaunchDevice((void*)k, arguments, dim3(value), dim3(128, 2), 16, nullptr);)";

TEST(Plan, OfALibraryAsksForTheMachineAndLaunchesInItsWay) {
  auto artifact = compile(file(kLikeALibrary));
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  const auto machine = load_machine("classroom");
  ASSERT_TRUE(machine.ok());
  const auto plan_for = [&](int n) {
    const auto bytes_of = [](auto value) {
      ArgumentBytes bytes(sizeof value);
      std::memcpy(bytes.data(), &value, sizeof value);
      return bytes;
    };
    const std::vector<ArgumentBytes> arguments = {bytes_of(std::uint64_t{0x1000}), bytes_of(std::uint64_t{0x2000}),
                                                  bytes_of(n)};
    return make_plan(*artifact, arguments, {}, {}, &*machine);
  };
  const auto refused = [&](int n) {
    const auto plan = plan_for(n);
    return plan ? "" : fmt::format("{}: {}", plan.error().line, plan.error().message);
  };
  // A learner's file may ask for the machine, but not call a library.
  EXPECT_EQ(refused(4), "12: solve cannot call cudaGetParameterBuffer");

  artifact->may_call_libraries = true;
  const auto plan = plan_for(4);
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  ASSERT_EQ(plan->steps.size(), 1u);
  const auto& launch = std::get<KernelLaunch>(plan->steps[0]);
  EXPECT_EQ(launch.grid, (Dim3{8, 1, 1}));  // the SMs of classroom
  EXPECT_EQ(launch.block, (Dim3{128, 2, 1}));
  EXPECT_EQ(launch.dynamic_shared_bytes, 16u);
  ASSERT_EQ(launch.arguments.size(), 20u);
  EXPECT_EQ(launch.arguments[1], 0x10);
  EXPECT_EQ(launch.arguments[9], 0x20);
  EXPECT_EQ(launch.arguments[16], 2);  // two blocks of 512 fill an SM of 1024 threads

  EXPECT_EQ(refused(1), "9: solve hands a function of CUDA's a pointer that leads to no local variable of solve's");
  EXPECT_EQ(refused(2), "10: solve asks for attribute 13 of the device, which no plan knows");
  EXPECT_EQ(refused(3), "16: solve launches a kernel with fewer arguments than it has parameters");
}

}  // namespace
}  // namespace roofwalk::test
