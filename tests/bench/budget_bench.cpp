// Measures the host's processor time, on one thread, per unit of a run's work budget. Runs endless kernels, each with
// the most expensive instructions of one kind, in the modes that an attempt uses. Fails if a unit takes far more time
// than common/vgpu/state/work.h assumes; some instruction then needs a weight.
#include <benchmark/benchmark.h>

#include <ctime>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

struct Endless {
  const char* name;
  const char* body;  // body of a loop with counter i
  const char* launch = "k<<<64, 256>>>(a, c, n, turns);";
  const char* before = "";
};

constexpr const char* kHead = R"(#include <roofwalk.cuh>
#include <mma.h>
#include <cuda_pipeline.h>
#include <cuda_fp16.h>
)";

// A kernel that ends soon, for the runs with many blocks or many launches.
constexpr const char* kSmall =
    "__global__ void small(float* c, int n) { if (n == 7) return; for (int i = 0; i < 8; ++i) c[threadIdx.x + i] = i; "
    "}";

// Blocks of one thread.
constexpr const char* kSingle = "k<<<64, 1>>>(a, c, n, turns);";

const Endless kKernels[] = {
    {"fma", "x = x * 1.5f + i;"},
    {"fma_divergent", "if ((i ^ t) & 1) x = x * 1.5f + i; else x += 3;"},
    {"branches",
     "switch ((i + t) & 31) { case 0: x += 1; break; case 1: c[t] = x; break; case 2: x = sinf(x); break; case 3: y "
     "+= x; break; case 4: y *= x; break; case 5: x -= 2; break; case 6: c[t + 1] = 3; break; case 7: x = 3; }"},
    {"divide_f64", "d = d / (1.5 + i); d = sqrt(d + 3);"},
    {"divide_u64", "u = u / (t + 3) + (u % (i + 7)) * 0x123456789ull;"},
    {"special", "x = __sinf(x) + __expf(x) + __logf(x + 3) + rsqrtf(x);"},
    {"shuffle", "x += __shfl_xor_sync(~0u, x, 1) + __shfl_down_sync(~0u, x, 3);"},
    {"vote", "x += __ballot_sync(~0u, x > i) + __any_sync(~0u, x > 3);"},
    {"match", "x += __match_any_sync(~0u, t * 7919 % 31 + (i & 3)) & 31;"},
    {"match_all", "x += __match_any_sync(~0u, (t * 7919ll) << 20);"},
    {"redux", "x += __reduce_add_sync(~0u, t + i) + __reduce_max_sync(~0u, t ^ i);"},
    {"syncwarp", "__syncwarp(); __syncwarp(0xffffu << (t & 16));"},
    {"barrier", "__syncthreads();"},
    {"barrier_count", "x += __syncthreads_count(t > i);"},
    {"mma",
     "asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, "
     "{%0,%1,%2,%3};\" : \"+f\"(m[0]), \"+f\"(m[1]), \"+f\"(m[2]), \"+f\"(m[3]) : \"r\"(t));"},
    {"mma_f64",
     "asm volatile(\"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%2}, {%0,%1};\" : "
     "\"+d\"(e), \"+d\"(d) : \"d\"(1.5));"},
    {"wmma_load",
     "{ wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> f; wmma::load_matrix_sync(f, (const "
     "half*)a + (i & 63) * 16, 1024); x += (float)f.x[0]; }",
     "k<<<64, 256>>>(a, c, n, turns);", "using namespace nvcuda;"},
    {"ldmatrix",
     "{ unsigned r0, r1, r2, r3; asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\" "
     ": \"=r\"(r0), \"=r\"(r1), \"=r\"(r2), \"=r\"(r3) : \"r\"((t & 31) * 16 + (i & 7) * 512)); x += r0 + r3; }"},
    {"load_row", "x += a[(t + i * 256) & m20];"},
    {"load_scatter", "h = h * 1664525u + 1013904223u + t; x += a[h & m20];"},
    {"load_scatter_wide",
     "h = h * 1664525u + 1013904223u + t; { float4 v = ((const float4*)a)[h >> 4 & m20 / 4]; x += v.x; }"},
    {"load_lines", "x += a[((t & 31) * 1024 + i * 77) & m20];"},
    {"store_row", "c[(t + i * 256) & m20] = x;"},
    {"store_scatter", "h = h * 1664525u + 1013904223u + t; c[h & m20] = x;"},
    {"store_scatter_wide",
     "h = h * 1664525u + 1013904223u + t; ((float4*)c)[h >> 4 & m20 / 4] = make_float4(x, x, x, x);"},
    {"atomic_scatter", "h = h * 1664525u + 1013904223u + t; atomicAdd(c + (h & m20), 1.0f);"},
    {"atomic_scatter_old", "h = h * 1664525u + 1013904223u + t; x += atomicAdd(c + (h & m20), 1.0f);"},
    {"atomic_cas", "h = h * 1664525u + 1013904223u + t; x += atomicCAS((int*)c + (h & m20), i, t);"},
    {"atomic_one", "atomicAdd(c, 1.0f);"},
    {"atomic_shared", "h = h * 1664525u + 1013904223u + t; atomicAdd(s + (h & 1023), 1.0f);"},
    {"atomic_shared_cas", "h = h * 1664525u + 1013904223u + t; x += atomicCAS((int*)s + (h & 1023), i, t);"},
    {"shared_row", "x += s[(t + i) & 1023]; __syncwarp();"},
    {"shared_conflicts", "x += v[(t * 32 + i) & 1023];"},
    {"shared_scatter", "h = h * 1664525u + 1013904223u + t; x += v[h & 1023];"},
    {"shared_store_conflicts", "v[(t * 32 + (t >> 5) + i) & 1023] = 1;"},
    {"local_row", "l[i & 63] = x; x += l[(i * 7) & 63];"},
    {"local_scatter", "h = h * 1664525u + 1013904223u + t; l[h & 63] = x; x += l[h >> 8 & 63];"},
    {"constant_scatter", "h = h * 1664525u + 1013904223u + t; x += table[h & 1023];", "k<<<64, 256>>>(a, c, n, turns);",
     "__constant__ float table[1024];"},
    {"copy_async",
     "__pipeline_memcpy_async(&s[t & 255], &a[(t * 1024 + i * 64) & m20], 4); __pipeline_commit(); "
     "__pipeline_wait_prior(0);"},
    {"call", "x = f(x, i);", "k<<<64, 256>>>(a, c, n, turns);",
     "__device__ __noinline__ float f(float x, int i) { return x * 1.5f + i; }"},
    {"call_pointers", "x = (t & 1 ? p : q)(x, i);", "k<<<64, 256>>>(a, c, n, turns);",
     "__device__ __noinline__ float f(float x, int i) { return x * 1.5f + i; }\n__device__ __noinline__ float g(float "
     "x, "
     "int i) { return x + i; }\n__device__ float (*volatile p)(float, int) = f;\n__device__ float (*volatile q)(float, "
     "int) = g;"},
    {"recursion", "x = f(x, i & 7);", "k<<<64, 256>>>(a, c, n, turns);",
     "__device__ __noinline__ float f(float x, int i) { return i == 0 ? x : f(x * 1.5f, i - 1) + i; }"},
    {"print", "printf(\"%d %f %s\\n\", t, x, \"words\");"},
    {"clock", "x += clock64();"},
    {"fence", "__threadfence(); c[t] = x;"},
    {"one_lane", "if (t % 32 == 0) { h = h * 1664525u + 1013904223u; x += a[h & m20]; }"},
    {"uniform_load", "x += a[i & m20];"},
    {"uniform_shared", "x += s[i & 1023];"},
    {"uniform_poll", "x += ((volatile const float*)a)[1];"},
    {"single_sum", "x += a[i & m20];", kSingle},
    {"single_list", "h = ((const unsigned*)a)[h & m20] + i; x += h;", kSingle},
    {"single_store", "c[i & m20] = x;", kSingle},
    {"single_shared_sum", "s[(i + 1) & 1023] = s[i & 1023] + x;", kSingle},
    {"single_shared_volatile", "v[(i + 1) & 1023] = v[i & 1023];", kSingle},
    {"single_local", "l[i & 63] = x; x += l[(i * 7) & 63];", kSingle},
    {"single_atomic", "x += atomicAdd(c + (i & m20), 1.0f);", kSingle},
    {"single_atomic_shared", "x += atomicAdd(s + (i & 1023), 1.0f);", kSingle},
    {"single_poll", "x += ((volatile const float*)a)[1];", kSingle},
    {"single_lock",
     "while (atomicCAS((int*)c, 0, 1) != 0) {}\n__threadfence(); c[1] += 1; __threadfence(); atomicExch((int*)c, 0);",
     kSingle},
    {"single_of_a_warp", "if (t == 0) { h = h * 1664525u + 1013904223u; s[i & 1023] += a[h & m20]; }"},
    {"blocks", "", "small<<<80000, 32>>>(c, n);", kSmall},
    {"large_blocks", "", "small<<<6000, 1024>>>(c, n);", kSmall},
    {"blocks_with_shared_memory", "", "small<<<2000, 32, 48000>>>(c, n);", kSmall},
    {"launches", "", "for (int i = 0; i < 9000; ++i) small<<<1, 32>>>(c, n);", kSmall},
    {"launches_that_fill", "", "for (int i = 0; i < 9000; ++i) small<<<64, 1024>>>(c, n);", kSmall},
    {"one_warp", "h = h * 1664525u + 1013904223u + t; x += a[h & m20];", "k<<<1, 32>>>(a, c, n, turns);"},
};

std::string text_of(const Endless& kernel) {
  return std::string(kHead) + kernel.before + R"(
__global__ void k(const float* a, float* c, int n, int turns) {
  __shared__ float s[1024];
  __shared__ volatile float v[1024];
  const int t = threadIdx.x;
  const unsigned m20 = n - 1;
  for (int i = t; i < 1024; i += blockDim.x) s[i] = v[i] = 0;
  __syncthreads();
  float x = t, y = 1, m[4] = {}, l[64];
  double d = t, e = 1;
  unsigned long long u = t + 0x123456789abcdefull;
  unsigned h = t + blockIdx.x * 977;
  for (int i = 0; i < 64; ++i) l[i] = t;
#pragma unroll 1
  for (int i = 0; i < turns; ++i) {
    )" + kernel.body +
         R"(
  }
  c[t] = x + y + m[0] + m[3] + l[t & 63] + d + e + u + h;
}
SOLVE(const float* a, float* c, int n, int turns) { )" +
         kernel.launch + " }\n";
}

double processor_s() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

enum class Mode { measured, small };

// Four times the maximum measured for any row, on two busy cores of a Zen 5.
constexpr double kMostNsPerUnit = 100;
bool too_dear = false;

void endless(benchmark::State& state, const Endless& kernel, Mode mode) {
  const auto artifact = compile(text_of(kernel));
  if (!artifact) return state.SkipWithError(artifact.error().text().c_str());
  constexpr int n = 1 << 20;
  constexpr std::uint64_t kBudget = 4'000'000;
  Runner runner;
  Buffer a{"a", numbers(n)}, c{"c", std::vector<float>(n)};
  const auto plan = runner.plan(*artifact, {&a, &c, n, 0x7fffffff});
  if (!plan) return state.SkipWithError(plan.error().text().c_str());
  RunOptions options{.max_work = kBudget, .threads = 1};
  if (mode == Mode::small) {
    options.sanitize = true;
    options.time = RunOptions::Time::least;
    options.figures = RunOptions::Figures::none;
  }
  double spent_s = 0;
  for (auto _ : state) {
    const double began_s = processor_s();
    const auto record = runner.device().run(*plan, options);
    spent_s += processor_s() - began_s;
    if (!record) return state.SkipWithError(record.error().text().c_str());
    if (!record->fault || record->fault->kind != FaultKind::runaway)
      return state.SkipWithError(record->fault ? record->fault->message.c_str() : "it ended");
  }
  const double ns_per_unit = 1e9 * spent_s / static_cast<double>(state.iterations()) / kBudget;
  too_dear = too_dear || ns_per_unit > kMostNsPerUnit;
  state.counters["ns_per_unit"] = ns_per_unit;
}

}  // namespace
}  // namespace roofwalk::test

int main(int argc, char** argv) {
  using namespace roofwalk::test;
  for (const Endless& kernel : kKernels) {
    for (const auto& [name, mode] : {std::pair{"measured", Mode::measured}, std::pair{"small", Mode::small}}) {
      benchmark::RegisterBenchmark((std::string(kernel.name) + "/" + name).c_str(),
                                   [&kernel, mode = mode](benchmark::State& state) { endless(state, kernel, mode); })
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  if (too_dear) std::fprintf(stderr, "a unit of the budget costs more than %g ns\n", kMostNsPerUnit);
  return too_dear ? 1 : 0;
}
