// Functions that were not inlined: values, structures, pointers, divergence, recursion and its limit, lines and counts;
// calls through pointers.
#include <functional>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

TEST(Calls, ValuesStructuresAndPointers) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
struct Five { float a[5]; };
__device__ __noinline__ float weighted(float a, int n) { float s = 0; for (int i = 0; i < n; ++i) s += a * i; return s; }
__device__ __noinline__ Five shifted(Five f, const float* by) { for (int i = 0; i < 5; ++i) f.a[i] += by[i]; return f; }
__device__ __noinline__ void put(float* at, int i, double value) { at[i] = (float)value; }
__device__ __noinline__ bool odd(unsigned char c, short s) { return (c + s) % 2 != 0; }
__device__ __noinline__ float twice(float a, int n) { return weighted(a, n) + weighted(2 * a, n + 1); }
__global__ void k(const float* x, float* y, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float mine[4] = {1, 2, 3, 4};
  put(mine, t % 4, 0.5);
  Five f = {{1, 2, 3, 4, 5}};
  f = shifted(f, x);
  if (t < n) y[t] = twice(x[t], t % 5) + mine[(t + 1) % 4] + mine[t % 4] + f.a[t % 5] + 1000 * odd(t, t / 2);
}
SOLVE(const float* x, float* y, int n) { k<<<2, 50>>>(x, y, n); }
)");
  constexpr int n = 93;
  Buffer x{"x", numbers(n)}, y{"y", std::vector<float>(n, -1)};
  const auto record = Runner().run(kText, {&x, &y, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  for (int t = 0; t < n; ++t) {
    const auto weighted = [](float a, int count) { return a * static_cast<float>(count * (count - 1) / 2); };
    const float a = x.values[static_cast<std::size_t>(t)];
    float expected = weighted(a, t % 5) + weighted(2 * a, t % 5 + 1) + 0.5f;
    expected += static_cast<float>((t + 1) % 4 + 1) + static_cast<float>(t % 5 + 1);
    expected += x.values[static_cast<std::size_t>(t % 5)] + (((t & 255) + t / 2) % 2 != 0 ? 1000 : 0);
    ASSERT_EQ(y.values[static_cast<std::size_t>(t)], expected) << t;
  }
}

// Lanes enter through two calls and return at different times, and some exit the kernel inside the function.
TEST(Calls, DivergedLanes) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__device__ __noinline__ int steps(int v, int* count) {
  int s = 0;
  while (v != 1) {
    if (v > 100000) asm volatile("exit;");
    if (s > 12) return -s;
    v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    ++s;
  }
  ++*count;
  return s;
}
__global__ void k(float* y, int n) {
  int t = threadIdx.x, count = 0, s;
  if (t % 3 == 0) s = steps(t + 1, &count);
  else if (t % 3 == 1) s = 100 + steps(2 * t + 1, &count) + steps(t, &count);
  else s = 1000;
  if (t == 20) s += steps(200000, &count);
  y[t] = s + 10000 * count;
}
SOLVE(float* y, int n) { k<<<1, 75>>>(y, n); }
)");
  Buffer y{"y", std::vector<float>(75, -1)};
  const auto record = Runner().run(kText, {&y, 75});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  const auto steps = [](int v, int& count) {
    int s = 0;
    for (; v != 1; ++s) {
      if (s > 12) return -s;
      v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    }
    ++count;
    return s;
  };
  for (int t = 0; t < 75; ++t) {
    int count = 0, s = 1000;
    if (t % 3 == 0) s = steps(t + 1, count);
    if (t % 3 == 1) {
      s = 100 + steps(2 * t + 1, count);
      s += steps(t, count);
    }
    EXPECT_EQ(y.values[static_cast<std::size_t>(t)], t == 20 ? -1.0f : static_cast<float>(s + 10000 * count)) << t;
  }
}

const std::string& kRecursion = joined(R"(#include <roofwalk.cuh>
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ int is_odd(int n, int* path);
__device__ __noinline__ int is_even(int n, int* path) { int mine[2] = {n, 0}; path[n & 1] += 1; return n == 0 ? 1 : is_odd(n - 1, n > 2 ? path : mine) + 0 * mine[n & 1]; }
__device__ __noinline__ int is_odd(int n, int* path) { path[n & 1] += 1; return n == 0 ? 0 : is_even(n - 1, path); }
__global__ void k(float* y, int n) {
  int path[2] = {0, 0};
  const int t = threadIdx.x;
  if (t % 2 == 0) y[t] = fib(t / 4); else y[t] = -fib(t % 7);
  y[t] += 1000 * is_even(t % 9, path) + 10000 * path[0] + 100000 * path[1];
}
SOLVE(float* y, int n) { k<<<1, 40>>>(y, n); }
)");

TEST(Calls, Recursion) {
  Buffer y{"y", std::vector<float>(40, -1)};
  const auto record = Runner().run(kRecursion, {&y, 40});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  const auto fib = [](int n) {
    int a = 0, b = 1;
    for (; n > 0; --n) b = std::exchange(a, b) + b, std::swap(a, b), std::swap(a, b);
    return a;
  };
  for (int t = 0; t < 40; ++t) {
    const int n = t % 9;
    int path[2] = {0, 0};
    for (int m = n; m >= (n > 2 ? std::max(0, n % 2 == 0 ? 2 : 1) : n); --m) ++path[m & 1];
    const float own = static_cast<float>(t % 2 == 0 ? fib(t / 4) : -fib(t % 7));
    EXPECT_EQ(y.values[static_cast<std::size_t>(t)],
              own + static_cast<float>(1000 * (n % 2 == 0) + 10000 * path[0] + 100000 * path[1]))
        << t;
  }
}

TEST(Calls, RecursionWithoutAnEndIsAFault) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__device__ __noinline__ int deep(int n) {
  if (n == -1) return 0;
  return deep(n + 1) * 2 + 1;
}
__global__ void k(float* y, int n) { y[threadIdx.x] = deep(n); }
SOLVE(float* y, int n) { k<<<1, 32>>>(y, n); }
)");
  Buffer y{"y", std::vector<float>(32)};
  const auto record = Runner().run(kText, {&y, 3});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->fault->kind, FaultKind::stack_overflow);
  EXPECT_EQ(record->fault->line, 4) << record->fault->message;
}

// A call keeps more than 160 registers of 32 lanes; the barrier lets all warps have their calls open at once.
const std::string& kDeepCalls = JOINT(R"(#include <roofwalk.cuh>
__device__ __noinline__ float deep(const float* x, int n) {
  if (n == 0) {
    __syncthreads();
    return 0;
  }
  float kept[160];
#pragma unroll
  for (int i = 0; i < 160; ++i) kept[i] = x[i];
  float sum = deep(x + 1, n - 1);
#pragma unroll
  for (int i = 0; i < 160; ++i) sum += sum * kept[i];
  return sum;
}
__global__ void __launch_bounds__(1024) k(const float* x, float* y, int n) { y[threadIdx.x] = deep(x, n); }
SOLVE(const float* x, float* y, int n, int warps) { k<<<1, 32 * warps>>>(x, y, n); }
)");

// What open calls keep is limited by SM: here to 16 MiB.
TEST(Calls, DeepRecursionOfManyWarpsIsAFault) {
  const auto fault_of = [&](int depth, int warps) {
    Buffer x{"x", std::vector<float>(256)}, y{"y", std::vector<float>(1024)};
    const auto record =
        Runner("virtual:h100-sxm").run(kDeepCalls, {&x, &y, depth, warps}, {.figures = RunOptions::Figures::none});
    EXPECT_TRUE(record.ok());
    return record->fault;
  };
  EXPECT_FALSE(fault_of(15, 32));
  const auto fault = fault_of(60, 32);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::resource);
  EXPECT_EQ(fault->line, 10) << fault->message;
  EXPECT_THAT(fault->message, testing::HasSubstr("recurse less deeply"));
}

// PTX does not say which registers a call saves, but ptxas the size of the frame that it saves them in.
TEST(Calls, SaveRegistersThatCountAsSpilled) {
  const auto spilled_bytes = [](int depth) {
    Buffer x{"x", std::vector<float>(256)}, y{"y", std::vector<float>(1024)};
    const auto record = Runner().run(kDeepCalls, {&x, &y, depth, 1});
    EXPECT_TRUE(record.ok() && !record->fault);
    return record->kernels.at(0).spilled_bytes_per_thread;
  };
  const std::uint64_t a_call = spilled_bytes(2) - spilled_bytes(1);
  EXPECT_GE(a_call, 128 * sizeof(float));
  EXPECT_LE(a_call, 200 * sizeof(float));
  EXPECT_EQ(spilled_bytes(9) - spilled_bytes(1), 8 * a_call);
}

// What a call kept is free again when it ends, also by an exit of all lanes: SM 0 has room for few of its blocks at a
// time.
TEST(Calls, BlocksThatExitInCallsKeepNothing) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__device__ __noinline__ float deep(const float* x, int n) {
  if (n == 0) {
    __syncthreads();
    asm volatile("exit;");
  }
  float kept[160];
#pragma unroll
  for (int i = 0; i < 160; ++i) kept[i] = x[i];
  float sum = deep(x + 1, n - 1);
#pragma unroll
  for (int i = 0; i < 160; ++i) sum += sum * kept[i];
  return sum;
}
__global__ void __launch_bounds__(1024) k(const float* x, float* y, int n) {
  unsigned sm;
  asm("mov.u32 %0, %%smid;" : "=r"(sm));
  if (sm == 0) y[threadIdx.x] = deep(x, n);
}
SOLVE(const float* x, float* y, int n) { k<<<5000, 1024>>>(x, y, n); }
)");
  Buffer x{"x", std::vector<float>(256)}, y{"y", std::vector<float>(1024)};
  const auto record = Runner("virtual:h100-sxm").run(kText, {&x, &y, 7}, {.figures = RunOptions::Figures::none});
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_FALSE(record->fault) << record->fault->message;
}

TEST(Calls, AFaultNamesTheLineInTheFunction) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__device__ __noinline__ float at(const float* x, int i) {
  return x[i];
}
__global__ void k(const float* x, float* y, int n) { y[threadIdx.x] = at(x, threadIdx.x + n); }
SOLVE(const float* x, float* y, int n) { k<<<1, 40>>>(x, y, n); }
)");
  Buffer x{"x", numbers(40)}, y{"y", std::vector<float>(40)};
  const auto record = Runner().run(kText, {&x, &y, 5});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_TRUE(record->fault);
  EXPECT_EQ(record->fault->line, 3);
  EXPECT_EQ(record->fault->thread.x, 35u);
  EXPECT_EQ(record->fault->index, 40);
}

const std::string& kTables = joined(R"(#include <roofwalk.cuh>
using F = float (*)(float, int);
__device__ float half(float a, int) { return a / 2; }
__device__ float plus(float a, int b) { return a + b; }
__device__ float times(float a, int b) { for (int i = 0; i < b % 3; ++i) a += a; return a; }
__device__ F in_global[3] = {half, plus, times};
__constant__ F in_constant[3] = {times, half, plus};
struct Six { float a[6]; };
using G = Six (*)(Six, int);
__device__ Six up(Six v, int i) { for (int k = 0; k < 6; ++k) v.a[k] += i * k; return v; }
__device__ Six down(Six v, int i) { v.a[i % 6] -= i; return v; }
__global__ void k(const float* x, float* y, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  float s = in_global[n % 3](x[t], 5);
  s += in_global[t % 3](x[t], t % 7);
  if (t % 5 != 0) s += in_constant[t % 2](s, t);
  G g = x[t] > 2 ? up : down;
  const Six v = g({1, 2, 3, 4, 5, s}, t);
  for (float a : v.a) s = s / 2 + a;
  y[t] = s;
}
SOLVE(const float* x, float* y, int n) { k<<<2, 50>>>(x, y, n); }
)");

// The warp calls one function or several; tables are in global and in constant memory; structures are arguments.
TEST(Calls, ThroughTablesOfFunctions) {
  constexpr int n = 94;
  Buffer x{"x", numbers(n)}, y{"y", std::vector<float>(n, -1)};
  const auto record = Runner().run(kTables, {&x, &y, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  const auto call = [](int which, float a, int b) {
    if (which == 0) return a / 2;
    if (which == 1) return a + static_cast<float>(b);
    for (int i = 0; i < b % 3; ++i) a += a;
    return a;
  };
  for (int t = 0; t < n; ++t) {
    const float a = x.values[static_cast<std::size_t>(t)];
    float s = call(n % 3, a, 5);
    s += call(t % 3, a, t % 7);
    if (t % 5 != 0) s += call((t % 2 + 2) % 3, s, t);
    float v[6] = {1, 2, 3, 4, 5, s};
    for (int k = 0; k < 6; ++k) v[k] += a > 2 ? static_cast<float>(t * k) : 0;
    if (a <= 2) v[t % 6] -= static_cast<float>(t);
    for (const float each : v) s = s / 2 + each;
    EXPECT_EQ(y.values[static_cast<std::size_t>(t)], s) << t;
  }
  // In each of the four warps, the first call does not diverge, but the second one does.
  EXPECT_GE(*record->counters[Counter::divergent_branches], 4u);
}

// Two functions call each other and themselves through a table that they get as an argument; lanes are in different
// functions.
TEST(Calls, RecursionThroughPointers) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
typedef int (*F)(int, void*);
__device__ int half(int n, void* table) { int mine[2] = {n, 3}; return n <= 1 ? 1 : 2 * ((F*)table)[n % 3 == 0](n / 2, table) + mine[n & 1]; }
__device__ int less(int n, void* table) { return n <= 1 ? n : ((F*)table)[n & 1](n - 1, table) + n; }
__device__ int same(int n, void*) { return n; }
__device__ F table[3] = {half, less, same};
__global__ void k(float* y, int n) {
  const int t = threadIdx.x;
  F first = table[t % 3];
  y[t] = first(t % n, table) + 1000 * table[2](t, table);
}
SOLVE(float* y, int n) { k<<<1, 75>>>(y, n); }
)");
  constexpr int n = 19;
  Buffer y{"y", std::vector<float>(75, -1)};
  const auto record = Runner().run(kText, {&y, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  const std::function<int(int, int)> call = [&](int which, int v) -> int {
    if (which == 2) return v;
    if (which == 1) return v <= 1 ? v : call(v & 1, v - 1) + v;
    return v <= 1 ? 1 : 2 * call(v % 3 == 0 ? 1 : 0, v / 2) + (v % 2 == 0 ? v : 3);
  };
  for (int t = 0; t < 75; ++t)
    EXPECT_EQ(y.values[static_cast<std::size_t>(t)], static_cast<float>(call(t % 3, t % n) + 1000 * t)) << t;
}

// The objects are in local and shared memory. Their vtables contain a destructor that calls `free`; it is never called.
TEST(Calls, VirtualFunctions) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
struct Shape {
  __device__ virtual float area(float by) const = 0;
  __device__ virtual int corners() const { return 0; }
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ Square(float s) : side(s) {}
  __device__ float area(float by) const override { return by * side * side; }
  __device__ int corners() const override { return 4; }
};
struct Circle : Shape {
  float radius;
  __device__ Circle(float r) : radius(r) {}
  __device__ float area(float by) const override { return 3 * by * radius * radius; }
};
__global__ void k(const float* x, float* y, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  Square square(x[t]);
  Circle circle(t);
  const Shape& shape = x[t] > 2 ? static_cast<const Shape&>(square) : circle;
  if (t < n) y[t] = shape.area(2) + 1000 * shape.corners();
}
SOLVE(const float* x, float* y, int n) { k<<<2, 50>>>(x, y, n); }
)");
  constexpr int n = 93;
  Buffer x{"x", numbers(100)}, y{"y", std::vector<float>(n, -1)};
  const auto record = Runner().run(kText, {&x, &y, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  for (int t = 0; t < n; ++t) {
    const float a = x.values[static_cast<std::size_t>(t)], r = static_cast<float>(t);
    EXPECT_EQ(y.values[static_cast<std::size_t>(t)], a > 2 ? 2 * a * a + 4000 : 6 * r * r) << t;
  }
}

std::string calling_through(const std::string& pointer) {
  return R"(#include <roofwalk.cuh>
using F = float (*)(float);
__device__ float one(float a) { return a + 1; }
__device__ float two(float a) { return a * 2; }
__device__ float other(float a, float b) { return a * b; }
__device__ F table[2] = {one, two};
__device__ float (*others[1])(float, float) = {other};
__global__ void k(float* y, int n) {
  F f = threadIdx.x < 20 ? table[n % 2] : )" +
         pointer + R"(;
  y[threadIdx.x] = f(y[threadIdx.x]);
}
SOLVE(float* y, int n) { k<<<1, 32>>>(y, n); }
)";
}

// The pointer is null, a number that is no pointer, or a pointer to a function with another signature.
TEST(Calls, ThroughAPointerToNothingIsAFault) {
  const auto fault = [](const std::string& text) {
    Buffer y{"y", std::vector<float>(32)};
    const auto record = Runner().run(text, {&y, 3});
    EXPECT_TRUE(record.ok()) << record.error().text();
    if (!record.ok() || !record->fault) return std::string("no fault");
    EXPECT_EQ(record->fault->kind, FaultKind::bad_call);
    EXPECT_EQ(record->fault->line, 10);
    EXPECT_EQ(record->fault->thread.x, 20u);
    return record->fault->message;
  };
  EXPECT_NE(fault(JOINT(calling_through("(F)(unsigned long long)(n - 3)"))).find("a null pointer"), std::string::npos);
  EXPECT_NE(fault(JOINT(calling_through("(F)(unsigned long long)(n + 4000)"))).find("0xfa3, where no function begins"),
            std::string::npos);
  EXPECT_NE(fault(JOINT(calling_through("(F)others[n - 3]"))).find("a pointer to other, which takes other parameters"),
            std::string::npos);
}

TEST(Calls, OfAHeapAreRefused) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void k(float* y, int n) {
  float* mine = new float[n];
  for (int i = 0; i < n; ++i) mine[i] = y[i];
  y[n - 1 - threadIdx.x] = mine[threadIdx.x];
  delete[] mine;
}
SOLVE(float* y, int n) { k<<<1, n>>>(y, n); }
)");
  Buffer y{"y", std::vector<float>(32)};
  const auto record = Runner().run(kText, {&y, 32});
  ASSERT_FALSE(record.ok());
  EXPECT_EQ(record.error().line, 3) << record.error().text();
  EXPECT_NE(record.error().message.find("no heap for `new`"), std::string::npos) << record.error().text();
  EXPECT_NE(record.error().advice.find("scratch<T>"), std::string::npos) << record.error().text();
}

// A recursive function takes a structure by value and uses a local variable under a guard.
TEST(Calls, StructuresAndGuardedLocalsInRecursion) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
struct Three { int a[3]; };
__device__ __noinline__ int sum(Three t, int n) {
  int r = -1;
  asm volatile("{.reg .pred p; .local .b32 mine; st.local.b32 [mine], %1; setp.gt.s32 p, %1, 1; @p ld.local.b32 %0, [mine];}"
               : "+r"(r) : "r"(n));
  if (n <= 0) return t.a[0] + 10 * t.a[1] + 100 * t.a[2];
  Three next = {{t.a[1], t.a[2], t.a[0] + 1}};
  return sum(next, n - 1) * 2 + r;
}
__global__ void k(float* y, int n) {
  const int t = threadIdx.x;
  Three start = {{t, t + 1, t + 2}};
  y[t] = sum(start, t % n);
}
SOLVE(float* y, int n) { k<<<1, 40>>>(y, n); }
)");
  Buffer y{"y", std::vector<float>(40, -1)};
  const auto record = Runner().run(kText, {&y, 4});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  const auto sum = [](auto&& self, int a, int b, int c, int n) -> int {
    if (n <= 0) return a + 10 * b + 100 * c;
    return self(self, b, c, a + 1, n - 1) * 2 + (n > 1 ? n : -1);
  };
  for (int t = 0; t < 40; ++t)
    EXPECT_EQ(y.values[static_cast<std::size_t>(t)], static_cast<float>(sum(sum, t, t + 1, t + 2, t % 4))) << t;
  // No instruction has more predicated-off threads than threads.
  for (const LineCounters& line : record->kernels[0].lines)
    EXPECT_LE(*line.counters[Counter::thread_instructions], 32 * *line.counters[Counter::warp_instructions])
        << line.line;
}

std::string poly_kernel(const std::string& how) {
  return "#include <roofwalk.cuh>\n__device__ " + how + R"( float poly(float a, float b) {
  _Pragma("unroll 4") for (int i = 0; i < 400; ++i) a = a * b + 0.5f;
  return a;
}
__global__ void k(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = poly(x[i], x[n - 1 - i]);
}
SOLVE(const float* x, float* y, int n) { k<<<ceil_div(n, 256), 256>>>(x, y, n); }
)";
}

// The same kernel with its function inlined and called has the same counts and about the same time.
TEST(Calls, CountAndTakeWhatTheInlinedKernelDoes) {
  constexpr int n = 1 << 16;
  RunRecord records[2];
  std::vector<float> values[2];
  for (const int called : {0, 1}) {
    Buffer x{"x", numbers(n)}, y{"y", std::vector<float>(n)};
    auto record = Runner().run(called != 0 ? JOINT(poly_kernel("__noinline__")) : JOINT(poly_kernel("__forceinline__")),
                               {&x, &y, n});
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_FALSE(record->fault) << record->fault->message;
    records[called] = *record;
    values[called] = y.values;
  }
  EXPECT_EQ(values[0], values[1]);
  for (const Counter c : {Counter::flops_f32, Counter::dram_read_bytes, Counter::dram_write_bytes,
                          Counter::l1_read_sectors, Counter::global_load_requests}) {
    EXPECT_EQ(records[0].counters[c], records[1].counters[c]) << counter_name(c);
  }
  EXPECT_GT(*records[1].counters[Counter::warp_instructions], *records[0].counters[Counter::warp_instructions]);
  EXPECT_NEAR(records[1].elapsed_ns / records[0].elapsed_ns, 1, 0.15);
  std::uint64_t in_function = 0;
  for (const LineCounters& line : records[1].kernels[0].lines) {
    if (line.line == 3) in_function = *line.counters[Counter::flops_f32];
  }
  EXPECT_EQ(in_function, *records[1].counters[Counter::flops_f32]);
}

}  // namespace
}  // namespace roofwalk::test
